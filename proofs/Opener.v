(* Why inputs that decided to open an attempt are never counted for it. A fair coin is the tree's error, all of the
   bet is on error 0, and the attempt, at level 1/4, is opened by the first right answer. Two right answers in a row
   are then enough for a false bound of 1/2. Of three inputs the chance is 3/8 if the opener counts: above 1/4. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From Fidelitree Require Import Statements Bets Ville Integral Certificate.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Opener.
Variable R : realFieldType.
Definition coin (x : bool) : R := 1 / 2%:R.
(* "true" is an input on which the tree is wrong. *)
Definition guess : attempt R bool_finType :=
  Attempt [set true] (1 / 4%:R) (fun a _ => (a == 0%N)%:R) xpredT.
Definition first_right (h : seq bool) := if h is x :: past then ~~ x && all id past else false.
Definition opens h := if first_right h then [:: guess] else [::].
(* The rule of Statements.v, and the same rule with the input that opened the attempt counted. *)
Definition honest h := has (fun i => first_right (drop i h) && states h i guess (1 / 2%:R)) (iota 0 (size h)).
Definition counted h := has (fun i => first_right (drop i h) &&
  accepts (moments guess) (level guess) (1 / 2%:R) (tally guess (take i.+1 h) (drop i.+1 h))) (iota 0 (size h)).

Lemma accepts_guess k m : accepts (moments guess) (level guess) (1 / 2%:R) (k, m) = (k == 0%N) && (1 < m)%N.
Proof.
rewrite /accepts /e_value /= bet_zero; have -> : (1 / 2%:R < 1 :> R) by rewrite ltr_pdivr_mulr ?ltr0n // mul1r ltr1n.
have -> : (1 - 1 / 2%:R)^-1 = 2%:R :> R by field.
case: k => [|k] /=; last by rewrite mul0r mulr0 ler10.
rewrite mul1r -natrX mul1r mulrC ler_pdivl_mulr ?ltr0n // mul1r ler_nat.
exact: (leq_exp2l 2 m (isT : (1 < 2)%N)).
Qed.

Lemma coin_distribution : distribution coin.
Proof. by split=> [x|]; rewrite ?big_bool /coin ?divr_ge0 ?ler0n ?ler01 //=; field. Qed.

(* The strategy keeps the rules at delta = 1/4: it opens at most once. *)
Lemma spent_step x h : spent opens (x :: h) = \sum_(A <- opens (x :: h)) level A + spent opens h.
Proof. by rewrite /spent big_ord_recl. Qed.

Lemma spent_once h : spent opens h = if all id h then 0 else 1 / 4%:R.
Proof.
elim: h => [|x h IH]; first by rewrite /spent big_ord_recl big_ord0 big_nil addr0.
rewrite spent_step IH /opens /=; case: x; case: (all id h) => /=; by rewrite ?big_seq1 ?big_nil ?add0r ?addr0.
Qed.

Theorem game_is_sound : sound coin opens (1 / 4%:R).
Proof.
split=> [|h A|h]; [exact: coin_distribution | | by rewrite spent_once; case: ifP; rewrite ?divr_ge0 ?ler0n ?ler01].
rewrite /opens; case: ifP => //= _ [<-|//]; split; [by rewrite divr_ge0 ?ler0n ?ler01 | exact: spread_point0].
Qed.

Lemma accepted since before : accepts (moments guess) (level guess) (1 / 2%:R) (tally guess since before)
  = ~~ has id since && (1 < size since)%N.
Proof.
have -> : tally guess since before = (count id since, count (predC id) since).
  by elim: since => //= -[] past ->; rewrite inE.
by rewrite accepts_guess -(count_predC id since) has_count -leqNgt leqn0; case: eqP => //= ->; rewrite add0n.
Qed.

Lemma ever_eq (P Q : pred (seq bool)) : P =1 Q -> ever P =1 ever Q.
Proof. by move=> PQ; elim=> [|x h IH] /=; rewrite PQ ?IH. Qed.

Theorem opener_counted : chance coin 3 (ever counted) = 3%:R / 8%:R.
Proof.
have E : counted =1 (fun h => has (fun i => first_right (drop i h) &&
    (~~ has id (take i.+1 h) && (1 < size (take i.+1 h))%N)) (iota 0 (size h))).
  by move=> h; apply: eq_has => i; rewrite accepted.
by rewrite chance_mean /mean_after !big_bool !(ever_eq E) /= /coin; field.
Qed.

Theorem opener_not_counted : chance coin 3 (ever honest) = 1 / 8%:R.
Proof.
have E : honest =1 (fun h => has (fun i => first_right (drop i h) &&
    (~~ has id (take i h) && (1 < size (take i h))%N)) (iota 0 (size h))).
  by move=> h; apply: eq_has => i; rewrite /states accepted.
by rewrite chance_mean /mean_after !big_bool !(ever_eq E) /= /coin; field.
Qed.
End Opener.

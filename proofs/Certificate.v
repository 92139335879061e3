(* The certificate rule. Whatever is opened, whenever, from whatever was seen: all capital, that of open attempts and
   what is not spent yet, is one supermartingale that starts at delta; Ville's inequality is applied to it once. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Fidelitree Require Import Statements Bets Ville.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* Sums over lists whose members cannot be compared. *)
Section Lists.
Variables (R : realFieldType) (T : Type).
Implicit Types (s : seq T) (F G : T -> R).

Lemma list_sum_le s F G : (forall v, List.In v s -> F v <= G v) -> \sum_(v <- s) F v <= \sum_(v <- s) G v.
Proof.
elim: s => [|v s IH] FG; first by rewrite !big_nil.
by rewrite !big_cons ler_add ?FG ?IH //=; [left | move=> w ws; apply: FG; right].
Qed.

Lemma list_sum_ge0 s F : (forall v, List.In v s -> 0 <= F v) -> 0 <= \sum_(v <- s) F v.
Proof. by move=> F0; apply: le_trans (list_sum_le F0); rewrite big1. Qed.

Lemma list_sum_le0 s F : (forall v, List.In v s -> F v <= 0) -> \sum_(v <- s) F v <= 0.
Proof. by move=> F0; apply: le_trans (list_sum_le F0) _; rewrite big1. Qed.

Lemma list_term_le s F v : List.In v s -> (forall w, List.In w s -> 0 <= F w) -> F v <= \sum_(w <- s) F w.
Proof.
elim: s => [|u s IH] //= [->|vs] F0; rewrite big_cons.
  by rewrite ler_addl list_sum_ge0 // => w ws; apply: F0; right.
by rewrite -[X in X <= _]add0r ler_add ?F0 ?IH //; [left | move=> w ws; apply: F0; right].
Qed.

(* The library's exchange of sums does not reach lists of records with functions in them. *)
Lemma list_mean (X : finType) s (w : X -> R) (F : X -> T -> R) :
  \sum_x (w x * \sum_(v <- s) F x v) = \sum_(v <- s) \sum_x w x * F x v.
Proof.
elim: s => [|v s IH]; first by rewrite big_nil big1 // => x _; rewrite big_nil mulr0.
by rewrite big_cons -IH -big_split; apply: eq_bigr => x _; rewrite big_cons mulrDr.
Qed.

Lemma has_in s (P : pred T) : has P s -> exists2 v, List.In v s & P v.
Proof.
elim: s => //= v s IH /orP[Pv|/IH [w ws Pw]]; first by exists v => //; left.
by exists w => //; right.
Qed.
End Lists.

Section Game.
Variables (R : realFieldType) (X : finType) (mu : X -> R) (opens : seq X -> seq (attempt R X)) (delta : R).
Hypothesis rules : sound mu opens delta.
Implicit Types (A : attempt R X) (h since before : seq X).
Let mu_distribution : distribution mu. Proof. by case: rules. Qed.
Let mu_ge0 := mu_ge0 mu_distribution.
Let mu_one := mu_one mu_distribution.
Let level_ge0 h A : List.In A (opens h) -> 0 <= level A. Proof. by case: rules => _ + _ => /[apply] -[]. Qed.
Let moments_spread h A : List.In A (opens h) -> spread (moments A). Proof. by case: rules => _ + _ => /[apply] -[]. Qed.

Lemma error_le1 A : error_of mu A <= 1.
Proof. by rewrite -mu_one [X in _ <= X](bigID (mem (wrong A))) /= ler_addl sumr_ge0. Qed.

(* What an attempt has made of its level: the e-value against its own true error. Where that is 1, no right answer
   ever comes. *)
Definition capital A (km : nat * nat) : R :=
  if error_of mu A < 1 then level A * e_value (moments A) (error_of mu A) km.1 km.2
  else if km.2 == 0%N then level A * moments A km.1 0%N else 1.
Definition capital_at A since before := capital A (tally A since before).
Arguments capital_at : simpl never.

Lemma next_mean A (w : nat * nat -> R) k m :
  \sum_x mu x * w (if x \in wrong A then (k.+1, m) else (k, m.+1))
  = error_of mu A * w (k.+1, m) + (1 - error_of mu A) * w (k, m.+1).
Proof.
have -> : 1 - error_of mu A = \sum_(x | x \notin wrong A) mu x.
  by rewrite -mu_one (bigID (mem (wrong A))) /= /error_of addrC addKr.
rewrite (bigID (mem (wrong A))) /= /error_of !mulr_suml; congr (_ + _); first by apply: eq_bigr => x ->.
by apply: eq_bigr => x /negbTE ->.
Qed.

Lemma capital_super h A since before : List.In A (opens h) ->
  \sum_x mu x * capital_at A (x :: since) before <= capital_at A since before.
Proof.
move=> Ah; have [l0 sp] := (level_ge0 Ah, moments_spread Ah); rewrite /capital_at /=.
case: (tally A since before) => k m; case: (counts A _) => /=; last by rewrite -mulr_suml mu_one mul1r.
rewrite next_mean /capital /=; case: ifP => e1.
  rewrite mulrCA [X in _ + X]mulrCA -mulrDr ler_wpmul2l //; exact: e_value_supermartingale.
have -> : error_of mu A = 1 by apply/eqP; rewrite eq_le error_le1 leNgt e1.
rewrite subrr mul0r addr0 mul1r; case: ifP => // _; rewrite ler_wpmul2l //.
by rewrite [X in _ <= X](moment_split sp) ler_addl moment_ge0.
Qed.

Lemma capital_ge0 h A since before : List.In A (opens h) -> 0 <= capital_at A since before.
Proof.
move=> Ah; have [l0 sp] := (level_ge0 Ah, moments_spread Ah); rewrite /capital_at /capital.
case: ifP => e1; first by rewrite mulr_ge0 ?e_value_ge0.
by case: ifP => _; rewrite ?ler01 // mulr_ge0 // moment_ge0.
Qed.

Lemma capital_start h A before : List.In A (opens h) -> capital_at A [::] before = level A.
Proof.
by move=> /moments_spread sp; rewrite /capital_at /capital /= e_value_start // moment_one // mulr1; case: ifP.
Qed.

(* All of it: what is not spent, and what the open attempts have. *)
Definition wealth h : R :=
  delta + \sum_(i < (size h).+1) \sum_(A <- opens (drop i h)) (capital_at A (take i h) (drop i h) - level A).

Lemma wealthE h : wealth h = (delta - spent opens h)
  + \sum_(i < (size h).+1) \sum_(A <- opens (drop i h)) capital_at A (take i h) (drop i h).
Proof.
rewrite /wealth /spent -addrA; congr (_ + _); rewrite addrC -sumrB.
by apply: eq_bigr => i _; rewrite sumrB.
Qed.

Lemma unspent_ge0 h : 0 <= delta - spent opens h.
Proof. by rewrite subr_ge0; case: rules. Qed.

Lemma wealth_super h : \sum_x mu x * wealth (x :: h) <= wealth h.
Proof.
pose new x := \sum_(A <- opens (x :: h)) (capital_at A [::] (x :: h) - level A).
pose old x := \sum_(i < (size h).+1) \sum_(A <- opens (drop i h))
  (capital_at A (x :: take i h) (drop i h) - level A).
rewrite (eq_bigr (fun x => mu x * delta + (mu x * new x + mu x * old x))); last first.
  by move=> x _; rewrite /wealth big_ord_recl /= -!mulrDr.
rewrite big_split /= -mulr_suml mu_one mul1r ler_add2l big_split /=.
rewrite [X in X + _]big1 ?add0r; last first.
  move=> x _; rewrite /new; suff -> : \sum_(A <- opens (x :: h)) (capital_at A [::] (x :: h) - level A) = 0.
    by rewrite mulr0.
  apply/eqP; rewrite eq_le list_sum_le0 ?list_sum_ge0 // => A Ah; by rewrite (capital_start _ Ah) subrr.
rewrite /old (eq_bigr (fun x => \sum_(i < (size h).+1) mu x * \sum_(A <- opens (drop i h))
  (capital_at A (x :: take i h) (drop i h) - level A))); last by move=> x _; rewrite mulr_sumr.
rewrite exchange_big /=; apply: ler_sum => i _.
rewrite (list_mean _ mu (fun x A => capital_at A (x :: take i h) (drop i h) - level A)); apply: list_sum_le => A Ah.
rewrite (eq_bigr (fun x => mu x * capital_at A (x :: take i h) (drop i h) - mu x * level A)); last first.
  by move=> x _; rewrite mulrBr.
by rewrite sumrB -mulr_suml mu_one mul1r ler_add2r (capital_super _ _ Ah).
Qed.

Lemma wealth_ge0 h : 0 <= wealth h.
Proof.
rewrite wealthE addr_ge0 ?unspent_ge0 //; apply: sumr_ge0 => i _; apply: list_sum_ge0 => A Ah.
exact: capital_ge0 Ah.
Qed.

Lemma wealth_start : wealth [::] = delta.
Proof.
rewrite /wealth big_ord_recl big_ord0 addr0 /= -[RHS]addr0; congr (_ + _).
by apply/eqP; rewrite eq_le list_sum_le0 ?list_sum_ge0 // => A Ah; rewrite (capital_start _ Ah) subrr.
Qed.

Lemma capital_wealth h i A : opened opens h i A -> capital_at A (take i h) (drop i h) <= wealth h.
Proof.
move=> [ih Ai]; rewrite wealthE -[X in X <= _]add0r ler_add ?unspent_ge0 //.
rewrite (bigD1 (Ordinal (n := (size h).+1) (m := i) ih)) //= -[X in X <= _]addr0 ler_add //.
  by apply: (list_term_le (F := fun A => capital_at A (take i h) (drop i h)) Ai) => B Bi; exact: capital_ge0 Bi.
by apply: sumr_ge0 => j _; apply: list_sum_ge0 => B Bj; exact: capital_ge0 Bj.
Qed.

(* A false bound of an attempt shows that its capital has reached 1. *)
Lemma false_capital h i A eps : opened opens h i A -> states h i A eps -> eps <= error_of mu A ->
  1 <= capital_at A (take i h) (drop i h).
Proof.
move=> [_ Ai] /andP[e1 acc] ee; rewrite /capital_at /capital; case: ifP => p1.
  apply: le_trans acc _; rewrite ler_wpmul2l ?(level_ge0 Ai) //; apply: e_value_mono => //; exact: moments_spread Ai.
by case: ifP => // /eqP m0; move: acc; rewrite m0.
Qed.
End Game.

Section Theorems.
Variables (R : realFieldType) (X : finType) (mu : X -> R) (opens : seq X -> seq (attempt R X)).

Theorem certificate_rule_holds : certificate_rule mu opens.
Proof.
move=> delta n bad rules fb; rewrite -(wealth_start rules); have [md _ _] := rules.
apply: (ville md n (wealth_super rules) (wealth_ge0 rules)) => h /fb [i [A [eps [op st ee]]]].
exact: le_trans (false_capital rules op st ee) (capital_wealth rules op).
Qed.

Theorem any_choice_holds : any_choice mu opens.
Proof.
move=> delta n said rules ok; apply: certificate_rule_holds (rules) _ => h /has_in [[[i A] eps] b /= ee].
by have [op st] := ok _ _ _ _ b; exists i, A, eps.
Qed.

Lemma error_complement (A B : attempt R X) : distribution mu -> wrong B = ~: wrong A ->
  error_of mu B = 1 - error_of mu A.
Proof.
move=> [_]; rewrite (bigID (mem (wrong A))) /= => <- BA; rewrite addrAC subrr add0r /error_of BA.
by apply: eq_bigl => x; rewrite inE.
Qed.

Theorem intervals_hold : intervals mu opens.
Proof.
move=> delta n said rules ok; apply: certificate_rule_holds (rules) _ => h /has_in [[[[[i A] B] low] high] b /=].
have [BA opA opB stA stB] := ok _ _ _ _ _ _ b; rewrite negb_and -!leNgt => /orP[] ee; last by exists i, A, high.
exists i, B, (1 - low); split=> //; rewrite (error_complement _ BA); last by case: rules.
by rewrite ler_add2l ler_opp2.
Qed.
End Theorems.

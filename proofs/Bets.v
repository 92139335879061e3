(* The e-value: at the true error a martingale, at larger errors a supermartingale, and monotone in eps. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From Fidelitree Require Import Statements.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Bets.
Variables (R : realFieldType) (d : nat -> nat -> R).
Hypothesis spread_d : spread d.
Implicit Types (eps p r s : R) (a b c k m : nat).

Lemma moment_ge0 a b : 0 <= d a b. Proof. by case: spread_d. Qed.
Lemma moment_split a b : d a b = d a.+1 b + d a b.+1. Proof. by case: spread_d. Qed.
Lemma moment_one : d 0%N 0%N = 1. Proof. by case: spread_d. Qed.

Lemma bet_ge0 r a b c : 0 <= r -> 0 <= bet d r a b c.
Proof.
move=> r0; elim: c a b => [|c IH] a b /=; first exact: moment_ge0.
by rewrite addr_ge0 ?mulr_ge0.
Qed.

Lemma bet_split r a b c : bet d r a b c = bet d r a.+1 b c + bet d r a b.+1 c.
Proof.
elim: c a b => [|c IH] a b /=; first exact: moment_split.
rewrite (IH a.+1 b) (IH a b.+1); ring.
Qed.

Lemma bet_mono r s a b c : 0 <= r -> r <= s -> bet d r a b c <= bet d s a b c.
Proof.
move=> r0 rs; elim: c a b => [|c IH] a b //=.
by rewrite ler_add // ler_pmul // bet_ge0.
Qed.

Lemma inverse_ge0 eps : eps < 1 -> 0 <= (1 - eps)^-1.
Proof. by move=> e1; rewrite invr_ge0 subr_ge0 ltW. Qed.

Lemma e_value_ge0 eps k m : eps < 1 -> 0 <= e_value d eps k m.
Proof. by move=> e1; exact/bet_ge0/inverse_ge0. Qed.

Lemma e_value_start eps : e_value d eps 0 0 = 1.
Proof. exact: moment_one. Qed.

(* At the true error the mean of the next e-value is the present one ... *)
Lemma e_value_martingale eps k m : eps < 1 ->
  eps * e_value d eps k.+1 m + (1 - eps) * e_value d eps k m.+1 = e_value d eps k m.
Proof.
move=> e1; rewrite /e_value /= mulrDr mulrA divff ?mul1r; last by rewrite subr_eq0 eq_sym lt_eqF.
by rewrite [RHS]bet_split addrA; congr (_ + _); ring.
Qed.

Lemma e_value_error eps k m : eps < 1 -> e_value d eps k.+1 m <= e_value d eps k m.+1.
Proof. by move=> e1; rewrite /e_value /= ler_addl mulr_ge0 ?bet_ge0 ?inverse_ge0. Qed.

(* ... and at every larger error it is no larger. *)
Lemma e_value_supermartingale eps p k m : eps < 1 -> eps <= p ->
  p * e_value d eps k.+1 m + (1 - p) * e_value d eps k m.+1 <= e_value d eps k m.
Proof.
move=> e1 ep; rewrite -(e_value_martingale k m e1) -subr_ge0.
have -> : eps * e_value d eps k.+1 m + (1 - eps) * e_value d eps k m.+1
   - (p * e_value d eps k.+1 m + (1 - p) * e_value d eps k m.+1)
   = (p - eps) * (e_value d eps k m.+1 - e_value d eps k.+1 m) by ring.
by rewrite mulr_ge0 ?subr_ge0 ?e_value_error.
Qed.

(* What is accepted at some bound is accepted at every larger one: one attempt's bounds hold at all eps together. *)
Lemma e_value_mono eps p k m : eps <= p -> p < 1 -> e_value d eps k m <= e_value d p k m.
Proof.
move=> ep p1; have e1 := le_lt_trans ep p1; apply: bet_mono; first exact: inverse_ge0.
by rewrite lef_pinv ?posrE ?subr_gt0 // ler_add2l ler_opp2.
Qed.
End Bets.

(* The spreads of the code. *)
Section Spreads.
Variable R : realFieldType.
Implicit Types (w : R) (d e : nat -> nat -> R).

Lemma spread_point0 : spread (fun a _ : nat => (a == 0%N)%:R : R).
Proof. by split=> [a b|a b|] //; rewrite ?ler0n // add0r. Qed.

Lemma factorial_neq0 m : m`!%:R != 0 :> R. Proof. by rewrite pnatr_eq0 -lt0n fact_gt0. Qed.

Lemma spread_triangle : spread (@triangle R).
Proof.
rewrite /triangle; split=> [a b|a b|].
- by rewrite mulr_ge0 ?invr_ge0 ?mulr_ge0 ?ler0n.
- rewrite addSn addnS !factS !natrM.
  have -> : (a + b).+3%:R = a.+1%:R + b.+2%:R :> R by rewrite -natrD addSn !addnS.
  by field; rewrite factorial_neq0 -!natrD -!mulrS -!natrD !pnatr_eq0.
- by rewrite /= mulr1 divff // pnatr_eq0.
Qed.

Lemma spread_even : spread (@even_ R).
Proof.
rewrite /even_; split=> [a b|a b|].
- by rewrite mulr_ge0 ?invr_ge0 ?ler0n.
- rewrite addSn addnS !factS !natrM.
  have -> : (a + b).+2%:R = a.+1%:R + b.+1%:R :> R by rewrite -natrD addSn !addnS.
  by field; rewrite factorial_neq0 -!natrD -!mulrS -!natrD !pnatr_eq0.
- by rewrite /= divff // pnatr_eq0.
Qed.

Lemma spread_mix w v d e : 0 <= w -> 0 <= v -> w + v = 1 -> spread d -> spread e ->
  spread (fun a b => w * d a b + v * e a b).
Proof.
move=> w0 v0 wv [d0 ds d1] [e0 es e1]; split=> [a b|a b|]; first by rewrite addr_ge0 ?mulr_ge0.
  by rewrite ds es; ring.
by rewrite d1 e1 !mulr1.
Qed.

Lemma spread_upper : spread (@upper R).
Proof.
apply: spread_mix spread_point0 spread_triangle; rewrite ?divr_ge0 ?ler0n ?ler01 //.
by rewrite -mulrDl -(natrD _ 1 3) divff // pnatr_eq0.
Qed.
End Spreads.

(* Ville's inequality for inputs drawn one after another, over a finite horizon and any ordered field. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Fidelitree Require Import Statements.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Ville.
Variables (R : realFieldType) (X : finType) (mu : X -> R).
Hypothesis mu_distribution : distribution mu.
Implicit Types (h : seq X) (F V : seq X -> R) (P Q : pred (seq X)).

Lemma mu_ge0 x : 0 <= mu x. Proof. by case: mu_distribution. Qed.
Lemma mu_one : \sum_x mu x = 1. Proof. by case: mu_distribution. Qed.

(* The mean of F after n more inputs. *)
Fixpoint mean_after n F h : R := if n is n'.+1 then \sum_x mu x * mean_after n' F (x :: h) else F h.

Lemma mean_after_tuples n F h :
  mean_after n F h = \sum_(t : n.-tuple X) (\prod_(x <- t) mu x) * F (catrev t h).
Proof.
elim: n h => [|n IH] h /=.
  rewrite (eq_bigr (fun _ => F h)); last by move=> t _; rewrite (tuple0 t) big_nil mul1r.
  by rewrite sumr_const card_tuple expn0.
rewrite (reindex (fun z : X * n.-tuple X => [tuple of z.1 :: z.2])) /=; last first.
  exists (fun t : n.+1.-tuple X => (thead t, [tuple of behead t])) => [[x t]|t] _ /=.
    by rewrite theadE; congr pair; apply/val_inj.
  by rewrite [RHS]tuple_eta; apply/val_inj.
rewrite -(pair_bigA _ (fun x (t : n.-tuple X) => (\prod_(y <- x :: t) mu y) * F (catrev (x :: t) h))) /=.
apply: eq_bigr => x _; rewrite IH mulr_sumr; apply: eq_bigr => t _.
by rewrite big_cons /= mulrA.
Qed.

Lemma chance_mean n P : chance mu n P = mean_after n (fun h => (P h)%:R) [::].
Proof. by rewrite mean_after_tuples; apply: eq_bigr => t _; rewrite /rev. Qed.

Lemma ville_from V P n h : (forall h, \sum_x mu x * V (x :: h) <= V h) -> (forall h, 0 <= V h) ->
  (forall h, P h -> 1 <= V h) ->
  mean_after n (fun h => (ever P h)%:R) h <= if ever P h then 1 else V h.
Proof.
move=> VS V0 PV; elim: n h => [|n IH] h /=; first by case: ifP.
case: ifP => Eh.
  rewrite -[X in _ <= X]mu_one; apply: ler_sum => x _; rewrite -[X in _ <= X]mulr1 ler_wpmul2l ?mu_ge0 //.
  by apply: le_trans (IH _) _; rewrite /= Eh orbT.
apply: le_trans (VS h); apply: ler_sum => x _; rewrite ler_wpmul2l ?mu_ge0 //.
by apply: le_trans (IH _) _; rewrite /= Eh orbF; case: ifP => // /PV.
Qed.

(* A non-negative supermartingale ever reaches 1 with chance at most its start. *)
Lemma ville V P n : (forall h, \sum_x mu x * V (x :: h) <= V h) -> (forall h, 0 <= V h) ->
  (forall h, P h -> 1 <= V h) -> chance mu n (ever P) <= V [::].
Proof.
move=> VS V0 PV; rewrite chance_mean; apply: le_trans (ville_from n [::] VS V0 PV) _.
by case: ifP => //= /orP[] // /PV.
Qed.
End Ville.

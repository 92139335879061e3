(* A tree cut down to a region: no taller, and on average no deeper. The caps on influence. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From Fidelitree Require Import Statements Product Osss Labels.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Cut.
Variables (R : realFieldType) (n : nat) (A L : finType) (p : 'I_n -> A -> R).
Hypothesis product_p : product p.
Implicit Types (t : tree n A L) (i : 'I_n) (a : A) (f : input n A -> L).
Let p_ge0 := p_ge0 product_p.
Let p_one := p_one product_p.
Notation depth := (depth p).

Fixpoint cut t i a : tree n A L :=
  match t with
  | Leaf c => Leaf n A c
  | Node j s => if j == i then cut (s a) i a else Node j (fun b => cut (s b) i a)
  end.

Lemma cut_run t i a : run (cut t i a) =1 fixed (run t) i a.
Proof.
move=> x; rewrite /fixed; elim: t => //= j s IH; rewrite ffunE.
by case: eqP => _ /=; rewrite IH.
Qed.

Lemma cut_reads t i a k : reads k (cut t i a) -> reads k t.
Proof.
elim: t => //= j s IH; case: eqP => _ /=.
  by move=> /IH h; apply/orP; right; apply/existsP; exists a.
by case/orP=> [->//|/existsP[b /IH h]]; apply/orP; right; apply/existsP; exists b.
Qed.

Lemma cut_once t i a : once t -> once (cut t i a).
Proof.
elim: t => //= j s IH /forallP ok; case: eqP => _ /=; first by have /andP[_ /IH] := ok a.
apply/forallP => b; have /andP[r /IH ->] := ok b; rewrite andbT; apply: contra r; exact: cut_reads.
Qed.

Lemma cut_height t i a : (height (cut t i a) <= height t)%N.
Proof.
elim: t => //= j s IH; case: eqP => _ /=.
  by apply: leq_trans (IH a) _; apply: leqW; exact: (leq_bigmax (F := fun b => height (s b))).
rewrite ltnS; apply/bigmax_leqP => b _; apply: leq_trans (IH b) _; exact: (leq_bigmax (F := fun b => height (s b))).
Qed.

Lemma cut_unread t i a : ~~ reads i t -> depth (cut t i a) = depth t.
Proof.
elim: t => //= j s IH; rewrite negb_or negb_exists eq_sym => /andP[/negbTE -> /forallP r] /=.
by congr (_ + _); apply: eq_bigr => b _; rewrite IH.
Qed.

Lemma cut_depth t i : once t -> \sum_a p i a * depth (cut t i a) <= depth t.
Proof.
elim: t => [c|j s IH] /=; first by rewrite big1 // => a _; rewrite mulr0.
move=> /forallP ok; case: (j =P i) => [ji|_] /=.
  under eq_bigr => a _ do (rewrite cut_unread; last by rewrite -ji; have /andP[] := ok a).
  by rewrite ji ler_addr ler01.
under eq_bigr do rewrite mulrDr mulr1 mulr_sumr; rewrite big_split /= p_one ler_add2l exchange_big /=.
apply: ler_sum => b _; under eq_bigr do rewrite mulrCA; rewrite -mulr_sumr ler_wpmul2l // IH //.
by have /andP[] := ok b.
Qed.

(* Along a path. *)
Definition cut_path t (v : leaf n A) := foldr (fun e t => cut t e.1 e.2) t v.

Lemma inside_ext f g (v : leaf n A) : f =1 g -> inside f v =1 inside g v.
Proof. by move=> fg; elim: v => //= e v IH x; rewrite /fixed IH. Qed.

Lemma cut_path_computes t f v : computes t f -> computes (cut_path t v) (inside f v).
Proof.
move=> [ok tf]; elim: v => [|e v [o r]] //=; split; first exact: cut_once.
by move=> x; rewrite cut_run /fixed r.
Qed.

Lemma cut_path_height t v : (height (cut_path t v) <= height t)%N.
Proof. by elim: v => //= e v; apply: leq_trans; exact: cut_height. Qed.

Lemma height_regions t f : computes t f -> regions_within p f (height t)%:R.
Proof.
move=> tf v; exists (cut_path t v); split; first exact: cut_path_computes.
by apply: le_trans (depth_height product_p _) _; rewrite ler_nat cut_path_height.
Qed.
End Cut.

Section Caps.
Variables (R : realFieldType) (n : nat) (A L : finType) (p : 'I_n -> A -> R).
Hypothesis product_p : product p.
Implicit Types (t : tree n A L) (f : input n A -> L).
Let p_ge0 := p_ge0 product_p.
Let p_one := p_one product_p.

Lemma total_leaf (c : L) : total p (run (Leaf n A c)) = 0.
Proof. by rewrite /total big1 // => i _; exact: influence_const. Qed.

Lemma total_height t : once t -> total p (run t) <= (height t)%:R * gini p (run t).
Proof.
elim: t => [c|j s IH] ok; first by rewrite total_leaf mul0r.
rewrite (cost_drop_holds product_p _ j); set f := run (Node j s); rewrite [height _]/=; set m := \max_a _.
rewrite mulrS mulrDl mul1r ler_add ?influence_gini //.
apply: (@le_trans _ _ (\sum_a p j a * (m%:R * gini p (fixed f j a)))).
  apply: ler_sum => a _; rewrite ler_wpmul2l // (total_ext p (fixed_child a ok)) (gini_ext p (fixed_child a ok)).
  apply: le_trans (IH a (once_child a ok)) _.
  rewrite ler_wpmul2r ?gini_ge0 // ler_nat; exact: (leq_bigmax (F := fun a => height (s a))).
under eq_bigr do rewrite mulrCA; rewrite -mulr_sumr ler_wpmul2l ?ler0n //; exact: gini_split.
Qed.

Lemma total_depth t : once t -> total p (run t) <= (1 - #|L|%:R^-1) * depth p t.
Proof.
elim: t => [c|j s IH] ok; first by rewrite total_leaf mulr0.
rewrite (cost_drop_holds product_p _ j) mulrDr mulr1 ler_add //.
  exact: le_trans (influence_gini product_p j _) (gini_cap product_p _).
rewrite mulr_sumr; apply: ler_sum => a _; rewrite (total_ext p (fixed_child a ok)) mulrCA ler_wpmul2l //.
exact: IH (once_child a ok).
Qed.

Theorem influence_caps_hold f t i : computes t f -> [/\ influence p i f <= gini p f,
  total p f <= (height t)%:R * gini p f & total p f <= (1 - #|L|%:R^-1) * depth p t].
Proof.
move=> [ok tf]; split; first exact: influence_gini.
  by rewrite -(total_ext p tf) -(gini_ext p tf) total_height.
by rewrite -(total_ext p tf) total_depth.
Qed.
End Caps.

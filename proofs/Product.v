(* Independent coordinates over a finite alphabet: re-drawing, influences, and what a split does to them. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Fidelitree Require Import Statements.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Put.
Variables (n : nat) (A : finType).
Implicit Types (x : input n A) (i j : 'I_n) (a b : A).

Lemma put_put x i a b : put (put x i a) i b = put x i b.
Proof. by apply/ffunP => j; rewrite !ffunE; case: eqP. Qed.

Lemma put_putC x i j a b : i != j -> put (put x i a) j b = put (put x j b) i a.
Proof. by move=> ij; apply/ffunP => k; rewrite !ffunE; case: eqP => // ->; rewrite eq_sym (negbTE ij). Qed.

Lemma put_id x i : put x i (x i) = x.
Proof. by apply/ffunP => j; rewrite ffunE; case: eqP => // ->. Qed.

Lemma put_at x i a : put x i a i = a. Proof. by rewrite ffunE eqxx. Qed.
End Put.

Section Means.
Variables (R : realFieldType) (n : nat) (A : finType) (p : 'I_n -> A -> R).
Hypothesis product_p : product p.
Implicit Types (x : input n A) (i j : 'I_n) (a b : A) (F G : input n A -> R) (c : R).
Notation mean := (mean p).

Lemma p_ge0 i a : 0 <= p i a. Proof. by case: (product_p i). Qed.
Lemma p_one i : \sum_a p i a = 1. Proof. by case: (product_p i). Qed.

Let rest i x : R := \prod_(j | j != i) p j (x j).

Lemma rest_put i x a : rest i (put x i a) = rest i x.
Proof. by apply: eq_bigr => j ji; rewrite ffunE (negbTE ji). Qed.

Lemma slice i a b F :
  \sum_(x : input n A | x i == b) rest i x * F (put x i a) = \sum_(x : input n A | x i == a) rest i x * F x.
Proof.
rewrite [RHS](reindex_onto (fun x => put x i a) (fun x => put x i b)) /=; last first.
  by move=> x /eqP <-; rewrite put_put put_id.
apply: eq_big => [x|x _]; last by rewrite rest_put.
rewrite put_at eqxx put_put /=; apply/eqP/eqP => [<-|<-]; last by rewrite put_at.
exact: put_id.
Qed.

Lemma by_slices i F : \sum_(x : input n A) F x = \sum_a \sum_(x : input n A | x i == a) F x.
Proof. by rewrite (partition_big (fun x : input n A => x i) xpredT). Qed.

(* Drawing one coordinate anew changes no mean. *)
Lemma mean_redraw i F : mean F = \sum_a p i a * mean (fixed F i a).
Proof.
have W x : \prod_j p j (x j) = p i (x i) * rest i x by rewrite (bigD1 i).
have M a : mean (fixed F i a) = \sum_(x : input n A | x i == a) rest i x * F x.
  rewrite /Statements.mean (by_slices i) -[RHS]mul1r -[X in _ = X * _](p_one i) mulr_suml; apply: eq_bigr => b _.
  rewrite -(slice i a b F) mulr_sumr; apply: eq_bigr => x /eqP xb; by rewrite W xb mulrA.
rewrite {1}/Statements.mean (by_slices i); apply: eq_bigr => a _; rewrite M mulr_sumr.
by apply: eq_bigr => x /eqP xa; rewrite W xa mulrA.
Qed.

Lemma weight_ge0 x : 0 <= \prod_i p i (x i). Proof. by apply: prodr_ge0 => i _; exact: p_ge0. Qed.
Lemma weight_one : \sum_(x : input n A) \prod_i p i (x i) = 1.
Proof. by rewrite -(bigA_distr_bigA p) big1 // => i _; exact: p_one. Qed.
Lemma mean_const c : mean (fun _ => c) = c.
Proof. by rewrite /Statements.mean -mulr_suml weight_one mul1r. Qed.
Lemma meanD F G : mean (fun x => F x + G x) = mean F + mean G.
Proof. by rewrite -big_split; apply: eq_bigr => x _; rewrite mulrDr. Qed.
Lemma meanZ c F : mean (fun x => c * F x) = c * mean F.
Proof. by rewrite mulr_sumr; apply: eq_bigr => x _; rewrite mulrCA. Qed.
Lemma mean_le F G : (forall x, F x <= G x) -> mean F <= mean G.
Proof. by move=> FG; apply: ler_sum => x _; rewrite ler_wpmul2l ?weight_ge0. Qed.
Lemma mean_ge0 F : (forall x, 0 <= F x) -> 0 <= mean F.
Proof. by move=> F0; rewrite -(mean_const 0); exact: mean_le. Qed.
Lemma mean_eq F G : F =1 G -> mean F = mean G.
Proof. by move=> FG; apply: eq_bigr => x _; rewrite FG. Qed.
Lemma mean_sum (I : finType) (F : I -> input n A -> R) : mean (fun x => \sum_k F k x) = \sum_k mean (F k).
Proof. by rewrite exchange_big; apply: eq_bigr => x _; rewrite mulr_sumr. Qed.
End Means.

Section Influences.
Variables (R : realFieldType) (n : nat) (A L : finType) (p : 'I_n -> A -> R).
Hypothesis product_p : product p.
Implicit Types (i j : 'I_n) (a b : A) (f g : input n A -> L) (c d e : L).
Notation mean := (mean p).
Notation influence := (influence p).
Notation total := (total p).
Notation gini := (gini p).
Notation differ := (differ R).

Lemma differ_sym c d : differ c d = differ d c. Proof. by rewrite /Statements.differ eq_sym. Qed.
Lemma differ_same c : differ c c = 0. Proof. by rewrite /Statements.differ eqxx. Qed.
Lemma differ_triangle c d e : differ c e <= differ c d + differ d e.
Proof.
rewrite /Statements.differ -natrD ler_nat; case: (c =P d) => [->|_] //=.
exact: leq_trans (leq_b1 _) (leq_addr _ _).
Qed.

Lemma influence_ext i f g : f =1 g -> influence i f = influence i g.
Proof. by move=> fg; apply: eq_bigr => a _; congr (_ * _); apply: mean_eq => x; rewrite /fixed !fg. Qed.
Lemma total_ext f g : f =1 g -> total f = total g.
Proof. by move=> fg; apply: eq_bigr => i _; exact: influence_ext. Qed.
Lemma gini_ext f g : f =1 g -> gini f = gini g.
Proof. by move=> fg; apply: mean_eq => x; apply: mean_eq => y; rewrite !fg. Qed.

Lemma influence_ge0 i f : 0 <= influence i f.
Proof. by apply: sumr_ge0 => a _; rewrite mulr_ge0 ?p_ge0 // mean_ge0 // => x; exact: ler0n. Qed.
Lemma total_ge0 f : 0 <= total f. Proof. by apply: sumr_ge0 => i _; exact: influence_ge0. Qed.
Lemma gini_ge0 f : 0 <= gini f.
Proof. by apply: mean_ge0 => // x; apply: mean_ge0 => // y; exact: ler0n. Qed.

Lemma influence_const i c : influence i (fun _ => c) = 0.
Proof.
rewrite /Statements.influence big1 // => a _; rewrite (mean_eq p (G := fun _ => 0)) ?mean_const ?mulr0 // => x.
exact: differ_same.
Qed.

Lemma influence_fixed i f a : influence i (fixed f i a) = 0.
Proof.
rewrite /Statements.influence big1 // => b _; rewrite (mean_eq p (G := fun _ => 0)) ?mean_const ?mulr0 // => x.
by rewrite /fixed put_put differ_same.
Qed.

Lemma influence_other i j f : i != j -> influence j f = \sum_a p i a * influence j (fixed f i a).
Proof.
move=> ij; rewrite /Statements.influence; under [RHS]eq_bigr do rewrite mulr_sumr.
rewrite exchange_big /=; apply: eq_bigr => b _; rewrite (mean_redraw product_p i) mulr_sumr; apply: eq_bigr => a _.
by rewrite mulrCA; do 2 congr (_ * _); apply: mean_eq => x; rewrite /fixed put_putC.
Qed.

(* A split on i lowers the total influence, averaged over the parts, by exactly the influence of i. *)
Theorem cost_drop_holds f i : total f = influence i f + \sum_a p i a * total (fixed f i a).
Proof.
rewrite /Statements.total (bigD1 i) //=; congr (_ + _).
under [RHS]eq_bigr do rewrite mulr_sumr; rewrite [RHS]exchange_big /= [RHS](bigD1 i) //=.
rewrite [X in _ = X + _]big1 ?add0r; last by move=> a _; rewrite influence_fixed mulr0.
by apply: eq_bigr => j ji; apply: influence_other; rewrite eq_sym.
Qed.
End Influences.

(* Trees, and the inequality of O'Donnell, Saks, Schramm and Servedio for any function of any product space. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Fidelitree Require Import Statements Product.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Osss.
Variables (R : realFieldType) (n : nat) (A L : finType) (p : 'I_n -> A -> R).
Hypothesis product_p : product p.
Implicit Types (t : tree n A L) (i j : 'I_n) (a : A) (f : input n A -> L) (x y : input n A).
Notation mean := (mean p).
Notation influence := (influence p).
Notation read_chance := (read_chance p).
Notation depth := (depth p).
Notation differ := (differ R).
Let p_ge0 := p_ge0 product_p.
Let p_one := p_one product_p.

Lemma run_put i t x a : ~~ reads i t -> run t (put x i a) = run t x.
Proof.
elim: t => //= j s IH; rewrite negb_or negb_exists => /andP[ij /forallP r].
by rewrite ffunE eq_sym (negbTE ij) IH.
Qed.

Lemma once_unread j s a : once (@Node n A L j s) -> ~~ reads j (s a).
Proof. by move=> /forallP /(_ a) /andP[]. Qed.
Lemma once_child j s a : once (@Node n A L j s) -> once (s a).
Proof. by move=> /forallP /(_ a) /andP[]. Qed.

Lemma fixed_child j s a : once (@Node n A L j s) -> fixed (run (Node j s)) j a =1 run (s a).
Proof. by move=> ok x; rewrite /fixed /= put_at run_put // once_unread. Qed.

Lemma depth_reads t : depth t = \sum_i read_chance i t.
Proof.
elim: t => [c|j s IH] /=; first by rewrite big1.
rewrite big_split /= [X in _ = X + _](bigD1 j) //= eqxx [X in _ = _ + X + _]big1 ?addr0; last first.
  by move=> i /negbTE ->.
rewrite [in RHS]exchange_big /=; congr (_ + _); apply: eq_bigr => a _; by rewrite IH mulr_sumr.
Qed.

Lemma read_chance_ge0 i t : 0 <= read_chance i t.
Proof.
elim: t => //= j s IH; rewrite addr_ge0 ?ler0n // sumr_ge0 // => a _; exact: mulr_ge0.
Qed.

Lemma depth_ge0 t : 0 <= depth t.
Proof. by rewrite depth_reads sumr_ge0 // => i _; exact: read_chance_ge0. Qed.

Lemma depth_height t : depth t <= (height t)%:R.
Proof.
elim: t => //= j s IH; rewrite mulrS ler_add2l; set m := \max_a _.
apply: (@le_trans _ _ (\sum_a p j a * m%:R)); last by rewrite -mulr_suml p_one mul1r.
apply: ler_sum => a _; rewrite ler_wpmul2l //; apply: le_trans (IH a) _.
by rewrite ler_nat; exact: (leq_bigmax (F := fun b => height (s b))).
Qed.

(* For a tree and any function, by induction on the tree: the function may be any. *)
Lemma osss_two t f : once t ->
  mean (fun x => mean (fun y => differ (run t x) (f y)))
  <= mean (fun x => differ (run t x) (f x)) + \sum_i read_chance i t * influence i f.
Proof.
elim: t => [c|j s IH].
  by rewrite /= mean_const // big1 ?addr0 // => i _; rewrite mul0r.
move=> ok; have {}IH a := IH a (once_child a ok); have no a := once_unread a ok; rewrite /=.
have -> : \sum_i ((i == j)%:R + \sum_a p j a * read_chance i (s a)) * influence i f
   = influence j f + \sum_a p j a * \sum_i read_chance i (s a) * influence i f.
  under eq_bigr do rewrite mulrDl; rewrite big_split /=; congr (_ + _).
    by rewrite (bigD1 j) //= eqxx mul1r big1 ?addr0 // => i /negbTE ->; rewrite mul0r.
  under eq_bigr do rewrite mulr_suml; rewrite exchange_big /=; apply: eq_bigr => a _.
  by rewrite mulr_sumr; apply: eq_bigr => i _; rewrite mulrA.
rewrite (mean_redraw product_p j) [in X in _ <= X + _](mean_redraw product_p j).
rewrite /Statements.influence addrA -!big_split /=.
apply: ler_sum => a _; rewrite -!mulrDr ler_wpmul2l //.
have -> : mean (fixed (fun x => mean (fun y => differ (run (s (x j)) x) (f y))) j a)
        = mean (fun x => mean (fun y => differ (run (s a) x) (f y))).
  by apply: mean_eq => x; rewrite /fixed put_at run_put.
apply: le_trans (IH a) _; rewrite ler_add2r -meanD; apply: mean_le => // x.
by rewrite /fixed put_at run_put // [X in _ + X]differ_sym; exact: differ_triangle.
Qed.

Theorem osss_holds f t : computes t f -> gini p f <= \sum_i read_chance i t * influence i f.
Proof.
move=> [ok tf]; have := osss_two f ok; rewrite [X in _ <= X + _](mean_eq p (G := fun _ => 0)); last first.
  by move=> x; rewrite tf differ_same.
rewrite mean_const // add0r; apply: le_trans; rewrite le_eqVlt; apply/orP; left; apply/eqP.
by apply: mean_eq => x; rewrite tf.
Qed.

(* The tree that reads everything shows Efron and Stein's inequality. *)
Fixpoint full (s : seq 'I_n) f x : tree n A L :=
  if s is i :: s' then Node i (fun a => full s' f (put x i a)) else Leaf n A (f x).

Lemma full_reads s f x i : reads i (full s f x) -> i \in s.
Proof.
elim: s x => //= j s IH x; rewrite inE => /orP[->//|/existsP[a /IH ->]]; by rewrite orbT.
Qed.

Lemma full_once s f x : uniq s -> once (full s f x).
Proof.
elim: s x => //= j s IH x /andP[js us]; apply/forallP => a; rewrite IH // andbT.
by apply: contra js; exact: full_reads.
Qed.

Lemma full_run s f x y : (forall i, i \notin s -> x i = y i) -> run (full s f x) y = f y.
Proof.
elim: s x => /= [|j s IH] x xy; first by congr f; apply/ffunP => i; exact: xy.
apply: IH => i is_; rewrite ffunE; case: eqP => [->//|/eqP ij].
by rewrite xy // inE negb_or ij.
Qed.

Lemma full_chance s f x i : uniq s -> read_chance i (full s f x) <= 1.
Proof.
move=> us; have: read_chance i (full s f x) = (i \in s)%:R; last by move->; rewrite lern1 leq_b1.
elim: s us x => //= j s IH /andP[js us] x; rewrite inE.
under eq_bigr do rewrite IH //; rewrite -mulr_suml p_one mul1r -natrD; congr (_%:R).
by case: eqP => //= ->; rewrite (negbTE js).
Qed.

Lemma gini_total f : gini p f <= total p f.
Proof.
case: (pickP (predT : pred (input n A))) => [x0 _|none]; last first.
  by move: (weight_one product_p); rewrite big_pred0 => // /eqP; rewrite eq_sym oner_eq0.
have tf : computes (full (enum 'I_n) f x0) f.
  by split; [exact/full_once/enum_uniq | move=> y; apply: full_run => i; rewrite mem_enum].
apply: le_trans (osss_holds tf) _; apply: ler_sum => i _.
by rewrite ler_pimull ?full_chance ?enum_uniq // influence_ge0.
Qed.
End Osss.

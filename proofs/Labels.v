(* Any number of labels: the chance that two draws differ is 1 - sum of squares, so splitting never raises it. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From Fidelitree Require Import Statements Product Osss.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Draws.
Variables (R : realFieldType) (L I : finType) (w : I -> R).
Hypothesis distribution_w : distribution w.
Let w_ge0 k : 0 <= w k. Proof. by case: distribution_w. Qed.
Let w_one : \sum_k w k = 1. Proof. by case: distribution_w. Qed.

Lemma differE (c d : L) : differ R c d = 1 - \sum_l (c == l)%:R * (d == l)%:R.
Proof.
rewrite (bigD1 c) //= eqxx mul1r big1 ?addr0 /differ; last by move=> l /negbTE; rewrite eq_sym => ->; rewrite mul0r.
by rewrite eq_sym; case: eqP => _; rewrite ?subrr ?subr0.
Qed.

Lemma two_draws (g : I -> L) :
  \sum_a w a * (\sum_b w b * differ R (g a) (g b)) = 1 - \sum_l (\sum_a w a * (g a == l)%:R) ^+ 2.
Proof.
pose r l := \sum_a w a * (g a == l)%:R : R.
have inner a : \sum_b w b * differ R (g a) (g b) = 1 - \sum_l (g a == l)%:R * r l.
  rewrite (eq_bigr (fun b => w b - \sum_l (g a == l)%:R * (w b * (g b == l)%:R))); last first.
    by move=> b _; rewrite differE mulrBr mulr1 mulr_sumr; congr (_ - _); apply: eq_bigr => l _; rewrite mulrCA.
  by rewrite sumrB w_one exchange_big; congr (_ - _); apply: eq_bigr => l _; rewrite -mulr_sumr.
rewrite (eq_bigr (fun a => w a - \sum_l r l * (w a * (g a == l)%:R))); last first.
  move=> a _; rewrite inner mulrBr mulr1 mulr_sumr; congr (_ - _); apply: eq_bigr => l _.
  by rewrite mulrA mulrC.
rewrite sumrB w_one exchange_big; congr (_ - _); apply: eq_bigr => l _.
by rewrite -mulr_sumr -/(r l) expr2.
Qed.

(* Jensen for squares. *)
Lemma square_mean (v : I -> R) : (\sum_k w k * v k) ^+ 2 <= \sum_k w k * v k ^+ 2.
Proof.
set m := \sum_k w k * v k; rewrite -subr_ge0.
have -> : \sum_k w k * v k ^+ 2 - m ^+ 2 = \sum_k w k * (v k - m) ^+ 2.
  rewrite [RHS](eq_bigr (fun k => w k * v k ^+ 2 + (m ^+ 2 * w k - 2%:R * m * (w k * v k)))); last by move=> k _; ring.
  by rewrite big_split sumrB -!mulr_sumr w_one -/m /=; ring.
by apply: sumr_ge0 => k _; rewrite mulr_ge0 ?sqr_ge0.
Qed.

Lemma impurity_mean (v : I -> L -> R) :
  \sum_k w k * (1 - \sum_l v k l ^+ 2) <= 1 - \sum_l (\sum_k w k * v k l) ^+ 2.
Proof.
under eq_bigr do rewrite mulrBr mulr1 mulr_sumr; rewrite sumrB w_one ler_add2l ler_opp2 exchange_big /=.
by apply: ler_sum => l _; exact: square_mean.
Qed.
End Draws.

Section Labels.
Variables (R : realFieldType) (n : nat) (A L : finType) (p : 'I_n -> A -> R).
Hypothesis product_p : product p.
Implicit Types (f : input n A -> L) (i : 'I_n) (l : L).
Notation mean := (mean p).
Notation gini := (gini p).
Notation influence := (influence p).
Notation rate := (rate p).
Notation error := (error p).

Lemma weights : distribution (fun x : input n A => \prod_i p i (x i)).
Proof. by split; [exact: weight_ge0 | exact: weight_one]. Qed.

Lemma gini_rates f : gini f = 1 - \sum_l rate f l ^+ 2.
Proof. exact: (two_draws weights f). Qed.

Lemma rate_redraw i f l : rate f l = \sum_a p i a * rate (fixed f i a) l.
Proof. exact: mean_redraw. Qed.

Lemma rate_ge0 f l : 0 <= rate f l. Proof. by apply: mean_ge0 => // x; exact: ler0n. Qed.

Lemma rates_one f : \sum_l rate f l = 1.
Proof.
rewrite /Statements.rate -mean_sum -[RHS](mean_const product_p); apply: mean_eq => x.
rewrite (bigD1 (f x)) //= eqxx big1 ?addr0 // => l; by rewrite eq_sym => /negbTE ->.
Qed.

Lemma rate_le1 f l : rate f l <= 1.
Proof. by rewrite -(rates_one f) (bigD1 l) //= ler_addl sumr_ge0 // => k _; exact: rate_ge0. Qed.

(* A split never raises the impurity, averaged over the parts ... *)
Lemma gini_split i f : \sum_a p i a * gini (fixed f i a) <= gini f.
Proof.
under eq_bigr do rewrite gini_rates; rewrite gini_rates.
under [X in _ <= _ - X]eq_bigr do rewrite (rate_redraw i); exact: impurity_mean.
Qed.

(* ... and one coordinate drawn anew changes the label no more often than all of them do. *)
Lemma influence_gini i f : influence i f <= gini f.
Proof.
pose near x l := \sum_a p i a * (f (put x i a) == l)%:R : R.
have near_mean l : mean (fun x => near x l) = rate f l.
  by rewrite (rate_redraw i) mean_sum; apply: eq_bigr => a _; rewrite meanZ.
have -> : influence i f = mean (fun x => 1 - \sum_l near x l ^+ 2).
  transitivity (mean (fun x => \sum_a p i a * (\sum_b p i b * differ R (f (put x i a)) (f (put x i b))))).
    rewrite mean_sum; apply: eq_bigr => a _; rewrite meanZ; congr (_ * _).
    rewrite (mean_redraw product_p i) mean_sum; apply: eq_bigr => b _; rewrite meanZ; congr (_ * _).
    by apply: mean_eq => x; rewrite /fixed put_put differ_sym.
  by apply: mean_eq => x; rewrite two_draws.
rewrite gini_rates; under [X in _ <= _ - X]eq_bigr do rewrite -near_mean.
exact: (impurity_mean weights near).
Qed.

Lemma rate_le_max f l : rate f l <= \big[Num.max/0]_c rate f c.
Proof.
have: l \in index_enum L by exact: mem_index_enum.
elim: (index_enum L) => // c s IH; rewrite inE big_cons le_maxr => /orP[/eqP ->|/IH ->]; by rewrite ?lexx ?orbT.
Qed.

Lemma error_ge0 f : 0 <= error f.
Proof.
rewrite subr_ge0; elim/big_ind: _ => [|x y x1 y1|l _]; [exact: ler01 | by rewrite le_maxl x1 | exact: rate_le1].
Qed.

Lemma error_gini f : error f <= gini f.
Proof.
rewrite gini_rates ler_add2l ler_opp2; set M := \big[_/_]_c _.
rewrite -[X in _ <= X]mul1r -[X in _ <= X * _](rates_one f) mulr_suml; apply: ler_sum => l _.
by rewrite expr2 ler_wpmul2l ?rate_ge0 ?rate_le_max.
Qed.

Lemma labels_gt0 f : 0 < #|L|%:R :> R.
Proof.
rewrite ltr0n lt0n; apply/eqP => L0; have := rates_one f.
by rewrite big_pred0 => [/eqP|l]; [rewrite eq_sym oner_eq0 | have := card0_eq L0 l].
Qed.

Lemma gini_cap f : gini f <= 1 - #|L|%:R^-1.
Proof.
have K0 := labels_gt0 f; set K := #|L|%:R in K0 *; rewrite gini_rates ler_add2l ler_opp2 -subr_ge0.
suff -> : \sum_l rate f l ^+ 2 - K^-1 = \sum_l (rate f l - K^-1) ^+ 2 by apply: sumr_ge0 => l _; exact: sqr_ge0.
rewrite [RHS](eq_bigr (fun l => rate f l ^+ 2 + (K^-1 ^+ 2 - 2%:R * K^-1 * rate f l))); last by move=> l _; ring.
rewrite big_split sumrB sumr_const -[_ *+ #|_|]mulr_natr -[X in _ - X]mulr_sumr rates_one /=.
by rewrite -[#|L|%:R]/K; field; rewrite gt_eqF.
Qed.

Lemma two_gt0 : 0 < two R L. Proof. by rewrite /two; case: ifP => _; rewrite ?ltr0n ?ltr01. Qed.

Lemma cap_two f : 1 - #|L|%:R^-1 <= (two R L)^-1.
Proof.
have K0 := labels_gt0 f; rewrite /two; case: ifP => K2; last by rewrite invr1 ger_addl oppr_le0 invr_ge0 ltW.
have -> : 2%:R^-1 = 1 - 2%:R^-1 :> R by field.
by rewrite ler_add2l ler_opp2 lef_pinv ?ler_nat ?posrE ?K0 ?ltr0n.
Qed.

(* Two labels: twice the square of the impurity is at most the impurity. More labels: its square is. *)
Lemma gini_square f : two R L * gini f ^+ 2 <= gini f.
Proof.
rewrite expr2 mulrA -[X in _ <= X]mul1r ler_wpmul2r ?gini_ge0 // mulrC -ler_pdivl_mulr ?two_gt0 // mul1r.
exact: le_trans (gini_cap f) (cap_two f).
Qed.

Theorem efron_stein_holds f : error f <= gini f /\ gini f <= total p f.
Proof. by split; [exact: error_gini | exact: gini_total]. Qed.
End Labels.

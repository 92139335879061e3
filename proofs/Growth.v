(* Greedy growth: what a split changes, and how good the best split is while the error is large (Lemmas 4.4, 4.5). *)
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From Fidelitree Require Import Statements Product Osss Labels Regions.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Sums.
Variables (R : realFieldType) (T : eqType).
Implicit Types (s : seq T) (F G : T -> R).

Lemma sum_le s F G : (forall v, v \in s -> F v <= G v) -> \sum_(v <- s) F v <= \sum_(v <- s) G v.
Proof. by move=> FG; rewrite big_seq [X in _ <= X]big_seq; exact: ler_sum. Qed.

Lemma sum_const s (c : R) : \sum_(v <- s) c = (size s)%:R * c.
Proof. by rewrite big_const_seq count_predT iter_addr_0 mulr_natl. Qed.

(* Cauchy and Schwarz with ones. *)
Lemma square_sum s F : (\sum_(v <- s) F v) ^+ 2 <= (size s)%:R * \sum_(v <- s) F v ^+ 2.
Proof.
elim: s => [|v s IH]; first by rewrite !big_nil mulr0 expr0n.
rewrite !big_cons /= sqrrD mulrSr; set x := F v; set y := \sum_(w <- s) F w in IH *; set z := \sum_(w <- s) _ in IH *.
have cross : x * y *+ 2 <= (size s)%:R * x ^+ 2 + z.
  rewrite /y /z mulr_sumr -sumrMnl -sum_const -big_split /=; apply: sum_le => w _.
  rewrite -subr_ge0; have -> : x ^+ 2 + F w ^+ 2 - x * F w *+ 2 = (x - F w) ^+ 2 by ring.
  exact: sqr_ge0.
apply: le_trans (ler_add (ler_add (lexx _) cross) IH) _.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.
End Sums.

Section Growth.
Variables (R : realFieldType) (n : nat) (A L : finType) (p : 'I_n -> A -> R).
Hypothesis product_p : product p.
Variables (f : input n A -> L) (kappa eps : R).
Implicit Types (v w : leaf n A) (s : seq (leaf n A)) (i j : 'I_n) (S : R) (t u : tree n A L).
Let p_ge0 := p_ge0 product_p.
Let p_one := p_one product_p.
Notation score := (score p f).
Notation mass := (mass p).
Notation grown := (grown p f kappa eps).

Lemma mass_ge0 v : 0 <= mass v.
Proof. by apply: prodr_ge0 => e _; exact: p_ge0. Qed.
Lemma mass_cons v i a : mass ((i, a) :: v) = mass v * p i a.
Proof. by rewrite /Statements.mass big_cons mulrC. Qed.
Lemma score_ge0 v i : 0 <= score v i.
Proof. by rewrite mulr_ge0 ?mass_ge0 ?influence_ge0. Qed.
Lemma cost_ge0 s : 0 <= cost p f s.
Proof. by apply: sumr_ge0 => v _; rewrite mulr_ge0 ?mass_ge0 ?total_ge0. Qed.
Lemma err_ge0 s : 0 <= err p f s.
Proof. by apply: sumr_ge0 => v _; rewrite mulr_ge0 ?mass_ge0 ?error_ge0. Qed.

Notation after s1 v s2 i := (s1 ++ [seq (i, a) :: v | a <- enum A] ++ s2).

Lemma sum_split s1 v s2 i (F : leaf n A -> R) :
  \sum_(w <- after s1 v s2 i) F w = \sum_(w <- s1 ++ v :: s2) F w - F v + \sum_a F ((i, a) :: v).
Proof.
rewrite !big_cat big_cons big_map big_enum /=.
by rewrite [\sum_(a in A) _](eq_bigl xpredT) //; ring.
Qed.

Lemma cost_split s1 v s2 i : cost p f (after s1 v s2 i) = cost p f (s1 ++ v :: s2) - score v i.
Proof.
rewrite {1}/cost sum_split -/(cost p f (s1 ++ v :: s2)).
rewrite (eq_bigr (fun a => mass v * (p i a * total p (fixed (inside f v) i a)))); last first.
  by move=> a _; rewrite mass_cons -mulrA.
rewrite -mulr_sumr (cost_drop_holds product_p (inside f v) i) /Statements.score; ring.
Qed.

Lemma size_split s1 v s2 i : (size (after s1 v s2 i))%:R = (size (s1 ++ v :: s2))%:R + more R A.
Proof.
have A0 : (0 < #|A|)%N.
  rewrite lt0n; apply/eqP => A0; have := p_one i.
  by rewrite big_pred0 => [/eqP|a]; [rewrite eq_sym oner_eq0 | have := card0_eq A0 a].
by rewrite /more -natrD !size_cat size_map -cardE /=; congr (_%:R); case: #|A| A0 => // k _; lia.
Qed.

(* A tree of the target, cut down to the leaves, is on average no deeper than before. *)
Definition leaves_depth u s : R := \sum_(v <- s) mass v * depth p (cut_path u v).

Lemma grown_depth u s : computes u f -> grown s -> leaves_depth u s <= depth p u.
Proof.
move=> uf; elim=> [|s1 v s2 i _ IH _ _]; first by rewrite /leaves_depth big_seq1 /Statements.mass big_nil mul1r.
apply: le_trans IH; rewrite /leaves_depth sum_split -addrA ger_addl addrC subr_le0.
under eq_bigr do rewrite mass_cons -mulrA; rewrite -mulr_sumr ler_wpmul2l ?mass_ge0 //=.
by apply: cut_depth => //; case: (cut_path_computes v uf).
Qed.

(* OSSS in a leaf. *)
Lemma leaf_gini v t S : computes t (inside f v) -> (forall i, score v i <= S) ->
  mass v * gini p (inside f v) <= depth p t * S.
Proof.
move=> tv vS; apply: le_trans (ler_wpmul2l (mass_ge0 v) (osss_holds product_p tv)) _.
rewrite depth_reads mulr_sumr mulr_suml; apply: ler_sum => i _.
rewrite mulrCA ler_wpmul2l ?read_chance_ge0 //; exact: vS.
Qed.

Section Floors.
Variables (s : seq (leaf n A)) (S : R).
Hypotheses (S_ge0 : 0 <= S) (best : forall v i, v \in s -> score v i <= S).
Let impurity := \sum_(v <- s) mass v * gini p (inside f v).

Lemma impurity_ge0 : 0 <= impurity.
Proof. by apply: sumr_ge0 => v _; rewrite mulr_ge0 ?mass_ge0 ?gini_ge0. Qed.

Lemma err_impurity : err p f s <= impurity.
Proof. by apply: sum_le => v _; rewrite ler_wpmul2l ?mass_ge0 ?error_gini. Qed.

Lemma cost_impurity t : computes t f -> cost p f s <= (height t)%:R * impurity.
Proof.
move=> tf; rewrite mulr_sumr; apply: sum_le => v _; rewrite mulrCA ler_wpmul2l ?mass_ge0 //.
have [vo vt] := cut_path_computes v tf; rewrite -(total_ext p vt) -(gini_ext p vt).
apply: le_trans (total_height product_p vo) _.
by rewrite ler_wpmul2r ?gini_ge0 // ler_nat cut_path_height.
Qed.

Lemma impurity_score dstar : regions_within p f dstar -> impurity <= (size s)%:R * dstar * S.
Proof.
move=> within; rewrite -mulrA -sum_const; apply: sum_le => v vs; have [t [tv td]] := within v.
apply: le_trans (leaf_gini tv (fun i => best i vs)) _; by rewrite ler_wpmul2r.
Qed.

Lemma impurity_square u : computes u f -> grown s -> two R L * impurity ^+ 2 <= (size s)%:R * depth p u * S.
Proof.
move=> uf gs; apply: (@le_trans _ _ ((size s)%:R * \sum_(v <- s) two R L * (mass v * gini p (inside f v)) ^+ 2)).
  by rewrite -mulr_sumr [X in _ <= X]mulrCA ler_wpmul2l ?square_sum // ltW // two_gt0.
rewrite -mulrA ler_wpmul2l ?ler0n //; apply: (@le_trans _ _ (leaves_depth u s * S)); last first.
  by rewrite ler_wpmul2r // grown_depth.
rewrite mulr_suml; apply: sum_le => v vs.
have -> : two R L * (mass v * gini p (inside f v)) ^+ 2
  = mass v * (mass v * (two R L * gini p (inside f v) ^+ 2)) by ring.
rewrite -mulrA ler_wpmul2l ?mass_ge0 //.
apply: le_trans (leaf_gini (cut_path_computes v uf) (fun i => best i vs)).
by rewrite ler_wpmul2l ?mass_ge0 // gini_square.
Qed.

Lemma score_floors t u dstar : grown s -> computes t f -> computes u f -> regions_within p f dstar ->
  let j := (size s)%:R in let D := (height t)%:R in
  [/\ err p f s <= j * dstar * S, two R L * err p f s ^+ 2 <= j * depth p u * S,
      cost p f s <= j * D * dstar * S & two R L * cost p f s ^+ 2 <= j * D ^+ 2 * depth p u * S].
Proof.
move=> gs tf uf within /=; have t0 : 0 <= two R L by rewrite ltW // two_gt0.
have square x y : 0 <= x -> x <= y -> two R L * x ^+ 2 <= two R L * y ^+ 2.
  by move=> x0 xy; rewrite ler_wpmul2l // ler_expn2r // nnegrE // (le_trans x0).
split.
- exact: le_trans err_impurity (impurity_score within).
- exact: le_trans (square _ _ (err_ge0 s) err_impurity) (impurity_square uf gs).
- apply: le_trans (cost_impurity tf) _.
  rewrite -[_ * _ * dstar]mulrA [_ * (_ * dstar)]mulrCA -mulrA ler_wpmul2l ?ler0n //; exact: impurity_score.
- apply: le_trans (square _ _ (cost_ge0 s) (cost_impurity tf)) _.
  have -> : (size s)%:R * (height t)%:R ^+ 2 * depth p u * S
    = (height t)%:R ^+ 2 * ((size s)%:R * depth p u * S) by ring.
  rewrite exprMn mulrCA ler_wpmul2l ?exprn_ge0 ?ler0n //; exact: impurity_square.
Qed.
End Floors.
End Growth.

Theorem lemmas_4_4_and_4_5_hold (R : realFieldType) (n : nat) (A L : finType) (p : 'I_n -> A -> R) :
  lemmas_4_4_and_4_5 L p.
Proof. by move=> f kappa eps s t u dstar S pp gs tf uf rw best S0; exact: (score_floors pp S0 best gs tf uf rw). Qed.

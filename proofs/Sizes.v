(* How many leaves greedy growth needs: forms 1, 2 and 3. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From Fidelitree Require Import Statements Product Osss Labels Regions Growth Logarithm.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Sizes.
Variables (R : realFieldType) (n : nat) (A L : finType) (p : 'I_n -> A -> R).
Variables (ln : R -> R) (f : input n A -> L) (kappa eps : R) (t u : tree n A L).
Hypotheses (ln_logarithm : logarithm ln) (product_p : product p) (kappa_gt0 : 0 < kappa) (eps_gt0 : 0 < eps).
Hypotheses (tf : computes t f) (height_gt0 : (0 < height t)%N) (uf : computes u f).
Implicit Types (s : seq (leaf n A)) (v w : leaf n A) (dstar : R).
Notation grown := (grown p f kappa eps).
Let D : R := (height t)%:R.
Let B : R := eps * D.
Let q : R := more R A.
Let D_gt0 : 0 < D. Proof. by rewrite ltr0n. Qed.
Let B_gt0 : 0 < B. Proof. exact: mulr_gt0. Qed.
Let q_ge0 : 0 <= q. Proof. exact: ler0n. Qed.
Let eps_neq0 : eps != 0. Proof. by rewrite gt_eqF. Qed.
Let kappa_neq0 : kappa != 0. Proof. by rewrite gt_eqF. Qed.
Notation psi := (power ln B).

Lemma cost_start : cost p f [:: [::]] = total p f.
Proof. by rewrite /cost big_seq1 /mass big_nil mul1r. Qed.

Lemma size_gt0 s : grown s -> 0 < (size s)%:R :> R.
Proof.
elim=> [|s1 v s2 i _ IH _ _]; first by rewrite ltr01.
by rewrite (size_split product_p); apply: lt_le_trans IH _; rewrite ler_addl.
Qed.

(* Every growing step, whatever the potential: its fall pays for the logarithm of the size. *)
Lemma growth_pays (potential : R -> R) :
  (forall s1 v s2 i, let s := s1 ++ v :: s2 in let d := score p f v i in grown s -> eps < err p f s ->
     (forall w j, w \in s -> score p f w j <= d / kappa) ->
     (size s)%:R^-1 <= potential (cost p f s) - potential (cost p f s - d)) ->
  forall s, grown s -> ln (size s)%:R + q * potential (cost p f s) <= q * potential (total p f).
Proof.
move=> falls s; elim=> {s} [|s1 v s2 i gs IH es best]; first by rewrite cost_start ln1 // add0r.
apply: le_trans IH; rewrite (cost_split product_p) (size_split product_p); set s := s1 ++ v :: s2 in gs es best *.
have j0 := size_gt0 gs; apply: le_trans (ler_add (ln_add ln_logarithm j0 q_ge0) (lexx _)) _.
rewrite -addrA ler_add2l -ler_subr_addr -mulrBr ler_wpmul2l //; apply: falls => // w j ws.
by rewrite ler_pdivl_mulr // mulrC best.
Qed.

Lemma form1 dstar s : regions_within p f dstar -> grown s ->
  ln (size s)%:R <= q * (D * dstar / kappa) * psi (total p f).
Proof.
move=> within; pose K := D * dstar / kappa; rewrite -/K => gs.
have K0 : 0 <= K.
  have [t' [_ h]] := within [::]; rewrite divr_ge0 ?mulr_ge0 ?(ltW kappa_gt0) ?(ltW D_gt0) //.
  exact: le_trans (depth_ge0 product_p t') h.
rewrite -mulrA; apply: le_trans (growth_pays (potential := fun c => K * psi c) _ gs).
  by rewrite ler_addl /= mulr_ge0 // mulr_ge0 // power_ge0 // cost_ge0.
move=> {s gs}s1 v s2 i /=; set s := s1 ++ v :: s2; set d := score p f v i => gs es best.
have d0 : 0 <= d by exact: score_ge0.
have [floor _ costs _] := score_floors product_p (divr_ge0 d0 (ltW kappa_gt0)) best gs tf uf within.
rewrite -/D in costs; have j0 := size_gt0 gs; pose M := (size s)%:R * K * d.
have cM : cost p f s <= M.
  by apply: le_trans costs _; rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite /M /K; field.
have BM : B <= M.
  rewrite /B mulrC; apply: le_trans (ler_wpmul2l (ltW D_gt0) (le_trans (ltW es) floor)) _.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite /M /K; field.
have M0 := lt_le_trans B_gt0 BM.
have dn : d != 0 by apply: contraTneq M0 => z; rewrite /M z mulr0 ltxx.
have Kn : K != 0 by apply: contraTneq M0 => z; rewrite /M z mulr0 mul0r ltxx.
have c0 : 0 <= cost p f s - d by rewrite -(cost_split product_p) cost_ge0.
rewrite -mulrBr; apply: le_trans (ler_wpmul2l K0 (power_drop ln_logarithm B_gt0 c0 d0 cM BM)).
by have -> : K * (d / M) = (size s)%:R^-1 by rewrite /M; field; rewrite gt_eqF // Kn dn.
Qed.

Lemma form2 s : grown s -> ln (size s)%:R <= q * (total p f * depth p u / (two R L * kappa * eps ^+ 2)).
Proof.
move=> gs; have t0 := two_gt0 R L; pose c := depth p u / (two R L * kappa * eps ^+ 2).
have b0 : 0 < two R L * kappa * eps ^+ 2 by rewrite !mulr_gt0 // exprn_gt0.
have c0 : 0 <= c by rewrite divr_ge0 ?depth_ge0 // ltW.
rewrite -mulrA -/c [total p f * c]mulrC; apply: le_trans (growth_pays (potential := fun x => c * x) _ gs).
  by rewrite ler_addl /= mulr_ge0 // mulr_ge0 // cost_ge0.
move=> {s gs}s1 v s2 i /=; set s := s1 ++ v :: s2; set d := score p f v i => gs es best.
have d0 : 0 <= d by exact: score_ge0.
have [_ floor _ _] :=
  score_floors product_p (divr_ge0 d0 (ltW kappa_gt0)) best gs tf uf (height_regions product_p tf).
rewrite -mulrBr subKr -[X in X <= _]mul1r ler_pdivr_mulr ?size_gt0 // /c.
have -> (x y : R) : depth p u / y * d * x = x * depth p u * d / y by ring.
rewrite ler_pdivl_mulr // mul1r.
apply: (@le_trans _ _ (kappa * (two R L * err p f s ^+ 2))).
  rewrite [two R L * kappa]mulrC -mulrA !ler_wpmul2l ?(ltW kappa_gt0) ?(ltW t0) //.
  by rewrite ler_expn2r ?nnegrE ?(ltW eps_gt0) ?err_ge0 // ltW.
apply: le_trans (ler_wpmul2l (ltW kappa_gt0) floor) _.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
Qed.

Lemma total_two : total p f <= depth p u / two R L.
Proof.
have [uo uf1] := uf; rewrite -(total_ext p uf1); apply: le_trans (total_depth product_p uo) _.
by rewrite mulrC ler_wpmul2l ?depth_ge0 // (cap_two product_p f).
Qed.

Lemma form3 s : grown s -> let De := Num.min D (depth p u / (two R L * eps)) in
  ln (size s)%:R <= q * (De ^+ 2 * (1 + ln (depth p u / (two R L * eps * De))) / kappa).
Proof.
move=> gs /=; have c0 := two_gt0 R L; set c := two R L in c0 *; have cn : c != 0 by rewrite gt_eqF.
have T := total_two; set a := depth p u in T *; have a0 : 0 <= a by exact: depth_ge0.
have Dn : D != 0 by rewrite gt_eqF.
have K0 x : 0 <= x -> 0 <= x / kappa by move=> x0; rewrite divr_ge0 // ltW.
case: (leP D (a / (c * eps))) => h.
  apply: le_trans (form1 (height_regions product_p tf) gs) _; rewrite -/D -[X in X <= _]mulrA ler_wpmul2l //.
  have Ba : B <= a / c.
    by rewrite /B mulrC -ler_pdivl_mulr // -mulrA -invfM.
  apply: (@le_trans _ _ (D * D / kappa * psi (a / c))).
    rewrite ler_wpmul2l ?K0 ?mulr_ge0 ?(ltW D_gt0) // power_mono // total_ge0 //.
  rewrite /power Ba; have -> : a / c / B = a / (c * eps * D) by rewrite /B; field; rewrite Dn eps_neq0 cn.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
apply: le_trans (form2 gs) _; rewrite -/a -/c ler_wpmul2l //.
apply: (@le_trans _ _ (a / c * a / (c * kappa * eps ^+ 2))).
  by rewrite ler_wpmul2r ?ler_wpmul2r // invr_ge0 ltW // !mulr_gt0 // exprn_gt0.
have [->|an] := eqVneq a 0; first by rewrite !(mulr0, mul0r) expr0n /= !mul0r.
have -> : a / (c * eps * (a / (c * eps))) = 1 by field; rewrite an eps_neq0 cn.
by rewrite ln1 // le_eqVlt; apply/orP; left; apply/eqP; field; rewrite cn kappa_neq0 eps_neq0.
Qed.
End Sizes.

Theorem sizes_hold (R : realFieldType) (n : nat) (A L : finType) (p : 'I_n -> A -> R) : sizes L p.
Proof.
move=> ln f kappa eps s t u dstar lnP pp k0 e0 gs tf h0 uf within /=; split.
- exact: (form1 lnP pp k0 e0 tf h0 uf within gs).
- exact: (form2 lnP pp k0 e0 tf uf gs).
- exact: (form3 lnP pp k0 e0 tf h0 uf gs).
Qed.

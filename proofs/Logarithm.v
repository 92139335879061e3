(* What the size bounds need of a logarithm, and the potential that turns a falling cost into a bounded size. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From Fidelitree Require Import Statements.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Logarithm.
Variables (R : realFieldType) (ln : R -> R).
Hypothesis ln_logarithm : logarithm ln.
Implicit Types x y : R.
Let lnM x y : 0 < x -> 0 < y -> ln (x * y) = ln x + ln y. Proof. by case: ln_logarithm => + _; apply. Qed.
Let ln_le x : 0 < x -> ln x <= x - 1. Proof. by case: ln_logarithm => _; apply. Qed.

Lemma ln1 : ln 1 = 0. Proof. by apply: (addrI (ln 1)); rewrite addr0 -lnM ?ltr01 // mulr1. Qed.

Lemma ln_ge x : 0 < x -> 1 - x^-1 <= ln x.
Proof.
move=> x0; have x1 : 0 < x^-1 by rewrite invr_gt0.
have := ln_le x1; have : ln x + ln x^-1 = 0 by rewrite -lnM // divff ?gt_eqF // ln1.
by move=> /eqP; rewrite addr_eq0 => /eqP ->; rewrite ler_oppr opprB.
Qed.

Lemma ln_div x y : 0 < x -> 0 < y -> ln (x / y) = ln x - ln y.
Proof.
move=> x0 y0; apply: (addIr (ln y)); rewrite subrK -lnM ?mulr_gt0 ?invr_gt0 //; congr ln.
by rewrite divfK // gt_eqF.
Qed.

Lemma ln_add x y : 0 < x -> 0 <= y -> ln (x + y) <= ln x + y / x.
Proof.
move=> x0 y0; have -> : x + y = x * (1 + y / x) by rewrite mulrDr mulr1 mulrCA divff ?mulr1 // gt_eqF.
have h : 0 < 1 + y / x by rewrite ltr_paddr ?ltr01 // divr_ge0 // ltW.
by rewrite lnM // ler_add2l; apply: le_trans (ln_le h) _; rewrite addrC addKr.
Qed.

(* 1 + ln(c/B) above B and its tangent through 0 below. *)
Section Power.
Variable B : R.
Hypothesis B_gt0 : 0 < B.
Definition power c : R := if B <= c then 1 + ln (c / B) else c / B.

Lemma power_ge0 c : 0 <= c -> 0 <= power c.
Proof.
move=> c0; rewrite /power; case: ifP => Bc; last by rewrite divr_ge0 // ltW.
have c1 : 0 < c by exact: lt_le_trans B_gt0 Bc.
rewrite addr_ge0 ?ler01 //; apply: le_trans (ln_ge _); rewrite ?divr_gt0 //.
by rewrite subr_ge0 invf_div ler_pdivr_mulr // mul1r.
Qed.

(* It is concave: a drop by d lowers it by at least d / max(B, c). *)
Lemma power_drop c d M : 0 <= c - d -> 0 <= d -> c <= M -> B <= M -> d / M <= power c - power (c - d).
Proof.
move=> c0 d0 cM BM; have M0 := lt_le_trans B_gt0 BM; have Bn : B != 0 by rewrite gt_eqF.
rewrite /power; case: ifP => Bc; last first.
  have -> : (B <= c - d) = false by apply: contraFF Bc => h; apply: le_trans h _; rewrite ler_subl_addr ler_addl.
  by rewrite -mulrBl opprB addrCA subrr addr0 ler_wpmul2l // lef_pinv ?posrE.
have c1 : 0 < c by exact: lt_le_trans B_gt0 Bc.
have cn : c != 0 by rewrite gt_eqF.
apply: (@le_trans _ _ (d / c)); first by rewrite ler_wpmul2l // lef_pinv ?posrE.
case: ifP => Bd.
  have d1 : 0 < c - d by exact: lt_le_trans B_gt0 Bd.
  rewrite opprD addrACA subrr add0r !ln_div // opprB addrA subrK -ln_div //.
  apply: le_trans (ln_ge _); last by rewrite divr_gt0.
  have -> : d / c = 1 - (c / (c - d))^-1 by field; rewrite cn gt_eqF.
  by [].
apply: (@le_trans _ _ (1 + (1 - (c / B)^-1) - (c - d) / B)); last first.
  by rewrite ler_add2r ler_add2l ln_ge // divr_gt0.
rewrite -subr_ge0.
have -> : 1 + (1 - (c / B)^-1) - (c - d) / B - d / c = (1 - B / c) * (1 - (c - d) / B) by field; rewrite cn Bn.
rewrite mulr_ge0 // subr_ge0 ler_pdivr_mulr // mul1r //.
by rewrite ltW // ltNge Bd.
Qed.

Lemma power_mono c e : 0 <= c -> c <= e -> B <= e -> power c <= power e.
Proof.
move=> c0 ce Be; have e0 := lt_le_trans B_gt0 Be.
have := @power_drop e (e - c) e; rewrite subKr subr_ge0 => /(_ c0 ce (lexx _) Be) drop.
by rewrite -subr_ge0; apply: le_trans drop; rewrite divr_ge0 ?subr_ge0 // ltW.
Qed.
End Power.
End Logarithm.

(* The moments of the bets give the integrals that theory/sequential computes. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From Fidelitree Require Import Statements Bets.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Integral.
Variable R : realFieldType.
Implicit Types (P Q : {poly R}) (x : R) (a b c k m n : nat).

Lemma primitive_coef P i : (primitive P)`_i = if i is j.+1 then P`_j / j.+1%:R else 0.
Proof.
rewrite coef_poly; case: i => [|j] /=; first by rewrite invr0 mulr0.
by rewrite ltnS; case: ltnP => // /(nth_default 0) ->; rewrite mul0r.
Qed.

Theorem integral_is_right_holds : integral_is_right R.
Proof.
move=> P; split; last by rewrite horner_coef0 primitive_coef.
by apply/polyP => i; rewrite coef_deriv primitive_coef -[_ *+ _]mulr_natr divfK // pnatr_eq0.
Qed.

Lemma integralD P Q x : integral (P + Q) x = integral P x + integral Q x.
Proof.
rewrite /integral -hornerD; congr horner; apply/polyP => -[|i]; rewrite coefD !primitive_coef ?addr0 //.
by rewrite coefD mulrDl.
Qed.

Lemma integralZ y P x : integral (y *: P) x = y * integral P x.
Proof.
rewrite /integral -hornerZ; congr horner; apply/polyP => -[|i]; rewrite coefZ !primitive_coef ?mulr0 //.
by rewrite coefZ mulrA.
Qed.

Lemma integralB P Q x : integral (P - Q) x = integral P x - integral Q x.
Proof. by rewrite -scaleN1r integralD integralZ mulN1r. Qed.

Lemma integralXn n x : integral 'X^n x = x ^+ n.+1 / n.+1%:R.
Proof.
rewrite /integral; have -> : primitive 'X^n = n.+1%:R^-1 *: 'X^n.+1 :> {poly R}; last by rewrite hornerZ hornerXn mulrC.
apply/polyP => -[|i]; rewrite primitive_coef coefZ !coefXn ?mulr0 // eqSS.
by case: eqP => [->|_]; rewrite ?mulr1 ?mul1r ?mul0r ?mulr0.
Qed.

Variable eps : R.
Hypotheses (eps_gt0 : 0 < eps) (eps_lt1 : eps < 1).
Let eps_neq0 : eps != 0. Proof. by rewrite lt0r_neq0. Qed.
Let rest_neq0 : 1 - eps != 0. Proof. by rewrite subr_eq0 eq_sym lt_eqF. Qed.
Let u : {poly R} := eps^-1 *: 'X.   (* the rate q as a share of eps *)

Lemma integral_share n : integral (u ^+ n) eps = eps / n.+1%:R.
Proof. by rewrite /u exprZn integralZ integralXn exprS mulrA mulrCA exprVn mulVf ?mulr1 // expf_neq0. Qed.

(* A spread whose first moments are those of a density has all its e-values as integrals. *)
Section Density.
Variables (d : nat -> nat -> R) (density : {poly R}).
Hypothesis spread_d : spread d.
Hypothesis first_moments : forall a, d a 0%N = integral (density * u ^+ a) eps.

Lemma all_moments a b : d a b = integral (density * (u ^+ a * (1 - u) ^+ b)) eps.
Proof.
elim: b a => [|b IH] a; first by rewrite mulr1 first_moments.
have -> : d a b.+1 = d a b - d a.+1 b by rewrite [d a b](moment_split spread_d) addrC addKr.
by rewrite !IH -integralB; congr integral; rewrite !exprS; ring.
Qed.

Lemma bet_integral a b c : bet d (1 - eps)^-1 a b c
  = integral (density * (u ^+ a * (1 - u) ^+ b * ((1 - eps)^-1 *: (1 - 'X)) ^+ c)) eps.
Proof.
elim: c a b => [|c IH] a b /=; first by rewrite mulr1 all_moments.
rewrite !IH -integralZ -integralD; congr integral.
have -> : (1 - eps)^-1 *: (1 - 'X) = u + (1 - eps)^-1 *: (1 - u).
  apply/polyP => i; rewrite /u !(coefD, coefZ, coefN, coef1, coefX).
  by case: i => [|[|i]] /=; field; rewrite eps_neq0 rest_neq0.
rewrite [in RHS]exprS; move: (_ ^+ c) => Z; rewrite -!mul_polyC !exprS.
move: u density (u ^+ a) ((1 - u) ^+ b) => v D V V'; ring.
Qed.

Lemma e_value_integral k m : e_value d eps k m * (eps ^+ k * (1 - eps) ^+ m)
  = integral (density * ('X ^+ k * (1 - 'X) ^+ m)) eps.
Proof.
rewrite /e_value bet_integral mulrC -integralZ; congr integral.
rewrite /u !exprZn mulr1 -!scalerAr -!scalerAl -!scalerAr !scalerA.
have H (x y : R) : x != 0 -> y != 0 -> x * y * (y^-1 * x^-1) = 1 by move=> x0 y0; field; rewrite x0.
by rewrite !exprVn H ?scale1r ?expf_neq0.
Qed.
End Density.

Lemma triangle_first a : triangle R a 0 = integral ((2%:R / eps) *: (1 - eps^-1 *: 'X) * u ^+ a) eps.
Proof.
rewrite -/u -scalerAl integralZ mulrBl mul1r -exprS integralB !integral_share.
rewrite /triangle addn0 muln1 !factS !natrM.
by field; rewrite factorial_neq0 eps_neq0 -!mulrS -!natrD !pnatr_eq0.
Qed.

Lemma even_first a : even_ R a 0 = integral (eps^-1 *: 1 * u ^+ a) eps.
Proof.
rewrite -scalerAl integralZ mul1r integral_share /even_ addn0 muln1 factS natrM.
by field; rewrite factorial_neq0 eps_neq0 -!mulrS pnatr_eq0.
Qed.
End Integral.

Section Code.
Variable R : realFieldType.
Implicit Types (d e : nat -> nat -> R) (r w v : R).

Lemma bet_mix w v d e r a b c :
  bet (fun a b => w * d a b + v * e a b) r a b c = w * bet d r a b c + v * bet e r a b c.
Proof. by elim: c a b => //= c IH a b; rewrite !IH; ring. Qed.

(* The bet on error 0: nothing is left after an error. *)
Lemma bet_zero r a b c : bet (fun a _ : nat => (a == 0%N)%:R) r a b c = (a == 0%N)%:R * r ^+ c.
Proof. by elim: c a b => [|c IH] a b /=; rewrite ?mulr1 // !IH exprS mul0r add0r mulrCA. Qed.

Theorem code_computes_the_bet_holds : code_computes_the_bet R.
Proof.
split; [exact: spread_upper | exact: spread_even | move=> eps k m e0 e1 /=; split]; last first.
  by rewrite (e_value_integral e0 e1 (@spread_even R) (even_first e0)) -scalerAl mul1r.
rewrite {1}/e_value /upper bet_mix bet_zero mulrDl -/(e_value (@triangle R) eps k m); congr (_ + _).
  have n0 : 1 - eps != 0 by rewrite subr_eq0 eq_sym lt_eqF.
  case: k => [|k] /=; rewrite ?(mul0r, mulr0) // !mulr1 expr0 !mul1r exprVn.
  by rewrite -mulrA mulVf ?mulr1 // expf_neq0.
by rewrite -mulrA (e_value_integral e0 e1 (@spread_triangle R) (triangle_first e0)).
Qed.
End Code.

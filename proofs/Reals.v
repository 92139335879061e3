(* The size bounds are not empty: the real numbers have such a logarithm. These two theorems rest on the axioms of
   Coq's real numbers; no other theorem rests on any. *)
Require Import Reals Lra.
From mathcomp Require Import all_ssreflect all_algebra Rstruct.
From Fidelitree Require Import Statements Sizes.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Theorem real_logarithm : logarithm (ln : R_realFieldType -> R_realFieldType).
Proof.
split=> [x y /RltP x0 /RltP y0|x /RltP x0]; first exact: ln_mult.
apply/RleP; have := exp_ineq1_le (ln x); rewrite exp_ln // => h.
by change (Rle (ln x) (Rminus x R1)); lra.
Qed.

Theorem real_sizes n (A L : finType) (p : 'I_n -> A -> R_realFieldType) : sizes L p.
Proof. exact: sizes_hold. Qed.

(* Each statement with its proof. What follows is printed by the checker and compared with axioms.txt. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Fidelitree Require Import Statements Certificate Integral Opener Product Osss Labels Regions Growth Sizes Refuted.
From Fidelitree Require Import Reals.

Section A.
Variables (R : realFieldType) (X : finType) (mu : X -> R) (opens : seq X -> seq (attempt R X)).
Definition A1 : certificate_rule mu opens := @certificate_rule_holds R X mu opens.
Definition A2 : any_choice mu opens := @any_choice_holds R X mu opens.
Definition A3 : intervals mu opens := @intervals_hold R X mu opens.
Definition A4 : integral_is_right R := @integral_is_right_holds R.
Definition A5 : code_computes_the_bet R := @code_computes_the_bet_holds R.
Definition A6 := @opener_counted R.
Definition A7 := @opener_not_counted R.
Definition A8 := @game_is_sound R.
End A.

Section B.
Variables (R : realFieldType) (n : nat) (A L : finType) (p : 'I_n -> A -> R).
Definition B1 : cost_drop L p. Proof. by move=> f i pp; exact: cost_drop_holds. Defined.
Definition B2 : osss L p. Proof. by move=> f t pp; exact: osss_holds. Defined.
Definition B3 : efron_stein L p. Proof. by move=> f pp; exact: efron_stein_holds. Defined.
Definition B4 : influence_caps L p. Proof. by move=> f t i pp; exact: influence_caps_hold. Defined.
Definition B5 : lemmas_4_4_and_4_5 L p := @lemmas_4_4_and_4_5_hold R n A L p.
Definition B6 : sizes L p := @sizes_hold R n A L p.
End B.
Definition C1 : printed_4_4_is_false := printed_4_4_is_false_holds.

Print Assumptions A1. Print Assumptions A2. Print Assumptions A3. Print Assumptions A4. Print Assumptions A5.
Print Assumptions A6. Print Assumptions A7. Print Assumptions A8.
Print Assumptions B1. Print Assumptions B2. Print Assumptions B3. Print Assumptions B4. Print Assumptions B5.
Print Assumptions B6. Print Assumptions C1.
Print Assumptions real_logarithm. Print Assumptions real_sizes.

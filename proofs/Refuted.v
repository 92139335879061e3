(* Lemma 4.4 as printed is false: x0 AND NOR(x1, x2, x3) with chances 1/20, 1/5, 1/5, 1/5 after the first split. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From Fidelitree Require Import Statements Product Osss Labels Growth.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Bits.
Variables (R : realFieldType) (n : nat) (p : 'I_n -> bool -> R).
Hypothesis product_p : product p.
Implicit Types (f : input n bool_finType -> bool_finType) (t : tree n bool_finType bool_finType) (i j : 'I_n).

(* A node whose one branch says no: "x_j is b, and t". *)
Definition and_ j b t : tree n bool_finType bool_finType := Node j (fun a => if a == b then t else Leaf n _ false).

Lemma reads_and i j b t : reads i (and_ j b t) = (i == j) || reads i t.
Proof.
rewrite /=; congr (_ || _); apply/existsP/idP => [[a]|r]; first by case: ifP.
by exists b; rewrite eqxx.
Qed.

Lemma once_and j b t : ~~ reads j t -> once t -> once (and_ j b t).
Proof. by move=> no ok; apply/forallP => a; case: ifP => _; rewrite ?no ?ok. Qed.

Lemma depth_and j b t : depth p (and_ j b t) = 1 + p j b * depth p t.
Proof. by rewrite /= big_bool /=; case: b => /=; rewrite mulr0 ?addr0 ?add0r. Qed.

Lemma error_floor f (e : R) : e <= rate p f true -> e <= 1 - rate p f true -> e <= error p f.
Proof.
move=> et ef; have := rates_one product_p f; rewrite big_bool /= => one.
have r0 := rate_ge0 product_p f true.
rewrite /error ler_subr_addr addrC -ler_subr_addr; elim/big_ind: _ => [|x y xe ye|[] _].
- by rewrite subr_ge0 (le_trans ef) // ger_addl oppr_le0.
- by rewrite le_maxl xe.
- by rewrite ler_subr_addr addrC -ler_subr_addr.
- by rewrite ler_subr_addr -one addrC ler_add2r.
Qed.

Lemma rate_and j b t : once (and_ j b t) -> rate p (run (and_ j b t)) true = p j b * rate p (run t) true.
Proof.
move=> ok; rewrite (rate_redraw product_p j) big_bool /=.
have R0 : rate p (run (Leaf n bool_finType false)) true = 0.
  by rewrite /rate (mean_eq p (G := fun _ => 0)) // mean_const.
have child a : rate p (fixed (run (and_ j b t)) j a) true = if a == b then rate p (run t) true else 0.
  rewrite /rate (mean_eq p (G := fun x => (run (if a == b then t else Leaf n _ false) x == true)%:R)); last first.
    by move=> x; rewrite (fixed_child a ok).
  by case: eqP => // _; exact: R0.
by rewrite !child; case: b {ok R0 child} => /=; rewrite mulr0 ?addr0 ?add0r.
Qed.

Lemma influence_and_other i j b t : once (and_ j b t) -> j != i ->
  influence p i (run (and_ j b t)) = p j b * influence p i (run t).
Proof.
move=> ok ji; rewrite (influence_other product_p _ ji) big_bool /= !(influence_ext p i (fixed_child _ ok)).
by case: b {ok} => /=; rewrite (influence_const product_p) mulr0 ?addr0 ?add0r.
Qed.

Lemma influence_and j b t : once (and_ j b t) ->
  influence p j (run (and_ j b t)) = 2%:R * p j true * p j false * rate p (run t) true.
Proof.
move=> ok; have no : ~~ reads j t by have := once_unread b ok; rewrite eqxx.
have run1 x : run (and_ j b t) x = (x j == b) && run t x by rewrite /=; case: eqP.
have two a : mean p (fun x => differ R (run (and_ j b t) x) (fixed (run (and_ j b t)) j a x))
    = p j (~~ a) * rate p (run t) true.
  rewrite (mean_redraw product_p j) big_bool /=.
  have same c : mean p (fixed (fun x => differ R (run (and_ j b t) x) (fixed (run (and_ j b t)) j a x)) j c)
      = (c != a)%:R * rate p (run t) true.
    rewrite /rate -(meanZ p); apply: mean_eq => x; rewrite /fixed !run1 !put_at !run_put // /differ.
    by case: a; case: c; case: b {ok run1}; case: (run t x); rewrite /= ?mulr1 ?mulr0 ?mul0r ?mul1r.
  by rewrite !same; case: (a) => /=; rewrite mul0r mul1r mulr0 ?addr0 ?add0r.
rewrite /influence big_bool /= !two /=; ring.
Qed.
End Bits.

Section Example.
Variable R : realFieldType.
Definition chance_of (i : 'I_4) : R := if i == ord0 then 1 / 20%:R else 1 / 5%:R.
Definition bits (i : 'I_4) (a : bool) : R := if a then chance_of i else 1 - chance_of i.
Definition x1 : 'I_4 := Ordinal (isT : (1 < 4)%N).
Definition x2 : 'I_4 := Ordinal (isT : (2 < 4)%N).
Definition x3 : 'I_4 := Ordinal (isT : (3 < 4)%N).
Definition nor : tree 4 bool_finType bool_finType := and_ x1 false (and_ x2 false (and_ x3 false (Leaf 4 _ true))).
Definition target := and_ ord0 true nor.
Definition f := run target.
Definition eps : R := 3%:R / 125%:R.
Definition best_score : R := 1 / 20%:R * (2%:R * (1 / 5%:R) * (4%:R / 5%:R) ^+ 3).

Lemma by_difference (x y d : R) : y - x = d -> 0 < d -> x < y. Proof. by move=> <-; rewrite subr_gt0. Qed.

Lemma bits_product : product bits.
Proof.
move=> i; split=> [a|]; last by rewrite big_bool /bits /= addrCA subrr addr0.
have c0 m : 0 <= 1 / m.+1%:R :> R by rewrite divr_ge0 ?ler0n ?ler01.
have c1 m : 0 <= 1 - 1 / m.+1%:R :> R by rewrite subr_ge0 ler_pdivr_mulr ?ltr0n // mul1r ler1n.
by rewrite /bits /chance_of; case: a; case: ifP.
Qed.
Let pp := bits_product.

Lemma bits1 i : i != ord0 -> bits i false = 4%:R / 5%:R.
Proof. by rewrite /bits /chance_of => /negbTE ->; field. Qed.

Lemma nor_once : once nor. Proof. by rewrite /nor !once_and // !reads_and. Qed.
Lemma target_once : once target. Proof. by rewrite once_and ?nor_once // !reads_and. Qed.
Lemma target_computes : computes target f. Proof. by split; first exact: target_once. Qed.

Lemma rate_nor : rate bits (run nor) true = (4%:R / 5%:R) ^+ 3.
Proof.
rewrite /nor !(rate_and pp) ?once_and // ?reads_and // !bits1 //.
by rewrite /rate (mean_eq bits (G := fun _ => 1)) // mean_const // mulr1 !exprS expr0 mulr1.
Qed.

Lemma influence_nor i : i != ord0 -> influence bits i (run nor) = 2%:R * (1 / 5%:R) * (4%:R / 5%:R) ^+ 3.
Proof.
move=> i0; have [-> | [-> | ->]] : i = x1 \/ i = x2 \/ i = x3.
  by case: i i0 => [[|[|[|[|m]]]] im] //= _; [left | right; left | right; right]; exact: val_inj.
- rewrite /nor (influence_and pp) ?once_and ?reads_and // !(rate_and pp) ?once_and ?reads_and //.
  by rewrite !bits1 // /rate (mean_eq bits (G := fun _ => 1)) // mean_const // /bits /chance_of /=; field.
- rewrite /nor (influence_and_other pp) ?once_and ?reads_and // (influence_and pp) ?once_and ?reads_and //.
  rewrite (rate_and pp) ?once_and ?reads_and // !bits1 // /rate (mean_eq bits (G := fun _ => 1)) // mean_const //.
  by rewrite /bits /chance_of /=; field.
- rewrite /nor (influence_and_other pp) ?once_and ?reads_and //.
  rewrite (influence_and_other pp) ?once_and ?reads_and // (influence_and pp) ?once_and ?reads_and //.
  by rewrite !bits1 // /rate (mean_eq bits (G := fun _ => 1)) // mean_const // /bits /chance_of /=; field.
Qed.

Lemma root_grown : grown bits f 1 eps [:: [::]]. Proof. exact: start. Qed.

Lemma rate_target : rate bits f true = 1 / 20%:R * (4%:R / 5%:R) ^+ 3.
Proof. by rewrite /f (rate_and pp target_once) rate_nor. Qed.

Lemma root_error : eps < err bits f [:: [::]].
Proof.
rewrite /err big_seq1 /mass big_nil mul1r /=.
apply: (@lt_le_trans _ _ (1 / 20%:R * (4%:R / 5%:R) ^+ 3)).
  by apply: (@by_difference _ _ (1 / 625%:R)); [rewrite /eps; field | rewrite divr_gt0 ?ltr01 ?ltr0n].
apply: error_floor; rewrite // rate_target // ltW //.
by apply: (@by_difference _ _ (593%:R / 625%:R)); [field | rewrite divr_gt0 ?ltr0n].
Qed.

Lemma influence_target i : i != ord0 -> influence bits i f = best_score.
Proof.
by move=> i0; rewrite /f (influence_and_other pp target_once) 1?eq_sym // influence_nor // /bits /chance_of /=.
Qed.

Lemma root_best w j : w \in [:: [::]] -> 1 * score bits f w j <= score bits f [::] ord0.
Proof.
rewrite inE => /eqP ->; rewrite mul1r /score /= ler_wpmul2l ?mass_ge0 //.
have [-> //|j0] := eqVneq j ord0; rewrite influence_target // /f (influence_and pp target_once) rate_nor ltW //.
apply: (@by_difference _ _ (24%:R / 625%:R)); last by rewrite divr_gt0 ?ltr0n.
by rewrite /best_score /bits /chance_of /=; field.
Qed.

Definition two_leaves : seq (leaf 4 bool_finType) := [seq (ord0, a) :: [::] | a <- enum bool_finType].

Lemma two_leaves_grown : grown bits f 1 eps two_leaves.
Proof.
have := @split _ _ _ _ bits f 1 eps [::] [::] [::] ord0 root_grown root_error root_best.
by rewrite cats0.
Qed.

Lemma inside_yes : inside f [:: (ord0, true)] =1 run nor. Proof. exact: fixed_child target_once. Qed.
Lemma inside_no : inside f [:: (ord0, false)] =1 (fun _ => false). Proof. exact: fixed_child target_once. Qed.

Lemma two_leaves_error : eps < err bits f two_leaves.
Proof.
rewrite /err big_map big_enum /= big_bool /= /mass !big_seq1 /= -[chance_of ord0]/(1 / 20%:R).
apply: (@lt_le_trans _ _ (1 / 20%:R * (61%:R / 125%:R))).
  apply: (@by_difference _ _ (1 / (20%:R * 125%:R))); first by rewrite /eps; field.
  by rewrite divr_gt0 ?mulr_gt0 ?ltr01 ?ltr0n.
rewrite -[X in X <= _]addr0 ler_add //; last by apply: mulr_ge0; [exact: (p_ge0 pp ord0 false) | exact: (error_ge0 pp)].
rewrite ler_wpmul2l ?divr_ge0 ?ler0n ?ler01 //; apply: error_floor => //.
  have -> : rate bits (inside f [:: (ord0, true)]) true = (4%:R / 5%:R) ^+ 3.
    by rewrite -rate_nor; apply: mean_eq => x; rewrite inside_yes.
  apply/ltW/(@by_difference _ _ (3%:R / 125%:R)); [by field | by rewrite divr_gt0 ?ltr0n].
have -> : rate bits (inside f [:: (ord0, true)]) true = (4%:R / 5%:R) ^+ 3.
  by rewrite -rate_nor; apply: mean_eq => x; rewrite inside_yes.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
Qed.

Lemma two_leaves_scores v i : v \in two_leaves -> score bits f v i <= best_score.
Proof.
have best0 : 0 <= best_score by rewrite /best_score !(mulr_ge0, invr_ge0, exprn_ge0, ler0n, ler01).
case/mapP=> -[] _ ->; rewrite /score /mass big_seq1 /=; last first.
  by rewrite (influence_ext bits i inside_no) influence_const // mulr0.
have [->|i0] := eqVneq i ord0; first by rewrite influence_fixed // mulr0.
by rewrite (influence_ext bits i inside_yes) influence_nor.
Qed.

Lemma target_depth : depth bits target = 561%:R / 500%:R.
Proof. by rewrite /target /nor !depth_and !bits1 // /bits /chance_of /=; field. Qed.

Lemma refuted : ~ printed_4_4 bool_finType bits.
Proof.
move=> printed; have := printed f eps two_leaves target best_score pp two_leaves_grown target_computes
  two_leaves_error two_leaves_scores; apply/negP; rewrite -ltNge target_depth size_map -cardE card_bool.
apply: (@by_difference _ _ (266%:R / (187%:R * 3125%:R))); last by rewrite divr_gt0 ?mulr_gt0 ?ltr0n.
by rewrite /eps /best_score; field.
Qed.
End Example.

Theorem printed_4_4_is_false_holds : printed_4_4_is_false.
Proof. by move=> R; exists (@bits R); split; [exact: bits_product | exact: refuted]. Qed.

(* What is proved: definitions and statements, no proofs. Check.v joins each statement to its proof. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Definition distribution (R : realFieldType) (T : finType) (mu : T -> R) :=
  (forall x, 0 <= mu x) /\ \sum_x mu x = 1.

(* A. CERTIFICATES. The bet against "the error is at least eps" is spread over rates q = u eps, 0 <= u <= 1.
   The spread is given by its moments: d a b is the mean of u^a (1-u)^b. *)
Section Certificates.
Variable R : realFieldType.
Definition spread (d : nat -> nat -> R) :=
  [/\ forall a b, 0 <= d a b, forall a b, d a b = d a.+1 b + d a b.+1 & d 0%N 0%N = 1].

(* bet d r a b c is the mean of u^a (1-u)^b (u + r (1-u))^c. After k errors and m right answers the e-value is the
   mean of (q/eps)^k ((1-q)/(1-eps))^m, and (1-q)/(1-eps) = u + (1-u)/(1-eps). *)
Fixpoint bet (d : nat -> nat -> R) r a b c :=
  if c is c'.+1 then bet d r a.+1 b c' + r * bet d r a b.+1 c' else d a b.
Definition e_value d eps k m := bet d (1 - eps)^-1 k 0 m.
Definition accepts d (level eps : R) (km : nat * nat) := (eps < 1) && (1 <= level * e_value d eps km.1 km.2).

(* The bets of the code: a quarter on error 0 and the rest on a triangle over (0, eps); for lower ends an even one. *)
Definition triangle a b : R := 2%:R * (a`! * b.+1`!)%:R / (a + b).+2`!%:R.
Definition even_ a b : R := (a`! * b`!)%:R / (a + b).+1`!%:R.
Definition upper a b : R := 1 / 4%:R * (a == 0%N)%:R + 3%:R / 4%:R * triangle a b.
Definition primitive (P : {poly R}) : {poly R} := \poly_(i < (size P).+1) (P`_i.-1 / i%:R).
Definition integral P x : R := (primitive P).[x].   (* over (0, x) *)
Definition integral_is_right := forall P, (primitive P)^`() = P /\ (primitive P).[0] = 0.
Definition code_computes_the_bet := [/\ spread upper, spread even_ &
  forall eps k m, 0 < eps -> eps < 1 -> let likelihood := 'X ^+ k * (1 - 'X) ^+ m in
    e_value upper eps k m * (eps ^+ k * (1 - eps) ^+ m) =
      1 / 4%:R * (k == 0%N)%:R + 3%:R / 4%:R * integral ((2%:R / eps) *: (1 - eps^-1 *: 'X) * likelihood) eps
    /\ e_value even_ eps k m * (eps ^+ k * (1 - eps) ^+ m) = integral (eps^-1 *: likelihood) eps].

(* Inputs are drawn one after another; a history holds them, the latest first. *)
Variables (X : finType) (mu : X -> R).
Notation history := (seq X).
Definition chance n (P : pred history) : R := \sum_(t : n.-tuple X) (\prod_(x <- t) mu x) * (P (rev t))%:R.
Fixpoint ever (P : pred history) h := P h || (if h is _ :: past then ever P past else false).

(* An attempt: the inputs on which its tree is wrong, its level, its bet, and whether it counts the next input. *)
Record attempt := Attempt { wrong : {set X}; level : R; moments : nat -> nat -> R; counts : pred history }.
Definition error_of A : R := \sum_(x in wrong A) mu x.
(* Errors and right answers among the inputs since it was opened; whether one counts is decided before it is drawn. *)
Fixpoint tally A (since before : history) : nat * nat :=
  if since is x :: past then let: (k, m) := tally A past before in
    if ~~ counts A (past ++ before) then (k, m) else if x \in wrong A then (k.+1, m) else (k, m.+1)
  else (0, 0)%N.

(* The strategy: which attempts it opens after a history. *)
Variable opens : history -> seq attempt.
Definition opened h i A := (i <= size h)%N /\ List.In A (opens (drop i h)).   (* i inputs ago *)
Definition states h i A eps := accepts (moments A) (level A) eps (tally A (take i h) (drop i h)).
Definition spent h : R := \sum_(i < (size h).+1) \sum_(A <- opens (drop i h)) level A.
Definition sound delta := [/\ distribution mu, forall h A, List.In A (opens h) -> 0 <= level A /\ spread (moments A)
  & forall h, spent h <= delta].

(* Any false bound, of any attempt, at any time, at any eps. *)
Definition certificate_rule := forall delta n (false_bound : pred history), sound delta ->
  (forall h, false_bound h -> exists i A eps, [/\ opened h i A, states h i A eps & eps <= error_of A]) ->
  chance n (ever false_bound) <= delta.
(* Whatever is said after a history: nothing yet, one bound when one stops, all of a frontier. *)
Definition any_choice := forall delta n (said : history -> seq (nat * attempt * R)), sound delta ->
  (forall h i A eps, List.In (i, A, eps) (said h) -> opened h i A /\ states h i A eps) ->
  chance n (ever (fun h => has (fun b => b.2 <= error_of b.1.2) (said h))) <= delta.
(* Two attempts, one for what is right in place of what is wrong: low < error < high. *)
Definition intervals := forall delta n (said : history -> seq (nat * attempt * attempt * R * R)), sound delta ->
  (forall h i A B low high, List.In (i, A, B, low, high) (said h) -> [/\ wrong B = ~: wrong A,
    opened h i A, opened h i B, states h i A high & states h i B (1 - low)]) ->
  chance n (ever (fun h => has (fun b => let: (_, A, _, low, high) := b in
    ~~ (low < error_of A < high)) (said h))) <= delta.
End Certificates.

(* B. SIZES. Inputs of n coordinates over a finite alphabet A, independent; labels L. *)
Section Sizes.
Variables (R : realFieldType) (n : nat) (A L : finType) (p : 'I_n -> A -> R).
Definition input := {ffun 'I_n -> A}.
Implicit Types (f : input -> L) (i : 'I_n).
Definition product := forall i, distribution (p i).
Definition mean (F : input -> R) : R := \sum_(x : input) (\prod_i p i (x i)) * F x.
Definition put (x : input) i a : input := [ffun j => if j == i then a else x j].
Definition fixed (T : Type) (f : input -> T) i a x := f (put x i a).   (* the restriction x_i = a *)
Definition differ (c d : L) : R := (c != d)%:R.
Definition influence i f : R := \sum_a p i a * mean (fun x => differ (f x) (fixed f i a x)).   (* i drawn anew *)
Definition total f : R := \sum_i influence i f.
Definition gini f : R := mean (fun x => mean (fun y => differ (f x) (f y))).
Definition rate f c : R := mean (fun x => (f x == c)%:R).
Definition error f : R := 1 - \big[Num.max/0]_c rate f c.

Inductive tree := Leaf of L | Node of 'I_n & (A -> tree).
Fixpoint run t (x : input) := match t with Leaf c => c | Node i s => run (s (x i)) x end.
Fixpoint reads i t := match t with Leaf _ => false | Node j s => (i == j) || [exists a, reads i (s a)] end.
Fixpoint once t := match t with Leaf _ => true | Node j s => [forall a, ~~ reads j (s a) && once (s a)] end.
Fixpoint height t : nat := match t with Leaf _ => 0 | Node _ s => (\max_a height (s a)).+1 end.
Fixpoint depth t : R := match t with Leaf _ => 0 | Node j s => 1 + \sum_a p j a * depth (s a) end.   (* average *)
Fixpoint read_chance i t : R :=
  match t with Leaf _ => 0 | Node j s => (i == j)%:R + \sum_a p j a * read_chance i (s a) end.
Definition computes t f := once t /\ run t =1 f.   (* no path reads a coordinate twice *)

Definition cost_drop := forall f i, product -> total f = influence i f + \sum_a p i a * total (fixed f i a).
Definition osss := forall f t, product -> computes t f -> gini f <= \sum_i read_chance i t * influence i f.
Definition efron_stein := forall f, product -> error f <= gini f /\ gini f <= total f.
Definition influence_caps := forall f t i, product -> computes t f -> [/\ influence i f <= gini f,
  total f <= (height t)%:R * gini f & total f <= (1 - #|L|%:R^-1) * depth t].

(* A leaf is the answers on its path. Growth splits while the error is above eps, within kappa of the best score. *)
Definition leaf := seq ('I_n * A).
Definition mass (v : leaf) : R := \prod_(e <- v) p e.1 e.2.
Definition inside f (v : leaf) := foldr (fun e g => fixed g e.1 e.2) f v.
Definition score f v i : R := mass v * influence i (inside f v).
Definition cost f s : R := \sum_(v <- s) mass v * total (inside f v).
Definition err f s : R := \sum_(v <- s) mass v * error (inside f v).
Inductive grown f (kappa eps : R) : seq leaf -> Prop :=
| start : grown f kappa eps [:: [::]]
| split s1 v s2 i : grown f kappa eps (s1 ++ v :: s2) -> eps < err f (s1 ++ v :: s2) ->
    (forall w j, w \in s1 ++ v :: s2 -> kappa * score f w j <= score f v i) ->
    grown f kappa eps (s1 ++ [seq (i, a) :: v | a <- enum A] ++ s2).

(* Delta*: every region has a tree of at most this average depth. *)
Definition regions_within f (d : R) := forall v, exists t, computes t (inside f v) /\ depth t <= d.
Definition two : R := if (#|L| <= 2)%N then 2%:R else 1.
Definition more : R := (#|A| - 1)%:R.   (* leaves that a split adds: 1 for bits *)
Definition lemmas_4_4_and_4_5 := forall f kappa eps s t u dstar S, product -> grown f kappa eps s -> computes t f ->
  computes u f -> regions_within f dstar -> (forall v i, v \in s -> score f v i <= S) -> 0 <= S ->
  let j := (size s)%:R in let D := (height t)%:R in
  [/\ err f s <= j * dstar * S, two * err f s ^+ 2 <= j * depth u * S,
      cost f s <= j * D * dstar * S & two * cost f s ^+ 2 <= j * D ^+ 2 * depth u * S].

Definition logarithm (ln : R -> R) := (forall x y, 0 < x -> 0 < y -> ln (x * y) = ln x + ln y) /\
  forall x, 0 < x -> ln x <= x - 1.
Definition sizes := forall ln f kappa eps s t u dstar, logarithm ln -> product -> 0 < kappa -> 0 < eps ->
  grown f kappa eps s -> computes t f -> (0 < height t)%N -> computes u f -> regions_within f dstar ->
  let D := (height t)%:R in let De := Num.min D (depth u / (two * eps)) in
  let power B c := if B <= c then 1 + ln (c / B) else c / B in
  [/\ ln (size s)%:R <= more * (D * dstar / kappa) * power (eps * D) (total f),
      ln (size s)%:R <= more * (total f * depth u / (two * kappa * eps ^+ 2)) &
      ln (size s)%:R <= more * (De ^+ 2 * (1 + ln (depth u / (two * eps * De))) / kappa)].

(* C. Lemma 4.4 as printed, here without its factor 2 and for the average depth of any tree of the target. *)
Definition printed_4_4 := forall f eps s t S, product -> grown f 1 eps s -> computes t f -> eps < err f s ->
  (forall v i, v \in s -> score f v i <= S) -> eps / ((size s)%:R * depth t) <= S.
End Sizes.
Definition printed_4_4_is_false :=
  forall R : realFieldType, exists p : 'I_4 -> bool -> R, product p /\ ~ printed_4_4 bool_finType p.

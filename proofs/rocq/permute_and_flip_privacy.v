(** Permute-and-flip is private and regular: Theorems 1 and 2 of McKenna and Sheldon (2020).
    Page: proofs/permute_and_flip.md, claim 2. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From dpselect Require Import laws coins permute_and_flip.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Privacy.
Variables (V : realDomainType) (R : realFieldType) (e : exponential V R) (T : finType).
Implicit Types (u : T -> V) (m : V) (i j : T).

Lemma flips_are_probabilities u m : is_best u m -> probabilities (flip_probability e u m).
Proof. by move=> [_ le_m] j; rewrite expo_ge0 expo_le1 // subr_le0. Qed.

Theorem pf_score_is_law u m : is_best u m -> is_law (pf e u m).
Proof.
move=> best; apply: pf_is_law; first exact: flips_are_probabilities.
by case: best => -[k uk] _; exists k; rewrite /flip_probability uk subrr expo0.
Qed.

(** The lemma that all else follows from. If no score rises by more than [d], the probability of [i] falls at most by the
    factor e^(d - rise of i). Where all other scores fall and that of [i] stays, it does not fall. *)
Lemma pf_after_changes u u' m m' d i :
  is_best u m -> is_best u' m' -> (forall j, u' j - u j <= d) ->
  e (u' i - u i - d) * pf e u m i <= pf e u' m' i.
Proof.
move=> best best' rise.
have theta_le1 : m' - m - d <= 0.
  case: best' => -[k <-] _; have := rise k; rewrite ler_subl_addr => risen.
  rewrite subr_le0 ler_subl_addr; apply: le_trans risen _.
  by rewrite ler_add2l; case: best => _; apply.
pose theta := e (m' - m - d).
have theta01 : 0 <= theta <= 1 by rewrite expo_ge0 expo_le1.
have thinned j : theta * flip_probability e u' m' j <= flip_probability e u m j.
  rewrite -expoD; apply: expo_le.
  have -> : m' - m - d + (u' j - m') = (u' j - d) - m by ring.
  by rewrite ler_add2r ler_subl_addr addrC -ler_subl_addr; apply: rise.
have prob := flips_are_probabilities best; have prob' := flips_are_probabilities best'.
have thinned_prob : probabilities (fun j => theta * flip_probability e u' m' j).
  by move=> j; have /andP[? ?] := theta01; have /andP[? ?] := prob' j; rewrite mulr_ge0 ?mulr_ile1.
rewrite /pf !pf_chance.
have -> : e (u' i - u i - d) * (flip_probability e u m i * chance_among (flip_probability e u m) (others i))
        = flip_probability e u' m' i * (theta * chance_among (flip_probability e u m) (others i)).
  rewrite mulrA mulrA -!expoD; congr (e _ * _); ring.
apply: ler_wpmul2l; first exact: expo_ge0.
apply: le_trans _ (thinned_chance theta01 _ prob').
apply: ler_wpmul2l; first exact: expo_ge0.
by apply: mean_le_coins => // h; apply: share_falls.
Qed.

(** Some score moves up the most. *)
Lemma largest_rise (d : T -> V) (i : T) : exists k, forall j, d j <= d k.
Proof.
have [k _ largest] := @arg_maxP _ _ _ i xpredT d isT.
by exists k => j; apply: largest.
Qed.

(** Theorem 1: epsilon-DP, if the scores move by at most epsilon against each other. *)
Theorem pf_private u u' m m' epsilon :
  is_best u m -> is_best u' m' -> range_at_most epsilon u u' ->
  close (e epsilon) (pf e u m) (pf e u' m').
Proof.
move=> best best' range; apply/closeP => i.
have [k largest] := largest_rise (fun j => u' j - u j) i.
apply: (@le_trans _ _ (e epsilon * (e (u' i - u i - (u' k - u k)) * pf e u m i))); last first.
  by apply: ler_wpmul2l; rewrite ?expo_ge0 //; apply: pf_after_changes.
rewrite mulrA -expoD -[leLHS]mul1r; apply: ler_wpmul2r.
  by case: (pf_score_is_law best) => pf_ge0 _; apply: pf_ge0.
apply: expo_ge1; have := range k i; rewrite -subr_ge0.
by have -> : epsilon - (u' k - u k - (u' i - u i)) = epsilon + (u' i - u i - (u' k - u k)) by ring.
Qed.

(** Theorem 2, regular, in its three parts. First, all scores may be shifted. *)
Theorem pf_shift u m a i : pf e (fun j => u j + a) (m + a) i = pf e u m i.
Proof.
have same j : flip_probability e (fun j => u j + a) (m + a) j = flip_probability e u m j.
  by rewrite /flip_probability; congr (e _); ring.
by rewrite /pf !pf_chance same; congr (_ * _); apply: mean_ext_coins.
Qed.

(** Second, candidates may be renamed: the law follows the scores. *)
Theorem pf_symmetric u m (rename : T -> T) i :
  bijective rename -> pf e (fun j => u (rename j)) m i = pf e u m (rename i).
Proof.
move=> bij; have inj := bij_inj bij.
rewrite /pf !pf_chance; congr (_ * _); rewrite /chance_among /chance.
transitivity (mean (flip_probability e u m) (share R) (map rename (enum (others i)))).
  by elim: (enum _) (share R) => [|j s IH] f //=; rewrite !IH.
apply: mean_perm; apply: uniq_perm; rewrite ?map_inj_uniq ?enum_uniq // => j.
have [back renameK backK] := bij.
by rewrite -[j]backK (mem_map inj) !mem_enum !mem_others (inj_eq inj).
Qed.

(** Third, monotone: a candidate whose score rises while no other score rises is not selected less often. *)
Theorem pf_monotone u u' m m' i :
  is_best u m -> is_best u' m' -> u i <= u' i -> (forall j, j != i -> u' j <= u j) ->
  pf e u m i <= pf e u' m' i.
Proof.
move=> best best' rises falls.
have rise j : u' j - u j <= u' i - u i.
  have [->|j_neq_i] := eqVneq j i; first exact: lexx.
  by apply: (@le_trans _ _ 0); rewrite ?subr_le0 ?subr_ge0 // falls.
by have := pf_after_changes i best best' rise; rewrite subrr expo0 mul1r.
Qed.

End Privacy.

(** Scores and epsilon of one ordered field, such as the reals, as users give them. *)
Section Sensitivity.
Variables (F R : realFieldType) (e : exponential F R) (T : finType).
Variables (q q' : T -> F) (m m' epsilon sensitivity : F).
Hypotheses (epsilon_ge0 : 0 <= epsilon) (sensitivity_gt0 : 0 < sensitivity).

(** In general the noise is made for 2 * sensitivity. *)
Theorem pf_general :
  let u := scaled epsilon (sensitivity + sensitivity) q in
  let u' := scaled epsilon (sensitivity + sensitivity) q' in
  is_best u m -> is_best u' m' -> sensitivity_at_most sensitivity q q' ->
  close (e epsilon) (pf e u m) (pf e u' m').
Proof.
move=> u u' best best' sens; apply: pf_private => //; apply: range_of_scaled => //; first exact: addr_gt0.
exact: range_of_sensitivity.
Qed.

(** For monotone scores half the noise is enough. *)
Theorem pf_monotone_scores :
  let u := scaled epsilon sensitivity q in
  let u' := scaled epsilon sensitivity q' in
  is_best u m -> is_best u' m' -> monotone_within sensitivity q q' ->
  close (e epsilon) (pf e u m) (pf e u' m').
Proof.
by move=> u u' best best' mono; apply: pf_private => //; apply: range_of_scaled => //; apply: range_of_monotone.
Qed.

End Sensitivity.

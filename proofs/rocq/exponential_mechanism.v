(** The exponential mechanism: bounded range, and so privacy, with public weights of the candidates.
    Pages: proofs/exponential_mechanism.md, proofs/weighted_candidates.md. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From dpselect Require Import laws.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section ExponentialMechanism.
Variables (V : realDomainType) (R : realFieldType) (e : exponential V R) (T : finType).
Implicit Types (weight : T -> R) (u : T -> V).

(** Candidate [i] with score [u i] (in units of the scale b) and public weight [weight i]: the base measure. *)
Definition total weight u : R := \sum_j weight j * e (u j).
Definition em weight u (i : T) : R := weight i * e (u i) / total weight u.

(** Without weights. *)
Definition unweighted : T -> R := fun _ => 1.

Lemma total_ge0 weight u : (forall i, 0 <= weight i) -> 0 <= total weight u.
Proof. by move=> weight_ge0; apply: sumr_ge0 => i _; rewrite mulr_ge0 ?expo_ge0. Qed.

Lemma total_gt0 weight u : (forall i, 0 <= weight i) -> (exists i, 0 < weight i) -> 0 < total weight u.
Proof.
move=> weight_ge0 [i weight_gt0]; rewrite /total (bigD1 i) //=.
apply: ltr_paddr; last by rewrite mulr_gt0 ?expo_gt0.
by apply: sumr_ge0 => j _; rewrite mulr_ge0 ?expo_ge0.
Qed.

Lemma em_ge0 weight u i : (forall i, 0 <= weight i) -> 0 <= em weight u i.
Proof. by move=> weight_ge0; rewrite divr_ge0 ?total_ge0 // mulr_ge0 ?expo_ge0. Qed.

Lemma em_le1 weight u i : (forall i, 0 <= weight i) -> em weight u i <= 1.
Proof.
move=> weight_ge0; have [none|some] := eqVneq (total weight u) 0; first by rewrite /em none invr0 mulr0 ler01.
rewrite /em ler_pdivr_mulr ?mul1r; last by rewrite lt0r some total_ge0.
rewrite /total (bigD1 i) //= ler_addl sumr_ge0 // => j _.
by rewrite mulr_ge0 ?expo_ge0.
Qed.

Theorem em_is_law weight u :
  (forall i, 0 <= weight i) -> (exists i, 0 < weight i) -> is_law (em weight u).
Proof.
move=> weight_ge0 some_gt0; split=> [i|]; first exact: em_ge0.
by rewrite /em -mulr_suml divff // gt_eqF // total_gt0.
Qed.

(** Claim 1: if scores move by at most epsilon against each other, the losses of all candidates lie in an interval of
    that length. The public weights cancel. *)
Theorem em_bounded_range weight u u' epsilon :
  (forall i, 0 <= weight i) -> range_at_most epsilon u u' ->
  bounded_range (e epsilon) (em weight u) (em weight u').
Proof.
move=> weight_ge0 range x y.
rewrite /em mulrACA (mulrACA (weight y * _)) [leRHS]mulrA.
apply: ler_wpmul2r; first by rewrite mulr_ge0 // invr_ge0 total_ge0.
rewrite mulrACA (mulrACA (weight y)) -!expoD.
have -> : e epsilon * (weight y * weight x * e (u y + u' x)) = weight x * weight y * e (epsilon + (u y + u' x)).
  by rewrite !expoD; ring.
apply: ler_wpmul2l; first exact: mulr_ge0.
apply: expo_le; rewrite -ler_subl_addr.
have -> : u x + u' y - (u y + u' x) = (u' y - u y) - (u' x - u x) by ring.
exact: range.
Qed.

(** Claims 1 and 2: epsilon-DP, whatever the public weights. *)
Theorem em_private weight u u' epsilon :
  (forall i, 0 <= weight i) -> range_at_most epsilon u u' ->
  close (e epsilon) (em weight u) (em weight u').
Proof.
move=> weight_ge0 range.
have [/existsP some_gt0|/existsPn none] := boolP [exists i, 0 < weight i].
  by apply: bounded_range_is_close; [exact: em_is_law | exact: em_is_law | exact: em_bounded_range].
(* All weights are zero: there is nothing to select, and no probability at all. *)
apply/closeP => x; rewrite /em.
have -> : weight x = 0 by apply/eqP; have := none x; rewrite lt0r weight_ge0 andbT negbK.
by rewrite !mul0r mulr0.
Qed.

(** Shifting all scores changes nothing, so implementations may subtract the largest. *)
Theorem em_shift weight u a i : em weight (fun j => u j + a) i = em weight u i.
Proof.
rewrite /em /total.
have -> : \sum_j weight j * e (u j + a) = (\sum_j weight j * e (u j)) * e a.
  by rewrite mulr_suml; apply: eq_bigr => j _; rewrite expoD mulrA.
by rewrite expoD mulrA invfM mulrACA divff ?mulr1 // expo_neq0.
Qed.

End ExponentialMechanism.

(** Scores and epsilon of one ordered field, such as the reals, as users give them. *)
Section Sensitivity.
Variables (F R : realFieldType) (e : exponential F R) (T : finType).
Variables (weight : T -> R) (q q' : T -> F) (epsilon sensitivity : F).
Hypotheses (weight_ge0 : forall i, 0 <= weight i) (epsilon_ge0 : 0 <= epsilon) (sensitivity_gt0 : 0 < sensitivity).

(** In general the noise is made for 2 * sensitivity. *)
Theorem em_general :
  sensitivity_at_most sensitivity q q' ->
  close (e epsilon) (em e weight (scaled epsilon (sensitivity + sensitivity) q))
                    (em e weight (scaled epsilon (sensitivity + sensitivity) q')).
Proof.
move=> sens; apply: em_private => //; apply: range_of_scaled => //; first exact: addr_gt0.
exact: range_of_sensitivity.
Qed.

(** For monotone scores half the noise is enough. *)
Theorem em_monotone :
  monotone_within sensitivity q q' ->
  close (e epsilon) (em e weight (scaled epsilon sensitivity q)) (em e weight (scaled epsilon sensitivity q')).
Proof.
by move=> mono; apply: em_private => //; apply: range_of_scaled => //; apply: range_of_monotone.
Qed.

End Sensitivity.

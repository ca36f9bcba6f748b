(** The same theorems for the real numbers and the function exp of mathcomp-analysis. That library, unlike all the rest here,
    assumes the axioms of classical mathematics; [check] prints which. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.analysis Require Import reals sequences exp.
From dpselect Require Import laws exponential_mechanism permute_and_flip permute_and_flip_privacy permute_and_flip_error counting
  most_common.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Reals.
Variable R : realType.

Lemma expR_le (x y : R) : x <= y -> expR x <= expR y.
Proof. by move=> xy; rewrite ler_expR. Qed.

(** The exponential function of the real numbers is one in the sense of [laws.v]. *)
Definition real_exp : exponential R R := Exponential (@expR_gt0 R) (@expRD R) expR_le.

Theorem em_private_real (T : finType) (weight : T -> R) (q q' : T -> R) (epsilon sensitivity : R) :
  (forall i, 0 <= weight i) -> 0 <= epsilon -> 0 < sensitivity -> sensitivity_at_most sensitivity q q' ->
  close (expR epsilon) (em real_exp weight (scaled epsilon (sensitivity + sensitivity) q))
                       (em real_exp weight (scaled epsilon (sensitivity + sensitivity) q')).
Proof. exact: (em_general real_exp). Qed.

Theorem pf_private_real (T : finType) (i0 : T) (q q' : T -> R) (epsilon sensitivity : R) :
  0 <= epsilon -> 0 < sensitivity -> sensitivity_at_most sensitivity q q' ->
  let u := scaled epsilon (sensitivity + sensitivity) q in
  let u' := scaled epsilon (sensitivity + sensitivity) q' in
  close (expR epsilon) (pf real_exp u (best_score i0 u)) (pf real_exp u' (best_score i0 u')).
Proof.
move=> epsilon_ge0 sensitivity_gt0 sens u u'.
by apply: (pf_general real_exp) => //; apply: best_scoreP.
Qed.

End Reals.

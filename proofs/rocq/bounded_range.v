(** The worst laws of bounded range have two points, and the step of the exact recursion that follows from it.
    Pages: proofs/top_k.md (claim 2), proofs/composition.md (claim 5). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From dpselect Require Import laws composition.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section TwoPoints.
Variables (R : realFieldType) (T : finType).
Implicit Types (P Q : T -> R) (low high : R) (F : R -> R -> R).

(** [F p q] is how an outcome counts that has probabilities [p] and [q]: for profiles max(0, p - c q), which is shown below;
    for Rényi divergences p^a q^(1-a), which is not shown here. Mixing outcomes never makes the sum larger. *)
Definition sublinear F := forall a b p q p' q', 0 <= a -> 0 <= b ->
  F (a * p + b * p') (a * q + b * q') <= a * F p q + b * F p' q'.

(** Bounded range: all ratios are between [low] and c * [low], on both sides of 1. *)
Theorem ratios_between c P Q :
  is_law P -> is_law Q -> (forall x, 0 < Q x) -> bounded_range c P Q -> (exists x : T, true) ->
  exists low, [/\ 0 <= low <= 1, 1 <= c * low & forall x, low * Q x <= P x <= c * low * Q x].
Proof.
move=> [P_ge0 sum_P] [_ sum_Q] Q_gt0 range [x0 _].
have [x _ least] := @arg_minP _ _ _ x0 xpredT (fun x => P x / Q x) isT.
pose low := P x / Q x.
have bounds y : low * Q y <= P y <= c * low * Q y.
  apply/andP; split; first by rewrite -ler_pdivl_mulr //; apply: least.
  have -> : c * low * Q y = c * (P x * Q y) / Q x by rewrite /low; ring.
  by rewrite ler_pdivl_mulr //; apply: range.
exists low; split=> //.
  rewrite divr_ge0 ?(ltW (Q_gt0 _)) //= -sum_P -[leLHS]mulr1 -sum_Q mulr_sumr.
  by apply: ler_sum => y _; case/andP: (bounds y).
rewrite -{1}sum_P -[leRHS]mulr1 -sum_Q mulr_sumr.
by apply: ler_sum => y _; case/andP: (bounds y).
Qed.

(** Two laws whose ratios are between [low] and [high] count no more than two outcomes with exactly these ratios. *)
Theorem two_points_are_worst low high P Q F :
  is_law P -> is_law Q -> low < high -> (forall x, low * Q x <= P x <= high * Q x) -> sublinear F ->
  (high - low) * (\sum_x F (P x) (Q x)) <= (high - 1) * F low 1 + (1 - low) * F high 1.
Proof.
move=> [_ sum_P] [_ sum_Q] low_high bounds F_sub.
have gap_gt0 : 0 < high - low by rewrite subr_gt0.
have gap_neq0 : high - low != 0 by rewrite gt_eqF.
have each x : (high - low) * F (P x) (Q x) <= (high * Q x - P x) * F low 1 + (P x - low * Q x) * F high 1.
  have /andP[above under] := bounds x.
  pose a := (high * Q x - P x) / (high - low); pose b := (P x - low * Q x) / (high - low).
  have a_ge0 : 0 <= a by rewrite divr_ge0 ?subr_ge0 // ltW.
  have b_ge0 : 0 <= b by rewrite divr_ge0 ?subr_ge0 // ltW.
  have P_mix : P x = a * low + b * high by rewrite /a /b; field.
  have Q_mix : Q x = a * 1 + b * 1 by rewrite /a /b; field.
  have a_gap : (high - low) * a = high * Q x - P x by rewrite /a mulrC divfK.
  have b_gap : (high - low) * b = P x - low * Q x by rewrite /b mulrC divfK.
  rewrite -a_gap -b_gap {1}P_mix {1}Q_mix.
  apply: le_trans (ler_wpmul2l (ltW gap_gt0) (F_sub a b low 1 high 1 a_ge0 b_ge0)) _.
  by rewrite mulrDr !mulrA.
rewrite mulr_sumr; apply: le_trans (ler_sum _ (fun x _ => each x)) _.
rewrite big_split /= -!mulr_suml !sumrB -!mulr_sumr sum_P sum_Q !mulr1.
exact: lexx.
Qed.

End TwoPoints.

(** The privacy profile at ln c: the smallest delta with which the laws are (ln c, delta)-close. *)
Section Profile.
Variables (R : realFieldType).

Definition profile (T : finType) (c : R) (P Q : T -> R) := \sum_x Num.max 0 (P x - c * Q x).

Theorem profile_is_delta (T : finType) (c d : R) (P Q : T -> R) : close_up_to c d P Q <-> profile c P Q <= d.
Proof.
split=> [close_PQ|prof A].
  have := close_PQ [set x | 0 < P x - c * Q x]; rewrite /event mulr_sumr -ler_subl_addl -sumrB.
  apply: le_trans; rewrite /profile [leRHS]big_mkcond /=; apply: ler_sum => x _.
  by rewrite inE maxC; case: (ltrP 0 (P x - c * Q x)).
rewrite /event mulr_sumr -ler_subl_addl -sumrB; apply: le_trans prof.
rewrite /profile big_mkcond /=; apply: ler_sum => x _.
by case: (x \in A); rewrite le_maxr ?lexx ?orbT.
Qed.

Theorem profile_is_sublinear (c : R) : sublinear (fun p q => Num.max 0 (p - c * q)).
Proof.
move=> a b p q p' q' a_ge0 b_ge0; rewrite le_maxl; apply/andP; split.
  by rewrite addr_ge0 // mulr_ge0 // le_maxr lexx.
have -> : a * p + b * p' - c * (a * q + b * q') = a * (p - c * q) + b * (p' - c * q') by ring.
by apply: ler_add; apply: ler_wpmul2l; rewrite // le_maxr lexx orbT.
Qed.

(** One step of the recursion: if, whatever the first result, what comes later counts at most [F p q] where it was reached with
    probabilities [p] and [q], both runs together count at most the two-point mean of [F]. *)
Theorem recursion_step (S T : finType) (c low high : R) (P P' : S -> R) (K K' : S -> T -> R) (F : R -> R -> R) :
  is_law P -> is_law P' -> low < high -> (forall x, low * P' x <= P x <= high * P' x) -> sublinear F ->
  (forall x p q, 0 <= p -> 0 <= q -> \sum_y Num.max 0 (p * K x y - c * (q * K' x y)) <= F p q) ->
  (high - low) * profile c (in_turn P K) (in_turn P' K') <= (high - 1) * F low 1 + (1 - low) * F high 1.
Proof.
move=> P_law P'_law low_high bounds F_sub later.
apply: le_trans _ (two_points_are_worst P_law P'_law low_high bounds F_sub).
apply: ler_wpmul2l; first by rewrite subr_ge0 ltW.
rewrite /profile -(pair_big predT predT (fun x y => Num.max 0 (P x * K x y - c * (P' x * K' x y)))) /=.
by apply: ler_sum => x _; apply: later; [case: P_law | case: P'_law].
Qed.

End Profile.

(** The hazard lemma: report-noisy-max is private with every noise whose tail falls by at most the factor e^(-v) over a
    distance [v], such as exponential, Laplace and Gumbel noise. What a selection by noise is, is in [integrals.v].
    Page: proofs/noisy_max.md, claims 1 and 2. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From dpselect Require Import laws permute_and_flip integrals.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Hazard.
Variables (V : realDomainType) (R : realFieldType) (e : exponential V R).
Implicit Types (noise : V -> R) (y v : V).

(** Inequality (A) of the page: from any [c] on, the tail falls by at most the factor e^(-v) over a distance [v]. *)
Definition slow_tail noise := forall c v, 0 <= v -> e (- v) * (1 - noise c) <= 1 - noise (c + v).

(** * Lower sums, by the tails of [F] instead of its steps *)

Lemma lower_from_tails (F F' W W' : V -> R) (a : V) (k : R) y ys :
  0 <= k -> (forall y, 0 <= W y) -> (forall y y', y <= y' -> W y <= W y') -> (forall y, W y <= W' (y + a)) ->
  (forall y y', y <= y' -> F' y <= F' y') -> (forall y, F' y <= 1) ->
  (forall y, k * (1 - F y) <= 1 - F' (y + a)) -> path <=%O y ys ->
  k * lower_from F W y ys <= lower_from F' W' (y + a) [seq y' + a | y' <- ys].
Proof.
move=> k_ge0 W_ge0 W_le WW' F'_le F'_le1 tail sorted.
pose T y := 1 - F' (y + a).
apply: (@le_trans _ _ (lower_from (fun y => F' (y + a)) W y ys)); last first.
  elim: ys y sorted => [|y' ys IH] y /=; first by move=> _; apply: ler_wpmul2l; rewrite ?subr_ge0.
  case/andP=> yy' sorted; apply: ler_add _ (IH _ sorted).
  by apply: ler_wpmul2l; rewrite // subr_ge0 F'_le // ler_add2r.
suff above_start z zs : path <=%O z zs ->
    k * (lower_from F W z zs - (1 - F z) * W z) <= lower_from (fun y => F' (y + a)) W z zs - (1 - F' (z + a)) * W z.
  have := above_start y ys sorted; rewrite mulrBr ler_subl_addr => above.
  apply: le_trans above _; rewrite -addrA -[leRHS]addr0 ler_add2l addrC subr_le0 mulrA.
  by apply: ler_wpmul2r.
elim: zs z => [|z' zs IH] z /=; first by rewrite !subrr mulr0.
case/andP=> zz' zs_sorted.
have -> : (F z' - F z) * W z + lower_from F W z' zs - (1 - F z) * W z
        = (1 - F z') * (W z' - W z) + (lower_from F W z' zs - (1 - F z') * W z') by ring.
have -> : (F' (z' + a) - F' (z + a)) * W z + lower_from (fun y => F' (y + a)) W z' zs - (1 - F' (z + a)) * W z
        = (1 - F' (z' + a)) * (W z' - W z) + (lower_from (fun y => F' (y + a)) W z' zs - (1 - F' (z' + a)) * W z').
  by ring.
rewrite mulrDr mulrA; apply: ler_add _ (IH z' zs_sorted); apply: ler_wpmul2r => //.
by rewrite subr_ge0 W_le.
Qed.

(** * Privacy *)

Section Selection.
Variables (T : finType) (noise : V -> R).
Hypotheses (noise_dist : distribution noise) (noise_tail : slow_tail noise).
Implicit Types (u : T -> V) (i j : T).

(** The distribution functions of the noisy score of [i], and of the largest of the others. *)
Definition noisy_below u i y : R := noise (y - u i).
Definition noisy_others_below u i y : R := \prod_(j in others i) noise (y - u j).

(** [P] is the probability that report-noisy-max selects [i]. *)
Definition noisy_max u i (P : R) := selected (noisy_below u i) (noisy_others_below u i) P.

Let noise_ge0 y : 0 <= noise y. Proof. by case: noise_dist => /(_ y) /andP[]. Qed.
Let noise_le1 y : noise y <= 1. Proof. by case: noise_dist => /(_ y) /andP[]. Qed.
Let noise_le y y' : y <= y' -> noise y <= noise y'. Proof. by case: noise_dist => _; apply. Qed.

Lemma noisy_others_dist u i : distribution (noisy_others_below u i).
Proof.
split=> [y|y y' yy']; last by apply: ler_prod => j _; rewrite noise_ge0 noise_le // ler_add2r.
apply: (big_ind (fun x : R => 0 <= x <= 1)) => [|a b /andP[a0 a1] /andP[b0 b1]|j _].
- by rewrite ler01 lexx.
- by rewrite mulr_ge0 ?mulr_ile1.
- by rewrite noise_ge0 noise_le1.
Qed.

(** Claim 1. With cells of probability [d]: up to [d], which may be as small as one likes, the probability of each candidate
    falls by at most the factor e^(-epsilon). *)
Theorem noisy_max_private u u' epsilon i (P P' d : R) y ys :
  0 <= epsilon -> range_at_most epsilon u u' -> noisy_max u i P -> noisy_max u' i P' ->
  fine (noisy_below u i) d y ys -> e (- epsilon) * (P - d) <= P'.
Proof.
move=> epsilon_ge0 range sel sel' cells.
have sorted : path <=%O y ys by case: cells => _ steps _; apply: sub_path steps => a b /andP[].
pose a := u' i - u i + epsilon.
have sorted' : path <=%O (y + a) [seq y' + a | y' <- ys].
  rewrite -[y + a]/((fun z => z + a) y) path_map.
  by apply: sub_path sorted => z z' /=; rewrite ler_add2r.
have /andP[low' _] := selected_between_sums sel' sorted'.
apply: le_trans low'.
have /andP[_ up] := selected_between_sums sel sorted.
have [W01 W_le] := noisy_others_dist u i.
apply: (@le_trans _ _ (e (- epsilon) * lower_sum (noisy_below u i) (noisy_others_below u i) y ys)).
  apply: ler_wpmul2l; first exact: expo_ge0.
  rewrite ler_subl_addr -ler_subl_addl; apply: le_trans (sums_are_close (noisy_others_dist u i) cells).
  by apply: ler_sub.
apply: lower_from_tails; rewrite ?expo_ge0 //; rewrite /noisy_below /noisy_others_below.
- by move=> z; case/andP: (W01 z).
- move=> z; apply: ler_prod => j _; rewrite noise_ge0 noise_le //.
  rewrite -subr_ge0; have -> : z + a - u' j - (z - u j) = a - (u' j - u j) by ring.
  by rewrite subr_ge0 /a [leRHS]addrC -ler_subl_addr; apply: range.
- by move=> z z' zz'; rewrite noise_le // ler_add2r.
- by move=> z; apply: noise_le1.
- move=> z; have -> : z + a - u' i = z - u i + epsilon by rewrite /a; ring.
  exact: noise_tail.
Qed.

End Selection.

(** * Noise that meets the condition: claim 2 *)

Definition exponential_noise y : R := if y <= 0 then 0 else 1 - e (- y).
Definition half : R := 2%:R^-1.
Definition laplace_noise y : R := if y <= 0 then half * e y else 1 - half * e (- y).

Lemma half2 : half + half = 1.
Proof. by rewrite -mulr2n -[_ *+ 2]mulr_natl divff // pnatr_eq0. Qed.

Lemma half_ge0 : 0 <= half. Proof. by rewrite invr_ge0 ler0n. Qed.

Lemma tail_of_tail (x : R) : 1 - (1 - x) = x. Proof. by ring. Qed.

Theorem exponential_noise_tail : slow_tail exponential_noise.
Proof.
move=> c v v_ge0; rewrite /exponential_noise; case: (lerP c 0) => [c_le0|c_gt0].
  rewrite subr0 mulr1; case: (lerP (c + v) 0) => [_|_]; first by rewrite subr0 expo_le1 // oppr_le0.
  by rewrite tail_of_tail; apply: expo_le; rewrite ler_opp2 -[leRHS]add0r ler_add2r.
have -> : (c + v <= 0) = false by apply/negbTE; rewrite -ltNge ltr_paddr.
by rewrite !tail_of_tail -expoD -opprD [v + c]addrC.
Qed.

Theorem laplace_noise_tail : slow_tail laplace_noise.
Proof.
move=> c v v_ge0; rewrite /laplace_noise; set x := e c; set f := e (- v).
have x_gt0 : 0 < x by apply: expo_gt0.
have f_ge0 : 0 <= f by apply: expo_ge0.
have h := half2; have h_ge0 := half_ge0.
case: (lerP c 0) => [c_le0|c_gt0]; last first.
  have -> : (c + v <= 0) = false by apply/negbTE; rewrite -ltNge ltr_paddr.
  by rewrite !tail_of_tail opprD expoD -/f mulrCA [f * _]mulrC.
have x_le1 : x <= 1 by apply: expo_le1.
have x_inv : x * e (- c) = 1 by rewrite -expoD subrr expo0.
case: (lerP (c + v) 0) => [cv_le0|_].
  (* With E = e^v: 1 - half x E - (1 - half x) / E = (1 - 1/E) (1 - half x E - half x) and x <= 1, x E <= 1. *)
  have f_inv : f * e v = 1 by rewrite -expoD addNr expo0.
  have f_le1 : f <= 1 by apply: expo_le1; rewrite oppr_le0.
  rewrite expoD -/x -subr_ge0.
  have -> : 1 - half * (x * e v) - f * (1 - half * x)
          = (1 - f) * (half * (1 - x * e v) + half * (1 - x)) + (f * e v - 1) * (- half * x)
            + (1 - (half + half)) * (1 - f) by ring.
  rewrite f_inv h !subrr !mul0r !addr0 mulr_ge0 ?subr_ge0 // addr_ge0 // mulr_ge0 ?subr_ge0 //.
  by rewrite -expoD expo_le1.
(* half / x - (1 - half x) = half (1 - x)^2 / x *)
rewrite tail_of_tail opprD expoD -/f [_ * f]mulrC mulrCA; apply: ler_wpmul2l => //; rewrite -subr_ge0.
have -> : half * e (- c) - (1 - half * x)
        = half * (1 - x) ^+ 2 * e (- c) + (x * e (- c) - 1) * (half + half) + ((half + half) - 1)
          + (x * e (- c) - 1) * (- half * x) by ring.
by rewrite x_inv h !subrr !mul0r !addr0 mulr_ge0 ?expo_ge0 // mulr_ge0 ?sqr_ge0.
Qed.

Theorem laplace_noise_dist : distribution laplace_noise.
Proof.
have h := half2; have h_ge0 := half_ge0; have h_le1 : half <= 1 by rewrite -h ler_addl.
have half_le y : y <= 0 -> half * e y <= half by move=> y_le0; rewrite ler_pimulr // expo_le1.
have up y : 0 < y -> half <= 1 - half * e (- y).
  by move=> y_gt0; rewrite ler_subr_addl -[leRHS]h ler_add2r half_le // oppr_le0 ltW.
split=> [y|y y' yy']; rewrite /laplace_noise.
  case: (lerP y 0) => [y_le0|y_gt0].
    by rewrite mulr_ge0 ?expo_ge0 // (le_trans (half_le y y_le0)).
  by rewrite (le_trans h_ge0 (up y y_gt0)) ler_subl_addl ler_addr mulr_ge0 ?expo_ge0.
case: (lerP y 0) => [y_le0|y_gt0]; case: (lerP y' 0) => [y'_le0|y'_gt0].
- by apply: ler_wpmul2l => //; apply: expo_le.
- exact: le_trans (half_le y y_le0) (up y' y'_gt0).
- by have := lt_le_trans y_gt0 (le_trans yy' y'_le0); rewrite ltxx.
- by rewrite ler_add2l ler_opp2; apply: ler_wpmul2l => //; apply: expo_le; rewrite ler_opp2.
Qed.

End Hazard.

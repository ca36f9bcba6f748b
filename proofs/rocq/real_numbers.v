(** The same theorems for the real numbers and the function exp of mathcomp-analysis, where the selection by noise is determined by
    its sums. That library, unlike all the rest here, assumes the axioms of classical mathematics; [check] prints which.
    Pages: proofs/exponential_mechanism.md, proofs/permute_and_flip.md, proofs/noisy_max.md, proofs/top_k.md. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.analysis Require Import reals topology normedtype derive sequences exp.
From mathcomp Require Import ring.
From dpselect Require Import laws exponential_mechanism composition permute_and_flip permute_and_flip_privacy integrals noisy_max noisy_max_privacy gumbel_noise.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope ring_scope.

Section Reals.
Variable R : realType.

Lemma expR_le (x y : R) : x <= y -> expR x <= expR y.
Proof. by move=> xy; rewrite ler_expR. Qed.

(** The exponential function of the real numbers is one in the sense of [laws.v]. *)
Definition real_exp : exponential R R := Exponential (@expR_gt0 R) (@expRD R) expR_le.

(** It is the one with the base e. *)
Lemma expR_tangent (x : R) : 1 + x <= expR x.
Proof.
case: (lerP 0 x) => [|x_lt0]; first exact: expR_ge1Dx.
have slope c : c \in `]x, 0[ -> is_derive c 1 (@expR R) (expR c) by move=> _; apply: is_derive_expR.
have [c c_in] : exists2 c, c \in `]x, 0[ & expR 0 - expR x = expR c * (0 - x).
  by apply: (MVT x_lt0 slope); apply: continuous_subspaceT; apply: continuous_expR.
rewrite expR0 sub0r => rise; rewrite -ler_subr_addl -ler_opp2 opprB rise.
apply: ler_pimull; first by rewrite oppr_ge0 ltW.
by rewrite -(expR0 R) ler_expR ltW //; move: c_in; rewrite in_itv /= => /andP[].
Qed.

(** * Privacy *)

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

(** * Noise *)

(** Two numbers that are closer than any 1 / n are equal. *)
Lemma equal_if_close (x y : R) : (forall n, `|x - y| <= n.+1%:R^-1) -> x = y.
Proof.
move=> near; apply/eqP; rewrite -subr_eq0 -normr_eq0 eq_le normr_ge0 andbT leNgt.
apply/negP => /ltr_add_invr[n]; rewrite add0r => far.
by have := near n; rewrite leNgt far.
Qed.

Lemma path_of_steps (S : Type) (r : rel S) (f : nat -> S) n k :
  (forall j, (k <= j < k + n)%N -> r (f j) (f j.+1)) -> path r (f k) (map f (iota k.+1 n)).
Proof.
elim: n k => [|n IH] k steps //=; rewrite steps ?leqnn ?addnS ?ltnS ?leq_addr //=.
apply: IH => j /andP[kj jn]; apply: steps; rewrite (leq_trans _ kj) ?leqnSn //=.
by rewrite addnS -addSn.
Qed.

(** Cells at the quantiles k / n of a distribution function. *)
Lemma fine_cells (F quantile : R -> R) n :
  (forall x y, x <= y -> F x <= F y) -> (forall p, 0 < p < 1 -> F (quantile p) = p) ->
  exists y ys, fine F n.+2%:R^-1 y ys.
Proof.
move=> F_le F_quantile; pose p k : R := k.+1%:R / n.+2%:R; pose f k := quantile (p k).
have n_gt0 : (0 : R) < n.+2%:R by rewrite ltr0Sn.
have p01 k : (k < n.+1)%N -> 0 < p k < 1.
  by move=> k_lt; rewrite divr_gt0 ?ltr0Sn //= ltr_pdivr_mulr // mul1r ltr_nat.
have F_f k : (k < n.+1)%N -> F (f k) = p k by move=> /p01 /F_quantile.
have step k : p k.+1 - p k = n.+2%:R^-1.
  by rewrite /p -mulrBl -natrB // subSnn mul1r.
exists (f 0%N), (map f (iota 1 n)); split.
- by rewrite F_f // /p mul1r.
- apply: path_of_steps => j /andP[_ j_lt]; rewrite add0n in j_lt.
  rewrite !F_f ?ltnS ?(ltnW j_lt) //.
  rewrite step lexx andbT; rewrite leNgt; apply/negP => /ltW /F_le.
  rewrite !F_f ?ltnS ?(ltnW j_lt) //.
  by rewrite -subr_ge0 -opprB step oppr_ge0 leNgt invr_gt0 n_gt0.
- have last_f : last (f 0%N) (map f (iota 1 n)) = f n.
    by rewrite last_map (last_nth 0%N) size_iota -[0%N :: iota 1 n]/(iota 0 n.+1) nth_iota.
  rewrite last_f F_f // /p -[X in X - _](divff (_ : n.+2%:R != 0)) ?pnatr_eq0 // -mulrBl.
  by rewrite -natrB // subSnn mul1r.
Qed.

(** There is only one probability of being selected. *)
Lemma selected_is (F W quantile : R -> R) total total' :
  distribution F -> distribution W -> (forall p, 0 < p < 1 -> F (quantile p) = p) ->
  selected F W total -> selected F W total' -> total = total'.
Proof.
move=> [_ F_le] W_dist F_quantile sel sel'; apply: equal_if_close => n.
apply: le_trans (_ : n.+2%:R^-1 <= _); last by rewrite lef_pinv ?posrE ?ltr0Sn // ler_nat.
by apply: (selected_unique W_dist sel sel'); apply: fine_cells F_quantile.
Qed.

(** There is only one integral up to a point. *)
Lemma integral_is (F W quantile G G' : R -> R) :
  distribution F -> distribution W -> (forall p, 0 < p < 1 -> F (quantile p) = p) ->
  is_integral F W G -> is_integral F W G' -> forall y, G y = G' y.
Proof.
move=> [F01 F_le] [W01 W_le] F_quantile int int' y; apply: equal_if_close => n.
apply: le_trans (_ : n.+2%:R^-1 <= _); last by rewrite lef_pinv ?posrE ?ltr0Sn // ler_nat.
have [z [zs [first_le steps last_le]]] := fine_cells n F_le F_quantile.
pose upto x := Num.min y x; set d := n.+2%:R^-1.
have d_ge0 : 0 <= d by rewrite invr_ge0 ler0n.
have upto_step a b : (a <= b) && (F b - F a <= d) -> (upto a <= upto b) && (F (upto b) - F (upto a) <= d).
  case/andP=> ab step; rewrite /upto /Num.min; case: (ltrP y a) => [ya|ay]; case: (ltrP y b) => [yb|by_] //.
  - by rewrite lexx subrr.
  - by have := lt_le_trans ya (le_trans ab by_); rewrite ltxx.
  - by rewrite ay (le_trans _ step) // ler_add2r F_le // ltW.
  - by rewrite ab.
pose ys := rcons (map upto zs) y.
have ys_steps : path (fun a b => (a <= b) && (F b - F a <= d)) (upto z) ys.
  rewrite /ys rcons_path path_map (sub_path upto_step steps) /= last_map.
  rewrite /upto le_minl lexx /= /Num.min; case: (ltrP y (last z zs)) => [_|_]; first by rewrite subrr.
  by apply: le_trans last_le; rewrite ler_add2r; case/andP: (F01 y).
have start_le : F (upto z) <= d by apply: le_trans first_le; apply: F_le; rewrite /upto le_minl lexx orbT.
have W_ge0 x : 0 <= W x by case/andP: (W01 x).
have := integrals_are_close W_ge0 W_le int int' start_le ys_steps.
rewrite /ys last_rcons => near; apply: le_trans near _.
by rewrite ler_pimulr //; case/andP: (W01 y).
Qed.

Lemma gumbel_quantile (s p : R) : 0 < p < 1 -> gumbel real_exp real_exp s (s - ln (- ln p)) = p.
Proof.
case/andP=> p_gt0 p_lt1.
have ln_lt0 : 0 < - ln p by rewrite oppr_gt0 -(ln1 R) ltr_ln ?posrE ?ltr01.
rewrite /gumbel; have -> : s - (s - ln (- ln p)) = ln (- ln p) by ring.
by rewrite /= lnK ?posrE // opprK lnK.
Qed.

Section Selections.
Variables (T : finType) (u : T -> R) (i : T).

(** The probability that [i] is selected by report-noisy-max with exponential noise is that of permute-and-flip, and no other. *)
Theorem exponential_noise_real m total :
  is_best u m -> (selected (below real_exp (u i)) (others_below real_exp u i) total <-> total = pf real_exp u m i).
Proof.
move=> best; split=> [sel|->]; last exact: pf_is_noisy_max.
apply: (selected_is (quantile := fun p => u i - ln (1 - p)) _ _ _ sel (pf_is_noisy_max real_exp i best)).
- exact: below_is_distribution.
- exact: others_below_is_distribution.
- move=> p /andP[p_gt0 p_lt1]; have left_gt0 : 0 < 1 - p by rewrite subr_gt0.
  have left_le1 : 1 - p <= 1 by rewrite ler_subl_addr ler_addl ltW.
  rewrite belowE; last by rewrite ler_addl oppr_ge0 -(ln1 R) ler_ln ?posrE ?ltr01.
  have -> : u i - (u i - ln (1 - p)) = ln (1 - p) by ring.
  by rewrite /= lnK ?posrE // opprB addrC subrK.
Qed.

(** With Gumbel noise it is that of the exponential mechanism. *)
Theorem gumbel_noise_real total :
  selected (gumbel real_exp real_exp (u i)) (left_below real_exp real_exp u [:: i]) total
    <-> total = em real_exp (@unweighted R T) u i.
Proof.
have em_sel := em_is_noisy_max real_exp (g := real_exp) expR_tangent u i.
split=> [sel|->]; last exact: em_sel.
apply: (selected_is (quantile := fun p => u i - ln (- ln p)) _ _ _ sel em_sel).
- exact: gumbel_is_distribution.
- exact: left_below_is_distribution.
- exact: gumbel_quantile.
Qed.

(** And with Gumbel noise added once, the first results in order have the probability that peeling gives them, and no other. *)
Theorem gumbel_once_real (G : R -> R) past results :
  uniq (past ++ results) -> in_order real_exp real_exp u G past results ->
  forall y, G y = rounds (peel real_exp (@unweighted R T) u) past results * left_below real_exp real_exp u past y.
Proof.
elim: results G past => [|j later IH] G past /=; first by move=> _ is_below y; rewrite mul1r.
move=> uniq_all [rest [rest_in [j_left start cell]]].
have uniq_later : uniq (rcons past j ++ later) by rewrite cat_rcons.
set one := @unweighted R T; pose part := rounds (peel real_exp one u) (rcons past j) later.
have one_ge0 past' x : 0 <= left_over one past' x by rewrite /left_over; case: ifP => // _; apply: ler01.
have part01 : 0 <= part <= 1.
  by rewrite rounds_ge0 ?rounds_le1 // => past' x; rewrite ?em_ge0 ?em_le1.
have rest_is z : rest z = part * left_below real_exp real_exp u (rcons past j) z by apply: IH.
have [rest' [rest'_in [_ start' cell']]] := gumbel_once_is_peeling real_exp (g := real_exp) expR_tangent u uniq_all.
have rest'_is z : rest' z = part * left_below real_exp real_exp u (rcons past j) z by apply: IH.
have [left01 left_le] := left_below_is_distribution real_exp real_exp u (rcons past j).
have /andP[part_ge0 part_le1] := part01.
have rest_dist : distribution rest.
  split=> [z|z z' zz']; last by rewrite !rest_is; apply: ler_wpmul2l => //; apply: left_le.
  by have /andP[? ?] := left01 z; rewrite rest_is mulr_ge0 ?mulr_ile1.
apply: (integral_is (quantile := fun p => u j - ln (- ln p)) (gumbel_is_distribution real_exp real_exp (u j)) rest_dist).
- exact: gumbel_quantile.
- by split.
- by split=> [z|z z' zz']; rewrite ?rest_is -?rest'_is; [apply: start' | apply: cell'].
Qed.

End Selections.

(** Report-noisy-max with Laplace noise is epsilon-DP. *)
Theorem laplace_noisy_max_private_real (T : finType) (u u' : T -> R) (epsilon : R) (P P' : T -> R) :
  0 <= epsilon -> range_at_most epsilon u u' ->
  (forall i, noisy_max (laplace_noise real_exp) u i (P i)) ->
  (forall i, noisy_max (laplace_noise real_exp) u' i (P' i)) ->
  close (expR epsilon) P P'.
Proof.
move=> epsilon_ge0 range sel sel'; apply/closeP => i.
have [F01 F_le] := laplace_noise_dist real_exp.
pose quantile (p : R) := u i + (if p <= half R then ln (p + p) else - ln ((1 - p) + (1 - p))).
have h2 : half R * 2%:R = 1 by rewrite mulVf // pnatr_eq0.
have h2' : half R + half R = 1 by apply: half2.
have at_quantile p : 0 < p < 1 -> noisy_below (laplace_noise real_exp) u i (quantile p) = p.
  case/andP=> p_gt0 p_lt1; rewrite /noisy_below /quantile /laplace_noise addrC addKr.
  case: (lerP p (half R)) => [p_le|p_gt].
    have pp_gt0 : 0 < p + p by rewrite addr_gt0.
    rewrite -{1}(ln1 R) ler_ln ?posrE ?ltr01 // -{1}h2' ler_add // /= lnK ?posrE //.
    have -> : half R * (p + p) = (half R * 2%:R) * p by ring.
    by rewrite h2 mul1r.
  have q_gt0 : 0 < 1 - p by rewrite subr_gt0.
  have qq_gt0 : 0 < 1 - p + (1 - p) by rewrite addr_gt0.
  have q_lt : 1 - p < half R by rewrite ltr_subl_addl -{1}h2' ltr_add2r.
  have -> : (- ln (1 - p + (1 - p)) <= 0) = false.
    have qq_lt1 : 1 - p + (1 - p) < 1 by rewrite -[ltRHS]h2' ltr_add.
    by apply/negbTE; rewrite -ltNge oppr_gt0 -(ln1 R) ltr_ln ?posrE ?ltr01.
  rewrite opprK /= lnK ?posrE //.
  have -> : half R * (1 - p + (1 - p)) = (half R * 2%:R) * (1 - p) by ring.
  by rewrite h2 mul1r; ring.
have below_le x y : x <= y -> noisy_below (laplace_noise real_exp) u i x <= noisy_below (laplace_noise real_exp) u i y.
  by move=> xy; apply: F_le; rewrite ler_add2r.
suff : forall n, expR (- epsilon) * P i - P' i <= n.+1%:R^-1.
  move=> near; have : expR (- epsilon) * P i <= P' i.
    rewrite leNgt; apply/negP; rewrite -subr_gt0 => /ltr_add_invr[n]; rewrite add0r => far.
    by have := near n; rewrite leNgt far.
  move=> /(ler_wpmul2l (ltW (expR_gt0 epsilon))); rewrite mulrA -expRD subrr expR0 mul1r; exact.
move=> n; have [y [ys cells]] := fine_cells n below_le at_quantile.
have := noisy_max_private (laplace_noise_dist real_exp) (laplace_noise_tail real_exp) epsilon_ge0 range (sel i) (sel' i) cells.
rewrite mulrBr ler_subl_addr => near; rewrite ler_subl_addl; apply: le_trans near _.
rewrite ler_add2l; apply: le_trans (_ : n.+2%:R^-1 <= _); last by rewrite lef_pinv ?posrE ?ltr0Sn // ler_nat.
by apply: ler_pimull; rewrite ?invr_ge0 ?ler0n // expo_le1 // oppr_le0.
Qed.

End Reals.

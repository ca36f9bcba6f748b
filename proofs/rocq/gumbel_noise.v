(** The exponential mechanism is report-noisy-max with Gumbel noise, and its k rounds are the k largest noisy scores, in
    order, of noise that is added once.
    Pages: proofs/exponential_mechanism.md (claim 3), proofs/top_k.md (claim 3). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From dpselect Require Import laws exponential_mechanism composition integrals noisy_max_privacy.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** A score [s] with Gumbel noise is at most [y] with probability exp(- e^(s - y)). The outer function is [g]. Besides
    what every exponential function has, it lies above its tangent at 0, which only that with the base e does. *)
Section GumbelNoise.
Variables (V : realDomainType) (R : realFieldType) (e : exponential V R) (g : exponential R R).
Hypothesis tangent : forall x, 1 + x <= g x.
Implicit Types (x t theta : R) (s y : V).

(** On the chord from 0 to [x] the function is not above it. *)
Lemma chord theta x : 0 <= theta <= 1 -> g (theta * x) <= 1 - theta + theta * g x.
Proof.
case/andP=> theta_ge0 theta_le1; set c := g (theta * x).
have c_ge0 : 0 <= c by apply: expo_ge0.
have at_x : c * (1 + (1 - theta) * x) <= g x.
  have -> : g x = c * g ((1 - theta) * x) by rewrite -expoD; congr (g _); ring.
  by apply: ler_wpmul2l.
have at_0 : c * (1 + - (theta * x)) <= 1.
  have inverse : c * g (- (theta * x)) = 1 by rewrite -expoD subrr expo0.
  by rewrite -[leRHS]inverse; apply: ler_wpmul2l.
have -> : c = (1 - theta) * (c * (1 + - (theta * x))) + theta * (c * (1 + (1 - theta) * x)) by ring.
apply: ler_add; last exact: ler_wpmul2l.
by rewrite -[leRHS]mulr1; apply: ler_wpmul2l; rewrite ?subr_ge0.
Qed.

Definition gumbel s y : R := g (- e (s - y)).

Lemma gumbel_ge0 s y : 0 <= gumbel s y. Proof. exact: expo_ge0. Qed.

Lemma gumbel_le1 s y : gumbel s y <= 1.
Proof. by apply: expo_le1; rewrite oppr_le0 expo_ge0. Qed.

Lemma gumbel_le s y y' : y <= y' -> gumbel s y <= gumbel s y'.
Proof. by move=> yy'; apply: expo_le; rewrite ler_opp2; apply: expo_le; rewrite ler_add2l ler_opp2. Qed.

Theorem gumbel_is_distribution s : distribution (gumbel s).
Proof. by split=> [y|y y']; [rewrite gumbel_ge0 gumbel_le1 | apply: gumbel_le]. Qed.

(** The hazard lemma applies to it ([noisy_max_privacy.v]). *)
Theorem gumbel_noise_tail : slow_tail e (gumbel 0).
Proof.
move=> c v v_ge0; rewrite /gumbel !sub0r opprD expoD.
have theta01 : 0 <= e (- v) <= 1 by rewrite expo_ge0 expo_le1 // oppr_le0.
have -> : - (e (- c) * e (- v)) = e (- v) * - e (- c) by ring.
rewrite -subr_ge0; have -> : 1 - g (e (- v) * - e (- c)) - e (- v) * (1 - g (- e (- c)))
        = 1 - e (- v) + e (- v) * g (- e (- c)) - g (e (- v) * - e (- c)) by ring.
by rewrite subr_ge0; apply: chord.
Qed.

(** One score of weight [a], others with the sum of weights [b], at the time [t] = e^(-y). *)
Lemma race a b : 0 < a -> 0 <= b ->
  let F t := g (- (a * t)) in let W t := g (- (b * t)) in let G t := a / (a + b) * g (- ((a + b) * t)) in
  forall t t', t' <= t -> (F t' - F t) * W t <= G t' - G t <= (F t' - F t) * W t'.
Proof.
move=> a_gt0 b_ge0 F W G t t' tt'.
have ab_gt0 : 0 < a + b by apply: ltr_paddr.
have ab_neq0 : a + b != 0 by rewrite gt_eqF.
pose theta := a / (a + b); pose x := (a + b) * (t - t').
have theta01 : 0 <= theta <= 1.
  by rewrite divr_ge0 ?(ltW a_gt0) ?(ltW ab_gt0) //= ler_pdivr_mulr // mul1r ler_addl.
have theta_x : theta * x = a * (t - t') by rewrite /theta /x mulrA divfK.
rewrite /G -mulrBr; apply/andP; split.
  have -> : (F t' - F t) * W t = g (- ((a + b) * t)) * (g (theta * x) - 1).
    rewrite mulrBl mulrBr mulr1 -!expoD theta_x; congr (g _ - g _); ring.
  have -> : g (- ((a + b) * t')) - g (- ((a + b) * t)) = g (- ((a + b) * t)) * (g x - 1).
    by rewrite mulrBr mulr1 -expoD /x; congr (g _ - _); ring.
  rewrite [leRHS]mulrCA; apply: ler_wpmul2l; first exact: expo_ge0.
  rewrite ler_subl_addr; apply: le_trans (chord x theta01) _.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite -/theta; ring.
have -> : (F t' - F t) * W t' = g (- ((a + b) * t')) * (1 - g (theta * - x)).
  rewrite mulrBl mulrBr mulr1 -!expoD mulrN theta_x; congr (g _ - g _); ring.
have -> : g (- ((a + b) * t')) - g (- ((a + b) * t)) = g (- ((a + b) * t')) * (1 - g (- x)).
  by rewrite mulrBr mulr1 -expoD /x; congr (_ - g _); ring.
rewrite [leLHS]mulrCA; apply: ler_wpmul2l; first exact: expo_ge0.
rewrite -/theta ler_subr_addr -ler_subr_addl; apply: le_trans (chord (- x) theta01) _.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

(** * Rounds *)

Variables (T : finType) (u : T -> V).
Implicit Types (i j : T) (past results : seq T).

Let one : T -> R := @unweighted R T.
Let one_gt0 j : 0 < one j. Proof. exact: ltr01. Qed.

(** The candidates that are left, and the sum of their weights. *)
Definition left_weight past : R := total e (left_over one past) u.

(** The probability that the noisy scores of all that are left are at most [y]. *)
Definition left_below past y : R := \prod_(j | j \notin past) gumbel (u j) y.

Lemma left_below_total past y : left_below past y = g (- (left_weight past * e (- y))).
Proof.
rewrite /left_below /left_weight /total mulr_suml.
have -> : \sum_j left_over one past j * e (u j) * e (- y) = \sum_(j | j \notin past) e (u j - y).
  rewrite [RHS]big_mkcond /=; apply: eq_bigr => j _.
  by rewrite /left_over; case: (j \in past); rewrite /= ?mul0r // mul1r -expoD.
rewrite -sumrN; elim/big_rec2: _ => [|j s x _ ->]; first by rewrite expo0.
by rewrite -expoD.
Qed.

Theorem left_below_is_distribution past : distribution (left_below past).
Proof.
split=> [y|y y' yy']; last by apply: ler_prod => j _; rewrite gumbel_ge0 gumbel_le.
rewrite left_below_total expo_ge0 expo_le1 // oppr_le0 mulr_ge0 ?expo_ge0 //.
by apply: total_ge0 => j; rewrite /left_over; case: ifP => // _; apply: ler01.
Qed.

(** The probability that the noisy scores of those left, from the largest down, begin with [results], and that the largest is at
    most [y]: without a result, that all are below [y]; with a first result [i], the integral of the same for the rest. *)
Fixpoint in_order (G : V -> R) past results : Prop :=
  if results is i :: later then
    exists rest, in_order rest (rcons past i) later /\
      [/\ i \notin past,
          forall y, 0 <= G y <= gumbel (u i) y * rest y
        & forall y y', y <= y' -> (gumbel (u i) y' - gumbel (u i) y) * rest y <= G y' - G y
                                    <= (gumbel (u i) y' - gumbel (u i) y) * rest y']
  else forall y, G y = left_below past y.

Lemma left_weight_rcons past i :
  i \notin past -> left_weight past = e (u i) + left_weight (rcons past i).
Proof.
move=> i_left; rewrite /left_weight /total (bigD1 i) //= [in RHS](bigD1 i) //=.
rewrite /left_over (negbTE i_left) mem_rcons mem_head mul0r add0r mul1r; congr (_ + _).
by apply: eq_bigr => j /negbTE j_neq_i; rewrite mem_rcons inE j_neq_i.
Qed.

Lemma left_weight_ge0 past : 0 <= left_weight past.
Proof. by apply: total_ge0 => j; rewrite /left_over; case: ifP => // _; apply: ler01. Qed.

(** Noise once has the law of peeling: the probability of [results] in order, with a largest noisy score of at most [y], is that of
    peeling times the probability that all noisy scores are at most [y]. *)
Theorem gumbel_once_is_peeling past results :
  uniq (past ++ results) ->
  in_order (fun y => rounds (peel e one u) past results * left_below past y) past results.
Proof.
elim: results past => [|i later IH] past /=; first by move=> _ y; rewrite mul1r.
rewrite -cat_rcons => uniq_all; have i_left : i \notin past.
  by move: uniq_all; rewrite cat_uniq rcons_uniq => /andP[/andP[]].
exists (fun y => rounds (peel e one u) (rcons past i) later * left_below (rcons past i) y); split; first exact: IH.
set part := rounds _ (rcons past i) later.
have part_ge0 : 0 <= part.
  by apply: rounds_ge0 => p j; apply: em_ge0 => k; apply: left_over_ge0.
have now y : peel e one u past i * part * left_below past y
           = part * (e (u i) / (e (u i) + left_weight (rcons past i))
                     * g (- ((e (u i) + left_weight (rcons past i)) * e (- y)))).
  by rewrite left_below_total -left_weight_rcons // /peel /em /left_over (negbTE i_left) mul1r -/(left_weight past); ring.
have F_race y : gumbel (u i) y = g (- (e (u i) * e (- y))) by rewrite -expoD.
have cells := race (expo_gt0 e (u i)) (left_weight_ge0 (rcons past i)).
split=> // [y|y y' yy'].
  rewrite now; apply/andP; split.
    rewrite mulr_ge0 // mulr_ge0 ?expo_ge0 // divr_ge0 ?expo_ge0 //.
    by rewrite addr_ge0 ?expo_ge0 ?left_weight_ge0.
  rewrite [leRHS]mulrCA; apply: ler_wpmul2l => //.
  rewrite F_race left_below_total -(expoD g) -opprD -mulrDl -[leRHS]mul1r.
  apply: ler_wpmul2r; first exact: expo_ge0.
  rewrite ler_pdivr_mulr ?mul1r ?ler_addl ?left_weight_ge0 //.
  by apply: ltr_paddr; rewrite ?left_weight_ge0 ?expo_gt0.
have times : e (- y') <= e (- y) by apply: expo_le; rewrite ler_opp2.
have /andP[low up] := cells _ _ times.
rewrite !now !F_race !left_below_total -mulrBr ![_ * (part * _)]mulrCA.
by rewrite !ler_wpmul2l.
Qed.

(** The exponential mechanism has the law of report-noisy-max with Gumbel noise. *)
Theorem em_is_noisy_max i : selected (gumbel (u i)) (left_below [:: i]) (em e one u i).
Proof.
have [rest [rest_is [_ start cell]]] := @gumbel_once_is_peeling [::] [:: i] isT.
have restE y : rest y = left_below [:: i] y by apply: rest_is.
exists (fun y => em e one u i * 1 * left_below [::] y); split=> [y|y y' yy'|y].
- by rewrite -restE; apply: start.
- by rewrite -!restE; apply: cell.
have := race (expo_gt0 e (u i)) (left_weight_ge0 [:: i]) (expo_ge0 e (- y)).
have all_weights : left_weight [::] = e (u i) + left_weight [:: i] := @left_weight_rcons [::] i isT.
rewrite !mulr0 !oppr0 !expo0 !mulr1 -all_weights.
have -> : e (u i) / left_weight [::] = em e one u i by rewrite /em mul1r.
by rewrite !left_below_total -[gumbel (u i) y]/(g (- e (u i - y))) expoD.
Qed.

End GumbelNoise.

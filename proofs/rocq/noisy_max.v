(** Permute-and-flip is report-noisy-max with exponential noise: add to each score independent noise with mean 1 (in units
    of the scale b), and select the largest sum.
    Page: proofs/permute_and_flip.md, claim 1. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From dpselect Require Import laws coins permute_and_flip permute_and_flip_privacy integrals.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** * Integrals of polynomials with coefficients that are not negative *)

Section Primitive.
Variables (R : realFieldType).
Implicit Types (q : {poly R}) (a b x : R).

(** The integral from 0 to [x]. *)
Definition primitive q x : R := \sum_(n < size q) q`_n / n.+1%:R * x ^+ n.+1.

Definition positive q := forall n, 0 <= q`_n.

Lemma primitive0 q : primitive q 0 = 0.
Proof. by apply: big1 => n _; rewrite expr0n mulr0. Qed.

Lemma primitive1 q : primitive q 1 = integral q.
Proof. by apply: eq_bigr => n _; rewrite expr1n mulr1. Qed.

Lemma power_cell n a b : 0 <= a -> a <= b ->
  n.+1%:R * ((b - a) * a ^+ n) <= b ^+ n.+1 - a ^+ n.+1 <= n.+1%:R * ((b - a) * b ^+ n).
Proof.
move=> a_ge0 ab; have b_ge0 : 0 <= b by apply: le_trans a_ge0 ab.
have ba_ge0 : 0 <= b - a by rewrite subr_ge0.
elim: n => [|n /andP[low up]]; first by rewrite !expr1 !expr0 !mulr1 mul1r lexx.
apply/andP; split.
  have -> : b ^+ n.+2 - a ^+ n.+2 = b * (b ^+ n.+1 - a ^+ n.+1) + (b - a) * a ^+ n.+1.
    by rewrite ![_ ^+ n.+2]exprS; ring.
  have -> : n.+2%:R * ((b - a) * a ^+ n.+1) = a * (n.+1%:R * ((b - a) * a ^+ n)) + (b - a) * a ^+ n.+1.
    by rewrite [n.+2%:R]natr_succ exprS; ring.
  rewrite ler_add2r; apply: ler_pmul => //.
  by rewrite mulr_ge0 ?ler0n // mulr_ge0 ?exprn_ge0.
have -> : b ^+ n.+2 - a ^+ n.+2 = a * (b ^+ n.+1 - a ^+ n.+1) + (b - a) * b ^+ n.+1.
  by rewrite ![_ ^+ n.+2]exprS; ring.
have -> : n.+2%:R * ((b - a) * b ^+ n.+1) = b * (n.+1%:R * ((b - a) * b ^+ n)) + (b - a) * b ^+ n.+1.
  by rewrite [n.+2%:R]natr_succ exprS; ring.
rewrite ler_add2r; apply: ler_pmul => //.
by rewrite subr_ge0; apply: ler_expn2r; rewrite ?nnegrE.
Qed.

Lemma primitive_cell q a b : positive q -> 0 <= a -> a <= b ->
  (b - a) * q.[a] <= primitive q b - primitive q a <= (b - a) * q.[b].
Proof.
move=> q_ge0 a_ge0 ab; rewrite !horner_coef !mulr_sumr /primitive -sumrB.
suff term n : (b - a) * (q`_n * a ^+ n) <= q`_n / n.+1%:R * b ^+ n.+1 - q`_n / n.+1%:R * a ^+ n.+1
                <= (b - a) * (q`_n * b ^+ n).
  by apply/andP; split; apply: ler_sum => n _; case/andP: (term n).
have /andP[low up] := power_cell n a_ge0 ab.
have n_gt0 : (0 : R) < n.+1%:R by rewrite ltr0Sn.
have share_ge0 : 0 <= q`_n / n.+1%:R by rewrite divr_ge0 // ltW.
have q_n : q`_n = q`_n / n.+1%:R * n.+1%:R by rewrite divfK // gt_eqF.
rewrite -mulrBr; apply/andP; split.
  have -> : (b - a) * (q`_n * a ^+ n) = q`_n / n.+1%:R * (n.+1%:R * ((b - a) * a ^+ n)).
    by rewrite {1}q_n; ring.
  exact: ler_wpmul2l.
have -> : (b - a) * (q`_n * b ^+ n) = q`_n / n.+1%:R * (n.+1%:R * ((b - a) * b ^+ n)).
  by rewrite {1}q_n; ring.
exact: ler_wpmul2l.
Qed.

(** The polynomial of permute-and-flip. *)
Definition no_harm (T : eqType) (p : T -> R) (s : seq T) : {poly R} := \prod_(j <- s) ((1 - p j) *: 1 + p j *: 'X).

Lemma no_harm_positive (T : eqType) (p : T -> R) s : probabilities p -> positive (no_harm p s).
Proof.
move=> prob; rewrite /no_harm; elim: s => [|j s IH] n; first by rewrite big_nil coef1 ler0n.
rewrite big_cons mulrDl -!scalerAl mul1r coefD !coefZ coefXM.
have /andP[p_ge0 p_le1] := prob j.
by rewrite addr_ge0 // mulr_ge0 ?subr_ge0 //; case: (n == 0)%N; rewrite ?lexx.
Qed.

Lemma no_harm_at (T : eqType) (p : T -> R) s x : (no_harm p s).[x] = \prod_(j <- s) (1 - p j + p j * x).
Proof. by rewrite /no_harm horner_prod; apply: eq_bigr => j _; rewrite hornerD !hornerZ hornerX hornerC mulr1. Qed.

End Primitive.

(** * The noise *)

Section ExponentialNoise.
Variables (V : realDomainType) (R : realFieldType) (e : exponential V R) (T : finType) (u : T -> V) (i : T).
Implicit Types (s y : V) (j : T).

(** The distribution function of a score [s] with noise: the probability that the sum is at most [y]. *)
Definition below s y : R := if y <= s then 0 else 1 - e (s - y).

(** The probability that all others are at most [y]. *)
Definition others_below y : R := \prod_(j <- enum (others i)) below (u j) y.

Lemma belowE s y : s <= y -> below s y = 1 - e (s - y).
Proof.
rewrite /below le_eqVlt => /orP[/eqP ->|lt]; first by rewrite lexx subrr expo0 subrr.
by rewrite leNgt lt.
Qed.

Lemma below0 s y : y <= s -> below s y = 0.
Proof. by rewrite /below => ->. Qed.

Lemma below_ge0 s y : 0 <= below s y.
Proof.
by rewrite /below; case: (lerP y s) => // lt; rewrite subr_ge0 expo_le1 // subr_le0 ltW.
Qed.

Lemma below_le1 s y : below s y <= 1.
Proof. by rewrite /below; case: ifP => _; rewrite ?ler01 // ler_subl_addr ler_addl expo_ge0. Qed.

Lemma below_le s y y' : y <= y' -> below s y <= below s y'.
Proof.
move=> yy'; case: (lerP y s) => [ys|sy]; first by rewrite below0 ?below_ge0.
have sy' : s <= y' by apply: le_trans (ltW sy) yy'.
by rewrite !belowE ?(ltW sy) // ler_add2l ler_opp2; apply: expo_le; rewrite ler_add2l ler_opp2.
Qed.

Lemma others_below_ge0 y : 0 <= others_below y.
Proof. by apply: prodr_ge0 => j _; apply: below_ge0. Qed.

Lemma others_below_le1 y : others_below y <= 1.
Proof.
suff /andP[] : 0 <= others_below y <= 1 by [].
apply: (big_ind (fun x : R => 0 <= x <= 1)) => [|a b /andP[a0 a1] /andP[b0 b1]|j _].
- by rewrite ler01 lexx.
- by rewrite mulr_ge0 ?mulr_ile1.
- by rewrite below_ge0 below_le1.
Qed.

Lemma others_below_le y y' : y <= y' -> others_below y <= others_below y'.
Proof. by move=> yy'; apply: ler_prod => j _; rewrite below_ge0 below_le. Qed.

Theorem below_is_distribution s : distribution (below s).
Proof. by split=> [y|y y']; [rewrite below_ge0 below_le1 | apply: below_le]. Qed.

Theorem others_below_is_distribution : distribution others_below.
Proof. by split=> [y|y y']; [rewrite others_below_ge0 others_below_le1 | apply: others_below_le]. Qed.

(** * The law *)

Variable m : V.
Hypothesis best : is_best u m.

Let p := flip_probability e u m.
Let q := no_harm p (enum (others i)).
Let v y := below m y.

Let coins : probabilities p := flips_are_probabilities e best.
Let q_positive : positive q := no_harm_positive (enum (others i)) coins.
Let v_ge0 y : 0 <= v y := below_ge0 m y.

Lemma pf_primitive : pf e u m i = p i * primitive q 1.
Proof. by rewrite /pf pf_integral primitive1 /q /no_harm big_enum. Qed.

(** Above the best score every distribution function is linear in that of the best. *)
Lemma below_best j y : m <= y -> below (u j) y = 1 - p j + p j * v y.
Proof.
case: best => _ le_m my; rewrite /v !belowE ?(le_trans (le_m j)) //.
rewrite mulrBr mulr1 -expoD.
have -> : u j - m + (m - y) = u j - y by ring.
by ring.
Qed.

Lemma others_below_best y : m <= y -> others_below y = q.[v y].
Proof. by move=> my; rewrite no_harm_at; apply: eq_bigr => j _; apply: below_best. Qed.

(** Below it, they are no larger; and if [i] is not a best candidate, some other one is certainly not below. *)
Lemma others_below_start y : y <= m -> others_below y <= q.[0].
Proof.
by move=> ym; have := others_below_best (lexx m); rewrite /v (below0 (lexx m)) => <-; apply: others_below_le.
Qed.

Lemma others_not_below y : y <= m -> u i != m -> others_below y = 0.
Proof.
case: best => -[k uk] _ ym ui.
have k_other : k \in enum (others i) by rewrite mem_enum mem_others; apply: contra ui => /eqP <-; rewrite uk.
by rewrite /others_below (big_rem k k_other) /= uk below0 // mul0r.
Qed.

(** What [i] has to be, for the law to be right, in one cell: from [y] up to where its distribution function is [b'] and that
    of the best score is [v']. *)
Lemma lower_cell y b' v' :
  v y <= v' -> (m <= y -> b' - below (u i) y = p i * (v' - v y)) -> (u i = m -> b' = v') ->
  (b' - below (u i) y) * others_below y <= p i * (primitive q v' - primitive q (v y)).
Proof.
move=> vv' linear best_i; have pi_ge0 : 0 <= p i by apply: probabilities_ge0.
have /andP[low _] := primitive_cell q_positive (v_ge0 y) vv'.
case: (lerP m y) => [my|ym].
  by rewrite linear // others_below_best // -mulrA; apply: ler_wpmul2l.
have [ui|ui] := eqVneq (u i) m; last first.
  rewrite (others_not_below (ltW ym) ui) mulr0 mulr_ge0 //; apply: le_trans _ low.
  rewrite mulr_ge0 ?subr_ge0 //; have := others_below_ge0 m.
  by rewrite others_below_best // /v !below0 ?lexx ?(ltW ym).
have pi1 : p i = 1 by rewrite /p /flip_probability ui subrr expo0.
have vy : v y = 0 by rewrite /v below0 // ltW.
rewrite pi1 mul1r; apply: le_trans _ low; rewrite best_i // ui -/(v y) vy.
by apply: ler_wpmul2l; [rewrite subr0 -vy | apply: others_below_start; apply: ltW].
Qed.

Lemma upper_cell y b' v' w' :
  v y <= v' -> p i * (v' - v y) <= b' - below (u i) y -> q.[v'] <= w' -> 0 <= q.[v'] -> 0 <= p i * (v' - v y) ->
  p i * (primitive q v' - primitive q (v y)) <= (b' - below (u i) y) * w'.
Proof.
move=> vv' part qw q_ge0 part_ge0; have pi_ge0 : 0 <= p i by apply: probabilities_ge0.
have /andP[_ up] := primitive_cell q_positive (v_ge0 y) vv'.
apply: (@le_trans _ _ (p i * (v' - v y) * q.[v'])); last exact: ler_pmul.
by rewrite -mulrA; apply: ler_wpmul2l.
Qed.

(** The part of [i] in a cell that ends above the best score. *)
Lemma cell_part y y' : y <= y' -> m <= y' -> p i * (v y' - v y) <= below (u i) y' - below (u i) y.
Proof.
move=> yy' my'; rewrite (below_best i my'); case: (lerP m y) => [my|ym].
  by rewrite (below_best i my); have -> : 1 - p i + p i * v y' - (1 - p i + p i * v y) = p i * (v y' - v y) by ring.
have vy : v y = 0 by rewrite /v below0 // ltW.
have := below_le (u i) (ltW ym); rewrite (below_best i (lexx m)) /v (below0 (lexx m)) mulr0 addr0 -/(v y) => le_1p.
rewrite vy subr0 ler_subr_addr -ler_subr_addl; apply: le_trans le_1p _.
by rewrite -/(v y') addrK.
Qed.

Lemma primitive_ge0 x : 0 <= x -> 0 <= primitive q x.
Proof. by move=> x_ge0; apply: sumr_ge0 => n _; rewrite mulr_ge0 ?exprn_ge0 // divr_ge0 ?ler0n. Qed.

(** The probability that [i] is selected and its noisy score is at most [y]. *)
Let G y := p i * primitive q (v y).

Lemma pf_start y : 0 <= G y <= below (u i) y * others_below y.
Proof.
have pi_ge0 : 0 <= p i by apply: probabilities_ge0.
rewrite /G mulr_ge0 ?primitive_ge0 //=; case: (lerP m y) => [my|ym]; last first.
  by rewrite /v (below0 (ltW ym)) primitive0 mulr0 mulr_ge0 ?below_ge0 ?others_below_ge0.
have /andP[_ up] := primitive_cell q_positive (lexx 0) (v_ge0 y).
apply: (@le_trans _ _ (p i * (v y * q.[v y]))).
  by apply: ler_wpmul2l => //; move: up; rewrite primitive0 !subr0.
rewrite mulrA others_below_best //; apply: ler_wpmul2r; first by rewrite -others_below_best ?others_below_ge0.
by rewrite (below_best i my) ler_addr subr_ge0; case/andP: (coins i).
Qed.

Lemma pf_cell y y' :
  y <= y' ->
  (below (u i) y' - below (u i) y) * others_below y <= G y' - G y <= (below (u i) y' - below (u i) y) * others_below y'.
Proof.
have pi_ge0 : 0 <= p i by apply: probabilities_ge0.
move=> yy'; rewrite /G -mulrBr; apply/andP; split.
  apply: lower_cell => [|my|ui]; first exact: below_le.
    by rewrite (below_best i my) (below_best i (le_trans my yy')); ring.
  by rewrite /v ui.
have cell_ge0 : 0 <= below (u i) y' - below (u i) y by rewrite subr_ge0 below_le.
case: (lerP m y') => [my'|y'm].
  apply: upper_cell; rewrite -?others_below_best ?others_below_ge0 ?cell_part //; first exact: below_le.
  by rewrite mulr_ge0 // subr_ge0; apply: below_le.
have vy' : v y' = 0 by rewrite /v below0 // ltW.
have vy : v y = 0 by rewrite /v below0 // (le_trans yy' (ltW y'm)).
by rewrite vy vy' subrr mulr0 mulr_ge0 ?others_below_ge0.
Qed.

Lemma pf_rest y : (1 - below (u i) y) * others_below y <= pf e u m i - G y <= 1 - below (u i) y.
Proof.
have pi_ge0 : 0 <= p i by apply: probabilities_ge0.
have v_le1 : v y <= 1 by apply: below_le1.
rewrite pf_primitive /G -mulrBr; apply/andP; split.
  by apply: lower_cell => // my; rewrite (below_best i my); ring.
rewrite -[leRHS]mulr1.
have q1 : q.[1] = 1 by rewrite no_harm_at big1 // => j _; rewrite mulr1 subrK.
apply: upper_cell; rewrite ?q1 ?ler01 //; last by rewrite mulr_ge0 ?subr_ge0.
case: (lerP m y) => [my|ym]; first by rewrite (below_best i my) le_eqVlt; apply/orP; left; apply/eqP; ring.
have := below_le (u i) (ltW ym); rewrite (below_best i (lexx m)) /v (below0 (lexx m)) mulr0 addr0 => le_1p.
by rewrite (below0 (ltW ym)) subr0 mulr1 ler_subr_addr -ler_subr_addl.
Qed.

(** Permute-and-flip has the law of report-noisy-max with exponential noise. *)
Theorem pf_is_noisy_max : selected (below (u i)) others_below (pf e u m i).
Proof. by exists G; split; [exact: pf_start | exact: pf_cell | exact: pf_rest]. Qed.

End ExponentialNoise.

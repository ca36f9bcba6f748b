(** Permute-and-flip never errs more than the exponential mechanism, and at best half as much: Theorem 3 of McKenna and
    Sheldon (2020), and the answer to their question whether the ratio can exceed two.
    Page: proofs/permute_and_flip.md, claim 3. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From dpselect Require Import laws exponential_mechanism coins permute_and_flip permute_and_flip_privacy.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** * Laws in order of their likelihood ratio *)

Section Order.
Variables (R : realFieldType) (T : finType).
Implicit Types (P Q loss : T -> R).

Definition expected P loss := \sum_i P i * loss i.

Lemma product_of_sums (f g : T -> R) : \sum_i \sum_k f i * g k = (\sum_i f i) * (\sum_k g k).
Proof. by rewrite mulr_suml; apply: eq_bigr => i _; rewrite mulr_sumr. Qed.

(** If P / Q is the larger the smaller the loss, the loss under P has the smaller mean. *)
Lemma expected_le P Q loss :
  is_law P -> is_law Q -> (forall i k, loss i < loss k -> Q i * P k <= P i * Q k) ->
  expected P loss <= expected Q loss.
Proof.
move=> [_ sum_P] [_ sum_Q] ratio.
have twice : \sum_i \sum_k (loss k - loss i) * (P i * Q k - Q i * P k)
    = (expected Q loss - expected P loss) + (expected Q loss - expected P loss).
  transitivity (\sum_i \sum_k (P i * (Q k * loss k)) - \sum_i \sum_k (Q i * (P k * loss k))
                + (\sum_i \sum_k ((Q i * loss i) * P k) - \sum_i \sum_k ((P i * loss i) * Q k))).
    rewrite -!sumrB -big_split /=; apply: eq_bigr => i _.
    by rewrite -!sumrB -big_split /=; apply: eq_bigr => k _; ring.
  by rewrite !product_of_sums sum_P sum_Q !mul1r !mulr1.
have : 0 <= \sum_i \sum_k (loss k - loss i) * (P i * Q k - Q i * P k).
  apply: sumr_ge0 => i _; apply: sumr_ge0 => k _.
  case: (ltrgtP (loss i) (loss k)) => [less|more|->]; last by rewrite subrr mul0r.
    by apply: mulr_ge0; rewrite subr_ge0 ?ratio // ltW.
  by apply: mulr_le0; rewrite subr_le0; [exact: ltW | rewrite mulrC [Q i * _]mulrC; apply: ratio].
by rewrite twice -mulr2n pmulrn_lge0 // subr_ge0.
Qed.

End Order.

(** * The two mechanisms *)

Section Error.
Variables (V : realDomainType) (R : realFieldType) (e : exponential V R) (T : finType) (u : T -> V) (m : V).
Hypothesis best : is_best u m.
Implicit Types (i k : T).

Let p := flip_probability e u m.
Let EM := em e (@unweighted R T) u.
Let PF := pf e u m.
Let coins : probabilities p := flips_are_probabilities e best.

Lemma p_gt0 i : 0 < p i. Proof. exact: expo_gt0. Qed.

(** The exponential mechanism selects in proportion to the flip probabilities. *)
Lemma em_flip i : EM i = p i / \sum_j p j.
Proof.
have split_e j : e (u j) = p j * e m by rewrite -expoD subrK.
have sum_e : total e (@unweighted R T) u = (\sum_j p j) * e m.
  by rewrite /total mulr_suml; apply: eq_bigr => j _; rewrite mul1r split_e.
by rewrite /EM /em sum_e mul1r split_e invfM mulrACA divff ?mulr1 // expo_neq0.
Qed.

Lemma sum_gt0 i : 0 < \sum_j p j.
Proof.
by rewrite (bigD1 i) //= ltr_paddr ?p_gt0 // sumr_ge0 // => j _; apply: ltW (p_gt0 j).
Qed.

Lemma em_law : is_law EM.
Proof.
case: best => -[k _] _; apply: em_is_law => [i|]; first exact: ler01.
by exists k; apply: ltr01.
Qed.

(** A better candidate faces fewer heads. *)
Lemma chance_grows i k : p k <= p i -> chance_among p (others k) <= chance_among p (others i).
Proof.
have [->|i_neq_k] := eqVneq i k; first by rewrite lexx.
move=> p_le; rewrite (@chance_D1 _ _ p (others k) i) ?mem_others //.
rewrite (@chance_D1 _ _ p (others i) k) ?mem_others 1?eq_sym //.
have -> : others k :\ i = others i :\ k by apply/setP => j; rewrite !inE !andbT andbC.
set X := chance_among _ _; set Y := mean _ _ _.
have YX : Y <= X by apply: mean_le => // h; apply: share_falls.
rewrite -subr_ge0.
have -> : (1 - p k) * X + p k * Y - ((1 - p i) * X + p i * Y) = (p i - p k) * (X - Y) by ring.
by rewrite mulr_ge0 ?subr_ge0.
Qed.

(** The ratio of the two laws grows with the score. *)
Lemma ratio_grows i k : u k <= u i -> EM i * PF k <= PF i * EM k.
Proof.
move=> u_le; rewrite !em_flip /PF /pf !pf_chance -/p.
have -> : p i / (\sum_j p j) * (p k * chance_among p (others k))
        = p i * p k / (\sum_j p j) * chance_among p (others k) by ring.
have -> : p i * chance_among p (others i) * (p k / (\sum_j p j))
        = p i * p k / (\sum_j p j) * chance_among p (others i) by ring.
apply: ler_wpmul2l.
  by rewrite ltW // divr_gt0 ?(sum_gt0 i) // mulr_gt0 ?p_gt0.
by apply: chance_grows; apply: expo_le; rewrite ler_add2r.
Qed.

(** Theorem 3: no loss that falls with the score is larger in the mean. *)
Theorem pf_never_worse (loss : T -> R) :
  (forall i k, u i <= u k -> loss k <= loss i) -> expected PF loss <= expected EM loss.
Proof.
move=> loss_falls; apply: expected_le; [exact: pf_score_is_law | exact: em_law | move=> i k less].
apply: ratio_grows; case: (lerP (u k) (u i)) => // /ltW /loss_falls.
by rewrite leNgt less.
Qed.

(** The same for probabilities: a score of [t] or less is not more likely, for any [t]. *)
Theorem pf_never_worse_tail (t : V) :
  event PF [set i | u i <= t] <= event EM [set i | u i <= t].
Proof.
have as_loss (P : T -> R) : event P [set i | u i <= t] = expected P (fun i => ((u i <= t)%R)%:R).
  rewrite /event /expected big_mkcond /=; apply: eq_bigr => i _.
  by rewrite inE; case: (_ <= _); rewrite ?mulr1 ?mulr0.
rewrite !as_loss; apply: pf_never_worse => i k u_le.
by rewrite ler_nat; case: (lerP (u k) t) => // /(le_trans u_le) ->.
Qed.

(** The factor of two, for one candidate that is not the only best one. *)
Lemma em_le_twice_pf i k : k != i -> u k = m -> EM i <= 2%:R * PF i.
Proof.
move=> k_neq_i uk; rewrite em_flip /PF /pf pf_chance -/p.
set S := \sum_(j <- enum (others i)) p j.
have sum_split : \sum_j p j = p i + S.
  by rewrite (bigD1 i) //= /S big_enum; congr (_ + _); apply: eq_bigl => j; rewrite mem_others.
have S_ge1 : 1 <= S.
  rewrite /S big_enum (bigD1 k) /=; last by rewrite mem_others.
  have -> : p k = 1 by rewrite /p /flip_probability uk subrr expo0.
  by rewrite ler_addl sumr_ge0 // => j _; apply: ltW (p_gt0 j).
have jensen : 1 <= (1 + S) * chance_among p (others i) by apply: chance_jensen.
rewrite ler_pdivr_mulr ?(sum_gt0 i) // sum_split -subr_ge0.
have -> : 2%:R * (p i * chance_among p (others i)) * (p i + S) - p i
        = p i * ((1 + S) * chance_among p (others i) - 1
                 + (S - 1 + 2%:R * p i) * chance_among p (others i)) by ring.
rewrite mulr_ge0 ?(ltW (p_gt0 i)) // addr_ge0 ?subr_ge0 // mulr_ge0 ?chance_among_ge0 //.
by rewrite addr_ge0 ?subr_ge0 // mulr_ge0 ?ler0n // ltW ?p_gt0.
Qed.

(** The exponential mechanism never errs more than twice as much: of every loss that is 0 for a best candidate. *)
Theorem em_within_twice_pf (loss : T -> R) :
  (forall i, 0 <= loss i) -> (forall i, u i = m -> loss i = 0) -> expected EM loss <= 2%:R * expected PF loss.
Proof.
move=> loss_ge0 no_loss; rewrite /expected mulr_sumr; apply: ler_sum => i _.
have [/eqP ui|ui] := boolP (u i == m); first by rewrite no_loss // !mulr0.
case: best => -[k uk] _; rewrite mulrA; apply: ler_wpmul2r => //.
by apply: (@em_le_twice_pf i k) => //; apply/eqP => ki; move: ui; rewrite -ki uk eqxx.
Qed.

(** * Half the noise, claim 5 *)

(** The exponential mechanism with twice the epsilon. *)
Let EM2 := em e (@unweighted R T) (fun i => u i + u i).

Lemma em2_flip i : EM2 i = p i ^+ 2 / \sum_j p j ^+ 2.
Proof.
have split_e j : e (u j + u j) = p j ^+ 2 * e (m + m).
  by rewrite expr2 -!expoD; congr (e _); ring.
have sum_e : total e (@unweighted R T) (fun i => u i + u i) = (\sum_j p j ^+ 2) * e (m + m).
  by rewrite /total mulr_suml; apply: eq_bigr => j _; rewrite mul1r split_e.
by rewrite /EM2 /em sum_e mul1r split_e invfM mulrACA divff ?mulr1 // expo_neq0.
Qed.

(** A tangent to 1 / z at [kappa]. *)
Lemma chance_tangent i kappa :
  0 < kappa -> 2%:R / kappa - (1 + \sum_j p j - p i) / kappa ^+ 2 <= chance_among p (others i).
Proof.
move=> kappa_gt0; set S := \sum_(j <- enum (others i)) p j.
have -> : 1 + \sum_j p j - p i = 1 + S.
  have -> : \sum_j p j = p i + S.
    by rewrite (bigD1 i) //= /S big_enum; congr (_ + _); apply: eq_bigl => j; rewrite mem_others.
  by ring.
have z_gt0 : 0 < 1 + S.
  by rewrite ltr_paddr ?ltr01 // /S sumr_ge0 // => j _; apply: ltW (p_gt0 j).
have jensen : 1 <= (1 + S) * chance_among p (others i) by apply: chance_jensen.
rewrite -(ler_pmul2l z_gt0); apply: le_trans jensen; rewrite -subr_ge0.
have -> : 1 - (1 + S) * (2%:R / kappa - (1 + S) / kappa ^+ 2) = (1 - (1 + S) / kappa) ^+ 2.
  by field; rewrite gt_eqF.
exact: sqr_ge0.
Qed.

(** The mean of the flip probabilities of some bad candidates, weighted by themselves, is small enough. *)
Lemma half_noise_core (W : {set T}) r k :
  (forall j, j \notin W -> r <= p j) -> u k = m -> k \notin W ->
  \sum_(i in W) p i ^+ 2 = r * (\sum_(i in W) p i) ->
  r * (1 + \sum_j p j - r) <= \sum_j p j ^+ 2.
Proof.
move=> r_le uk k_notin mean_r.
have pk : p k = 1 by rewrite /p /flip_probability uk subrr expo0.
rewrite (bigID (mem W)) [leRHS](bigID (mem W)) /= mean_r.
rewrite (bigD1 k k_notin) [in leRHS](bigD1 k k_notin) /= pk -subr_ge0.
set A := \sum_(i in W) p i; set M := \sum_(i | _ && _) p i; set M2 := \sum_(i | _ && _) p i ^+ 2.
have -> : r * A + (1 ^+ 2 + M2) - r * (1 + (A + (1 + M)) - r) = (1 - r) ^+ 2 + (M2 - r * M) by ring.
rewrite addr_ge0 ?sqr_ge0 // /M /M2 mulr_sumr -sumrB sumr_ge0 // => j /andP[j_notin _].
have -> : p j ^+ 2 - r * p j = p j * (p j - r) by ring.
by rewrite mulr_ge0 ?(ltW (p_gt0 j)) // subr_ge0 r_le.
Qed.

(** With twice the epsilon the exponential mechanism is never worse: a score of [t] or less is not more likely, for any [t]. *)
Theorem em_half_noise (t : V) :
  event EM2 [set i | u i <= t] <= event PF [set i | u i <= t].
Proof.
have [k uk] : exists k, u k = m by case: best.
have EM2_law : is_law EM2 by apply: em_is_law => [i|]; [exact: ler01 | exists k; apply: ltr01].
set W := [set i | u i <= t].
case: (lerP m t) => [mt|tm].
  have all_W : W = [set: T] by apply/setP => i; rewrite !inE (le_trans _ mt) //; case: best => _; apply.
  have event_all (P : T -> R) : event P W = \sum_i P i by rewrite /event all_W; apply: eq_bigl => i; rewrite inE.
  by case: EM2_law => _ sum1; case: (pf_score_is_law e best) => _ sum2; rewrite !event_all sum1 sum2.
have [->|[i0 i0W]] := set_0Vmem W; first by rewrite /event !big_set0.
pose A := \sum_(i in W) p i; pose B := \sum_(i in W) p i ^+ 2; pose Y := \sum_j p j; pose D := \sum_j p j ^+ 2.
have A_gt0 : 0 < A.
  by rewrite /A (bigD1 i0 i0W) /= ltr_paddr ?p_gt0 // sumr_ge0 // => j _; apply: ltW (p_gt0 j).
have D_gt0 : 0 < D.
  rewrite /D (bigD1 k) //= ltr_paddr ?exprn_gt0 ?p_gt0 // sumr_ge0 // => j _; exact: sqr_ge0.
pose r := B / A.
have BA : B = r * A by rewrite /r divfK // gt_eqF.
have k_notin : k \notin W by rewrite inE uk -ltNge.
have r_le j : j \notin W -> r <= p j.
  move=> j_notin; rewrite /r ler_pdivr_mulr // mulr_sumr; apply: ler_sum => i iW.
  rewrite expr2; apply: ler_wpmul2r; first exact: ltW (p_gt0 i).
  apply: expo_le; rewrite ler_add2r; move: iW j_notin; rewrite !inE -ltNge => ui /ltW; exact: le_trans.
have r_le1 : r <= 1 by have := r_le k k_notin; rewrite /p /flip_probability uk subrr expo0.
pose kappa := 1 + Y - r.
have kappa_gt0 : 0 < kappa.
  by rewrite /kappa addrAC ltr_paddl ?subr_ge0 // (sum_gt0 k).
have core : r * kappa <= D := half_noise_core r_le uk k_notin BA.
apply: (@le_trans _ _ (A / kappa)).
  have -> : event EM2 W = B / D by rewrite /event /B mulr_suml; apply: eq_bigr => i _; rewrite em2_flip.
  rewrite ler_pdivr_mulr // mulrAC ler_pdivl_mulr // BA mulrAC [A * D]mulrC.
  by apply: ler_wpmul2r => //; apply: ltW.
have -> : A / kappa = \sum_(i in W) p i * (2%:R / kappa - (1 + Y - p i) / kappa ^+ 2).
  have -> : \sum_(i in W) p i * (2%:R / kappa - (1 + Y - p i) / kappa ^+ 2)
          = 2%:R / kappa * A - ((1 + Y) * A - B) / kappa ^+ 2.
    rewrite /A /B !mulr_sumr -sumrB mulr_suml -sumrB; apply: eq_bigr => i _; ring.
  by rewrite BA; have -> : Y = kappa + r - 1 by [rewrite /kappa; ring]; field; rewrite gt_eqF.
apply: ler_sum => i _; rewrite /PF /pf pf_chance; apply: ler_wpmul2l; first exact: ltW (p_gt0 i).
exact: chance_tangent.
Qed.

End Error.

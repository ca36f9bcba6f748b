(** Finite laws, when two of them are close, the exponential function, and how far scores move.

    Everything here is over an arbitrary ordered field [R] (the rational numbers, the real numbers): nothing about
    limits or completeness is used, and no axiom. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** * Laws on finitely many outcomes *)

Section Laws.
Variables (R : realFieldType) (T : finType).
Implicit Types (P Q : T -> R) (c d : R).

(** [P x] is the probability of the outcome [x]. *)
Definition is_law P := (forall x, 0 <= P x) /\ \sum_x P x = 1.

(** The probability of an event, a set of outcomes. *)
Definition event P (A : {set T}) := \sum_(x in A) P x.

(** What (epsilon, delta)-differential privacy asks of the laws [P] and [Q] of two neighbours, with [c] the number e^epsilon. *)
Definition close_up_to c d P Q := forall A, event P A <= c * event Q A + d.

(** The same with delta = 0. *)
Definition close c P Q := forall A, event P A <= c * event Q A.

(** Bounded range: the losses ln(P x / Q x) of any two outcomes differ by at most ln c. *)
Definition bounded_range c P Q := forall x y, P x * Q y <= c * (P y * Q x).

(** For finitely many outcomes it is enough to look at each one. *)
Lemma closeP c P Q : close c P Q <-> forall x, P x <= c * Q x.
Proof.
split=> [close_PQ x|each A].
  by have := close_PQ [set x]; rewrite /event !big_set1.
by rewrite /event mulr_sumr; apply: ler_sum => x _.
Qed.

Lemma close_is_close_up_to c P Q : close c P Q -> close_up_to c 0 P Q.
Proof. by move=> close_PQ A; rewrite addr0. Qed.

(** proofs/exponential_mechanism.md, claim 2. *)
Theorem bounded_range_is_close c P Q : is_law P -> is_law Q -> bounded_range c P Q -> close c P Q.
Proof.
move=> [_ sum_P] [_ sum_Q] range; apply/closeP => x.
rewrite -[P x]mulr1 -sum_Q mulr_sumr -[Q x]mul1r -sum_P mulr_suml mulr_sumr.
by apply: ler_sum => y _; apply: range.
Qed.

(** Bounded range is the same for the two neighbours exchanged. *)
Lemma bounded_range_sym c P Q : bounded_range c P Q -> bounded_range c Q P.
Proof. by move=> range x y; rewrite mulrC [Q y * _]mulrC; apply: range. Qed.

(** A test that accepts outcome [x] with probability [g x] gains no more than an event does. *)
Lemma close_up_to_test c d P Q (g : T -> R) :
  close_up_to c d P Q -> (forall x, 0 <= g x <= 1) ->
  \sum_x P x * g x <= c * (\sum_x Q x * g x) + d.
Proof.
move=> close_PQ g01; pose A := [set x | c * Q x <= P x].
rewrite -ler_subl_addl mulr_sumr -sumrB.
apply: (@le_trans _ _ (\sum_(x in A) (P x - c * Q x))); last first.
  by rewrite sumrB -mulr_sumr ler_subl_addl; apply: close_PQ.
rewrite [leRHS]big_mkcond /=; apply: ler_sum => x _.
have /andP[g_ge0 g_le1] := g01 x.
have -> : P x * g x - c * (Q x * g x) = (P x - c * Q x) * g x by ring.
rewrite inE; case: (lerP (c * Q x) (P x)) => [le|lt].
  by apply: ler_pimulr; rewrite // subr_ge0.
by apply: mulr_le0_ge0 => //; rewrite subr_le0 ltW.
Qed.

End Laws.

(** Coins that do not look at the data, such as a key from which rows are chosen: first [z] with law [mu], then a result
    with law [P z]. What holds for every [z] holds for the whole. *)
Section Mixtures.
Variables (R : realFieldType) (Z T : finType) (mu : Z -> R).
Hypothesis mu_law : is_law mu.

Definition mixture (P : Z -> T -> R) : T -> R := fun x => \sum_z mu z * P z x.

Lemma mixture_is_law P : (forall z, is_law (P z)) -> is_law (mixture P).
Proof.
case: mu_law => mu_ge0 sum_mu P_law; split=> [x|].
  by apply: sumr_ge0 => z _; rewrite mulr_ge0 //; case: (P_law z).
rewrite /mixture exchange_big /= -[RHS]sum_mu.
by apply: eq_bigr => z _; rewrite -mulr_sumr; case: (P_law z) => _ ->; rewrite mulr1.
Qed.

Theorem mixture_close c (P Q : Z -> T -> R) : (forall z, close c (P z) (Q z)) -> close c (mixture P) (mixture Q).
Proof.
case: mu_law => mu_ge0 _ each; apply/closeP => x; rewrite /mixture mulr_sumr; apply: ler_sum => z _.
by rewrite mulrCA; apply: ler_wpmul2l => //; move: x; apply/closeP.
Qed.

End Mixtures.

(** * The exponential function

    All that the proofs use of it. A score is of the ordered ring [V], a probability in the ordered field [R]:
    over the reals both are the reals, and e is [exp]; with whole scores and e z = 2^z all probabilities are rational
    ([most_common.v]). *)

Record exponential (V : realDomainType) (R : realFieldType) := Exponential {
  expo :> V -> R;
  expo_gt0 : forall x, 0 < expo x;
  expoD : forall x y, expo (x + y) = expo x * expo y;
  expo_le : forall x y, x <= y -> expo x <= expo y
}.

Section Exponentials.
Variables (V : realDomainType) (R : realFieldType) (e : exponential V R).

Lemma expo_ge0 x : 0 <= e x. Proof. exact: ltW (expo_gt0 e x). Qed.

Lemma expo0 : e 0 = 1.
Proof.
have e0_neq0 : e 0 != 0 by rewrite gt_eqF ?expo_gt0.
by apply: (mulfI e0_neq0); rewrite -expoD addr0 mulr1.
Qed.

Lemma expo_ge1 x : 0 <= x -> 1 <= e x.
Proof. by move=> x_ge0; rewrite -expo0 expo_le. Qed.

Lemma expo_le1 x : x <= 0 -> e x <= 1.
Proof. by move=> x_le0; rewrite -expo0 expo_le. Qed.

Lemma expo_neq0 x : e x != 0. Proof. by rewrite gt_eqF ?expo_gt0. Qed.

Lemma expo_sum n x : e (x *+ n) = e x ^+ n.
Proof. by elim: n => [|n IH]; rewrite ?mulr0n ?expo0 // mulrS expoD IH exprS. Qed.

End Exponentials.

(** * How far scores move between two neighbours *)

Section Scores.
Variables (V : realDomainType) (T : finType).
Implicit Types (q : T -> V) (w : V).

(** The range: the most that one score moves against another (proofs/README.md). *)
Definition range_at_most w q q' := forall i j, (q' i - q i) - (q' j - q j) <= w.

(** The sensitivity: the most that any one score moves. *)
Definition sensitivity_at_most w q q' := forall i, `|q' i - q i| <= w.

(** Monotone scores: all move up, or all move down. *)
Definition monotone_within w q q' :=
  (forall i, 0 <= q' i - q i <= w) \/ (forall i, - w <= q' i - q i <= 0).

Lemma range_of_sensitivity w q q' : sensitivity_at_most w q q' -> range_at_most (w + w) q q'.
Proof.
move=> sens i j; apply: le_trans (ler_norm _) _.
by apply: le_trans (ler_norm_sub _ _) _; apply: ler_add; apply: sens.
Qed.

Lemma range_of_monotone w q q' : monotone_within w q q' -> range_at_most w q q'.
Proof.
case=> move_by i j; have /andP[low_i high_i] := move_by i; have /andP[low_j high_j] := move_by j.
  by rewrite -[leRHS]subr0; apply: ler_sub.
by rewrite -[leRHS]opprK -[leRHS]add0r; apply: ler_sub.
Qed.

Lemma range_sym w q q' : range_at_most w q q' -> range_at_most w q' q.
Proof.
move=> range i j; have := range j i.
by have -> : q' j - q j - (q' i - q i) = q i - q' i - (q j - q' j) by ring.
Qed.

End Scores.

(** Scores divided by the scale b = w / epsilon: at w = 2 * sensitivity in general, and at w = sensitivity for monotone scores. *)
Section Scaled.
Variables (F : realFieldType) (T : finType).
Implicit Types (q : T -> F).

Definition scaled (epsilon w : F) q : T -> F := fun i => epsilon * q i / w.

Lemma range_of_scaled epsilon w q q' :
  0 <= epsilon -> 0 < w -> range_at_most w q q' -> range_at_most epsilon (scaled epsilon w q) (scaled epsilon w q').
Proof.
move=> epsilon_ge0 w_gt0 range i j; rewrite /scaled.
have -> : epsilon * q' i / w - epsilon * q i / w - (epsilon * q' j / w - epsilon * q j / w)
        = epsilon * (((q' i - q i) - (q' j - q j)) / w) by ring.
by apply: ler_pimulr => //; rewrite ler_pdivr_mulr // mul1r; apply: range.
Qed.

End Scaled.

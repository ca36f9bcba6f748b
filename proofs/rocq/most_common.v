(** The whole way of one question, from rows to the released candidate: [most_common] selects by permute-and-flip from
    counts of distinct units, at the scale b = 1 / epsilon. And a control: where half the noise is not enough.
    Pages: proofs/counting.md (claims 1 and 2), proofs/permute_and_flip.md. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From dpselect Require Import laws exponential_mechanism coins permute_and_flip permute_and_flip_privacy composition counting.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section MostCommon.
Variables (V : realDomainType) (R : realFieldType) (e : exponential V R).
Variables (Row Unit : eqType) (unit_of : Row -> Unit) (Value : finType) (v0 : Value).
Variable counted : seq Row -> {set Value}.
Hypothesis counted_none : counted [::] = set0.
Variable epsilon : V.
Hypothesis epsilon_ge0 : 0 <= epsilon.

(** The number of units with each value, times epsilon. *)
Definition scores (D : seq Row) : Value -> V := fun v => epsilon * count_scores V unit_of counted D v.

Lemma range_of_scores (q q' : Value -> V) :
  monotone_within 1 q q' -> range_at_most epsilon (fun v => epsilon * q v) (fun v => epsilon * q' v).
Proof.
move=> /range_of_monotone range i j.
have -> : epsilon * q' i - epsilon * q i - (epsilon * q' j - epsilon * q j)
        = epsilon * (q' i - q i - (q' j - q j)) by ring.
by apply: ler_pimulr => //; apply: range.
Qed.

Lemma range_of_two D D' :
  monotone_within 1 (count_scores V unit_of counted D) (count_scores V unit_of counted D') ->
  range_at_most epsilon (scores D) (scores D').
Proof. exact: range_of_scores. Qed.

Definition most_common (D : seq Row) : Value -> R := pf e (scores D) (best_score v0 (scores D)).

(** epsilon-DP under add-remove, however many rows and values a person has. *)
Theorem most_common_private : private unit_of (e epsilon) most_common.
Proof.
move=> u D; split; apply: pf_private (best_scoreP _ _) (best_scoreP _ _) _; apply: range_of_two.
  exact: counts_are_monotone_back.
exact: counts_are_monotone.
Qed.

(** The exponential mechanism from the same counts. *)
Definition most_common_em (D : seq Row) : Value -> R := em e (@unweighted R Value) (scores D).

Theorem most_common_em_private : private unit_of (e epsilon) most_common_em.
Proof.
move=> u D; split; apply: em_private => [i|]; try exact: ler01; apply: range_of_two.
  exact: counts_are_monotone_back.
exact: counts_are_monotone.
Qed.

(** [data.where(...).most_common(...)] *)
Theorem most_common_where_private (condition : pred Row) :
  private unit_of (e epsilon) (fun D => most_common (meeting condition D)).
Proof. exact: where_private most_common_private. Qed.

(** [data.by(...).most_common(...)], with people in at most [m] groups each. *)
Theorem most_common_by_private (G : finType) (group_of : Row -> option G) (takes_part : seq Row -> {set G}) m :
  (forall rows, #|takes_part rows| <= m)%N ->
  private unit_of (e epsilon ^+ m)
    (fun D => all_groups (fun g => most_common (in_group unit_of group_of takes_part g D))).
Proof.
move=> at_most_m; apply: by_private => //; first exact: expo_ge1.
  by move=> D v; case: (pf_score_is_law e (best_scoreP v0 (scores D))) => ge0 _; apply: ge0.
exact: most_common_private.
Qed.

End MostCommon.

(** * Where half the noise is not enough

    Two candidates with the scores (2, 0) and, after one unit is replaced, (1, 1): each score moves by 1. At the scale
    1 / epsilon the second candidate becomes e^(2 epsilon) times as likely. So the hypothesis "monotone" matters. *)
Section Control.
Variables (V : realDomainType) (R : realFieldType) (e : exponential V R) (epsilon : V).
Hypothesis epsilon_ge0 : 0 <= epsilon.

Definition before (first : bool) : V := if first then epsilon + epsilon else 0.
Definition after (first : bool) : V := epsilon.

Theorem half_noise_loses_twice :
  pf e after epsilon false = e (epsilon + epsilon) * pf e before (epsilon + epsilon) false.
Proof.
have one_other (p : bool -> R) : p true = 1 -> chance_among p (others false) = 2%:R^-1.
  move=> p_true; rewrite /chance_among /chance (@mean_perm _ _ _ _ _ [:: true]); last first.
    by apply: uniq_perm; rewrite ?enum_uniq // => -[]; rewrite mem_enum !inE.
  by rewrite /= p_true subrr mul0r add0r mul1r.
rewrite /pf !pf_chance !one_other /flip_probability /before /after ?subrr ?expo0 //.
by rewrite mulrA -expoD sub0r subrr expo0.
Qed.

Lemma before_best : is_best before (epsilon + epsilon).
Proof. by split=> [|[]]; [exists true | | apply: addr_ge0]. Qed.

Lemma after_best : is_best after epsilon.
Proof. by split=> [|j]; [exists true | ]. Qed.

End Control.

(** * Rational probabilities

    Whole scores and e z = 2^z: an exponential function with rational values, without any axiom. All theorems hold for it,
    so none of them is about nothing. Epsilon is then a whole multiple of ln 2. *)
Section Rational.

Lemma power_gt0 (z : int) : 0 < (2%:R : rat) ^ z. Proof. by rewrite exprz_gt0. Qed.

Lemma powerD (y z : int) : (2%:R : rat) ^ (y + z) = 2%:R ^ y * 2%:R ^ z.
Proof. by rewrite expfzDr. Qed.

Lemma power_le (y z : int) : y <= z -> (2%:R : rat) ^ y <= 2%:R ^ z.
Proof. by move=> yz; apply: ler_weexpz2l. Qed.

Definition powers_of_two : exponential int_realDomainType rat_realFieldType := Exponential power_gt0 powerD power_le.

End Rational.

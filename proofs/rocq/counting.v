(** From rows to scores: how far counts of distinct units move, conditions on rows, and groups.
    Pages: proofs/counting.md (claims 1, 3, 6), proofs/row_conditions.md, proofs/groups.md (claims 1, 4). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From dpselect Require Import laws composition.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.

(** * Rows, units, neighbours *)

Section Rows.
Variables (Row Unit : eqType) (unit_of : Row -> Unit).
Implicit Types (D : seq Row) (u : Unit) (c : pred Row).

Definition rows_of u D := [seq r <- D | unit_of r == u].

(** The data set without a person. A neighbour under add-remove is [without u D] of [D], or the other way round. *)
Definition without u D := [seq r <- D | unit_of r != u].

(** The units of a data set, each once. *)
Definition units D := undup (map unit_of D).

(** Rows that meet a public condition, which looks at one row at a time: the view [where]. *)
Definition meeting c D := filter c D.

(** proofs/row_conditions.md: leaving rows out by a condition and leaving a person out may change places. *)
Theorem condition_commutes c u D : meeting c (without u D) = without u (meeting c D).
Proof. by rewrite /meeting /without -!filter_predI; apply: eq_filter => r /=; rewrite andbC. Qed.

Lemma rows_of_condition c u D : rows_of u (meeting c D) = meeting c (rows_of u D).
Proof. by rewrite /meeting /rows_of -!filter_predI; apply: eq_filter => r /=; rewrite andbC. Qed.

(** Others keep their rows. *)
Lemma rows_of_without u w D : w != u -> rows_of w (without u D) = rows_of w D.
Proof.
move=> w_neq_u; rewrite /rows_of /without -filter_predI; apply: eq_filter => r /=.
by case: eqP => [->|_] //=; rewrite w_neq_u.
Qed.

Lemma units_without u D : units (without u D) = filter (predC1 u) (units D).
Proof. by rewrite /units filter_undup filter_map. Qed.

Lemma without_absent u D : u \notin units D -> without u D = D.
Proof.
rewrite mem_undup => u_absent; apply/all_filterP/allP => r rD.
by apply: contra u_absent => /eqP <-; apply: map_f.
Qed.

Lemma rows_of_absent u D : u \notin units D -> rows_of u D = [::].
Proof. by move=> /without_absent <-; rewrite /rows_of /without -filter_predI (eq_filter (a2:=pred0)) ?filter_pred0 // => r /=; case: eqP. Qed.

End Rows.

(** * Counts of distinct units *)

Section Counts.
Variables (Row Unit : eqType) (unit_of : Row -> Unit) (Value : finType).
Implicit Types (D : seq Row) (u : Unit) (v : Value).

(** The candidates for which a unit counts, decided by its own rows. A unit without rows counts for none. *)
Variable counted : seq Row -> {set Value}.
Hypothesis counted_none : counted [::] = set0.

Local Notation units := (units unit_of).
Local Notation rows_of := (rows_of unit_of).
Local Notation without := (without unit_of).

(** The score of a candidate: the number of units that count for it. *)
Definition units_with v D := count (fun u => v \in counted (rows_of u D)) (units D).

(** Removing a person takes exactly 1 from the counts of the candidates for which that person counts. *)
Theorem count_without u D v :
  units_with v D = (units_with v (without u D) + (v \in counted (rows_of u D)))%N.
Proof.
have [uD|u_absent] := boolP (u \in units D); last first.
  by rewrite without_absent // rows_of_absent // counted_none inE addn0.
rewrite /units_with units_without.
have uniq_units : uniq (units D) by apply: undup_uniq.
rewrite (permP (perm_to_rem uD)) /= addnC rem_filter //; congr (_ + _)%N.
apply: eq_in_count => w; rewrite mem_filter => /andP[w_neq_u _].
by rewrite rows_of_without.
Qed.

(** Claim 1: each count falls by 1 or stays, so they are monotone with sensitivity 1. *)
Theorem count_sensitivity u D v :
  (units_with v (without u D) <= units_with v D <= (units_with v (without u D)).+1)%N.
Proof. by rewrite (count_without u D v) leq_addr -addn1 leq_add2l leq_b1. Qed.

(** Claim 6: if a person counts for at most [m] candidates, all counts together fall by at most [m]. *)
Theorem count_total m u D :
  (forall rows, #|counted rows| <= m)%N ->
  (\sum_v units_with v D <= \sum_v units_with v (without u D) + m)%N.
Proof.
move=> at_most_m.
rewrite (eq_bigr _ (fun v _ => count_without u D v)) big_split /= leq_add2l.
apply: leq_trans _ (at_most_m (rows_of u D)).
by rewrite -sum1_card [leqRHS]big_mkcond /=; apply: leq_sum => v _; case: (_ \in _).
Qed.

(** Claim 2: a replaced person moves each count by at most 1. *)
Theorem count_replaced u D D' v :
  without u D = without u D' -> (units_with v D <= (units_with v D').+1)%N.
Proof.
move=> same; have /andP[_ up] := count_sensitivity u D v; have /andP[low _] := count_sensitivity u D' v.
by apply: leq_trans up _; rewrite ltnS same.
Qed.

(** Claim 6 under replace-one: by at most [2 m], whichever way each count moves, and by at most 1 for each candidate. *)
Theorem count_total_replaced m u D D' :
  without u D = without u D' -> (forall rows, #|counted rows| <= m)%N ->
  (\sum_v ((units_with v D - units_with v D') + (units_with v D' - units_with v D)) <= minn (m + m) #|Value|)%N.
Proof.
move=> same at_most_m.
have total E : (\sum_v (v \in counted (rows_of u E)) <= m)%N.
  apply: leq_trans (at_most_m (rows_of u E)).
  by rewrite -sum1_card [leqRHS]big_mkcond /=; apply: leq_sum => v _; case: (_ \in _).
rewrite leq_min; apply/andP; split.
  apply: leq_trans (leq_add (total D) (total D')); rewrite -big_split /=; apply: leq_sum => v _.
  by rewrite (count_without u D v) (count_without u D' v) same !subnDl; case: (_ \in _); case: (_ \in _).
rewrite -sum1_card; apply: leq_sum => v _.
by rewrite (count_without u D v) (count_without u D' v) same !subnDl; case: (_ \in _); case: (_ \in _).
Qed.

End Counts.

(** The count without a limit: a unit counts for every value in its rows. Rows without a candidate have the value [None]. *)
Section Distinct.
Variables (Row : eqType) (Value : finType) (value_of : Row -> option Value).

Definition all_values (rows : seq Row) : {set Value} := [set v | Some v \in map value_of rows].

Lemma all_values_none : all_values [::] = set0.
Proof. by apply/setP => v; rewrite !inE. Qed.

(** With a limit: at most [m] of them, the first of a public order of the values. *)
Definition first_values m (rows : seq Row) : {set Value} := [set v in take m (enum (all_values rows))].

Lemma first_values_none m : first_values m [::] = set0.
Proof. by rewrite /first_values all_values_none enum_set0; apply/setP => v; rewrite !inE. Qed.

Lemma first_values_at_most m rows : (#|first_values m rows| <= m)%N.
Proof.
rewrite /first_values cardsE; apply: leq_trans (card_size _) _.
by rewrite size_take; case: ltnP.
Qed.

End Distinct.

(** * Scores for the mechanisms *)

Local Open Scope ring_scope.

Section Scores.
Variables (F : realDomainType) (Row Unit : eqType) (unit_of : Row -> Unit) (Value : finType).
Variable counted : seq Row -> {set Value}.
Hypothesis counted_none : counted [::] = set0.

Definition count_scores (D : seq Row) : Value -> F := fun v => (units_with unit_of counted v D)%:R.

Theorem counts_are_monotone u D :
  monotone_within 1 (count_scores (without unit_of u D)) (count_scores D).
Proof.
left=> v; have /andP[low up] := count_sensitivity unit_of counted_none u D v.
by rewrite subr_ge0 ler_nat low ler_subl_addr -mulrS ler_nat.
Qed.

Theorem counts_are_monotone_back u D :
  monotone_within 1 (count_scores D) (count_scores (without unit_of u D)).
Proof.
right=> v; have /andP[low up] := count_sensitivity unit_of counted_none u D v.
by rewrite subr_le0 ler_nat low andbT ler_oppl opprB ler_subl_addr -mulrS ler_nat.
Qed.

Theorem replaced_sensitivity u D D' :
  without unit_of u D = without unit_of u D' -> sensitivity_at_most 1 (count_scores D) (count_scores D').
Proof.
move=> same v; rewrite ler_norml ler_oppl opprB !ler_subl_addr -!mulrS !ler_nat.
by rewrite (count_replaced counted_none v same) (count_replaced counted_none v (esym same)).
Qed.

End Scores.

(** * Privacy of a whole question, and its views *)

Section Questions.
Variables (R : realFieldType) (Row Unit : eqType) (unit_of : Row -> Unit).

(** A question: the law of its answer, for each data set. *)
Definition question (T : finType) := seq Row -> T -> R.

(** epsilon-DP under add-remove, with [c] the number e^epsilon. *)
Definition private (T : finType) (c : R) (M : question T) :=
  forall u D, close c (M D) (M (without unit_of u D)) /\ close c (M (without unit_of u D)) (M D).

(** proofs/row_conditions.md, claim 1: the view [where]. *)
Theorem where_private (T : finType) c (M : question T) (condition : pred Row) :
  private c M -> private c (fun D => M (meeting condition D)).
Proof. by move=> M_private u D; rewrite condition_commutes; apply: M_private. Qed.

(** Limits may choose rows at random, by coins that do not look at the data. *)
Theorem random_choices_private (Z T : finType) (mu : Z -> R) c (M : Z -> question T) :
  is_law mu -> (forall z, private c (M z)) -> private c (fun D => mixture mu (fun z => M z D)).
Proof. by move=> mu_law each u D; split; apply: mixture_close => // z; case: (each z u D). Qed.

(** The view [by]. Rows have at most one group each; a unit takes part in the groups that are chosen by its own rows. *)
Section Groups.
Variables (G : finType) (group_of : Row -> option G) (takes_part : seq Row -> {set G}).

Definition taking_part D : seq Row :=
  [seq r <- D | if group_of r is Some g then g \in takes_part (rows_of unit_of (unit_of r) D) else false].

Definition in_group g D : seq Row := [seq r <- taking_part D | group_of r == Some g].

(** Leaving a person out changes nothing of who of the others takes part where. *)
Lemma taking_part_without u D : taking_part (without unit_of u D) = without unit_of u (taking_part D).
Proof.
rewrite /taking_part /without -!filter_predI; apply: eq_in_filter => r rD /=.
have [->|r_neq_u] := eqVneq (unit_of r) u; first by rewrite andbF.
by case: (group_of r) => [g|]; rewrite ?rows_of_without ?andbT ?andbF.
Qed.

Lemma in_group_without g u D : in_group g (without unit_of u D) = without unit_of u (in_group g D).
Proof. by rewrite /in_group taking_part_without; apply: (condition_commutes unit_of (fun r => group_of r == Some g)). Qed.

(** Groups in which the person takes no part have the same rows. *)
Lemma other_groups g u D :
  g \notin takes_part (rows_of unit_of u D) -> in_group g (without unit_of u D) = in_group g D.
Proof.
move=> not_there; rewrite in_group_without; apply/all_filterP/allP => r.
rewrite !mem_filter => /andP[/eqP group_r /andP[part _]]; apply/eqP => unit_r.
by move: part; rewrite group_r unit_r (negbTE not_there).
Qed.

(** proofs/groups.md, claim 1: the question asked for each group costs [m] times its epsilon. *)
Theorem by_private (T : finType) c (M : question T) m :
  1 <= c -> (forall D x, 0 <= M D x) -> (forall rows, #|takes_part rows| <= m)%N -> private c M ->
  private (c ^+ m) (fun D => all_groups (fun g => M (in_group g D))).
Proof.
move=> c_ge1 M_ge0 at_most_m M_private u D.
have c_ge0 : 0 <= c by apply: le_trans ler01 _.
set a := takes_part (rows_of unit_of u D).
have widen (P Q : {ffun G -> T} -> R) :
    (forall x, 0 <= Q x) -> close (c ^+ #|a|) P Q -> close (c ^+ m) P Q.
  move=> Q_ge0 /closeP close_PQ; apply/closeP => x; apply: le_trans (close_PQ x) _.
  by apply: ler_wpmul2r => //; apply: ler_weexpn2l => //; apply: at_most_m.
split; apply: widen; try by [move=> x; apply: prodr_ge0 => g _].
  apply: parallel_private => // g g_a; last by rewrite in_group_without; case: (M_private u (in_group g D)).
  by move=> x; rewrite other_groups.
apply: parallel_private => // g g_a; last by rewrite in_group_without; case: (M_private u (in_group g D)).
by move=> x; rewrite other_groups.
Qed.

End Groups.
End Questions.

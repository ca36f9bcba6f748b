(** The k best as one set: the exponential mechanism over all sets of k candidates.
    Page: proofs/top_k_sets.md, claim 1. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From dpselect Require Import laws exponential_mechanism.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Sets.
Variables (V : realDomainType) (T : finType) (k : nat).
Implicit Types (u : T -> V) (S : {set T}) (a b low high : V).

(** [a] is the score of the worst member of [S], and [b] that of the best candidate outside. *)
Definition worst_inside u S a := (exists2 i, i \in S & u i = a) /\ forall i, i \in S -> a <= u i.
Definition best_outside u S b := (exists2 i, i \notin S & u i = b) /\ forall i, i \notin S -> u i <= b.

(** The sets of [k] candidates, and their scores. *)
Definition k_set : finType := [finType of {S : {set T} | #|S| == k}].

Definition set_scores u (v : k_set -> V) :=
  forall Z : k_set, exists a b, [/\ worst_inside u (sval Z) a, best_outside u (sval Z) b & v Z = a - b].

(** If each score moves by something from [low] to [high], so does the worst of some scores, and the best of some. *)
Lemma worst_moves u u' S a a' low high :
  (forall i, low <= u' i - u i <= high) -> worst_inside u S a -> worst_inside u' S a' -> low <= a' - a <= high.
Proof.
move=> moves [[i iS <-] least] [[i' i'S <-] least']; apply/andP; split.
  have /andP[low_i' _] := moves i'; apply: le_trans low_i' _.
  by rewrite ler_add2l ler_opp2 least.
have /andP[_ high_i] := moves i; apply: le_trans high_i.
by rewrite ler_add2r least'.
Qed.

Lemma best_moves u u' S b b' low high :
  (forall i, low <= u' i - u i <= high) -> best_outside u S b -> best_outside u' S b' -> low <= b' - b <= high.
Proof.
move=> moves [[i iS <-] most] [[i' i'S <-] most']; apply/andP; split.
  have /andP[low_i _] := moves i; apply: le_trans low_i _.
  by rewrite ler_add2r most'.
have /andP[_ high_i'] := moves i'; apply: le_trans high_i'.
by rewrite ler_add2l ler_opp2 most.
Qed.

(** So the scores of sets move against each other by at most twice as much as those of candidates; [k] does not enter. *)
Theorem set_scores_range u u' v v' low high :
  (forall i, low <= u' i - u i <= high) -> set_scores u v -> set_scores u' v' ->
  range_at_most ((high - low) + (high - low)) v v'.
Proof.
move=> moves scores scores' S S'.
have set_moves Z : - (high - low) <= v' Z - v Z <= high - low.
  have [a [b [wa bb ->]]] := scores Z; have [a' [b' [wa' bb' ->]]] := scores' Z.
  have /andP[a_low a_high] := worst_moves moves wa wa'.
  have /andP[b_low b_high] := best_moves moves bb bb'.
  have -> : a' - b' - (a - b) = (a' - a) - (b' - b) by ring.
  by rewrite opprB !ler_sub.
have /andP[_ up] := set_moves S; have /andP[down _] := set_moves S'.
by rewrite -[X in _ <= _ + X]opprK; apply: ler_sub.
Qed.

Variables (R : realFieldType) (e : exponential V R).

(** Monotone scores: noise for twice the sensitivity. *)
Theorem set_private_monotone u u' v v' w :
  monotone_within w u u' -> set_scores u v -> set_scores u' v' ->
  close (e (w + w)) (em e (@unweighted R k_set) v) (em e (@unweighted R k_set) v').
Proof.
move=> mono scores scores'; apply: em_private => [S|]; first exact: ler01.
case: mono => moves; have := set_scores_range moves scores scores'; first by rewrite subr0.
by rewrite sub0r opprK.
Qed.

(** In general: four times. *)
Theorem set_private u u' v v' w :
  sensitivity_at_most w u u' -> set_scores u v -> set_scores u' v' ->
  close (e (w + w + (w + w))) (em e (@unweighted R k_set) v) (em e (@unweighted R k_set) v').
Proof.
move=> sens scores scores'; apply: em_private => [S|]; first exact: ler01.
have moves i : - w <= u' i - u i <= w by rewrite -ler_norml; apply: sens.
by have := set_scores_range moves scores scores'; rewrite opprK.
Qed.

End Sets.

(** Peeling by permute-and-flip: again and again among the candidates that are left, with fresh coins and measured from the best
    of those left.
    Page: proofs/top_k.md, claim 1. *)
From mathcomp Require Import all_ssreflect all_algebra.
From dpselect Require Import laws permute_and_flip permute_and_flip_privacy composition.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Peeling.
Variables (V : realDomainType) (R : realFieldType) (e : exponential V R) (T : finType).
Implicit Types (u : T -> V) (past : seq T) (i : T).

(** The candidates that are left, and their scores. *)
Definition left_of past : finType := [finType of {j : T | j \notin past}].
Definition scores_of u past : left_of past -> V := fun j => u (sval j).

(** One round: permute-and-flip among those that are left. *)
Definition pf_left u past i : R :=
  if insub i is Some s then pf e (scores_of u (past:=past)) (best_score s (scores_of u (past:=past))) s else 0.

Lemma pf_left_ge0 u past i : 0 <= pf_left u past i.
Proof.
rewrite /pf_left; case: insubP => // s _ _.
by case: (pf_score_is_law e (best_scoreP s (scores_of u (past:=past)))) => ge0 _; apply: ge0.
Qed.

(** Each round has a law as long as there is a candidate left. *)
Lemma pf_left_is_law u past : (size past < #|T|)%N -> is_law (pf_left u past).
Proof.
move=> size_past; split=> [i|]; first exact: pf_left_ge0.
have [i0 i0_left|all_past] := pickP (fun i => i \notin past); last first.
  have : (#|T| <= size past)%N.
    apply: leq_trans _ (card_size past); apply: subset_leq_card; apply/subsetP => i _.
    by have /negbFE := all_past i.
  by rewrite leqNgt size_past.
pose s0 : left_of past := exist _ i0 i0_left; pose m := best_score s0 (scores_of u (past:=past)).
have best := best_scoreP s0 (scores_of u (past:=past)).
have [_ <-] := pf_score_is_law e best.
rewrite (bigID (fun i => i \in past)) /= big1 ?add0r => [|i i_past]; last first.
  by rewrite /pf_left; case: insubP => // s; rewrite i_past.
rewrite (reindex_onto (fun s : left_of past => sval s) (insubd s0)) /=; last first.
  by move=> i i_left; rewrite -[sval _]/(val _) insubdK.
apply: eq_big => [s|s _]; first by rewrite (svalP s) -[sval s]/(val s) valKd eqxx.
rewrite /pf_left -[sval s]/(val s) valK; congr (pf e _ _ s).
have [[k mk] le_m] := best; have [[k' mk'] le_m'] := best_scoreP s (scores_of u (past:=past)).
by apply/eqP; rewrite eq_le -{1}mk' -{2}mk le_m le_m'.
Qed.

(** The law of the first [k] selected, in order. *)
Definition pf_peeled u k : k.-tuple T -> R := rounds_law (pf_left u) (n:=k).

Theorem pf_peeled_is_law u k : (k <= #|T|)%N -> is_law (@pf_peeled u k).
Proof.
move=> k_le; apply: rounds_is_law => [past size_past|past i]; last exact: pf_left_ge0.
by apply: pf_left_is_law; apply: leq_trans size_past k_le.
Qed.

(** Claim 1: k rounds cost k times epsilon. *)
Theorem pf_peeled_private u u' epsilon k :
  range_at_most epsilon u u' -> close (e epsilon ^+ k) (@pf_peeled u k) (@pf_peeled u' k).
Proof.
move=> range.
have -> : e epsilon ^+ k = \prod_(j < k) e epsilon by rewrite big_const_ord iter_mulr_1.
apply: (@rounds_private _ _ (fun=> e epsilon)) => [_|past i|past i|past]; first exact: expo_ge0.
- exact: pf_left_ge0.
- exact: pf_left_ge0.
apply/closeP => i; rewrite /pf_left; case: insubP => [s _ _|_]; last by rewrite mulr0.
have left_range : range_at_most epsilon (scores_of u (past:=past)) (scores_of u' (past:=past)).
  by move=> j j'; apply: range.
have /closeP := pf_private e (best_scoreP s _) (best_scoreP s _) left_range; exact.
Qed.

End Peeling.

(** Several runs: one after another, in view of earlier results; side by side, on different people; and peeling.
    Pages: proofs/composition.md (claim 1), proofs/groups.md (claim 1), proofs/top_k.md (claims 1 and 5). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From dpselect Require Import laws exponential_mechanism.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** * Two runs, the second chosen in view of the first result *)

Section TwoRuns.
Variables (R : realFieldType) (S T : finType).
Implicit Types (P : S -> R) (K : S -> T -> R).

(** First [x] with law [P], then [y] with law [K x]. *)
Definition in_turn P K : S * T -> R := fun xy => P xy.1 * K xy.1 xy.2.

Lemma in_turn_is_law P K : is_law P -> (forall x, is_law (K x)) -> is_law (in_turn P K).
Proof.
move=> [P_ge0 sum_P] K_law; split=> [[x y]|].
  by rewrite mulr_ge0 //; case: (K_law x).
rewrite -(pair_big predT predT (fun x y => P x * K x y)) /= -[RHS]sum_P.
by apply: eq_bigr => x _; rewrite -mulr_sumr; case: (K_law x) => _ ->; rewrite mulr1.
Qed.

(** Pure: epsilons add up, so the factors e^epsilon multiply. *)
Theorem in_turn_private c1 c2 P P' K K' :
  0 <= c2 -> (forall x, 0 <= P x) -> (forall x y, 0 <= K' x y) ->
  close c1 P P' -> (forall x, close c2 (K x) (K' x)) -> close (c1 * c2) (in_turn P K) (in_turn P' K').
Proof.
move=> c2_ge0 P_ge0 K'_ge0 /closeP close_P close_K; apply/closeP => -[x y]; rewrite /in_turn /=.
have /closeP close_Kx := close_K x.
apply: (@le_trans _ _ (P x * (c2 * K' x y))); first by apply: ler_wpmul2l.
have -> : c1 * c2 * (P' x * K' x y) = c1 * P' x * (c2 * K' x y) by ring.
by apply: ler_wpmul2r => //; apply: mulr_ge0.
Qed.

(** An event in both results, result by result of the first run. *)
Lemma event_in_turn P K (A : {set S * T}) :
  event (in_turn P K) A = \sum_x P x * event (K x) [set y | (x, y) \in A].
Proof.
rewrite /event; transitivity (\sum_x \sum_(y | (x, y) \in A) P x * K x y).
  by rewrite pair_big_dep /=; apply: eq_big => [[x y]|[x y] _].
by apply: eq_bigr => x _; rewrite mulr_sumr; apply: eq_bigl => y; rewrite inE.
Qed.

(** (epsilon, delta): epsilons add up, and so do deltas. *)
Theorem in_turn_private_up_to c1 d1 c2 d2 P P' K K' :
  is_law P -> is_law P' -> (forall x, is_law (K x)) -> (forall x, is_law (K' x)) -> 0 <= c1 -> 0 <= c2 -> 0 <= d2 ->
  close_up_to c1 d1 P P' -> (forall x, close_up_to c2 d2 (K x) (K' x)) ->
  close_up_to (c1 * c2) (d1 + d2) (in_turn P K) (in_turn P' K').
Proof.
move=> [P_ge0 sum_P] [P'_ge0 _] K_law K'_law c1_ge0 c2_ge0 d2_ge0 close_P close_K A.
rewrite !event_in_turn; pose after x := [set y | (x, y) \in A].
pose g x := Num.min 1 (c2 * event (K' x) (after x)).
have K'_ge0 x : 0 <= event (K' x) (after x) by case: (K'_law x) => ? _; apply: sumr_ge0.
have g01 x : 0 <= g x <= 1.
  by rewrite /g le_minl lexx /= le_minr ler01 mulr_ge0.
have K_le x : event (K x) (after x) <= g x + d2.
  rewrite -ler_subl_addr le_minr !ler_subl_addr close_K andbT.
  apply: ler_paddr => //; case: (K_law x) => K_ge0 <-.
  by rewrite [leRHS](bigID (mem (after x))) /= ler_addl; apply: sumr_ge0.
apply: (@le_trans _ _ (\sum_x P x * g x + d2)).
  rewrite -[X in _ + X]mul1r -sum_P mulr_suml -big_split /=; apply: ler_sum => x _.
  by rewrite -mulrDr; apply: ler_wpmul2l => //; apply: K_le.
rewrite addrA ler_add2r; apply: le_trans (close_up_to_test close_P g01) _.
rewrite ler_add2r -mulrA; apply: ler_wpmul2l => //; rewrite mulr_sumr.
apply: ler_sum => x _; rewrite mulrCA; apply: ler_wpmul2l => //.
by rewrite /g le_minl lexx orbT.
Qed.

(** Bounded range adds up too if the second run does not depend on the first result. *)
Theorem side_by_side_bounded_range c1 c2 P P' (Q Q' : T -> R) :
  (forall x, 0 <= P x) -> (forall x, 0 <= P' x) -> (forall y, 0 <= Q y) -> (forall y, 0 <= Q' y) ->
  0 <= c1 -> 0 <= c2 -> bounded_range c1 P P' -> bounded_range c2 Q Q' ->
  bounded_range (c1 * c2) (in_turn P (fun _ => Q)) (in_turn P' (fun _ => Q')).
Proof.
move=> P_ge0 P'_ge0 Q_ge0 Q'_ge0 c1_ge0 c2_ge0 range1 range2 [x y] [x' y']; rewrite /in_turn /=.
rewrite mulrACA.
have -> : c1 * c2 * (P x' * Q y' * (P' x * Q' y)) = c1 * (P x' * P' x) * (c2 * (Q y' * Q' y)) by ring.
by apply: ler_pmul; rewrite ?range1 ?range2 // mulr_ge0.
Qed.

End TwoRuns.

(** * Any number of rounds, each chosen in view of all earlier results *)

Section Rounds.
Variables (R : realFieldType) (T : finType).
Implicit Types (K : seq T -> T -> R) (past results : seq T) (c : nat -> R).

(** The probability of the [results] of rounds, of which the next has the law [K past] after the results [past]. *)
Fixpoint rounds K past results : R :=
  if results is x :: later then K past x * rounds K (rcons past x) later else 1.

Lemma rounds_ge0 K past results : (forall past x, 0 <= K past x) -> 0 <= rounds K past results.
Proof. by move=> K_ge0; elim: results past => [|x later IH] past /=; rewrite ?ler01 ?mulr_ge0. Qed.

Lemma rounds_le1 K past results : (forall past x, 0 <= K past x <= 1) -> rounds K past results <= 1.
Proof.
move=> K01; elim: results past => [|x later IH] past //=.
have /andP[K_ge0 K_le1] := K01 past x.
by rewrite mulr_ile1 ?rounds_ge0 // => past' x'; case/andP: (K01 past' x').
Qed.

(** Basic composition of rounds whose epsilons are fixed in advance; [c k] is the factor e^epsilon of round k. *)
Lemma rounds_le c K K' past results :
  (forall k, 0 <= c k) -> (forall past x, 0 <= K past x) -> (forall past x, 0 <= K' past x) ->
  (forall past x, K past x <= c (size past) * K' past x) ->
  rounds K past results <= \prod_(k < size results) c (size past + k)%N * rounds K' past results.
Proof.
move=> c_ge0 K_ge0 K'_ge0 close_K; elim: results past => [|x later IH] past /=.
  by rewrite big_ord0 mul1r.
rewrite big_ord_recl addn0 mulrACA.
apply: ler_pmul; rewrite ?rounds_ge0 //.
apply: le_trans (IH (rcons past x)) _; rewrite size_rcons.
suff -> : \prod_(k < size later) c ((size past).+1 + k)%N = \prod_(k < size later) c (size past + bump 0 k)%N by [].
by apply: eq_bigr => k _; rewrite /bump leq0n add1n addnS addSn.
Qed.

(** As a law of the list of results of [n] rounds. *)
Definition rounds_law K n (t : n.-tuple T) : R := rounds K [::] t.

Theorem rounds_private c K K' n :
  (forall k, 0 <= c k) -> (forall past x, 0 <= K past x) -> (forall past x, 0 <= K' past x) ->
  (forall past, close (c (size past)) (K past) (K' past)) ->
  close (\prod_(k < n) c k) (@rounds_law K n) (@rounds_law K' n).
Proof.
move=> c_ge0 K_ge0 K'_ge0 close_K; apply/closeP => t.
have each past x : K past x <= c (size past) * K' past x by move: x; apply/closeP.
by have := rounds_le [::] t c_ge0 K_ge0 K'_ge0 each; rewrite size_tuple.
Qed.

Lemma sum_tuples n (f : n.+1.-tuple T -> R) :
  \sum_t f t = \sum_x \sum_(t : n.-tuple T) f [tuple of x :: t].
Proof.
rewrite pair_big /= (reindex (fun xt : T * n.-tuple T => [tuple of xt.1 :: xt.2])) //=.
exists (fun t : n.+1.-tuple T => (thead t, [tuple of behead t])) => [[x t] _|t _] /=.
  by rewrite theadE; congr (_, _); apply: val_inj.
by rewrite -tuple_eta.
Qed.

Theorem rounds_is_law K n :
  (forall past, (size past < n)%N -> is_law (K past)) ->
  (forall past x, 0 <= K past x) -> is_law (@rounds_law K n).
Proof.
move=> K_law K_ge0; split=> [t|]; first exact: rounds_ge0.
suff sum_after past m : (size past + m <= n)%N -> \sum_(t : m.-tuple T) rounds K past t = 1 by apply: sum_after.
elim: m past => [|m IH] past size_past.
  by rewrite (big_pred1 [tuple]) // => t; rewrite [t]tuple0; apply/esym/eqP.
rewrite sum_tuples /=.
have {IH} IH x : \sum_(t : m.-tuple T) rounds K (rcons past x) t = 1.
  by apply: IH; rewrite size_rcons addSnnS.
have [_ <-] : is_law (K past).
  by apply: K_law; apply: leq_trans size_past; rewrite addnS ltnS leq_addr.
by apply: eq_bigr => x _; rewrite -mulr_sumr IH mulr1.
Qed.

End Rounds.

(** * Peeling: the exponential mechanism, again and again among the candidates that are left *)

Section Peeling.
Variables (V : realDomainType) (R : realFieldType) (e : exponential V R) (T : finType) (weight : T -> R).
Hypothesis weight_gt0 : forall i, 0 < weight i.
Implicit Types (u : T -> V) (past : seq T) (i : T).

(** Candidates that were selected have weight 0 from then on. *)
Definition left_over past i : R := if i \in past then 0 else weight i.

Definition peel u past : T -> R := em e (left_over past) u.

Lemma left_over_ge0 past i : 0 <= left_over past i.
Proof. by rewrite /left_over; case: ifP => // _; apply: ltW. Qed.

(** The law of the first [k] selected, in order. *)
Definition peeled u k : k.-tuple T -> R := rounds_law (peel u) (n:=k).

Theorem peeled_is_law u k : (k <= #|T|)%N -> is_law (@peeled u k).
Proof.
move=> k_le; apply: rounds_is_law => [past size_past|past i]; last by apply: em_ge0 => j; apply: left_over_ge0.
apply: em_is_law => [i|]; first exact: left_over_ge0.
have [i i_left|all_past] := pickP (fun i => i \notin past).
  by exists i; rewrite /left_over (negbTE i_left).
have : (#|T| <= size past)%N.
  apply: leq_trans _ (card_size past); apply: subset_leq_card; apply/subsetP => i _.
  by have /negbFE := all_past i.
by rewrite leqNgt (leq_trans size_past).
Qed.

(** Claim 1: k rounds cost k times epsilon. *)
Theorem peeled_private u u' epsilon k :
  range_at_most epsilon u u' -> close (e epsilon ^+ k) (@peeled u k) (@peeled u' k).
Proof.
move=> range.
have -> : e epsilon ^+ k = \prod_(j < k) e epsilon by rewrite big_const_ord iter_mulr_1.
apply: (@rounds_private _ _ (fun=> e epsilon)) => [_|past i|past i|past]; first exact: expo_ge0.
- by apply: em_ge0 => j; apply: left_over_ge0.
- by apply: em_ge0 => j; apply: left_over_ge0.
- by apply: em_private => // i; apply: left_over_ge0.
Qed.

(** Each round is of bounded range, whatever was selected before. *)
Theorem peel_bounded_range u u' epsilon past :
  range_at_most epsilon u u' -> bounded_range (e epsilon) (peel u past) (peel u' past).
Proof. by move=> range; apply: em_bounded_range => // i; apply: left_over_ge0. Qed.

(** Claim 5: the last candidate is certain, so the round that selects it costs nothing. *)
Theorem peel_last u past i : (forall j, (j \notin past) = (j == i)) -> peel u past i = 1.
Proof.
move=> only_i; rewrite /peel /em /total (bigD1 i) //= big1 => [|j /negbTE j_neq_i].
  have /negbTE i_left : i \notin past by rewrite only_i.
  by rewrite addr0 divff // /left_over i_left mulf_neq0 ?expo_neq0 // gt_eqF.
by rewrite /left_over -[j \in past]negbK only_i j_neq_i mul0r.
Qed.

End Peeling.

(** * Side by side: one run for each group, on the people of that group *)

Section Parallel.
Variables (R : realFieldType) (G T : finType).
Implicit Types (P : G -> T -> R) (a : {set G}).

(** Independent runs, one for each group; a result has an answer for each group. *)
Definition all_groups P (answers : {ffun G -> T}) : R := \prod_g P g (answers g).

Lemma all_groups_is_law P : (forall g, is_law (P g)) -> is_law (all_groups P).
Proof.
move=> P_law; split=> [answers|].
  by apply: prodr_ge0 => g _; case: (P_law g).
rewrite -bigA_distr_bigA /=; apply: big1 => g _; by case: (P_law g).
Qed.

(** Parallel composition: only the groups [a] count in which the person is. *)
Theorem parallel_private c P P' a :
  0 <= c -> (forall g x, 0 <= P g x) -> (forall g x, 0 <= P' g x) ->
  (forall g, g \notin a -> P g =1 P' g) -> (forall g, g \in a -> close c (P g) (P' g)) ->
  close (c ^+ #|a|) (all_groups P) (all_groups P').
Proof.
move=> c_ge0 P_ge0 P'_ge0 same close_P; apply/closeP => answers.
have -> : c ^+ #|a| = \prod_g (if g \in a then c else 1) by rewrite -big_mkcond prodr_const.
rewrite /all_groups -big_split /=; apply: ler_prod => g _; rewrite P_ge0 /=.
case: ifPn => [/close_P /closeP|/same ->]; first exact.
by rewrite mul1r.
Qed.

End Parallel.

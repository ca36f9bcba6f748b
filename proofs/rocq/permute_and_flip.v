(** Permute-and-flip: the program, and the law of what it selects.
    Page: proofs/permute_and_flip.md, claim 1. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From dpselect Require Import laws coins.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** * The program *)

Section Program.
Variables (R : realFieldType) (T : finType).
Implicit Types (p : T -> R) (A : {set T}) (i j : T).

(** The probability that [i] is returned by at most [n] visits to the candidates [A]. A visit is to each [j] of [A] with
    the same probability. Its coin shows heads with probability [p j], and then [j] is returned. Otherwise [j] is
    dropped, and the visits go on among the others. *)
Fixpoint visits p (n : nat) A i : R :=
  if n is n'.+1 then
    \sum_(j in A) #|A|%:R^-1 * (p j * (j == i)%:R + (1 - p j) * visits p n' (A :\ j) i)
  else 0.

(** As each visit drops a candidate, there are no more visits than candidates. *)
Definition permute_and_flip p i := visits p #|T| [set: T] i.

End Program.

(** [m] is the largest of the scores [u]. *)
Definition is_best (V : realDomainType) (T : finType) (u : T -> V) (m : V) :=
  (exists k, u k = m) /\ forall j, u j <= m.

(** There is one if there is a candidate [i0]. *)
Definition best_score (V : realDomainType) (T : finType) (i0 : T) (u : T -> V) : V := u [arg max_(i > i0) u i]%O.

Lemma best_scoreP (V : realDomainType) (T : finType) (i0 : T) (u : T -> V) : is_best u (best_score i0 u).
Proof.
split; first by exists [arg max_(i > i0) u i]%O.
by rewrite /best_score; case: arg_maxP => // i _ best j; apply: best.
Qed.

(** With scores [u], in units of the scale b, the coin of [j] shows heads with probability e^(u j - m). *)
Definition flip_probability V R (e : exponential V R) (T : finType) (u : T -> V) (m : V) : T -> R :=
  fun j => e (u j - m).

Definition pf V R (e : exponential V R) (T : finType) (u : T -> V) (m : V) : T -> R :=
  permute_and_flip (flip_probability e u m).

(** * Its law *)

Section Law.
Variables (R : realFieldType) (T : finType) (p : T -> R).
Implicit Types (A B : {set T}) (i j : T).

Definition others i := [set: T] :\ i.

Lemma mem_others i j : (j \in others i) = (j != i). Proof. by rewrite !inE andbT. Qed.

(** The chance to be the head that is returned, if the others are [A]. *)
Definition chance_among A := chance p (enum A).

Lemma chance_D1 A j :
  j \in A ->
  chance_among A = (1 - p j) * chance_among (A :\ j) + p j * mean p (fun h => share R h.+1) (enum (A :\ j)).
Proof.
move=> jA; rewrite /chance_among /chance (@mean_rem _ _ p _ _ j) ?mem_enum //.
suff perm_rem : perm_eq (rem j (enum A)) (enum (A :\ j)) by rewrite !(mean_perm _ _ perm_rem).
apply: uniq_perm; rewrite ?rem_uniq ?enum_uniq // => k.
by rewrite mem_rem_uniq ?enum_uniq // !inE !mem_enum !inE.
Qed.

(** What the first visit among [A] and [i] does: the recurrence without [i]'s own coin. *)
Lemma chance_recurrence A :
  (#|A|.+1)%:R * chance_among A = 1 + \sum_(j in A) (1 - p j) * chance_among (A :\ j).
Proof.
have -> : \sum_(j in A) (1 - p j) * chance_among (A :\ j)
        = \sum_(j <- enum A) (1 - p j) * mean p (share R) (rem j (enum A)).
  rewrite -big_enum /=; apply: eq_big_seq => j; rewrite mem_enum => jA; congr (_ * _).
  apply: mean_perm; rewrite perm_sym; apply: uniq_perm; rewrite ?rem_uniq ?enum_uniq // => k.
  by rewrite mem_rem_uniq ?enum_uniq // !inE !mem_enum !inE.
rewrite mean_tails ?enum_uniq // -cardE.
have -> : mean p (fun h => ((#|A|)%:R - h%:R) * share R h) (enum A)
        = mean p (fun h => (#|A|.+1)%:R * share R h + (-1) * 1) (enum A).
  apply: mean_ext => h; rewrite /share [#|A|.+1%:R]natr_succ.
  by rewrite [h.+1%:R]natr_succ; field; rewrite -natr_succ pnatr_eq0.
by rewrite (mean_linear p _ _ (share R) (fun _ => 1)) mean_const /chance_among /chance; ring.
Qed.

Lemma visits_law n A i :
  #|A| = n -> visits p n A i = if i \in A then p i * chance_among (A :\ i) else 0.
Proof.
elim: n A i => [|n IH] A i card_A /=.
  have -> : A = set0 by apply/eqP; rewrite -cards_eq0 card_A.
  by rewrite inE.
have card_D1 j : j \in A -> #|A :\ j| = n.
  by move=> jA; move: card_A; rewrite (cardsD1 j) jA add1n => -[].
case: ifPn => [iA|i_notin_A]; last first.
  apply: big1 => j jA; rewrite IH ?card_D1 // !inE (negbTE i_notin_A) andbF mulr0 addr0.
  have -> : (j == i) = false by apply/negP => /eqP ji; move: i_notin_A; rewrite -ji jA.
  by rewrite !mulr0.
rewrite -mulr_sumr card_A (big_setD1 i) //= IH ?card_D1 // setD11 eqxx mulr1 mulr0 addr0.
have -> : \sum_(j in A :\ i) (p j * (j == i)%:R + (1 - p j) * visits p n (A :\ j) i)
        = p i * \sum_(j in A :\ i) (1 - p j) * chance_among ((A :\ i) :\ j).
  rewrite mulr_sumr; apply: eq_bigr => j; rewrite !inE => /andP[j_neq_i jA].
  rewrite (negbTE j_neq_i) mulr0 add0r IH ?card_D1 // !inE eq_sym j_neq_i iA /=.
  have -> : A :\ j :\ i = A :\ i :\ j by apply/setP => k; rewrite !inE andbCA.
  by ring.
have := chance_recurrence (A :\ i); rewrite card_D1 // => recurrence.
have -> : p i + p i * (\sum_(j in A :\ i) (1 - p j) * chance_among (A :\ i :\ j))
        = p i * (n.+1%:R * chance_among (A :\ i)) by rewrite recurrence; ring.
by rewrite mulrCA mulKf // pnatr_eq0.
Qed.

(** The law: the coin of [i] shows heads, and among the other heads it is a uniform choice. *)
Theorem pf_chance i : permute_and_flip p i = p i * chance_among (others i).
Proof. by rewrite /permute_and_flip visits_law ?cardsT // inE. Qed.

(** The same without an order, formula (2): flip every coin, and return a uniform choice among the heads. *)
Theorem pf_uniform_head i :
  permute_and_flip p i
    = \sum_(H : {set T} | i \in H) #|H|%:R^-1 * \prod_j (if j \in H then p j else 1 - p j).
Proof.
rewrite pf_chance /chance_among /chance mean_over_heads ?enum_uniq // mulr_sumr.
rewrite [RHS](reindex_onto (fun H => i |: H) (fun H => H :\ i)) /=; last by move=> H; apply: setD1K.
apply: eq_big => [H|H /subsetP H_others].
  rewrite setU11 /=; apply/subsetP/eqP => [H_others|<- j].
    by rewrite setU1K //; apply/negP => /H_others; rewrite mem_enum mem_others eqxx.
  by rewrite mem_enum mem_others !inE => /andP[].
have i_notin_H : i \notin H by apply/negP => /H_others; rewrite mem_enum mem_others eqxx.
rewrite cardsU1 i_notin_H add1n mulrA mulrC; congr (_ * _).
rewrite /weight_of_heads [RHS](bigD1 i) //= setU11; congr (_ * _).
rewrite big_enum; apply: eq_big => [j|j]; first by rewrite mem_others.
by rewrite mem_others !inE => /negbTE ->.
Qed.

(** The recurrence (5) of the page, for the candidates [A] that are left. *)
Theorem pf_recurrence A i :
  i \in A ->
  visits p #|A| A i
    = #|A|%:R^-1 * (p i + \sum_(j in A :\ i) (1 - p j) * visits p #|A :\ j| (A :\ j) i).
Proof.
move=> iA; have card_A : #|A| = #|A :\ i|.+1 by rewrite (cardsD1 i A) iA.
have card_D1 j : j \in A -> #|A :\ j| = #|A :\ i|.
  by move=> jA; have := cardsD1 j A; rewrite card_A jA add1n => -[].
rewrite {1}card_A /= -mulr_sumr; congr (_ * _).
rewrite (big_setD1 i) //= eqxx mulr1 (visits_law _ (erefl _)) setD11 mulr0 addr0; congr (_ + _).
apply: eq_bigr => j; rewrite !inE => /andP[j_neq_i jA].
by rewrite (negbTE j_neq_i) mulr0 add0r card_D1.
Qed.

(** Something is returned unless all coins show tails. *)
Lemma visits_sum n A :
  #|A| = n -> \sum_i visits p n A i = 1 - \prod_(j in A) (1 - p j).
Proof.
elim: n A => [|n IH] A card_A.
  have -> : A = set0 by apply/eqP; rewrite -cards_eq0 card_A.
  by rewrite big_set0 subrr; apply: big1.
rewrite /= exchange_big /=.
have -> : \sum_(j in A) \sum_i #|A|%:R^-1 * (p j * (j == i)%:R + (1 - p j) * visits p n (A :\ j) i)
        = \sum_(j in A) #|A|%:R^-1 * (1 - \prod_(k in A) (1 - p k)).
  apply: eq_bigr => j jA; rewrite -mulr_sumr; congr (_ * _).
  rewrite big_split /= -!mulr_sumr IH; last by move: card_A; rewrite (cardsD1 j) jA add1n => -[].
  rewrite (big_setD1 j jA) /= (bigD1 j) //= eqxx big1 ?addr0 => [|i /negbTE i_neq_j]; last by rewrite eq_sym i_neq_j.
  by move: (\prod_(k in A :\ j) (1 - p k)) => all_tails; rewrite mulr1; ring.
rewrite sumr_const -[_ *+ _]mulr_natl mulrA divff ?mul1r // card_A pnatr_eq0 //.
Qed.

Hypothesis coins : probabilities p.

Lemma chance_among_ge0 A : 0 <= chance_among A. Proof. exact: chance_ge0. Qed.

Theorem pf_is_law : (exists k, p k = 1) -> is_law (permute_and_flip p).
Proof.
move=> [k pk1]; split=> [i|].
  by rewrite pf_chance mulr_ge0 ?chance_among_ge0 ?probabilities_ge0.
rewrite /permute_and_flip visits_sum ?cardsT // (bigD1 k) ?inE //= pk1 subrr mul0r; exact: subr0.
Qed.

End Law.

(** * The integral, formula (1) of the page *)

Section Integral.
Variables (R : realFieldType).
Implicit Types (q r : {poly R}).

(** The integral of a polynomial from 0 to 1. *)
Definition integral q : R := \sum_(n < size q) q`_n / n.+1%:R.

Lemma integral_upto n q : (size q <= n)%N -> integral q = \sum_(k < n) q`_k / k.+1%:R.
Proof.
move=> size_q; rewrite /integral (big_ord_widen n (fun k => q`_k / k.+1%:R)) // big_mkcond /=.
apply: eq_bigr => k _; case: ifP => // /negbT; rewrite -leqNgt => /(nth_default 0) ->.
by rewrite mul0r.
Qed.

Lemma integral_linear a b q r : integral (a *: q + b *: r) = a * integral q + b * integral r.
Proof.
set n := maxn (size q) (size r).
have size_q : (size q <= n)%N by rewrite leq_maxl.
have size_r : (size r <= n)%N by rewrite leq_maxr.
have size_sum : (size (a *: q + b *: r)%R <= n)%N.
  apply: leq_trans (size_add _ _) _; rewrite geq_max.
  by rewrite (leq_trans (size_scale_leq _ _)) // (leq_trans (size_scale_leq _ _)).
rewrite (integral_upto size_q) (integral_upto size_r) (integral_upto size_sum) !mulr_sumr -big_split /=.
by apply: eq_bigr => k _; rewrite coefD !coefZ mulrDl !mulrA.
Qed.

Lemma integral_Xn n : integral 'X^n = n.+1%:R^-1.
Proof.
rewrite /integral size_polyXn big_ord_recr /= coefXn eqxx mul1r big1 ?add0r // => k _.
by rewrite coefXn ltn_eqF // mul0r.
Qed.

(** The mean number of heads, as a polynomial in the probability v that a head does no harm. *)
Lemma mean_integral (T : eqType) (p : T -> R) k s :
  mean p (fun h => share R (k + h)) s = integral ('X^k * \prod_(j <- s) ((1 - p j) *: 1 + p j *: 'X)).
Proof.
elim: s k => [|j s IH] k /=; first by rewrite big_nil mulr1 addn0 integral_Xn.
rewrite big_cons; set q := \prod_(i <- s) _.
have -> : 'X^k * (((1 - p j) *: 1 + p j *: 'X) * q) = (1 - p j) *: ('X^k * q) + p j *: ('X^k.+1 * q).
  by rewrite mulrA mulrDr mulrDl -!scalerAr mulr1 -!scalerAl -exprSr.
rewrite integral_linear -!IH; congr (_ + _ * _).
by apply: mean_ext => h; rewrite addnS addSn.
Qed.

(** Formula (1), with v = 1 - t: 1 - p j + p j * v is the probability that [j] does not come before [i] and show heads.
    It is the integral to which the law of report-noisy-max with exponential noise is brought on the page. *)
Theorem pf_integral (T : finType) (p : T -> R) i :
  permute_and_flip p i = p i * integral (\prod_(j in others i) ((1 - p j) *: 1 + p j *: 'X)).
Proof.
rewrite pf_chance; congr (_ * _).
have := mean_integral p 0 (enum (others i)).
by rewrite expr0 mul1r big_enum.
Qed.

End Integral.

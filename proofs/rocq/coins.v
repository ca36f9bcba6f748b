(** Independent coins, and the mean of a function of the number of heads.

    Whatever is proved of permute-and-flip follows from four facts about these means: how a coin is taken out
    ([mean_rem]), what happens when one random coin shows tails ([mean_tails]), that fewer heads are better for a
    falling function ([mean_le_coins]), and what thinning does ([thinned_chance]). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** A number's successor, in the field. *)
Lemma natr_succ (R : realFieldType) n : n.+1%:R = n%:R + 1 :> R.
Proof. by rewrite -addn1 natrD. Qed.

Section Coins.
Variables (R : realFieldType) (T : eqType).
Implicit Types (p : T -> R) (f g : nat -> R) (s : seq T) (j : T) (h k : nat).

(** The mean of [f heads], where [heads] coins of [s] show heads and coin [j] does so with probability [p j]. *)
Fixpoint mean p f s : R :=
  if s is j :: s' then (1 - p j) * mean p f s' + p j * mean p (fun h => f h.+1) s' else f 0%N.

Lemma mean_ext p f g s : (forall h, f h = g h) -> mean p f s = mean p g s.
Proof.
elim: s f g => [|j s IH] f g fg //=.
by rewrite (IH f g) // (IH (fun h => f h.+1) (fun h => g h.+1)).
Qed.

Lemma mean_ext_coins p p' f s : (forall j, p j = p' j) -> mean p f s = mean p' f s.
Proof. by move=> pp'; elim: s f => [|j s IH] f //=; rewrite pp' !IH. Qed.

Lemma mean_linear p a b f g s :
  mean p (fun h => a * f h + b * g h) s = a * mean p f s + b * mean p g s.
Proof. by elim: s f g => [|j s IH] f g //=; rewrite !IH; ring. Qed.

Lemma mean_scale p a f s : mean p (fun h => a * f h) s = a * mean p f s.
Proof.
rewrite -[RHS]addr0 -[X in _ + X](mul0r (mean p f s)) -mean_linear.
by apply: mean_ext => h; rewrite mul0r addr0.
Qed.

Lemma mean_const p a s : mean p (fun _ => a) s = a.
Proof. by elim: s => [|j s IH] //=; rewrite IH; ring. Qed.

(** The number of heads has the mean that one expects. *)
Lemma mean_heads p s : mean p (fun h => h%:R) s = \sum_(j <- s) p j.
Proof.
elim: s => [|j s IH] /=; first by rewrite big_nil.
have -> : mean p (fun h => h.+1%:R) s = 1 * mean p (fun h => h%:R) s + 1 * mean p (fun _ => 1) s.
  by rewrite -mean_linear; apply: mean_ext => h; rewrite !mul1r natr_succ.
rewrite mean_const IH big_cons; move: (\sum_(i <- s) p i) => S. ring.
Qed.

(** Any coin may be flipped first. *)
Lemma mean_rem p f s j :
  j \in s -> mean p f s = (1 - p j) * mean p f (rem j s) + p j * mean p (fun h => f h.+1) (rem j s).
Proof.
elim: s f => [|i s IH] f //=; rewrite in_cons; case: (altP (i =P j)) => [-> //|i_neq_j].
rewrite eq_sym (negbTE i_neq_j) /= => js.
by rewrite (IH f) // (IH (fun h => f h.+1)) //; ring.
Qed.

(** So the order of the coins does not matter. *)
Lemma mean_perm p f s t : perm_eq s t -> mean p f s = mean p f t.
Proof.
elim: s t f => [|j s IH] t f st.
  by have /perm_nilP -> : perm_eq t [::] by rewrite perm_sym.
have jt : j \in t by rewrite -(perm_mem st) mem_head.
have perm_s : perm_eq s (rem j t).
  by rewrite -(perm_cons j); apply: perm_trans st _; apply: perm_to_rem.
by rewrite (mean_rem _ _ jt) /= !(IH (rem j t)).
Qed.

(** Take out, in turn, each coin that shows tails: of all coins of [s] there are [size s - h] such. *)
Lemma mean_tails p f s :
  uniq s ->
  \sum_(j <- s) (1 - p j) * mean p f (rem j s) = mean p (fun h => ((size s)%:R - h%:R) * f h) s.
Proof.
elim: s f => [|i s IH] f /=; first by rewrite big_nil subrr mul0r.
case/andP=> i_notin_s uniq_s; rewrite big_cons eqxx.
have -> : \sum_(j <- s) (1 - p j) * mean p f (if i == j then s else i :: rem j s)
        = \sum_(j <- s) ((1 - p i) * ((1 - p j) * mean p f (rem j s))
                         + p i * ((1 - p j) * mean p (fun h => f h.+1) (rem j s))).
  apply: eq_big_seq => j js.
  have -> : (i == j) = false by apply/negP => /eqP ij; move: i_notin_s; rewrite ij js.
  by rewrite /=; ring.
rewrite big_split /= -!mulr_sumr !IH //.
have -> : mean p (fun h => ((size s).+1%:R - h%:R) * f h) s
        = 1 * mean p (fun h => ((size s)%:R - h%:R) * f h) s + 1 * mean p f s.
  by rewrite -mean_linear; apply: mean_ext => h; rewrite natr_succ; ring.
have -> : mean p (fun h => ((size s).+1%:R - h.+1%:R) * f h.+1) s
        = mean p (fun h => ((size s)%:R - h%:R) * f h.+1) s.
  by apply: mean_ext => h; rewrite !natr_succ; ring.
by ring.
Qed.

(** ** Order *)

Definition probabilities p := forall j, 0 <= p j <= 1.

Lemma probabilities_ge0 p j : probabilities p -> 0 <= p j.
Proof. by move=> /(_ j) /andP[]. Qed.

Lemma probabilities_compl p j : probabilities p -> 0 <= 1 - p j.
Proof. by move=> /(_ j) /andP[_ ?]; rewrite subr_ge0. Qed.

Lemma mean_le p f g s : probabilities p -> (forall h, f h <= g h) -> mean p f s <= mean p g s.
Proof.
move=> prob; elim: s f g => [|j s IH] f g fg //=.
by apply: ler_add; apply: ler_wpmul2l; rewrite ?probabilities_ge0 ?probabilities_compl //; apply: IH.
Qed.

(** With a falling [f], more likely heads make the mean smaller. *)
Lemma mean_le_coins p p' f s :
  probabilities p -> probabilities p' -> (forall j, p j <= p' j) -> (forall h, f h.+1 <= f h) ->
  mean p' f s <= mean p f s.
Proof.
move=> prob prob' pp'; elim: s f => [|j s IH] f falls //=.
set X := mean p f s; set Y := mean p (fun h => f h.+1) s.
have YX : Y <= X by apply: mean_le.
apply: (@le_trans _ _ ((1 - p' j) * X + p' j * Y)).
  by apply: ler_add; apply: ler_wpmul2l; rewrite ?probabilities_ge0 ?probabilities_compl //; apply: IH.
rewrite -subr_ge0.
have -> : (1 - p j) * X + p j * Y - ((1 - p' j) * X + p' j * Y) = (p' j - p j) * (X - Y) by ring.
by apply: mulr_ge0; rewrite subr_ge0.
Qed.

(** ** The chance of a head to be chosen

    Among [h] other heads, a head is the one that is chosen with probability 1 / (h + 1). *)

Definition share h : R := h.+1%:R^-1.

Definition chance p s := mean p share s.

Lemma share_gt0 h : 0 < share h. Proof. by rewrite invr_gt0 ltr0Sn. Qed.

Lemma share_falls h : share h.+1 <= share h.
Proof. by rewrite lef_pinv ?posrE ?ltr0Sn // ler_nat. Qed.

Lemma chance_ge0 p s : probabilities p -> 0 <= chance p s.
Proof.
move=> prob; rewrite -(mean_const p 0 s); apply: mean_le => // h.
exact: ltW (share_gt0 h).
Qed.

(** Jensen's inequality: the chance is at least 1 / (1 + the mean number of heads). *)
Lemma chance_jensen p s : probabilities p -> 1 <= (1 + \sum_(j <- s) p j) * chance p s.
Proof.
move=> prob; set x := 1 + _.
have x_gt0 : 0 < x.
  by rewrite /x ltr_paddr ?ltr01 // sumr_ge0 // => j _; apply: probabilities_ge0.
have -> : 1 = x * mean p (fun h => (2%:R * x^-1 - x^-2) * 1 + (- x^-2) * h%:R) s.
  rewrite mean_linear mean_const mean_heads.
  have -> : \sum_(j <- s) p j = x - 1 by rewrite /x; ring.
  by field; rewrite gt_eqF.
apply: ler_wpmul2l; first exact: ltW.
apply: mean_le => // h; rewrite -subr_ge0.
have -> : share h - ((2%:R * x^-1 - x^-2) * 1 + - x^-2 * h%:R) = share h * (1 - h.+1%:R * x^-1) ^+ 2.
  rewrite /share natr_succ; field; rewrite gt_eqF //= -natr_succ pnatr_eq0 //.
by rewrite mulr_ge0 ?sqr_ge0 // ltW ?share_gt0.
Qed.

End Coins.

(** ** The sets of heads

    The mean, written out over the sets of coins that show heads. *)
Section Heads.
Variables (R : realFieldType) (T : finType) (p : T -> R).

Definition weight_of_heads (s : seq T) (H : {set T}) : R := \prod_(j <- s) (if j \in H then p j else 1 - p j).

Lemma mean_over_heads f s :
  uniq s -> mean p f s = \sum_(H : {set T} | H \subset s) weight_of_heads s H * f #|H|.
Proof.
elim: s f => [|i s IH] f /=.
  move=> _; rewrite (big_pred1 set0) => [|H]; first by rewrite /weight_of_heads big_nil mul1r cards0.
  by rewrite /= -subset0; apply: eq_subset_r => j; rewrite inE.
case/andP=> i_notin_s uniq_s; rewrite (bigID (fun H : {set T} => i \in H)) /= [RHS]addrC; congr (_ + _).
  rewrite IH // mulr_sumr; apply: eq_big => [H|H H_s].
    apply/subsetP/andP => [H_s|[/subsetP H_s i_H] j jH].
      by split; [apply/subsetP => j /H_s js; rewrite inE js orbT | move: i_notin_s; apply: contra => /H_s].
    by have := H_s j jH; rewrite inE => /orP[/eqP ji|//]; move: i_H; rewrite -ji jH.
  have i_notin_H : i \notin H by move: i_notin_s; apply: contra => /(subsetP H_s).
  by rewrite /weight_of_heads big_cons (negbTE i_notin_H) mulrA.
rewrite IH // mulr_sumr [RHS](reindex_onto (fun H => i |: H) (fun H => H :\ i)) /=; last first.
  by move=> H /andP[_ iH]; apply: setD1K.
apply: eq_big => [H|H H_s].
  rewrite setU11 andbT; apply/idP/andP => [/subsetP H_s|[/subsetP iH_s /eqP <-]].
    split; last by apply/eqP; rewrite setU1K //; move: i_notin_s; apply: contra => /H_s.
    by apply/subsetP => j; rewrite !inE => /orP[->//|/H_s ->]; rewrite orbT.
  apply/subsetP => j; rewrite !inE => /andP[j_neq_i]; rewrite (negbTE j_neq_i) /= => jH.
  by have := iH_s j; rewrite !inE jH orbT (negbTE j_neq_i) /=; apply.
have i_notin_H : i \notin H by move: i_notin_s; apply: contra => /(subsetP H_s).
rewrite cardsU1 i_notin_H add1n /weight_of_heads big_cons setU11 mulrA; congr (_ * _ * _).
apply: eq_big_seq => j js; rewrite !inE.
by have -> : (j == i) = false by apply/negP => /eqP ji; move: i_notin_s; rewrite -ji js.
Qed.

End Heads.

(** ** Thinning

    A coin with probability theta * p is a coin with probability p of which each head is kept with probability theta. *)
Section Thinning.
Variables (R : realFieldType) (theta : R).
Hypothesis theta01 : 0 <= theta <= 1.

(** The mean of [f] of the number of those kept, out of [h]. *)
Definition thin (f : nat -> R) (h : nat) : R := mean (fun _ : unit => theta) f (nseq h tt).

Let keeps : probabilities (fun _ : unit => theta). Proof. by move=> _; exact: theta01. Qed.

Lemma mean_thin (T : eqType) (p : T -> R) f s :
  mean (fun j => theta * p j) f s = mean p (thin f) s.
Proof.
elim: s f => [|j s IH] f //=; rewrite !IH.
have -> : mean p (fun h => thin f h.+1) s
        = (1 - theta) * mean p (thin f) s + theta * mean p (thin (fun h => f h.+1)) s.
  by rewrite -mean_linear.
by ring.
Qed.

(** Counting the kept ones by each of them. *)
Lemma thin_biased g h :
  thin (fun n => n%:R * g n) h.+1 = h.+1%:R * theta * thin (fun n => g n.+1) h.
Proof.
elim: h g => [|h IH] g; first by rewrite /thin /=; ring.
have step f n : thin f n.+1 = (1 - theta) * thin f n + theta * thin (fun m => f m.+1) n by [].
rewrite step IH.
have -> : thin (fun n => n.+1%:R * g n.+1) h.+1
        = 1 * thin (fun n => n%:R * g n.+1) h.+1 + 1 * thin (fun n => g n.+1) h.+1.
  by rewrite /thin -mean_linear; apply: mean_ext => n; rewrite natr_succ; ring.
by rewrite IH step [h.+2%:R]natr_succ; ring.
Qed.

(** One of h + 1 that are all alike is kept and chosen with probability at most 1 / (h + 1). *)
Lemma thin_share h : theta * thin (share R) h <= share R h.
Proof.
rewrite /share -[leRHS]mul1r ler_pdivl_mulr ?ltr0Sn // mulrC mulrA.
have -> : h.+1%:R * theta * thin (share R) h = thin (fun n => n%:R * n%:R^-1) h.+1 by rewrite thin_biased.
rewrite -[leRHS](mean_const (fun _ : unit => theta) 1 (nseq h.+1 tt)).
by apply: mean_le => // -[|n]; rewrite ?mul0r ?ler01 // divff // pnatr_eq0.
Qed.

(** Making all other heads rarer by the factor theta makes the chance larger by at most 1 / theta. *)
Lemma thinned_chance (T : eqType) (p : T -> R) s :
  probabilities p -> theta * chance (fun j => theta * p j) s <= chance p s.
Proof.
move=> prob; rewrite /chance mean_thin -mean_scale.
by apply: mean_le => // h; apply: thin_share.
Qed.

End Thinning.

(** Integrals of one distribution function against another, without measure theory.

    Selection by noise asks: with what probability is the noisy score of [i] above those of all others? Let [F y] be the
    probability that the noisy score of [i] is at most [y], and [W y] that those of all others are. Split the line into
    cells. If the noisy score of [i] is in a cell and all others are below the cell, [i] is selected; and if it is selected,
    all others are below the upper end of its cell. That is all that [selected] says below. It determines the
    probability: it lies between a lower and an upper sum for whatever cells, and these come as close to each
    other as the cells are fine. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Integral.
Variables (V : realDomainType) (R : realFieldType).
Implicit Types (F W G : V -> R) (total d : R) (y : V) (ys : seq V).

(** What a distribution function has to be here. *)
Definition distribution F := (forall y, 0 <= F y <= 1) /\ forall y y', y <= y' -> F y <= F y'.

(** [G y] is the probability that [i] is selected and its noisy score is at most [y], and [total] that it is selected. The
    three parts are about the cell up to [y], the cell from [y] to [y'], and the cell from [y] on. *)
Definition selected_below F W G total :=
  [/\ forall y, 0 <= G y <= F y * W y,
      forall y y', y <= y' -> (F y' - F y) * W y <= G y' - G y <= (F y' - F y) * W y'
    & forall y, (1 - F y) * W y <= total - G y <= 1 - F y].

Definition selected F W total := exists G, selected_below F W G total.

(** The sums over cells that end at [y] and at each of [ys], and one above them all. *)
Fixpoint lower_from F W y ys : R :=
  if ys is y' :: ys' then (F y' - F y) * W y + lower_from F W y' ys' else (1 - F y) * W y.

Fixpoint upper_from F W y ys : R :=
  if ys is y' :: ys' then (F y' - F y) * W y' + upper_from F W y' ys' else 1 - F y.

Definition lower_sum F W y ys : R := lower_from F W y ys.
Definition upper_sum F W y ys : R := F y * W y + upper_from F W y ys.

Theorem selected_between_sums F W total y ys :
  selected F W total -> path <=%O y ys -> lower_sum F W y ys <= total <= upper_sum F W y ys.
Proof.
case=> G [start cell rest] sorted; have /andP[G_ge0 G_le] := start y.
suff /andP[low up] : lower_from F W y ys <= total - G y <= upper_from F W y ys.
  rewrite /lower_sum /upper_sum -[total](subrK (G y)) [X in _ <= X <= _]addrC; apply/andP; split.
    by rewrite -[leLHS]add0r; apply: ler_add.
  exact: ler_add.
elim: ys y sorted {start G_ge0 G_le} => [|y' ys IH] y /=; first by move=> _; apply: rest.
case/andP=> yy' sorted; have /andP[low up] := IH y' sorted; have /andP[cell_low cell_up] := cell y y' yy'.
have -> : total - G y = (G y' - G y) + (total - G y') by ring.
by rewrite !ler_add.
Qed.

(** Cells in each of which the noisy score of [i] is with probability [d] or less. *)
Definition fine F d y ys :=
  [/\ F y <= d, path (fun a b => (a <= b) && (F b - F a <= d)) y ys & 1 - F (last y ys) <= d].

Theorem sums_are_close F W d y ys : distribution W -> fine F d y ys -> upper_sum F W y ys - lower_sum F W y ys <= d.
Proof.
case=> W01 W_le [first_le steps last_le].
suff from_le : upper_from F W y ys - lower_from F W y ys <= d * (1 - W y).
  rewrite /upper_sum /lower_sum -addrA.
  have -> : d = d * W y + d * (1 - W y) by ring.
  by apply: ler_add _ from_le; apply: ler_wpmul2r => //; case/andP: (W01 y).
elim: ys y {first_le} steps last_le => [|y' ys IH] y /=.
  move=> _ last_le.
  have -> : 1 - F y - (1 - F y) * W y = (1 - F y) * (1 - W y) by ring.
  by apply: ler_wpmul2r => //; rewrite subr_ge0; case/andP: (W01 y).
case/andP=> /andP[yy' step] steps last_le.
have -> : (F y' - F y) * W y' + upper_from F W y' ys - ((F y' - F y) * W y + lower_from F W y' ys)
        = (F y' - F y) * (W y' - W y) + (upper_from F W y' ys - lower_from F W y' ys) by ring.
have -> : d * (1 - W y) = d * (W y' - W y) + d * (1 - W y') by ring.
by apply: ler_add _ (IH y' steps last_le); apply: ler_wpmul2r; rewrite ?subr_ge0 ?W_le.
Qed.

(** So where there are fine cells, there is only one such probability. *)
Theorem selected_unique F W total total' :
  distribution W -> selected F W total -> selected F W total' ->
  forall d, (exists y ys, fine F d y ys) -> `|total - total'| <= d.
Proof.
move=> W_dist sel sel' d [y [ys cells]].
have sorted : path <=%O y ys.
  by case: cells => _ steps _; apply: sub_path steps => a b /andP[].
have close_sums := sums_are_close W_dist cells.
have /andP[low up] := selected_between_sums sel sorted.
have /andP[low' up'] := selected_between_sums sel' sorted.
rewrite ler_norml; apply/andP; split.
  rewrite ler_oppl opprB; apply: le_trans close_sums; exact: ler_sub.
by apply: le_trans close_sums; apply: ler_sub.
Qed.

(** The same from the left end of the line up to a point: two such integrals differ by [d] or less at the end of fine cells. *)
Definition is_integral F W G :=
  (forall y, 0 <= G y <= F y * W y) /\
  (forall y y', y <= y' -> (F y' - F y) * W y <= G y' - G y <= (F y' - F y) * W y').

Theorem integrals_are_close F W G G' d y ys :
  (forall y, 0 <= W y) -> (forall y y', y <= y' -> W y <= W y') -> is_integral F W G -> is_integral F W G' ->
  F y <= d -> path (fun a b => (a <= b) && (F b - F a <= d)) y ys ->
  `|G (last y ys) - G' (last y ys)| <= d * W (last y ys).
Proof.
move=> W_ge0 W_le [start cell] [start' cell'] first_le steps.
have near : `|G y - G' y| <= d * W y.
  have /andP[G_ge0 G_le] := start y; have /andP[G'_ge0 G'_le] := start' y.
  have top : F y * W y <= d * W y by apply: ler_wpmul2r.
  rewrite ler_norml; apply/andP; split.
    rewrite ler_oppl opprB -[leRHS]subr0; apply: ler_sub => //; exact: le_trans G'_le top.
  by rewrite -[leRHS]subr0; apply: ler_sub => //; apply: le_trans G_le top.
elim: ys y {first_le} near steps => [|y' ys IH] y near //= /andP[/andP[yy' step] steps].
apply: IH steps; have /andP[low up] := cell y y' yy'; have /andP[low' up'] := cell' y y' yy'.
have -> : G y' - G' y' = (G y - G' y) + ((G y' - G y) - (G' y' - G' y)) by ring.
have -> : d * W y' = d * W y + d * (W y' - W y) by ring.
apply: le_trans (ler_norm_add _ _) _; apply: ler_add near _.
apply: (@le_trans _ _ ((F y' - F y) * (W y' - W y))); last by apply: ler_wpmul2r; rewrite ?subr_ge0 ?W_le.
rewrite mulrBr ler_norml; apply/andP; split; last exact: ler_sub.
by rewrite ler_oppl [leLHS]opprB; apply: ler_sub.
Qed.

End Integral.

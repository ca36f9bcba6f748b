"""A decision tree whose splits are selected privately and whose leaves hold noisy counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting import ComposedEvent, Event, SequenceEvent
from dpselect.accounting.rounding import divided
from dpselect.checks import one_of, positive_count, positive_counts, probability
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown
from dpselect.mechanisms import ExponentialMechanism, GeometricMechanism, PermuteAndFlip
from dpselect.mechanisms.mechanism import MechanismValue
from dpselect.privacy import Neighbours
from dpselect.recipes.shared import Selection, array_of, codes_within, shared_selections
from dpselect.recipes.split_scores import Entropy, Gini, MostFrequentClass, SplitScore

Codes = NDArray[np.int64]
Criterion = Literal["max", "gini", "entropy"]

_DEEPEST = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionTree(MechanismValue):
    """A complete binary tree of a public depth: each node tests whether a feature's bin is at most a cut.

    In each level every node selects one of all (feature, cut) pairs by the score of the split; each leaf releases a
    noisy count of each class. Nodes of a level hold different rows, so a level costs what one of its nodes costs.

    Args:
        bins: how many bins each feature has; public.
        classes: how many classes there are; public.
        depth: levels of splits, from 1 to 12; public.
        criterion: ``"max"``, ``"gini"`` or ``"entropy"``; see `dpselect.recipes.split_scores`.
        most_rows: a public bound on the number of rows, which only ``"entropy"`` needs.
        leaf_share: the part of epsilon that the counts in the leaves cost.
        selection: which mechanism selects, ``"auto"``, ``"permute_and_flip"`` or ``"exponential"``.
        delta: that the guarantee may fail, from 0 to below 1; pays off from about six levels on.
        neighbours: ``"add_remove"`` or, with twice the noise, ``"replace_one"``; of rows. **A row has to be everything
            that one person contributes.**

    Proof: ``proofs/split_scores.md``. Source: Friedman & Schuster (2010), with half their noise.

    >>> import numpy as np
    >>> codes = np.array([[age, age * 7 % 5] for age in range(10)] * 200)
    >>> tree = DecisionTree(epsilon=2.0, bins=(10, 5), classes=2, depth=1)
    >>> grown = tree.grow(codes, (codes[:, 0] >= 4).astype(int))
    >>> grown.features.tolist(), grown.cuts.tolist(), grown.predict(np.array([[3, 0], [4, 0]])).tolist()
    ([0], [3], [0, 1])
    """

    epsilon: float
    bins: tuple[int, ...]
    classes: int
    depth: int = 4
    criterion: Criterion = "gini"
    most_rows: int | None = None
    leaf_share: float = 0.2
    selection: Selection = "auto"
    delta: float = 0.0
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    score: SplitScore = field(init=False, repr=False, compare=False)
    splitting: PermuteAndFlip | ExponentialMechanism = field(init=False, repr=False, compare=False)
    counting: GeometricMechanism = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        share = probability(self.leaf_share, "leaf_share")
        bins = positive_counts(self.bins, "bins", at_most=1 << 20, expected="the number of bins of each feature")
        if not any(each > 1 for each in bins):
            raise InvalidParameterError("bins", Shown(f"<{len(bins)} features>"), "a feature with two bins or more")
        depth = positive_count(self.depth, "depth", at_most=_DEEPEST)
        score = _score(self.criterion, self.most_rows)
        relation, added = self.neighbours, self.neighbours is Neighbours.ADD_REMOVE
        # A replaced row may stay in a node, whose scores then move in both directions, or leave it for another one,
        # where they move in one each: two runs at half the epsilon.
        part, rest = divided(self.epsilon, share)
        splitting = shared_selections(
            self.selection,
            count=depth,
            epsilon=rest,
            delta=self.delta,
            sensitivity=score.sensitivity,
            monotonic=added,
            neighbours=relation,
        )
        counting = GeometricMechanism(epsilon=part, sensitivity=1 if added else 2, neighbours=relation)
        classes = positive_count(self.classes, "classes", at_most=1 << 12)
        self._set(bins=bins, classes=classes, depth=depth, score=score, splitting=splitting, counting=counting)

    @property
    def event(self) -> Event:
        """What one tree costs, for accounting."""
        splits = ComposedEvent(event=self.splitting.event, count=self.depth)
        return SequenceEvent(events=(splits, self.counting.event))

    def grow(self, codes: NDArray[np.integer], labels: NDArray[np.integer]) -> GrownTree:
        """One tree, at the cost of `event`.

        Args:
            codes: shape ``(rows, features)``, the bin of each row in each feature, from 0.
            labels: shape ``(rows,)``, the class of each row, from 0; any other number: none, and the row is left out.

        Raises:
            InvalidDataError: another shape or type. Nothing is drawn then.
        """
        table = codes_within(codes, self.bins)
        expected = "whole numbers, the class of each row"
        known = array_of(labels, "labels", kinds="iu", shape=(len(table),), expected=expected)
        kept = (known >= 0) & (known < self.classes)
        known = known[kept].astype(np.int64)
        cuts = _Cuts.of(self.bins)
        cells = cuts.cells(table[kept], known, self.classes)
        nodes = np.zeros(len(known), np.int64)
        chosen = np.zeros(2**self.depth - 1, np.int64)
        for level in range(self.depth):
            first = 2**level - 1
            for place in range(2**level):
                scores = self.score.scores(cuts.counts(cells[nodes == place], self.classes))
                chosen[first + place] = self.splitting.select(scores)
            taken = chosen[first + nodes]
            places = cells[np.arange(len(cells)), cuts.features[taken]] // self.classes
            nodes = 2 * nodes + (places >= cuts.ends[taken])
        leaves = np.bincount(nodes * self.classes + known, minlength=2**self.depth * self.classes).astype(np.int64)
        counts = self.counting.draw_many(leaves).reshape(2**self.depth, self.classes)
        return GrownTree(features=cuts.features[chosen], cuts=cuts.bins[chosen], counts=counts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Cuts:
    """All (feature, cut) pairs, one after another, and where their bins are among the bins of all features.

    Attributes:
        sizes: shape ``(features,)``: how many bins each feature has.
        firsts: shape ``(features,)``: where the bins of each feature begin.
        features: shape ``(cuts,)``: the feature that a cut is in.
        bins: shape ``(cuts,)``: the last bin below the cut, from 0 in each feature.
        ends: shape ``(cuts,)``: the first bin above the cut, among the bins of all features.
    """

    sizes: Codes
    firsts: Codes
    features: Codes
    bins: Codes
    ends: Codes

    @classmethod
    def of(cls, bins: Sequence[int]) -> _Cuts:
        """Each feature has one cut fewer than it has bins."""
        sizes = np.array(bins, np.int64)
        firsts = np.cumsum(sizes) - sizes
        features = np.repeat(np.arange(len(sizes)), sizes - 1)
        places = np.arange(len(features)) - (firsts - np.arange(len(sizes)))[features]
        return cls(sizes=sizes, firsts=firsts, features=features, bins=places, ends=firsts[features] + places + 1)

    def cells(self, table: Codes, labels: Codes, classes: int) -> Codes:
        """`table`, overwritten: where each row's bin and class are among all bins and classes."""
        table += self.firsts
        table *= classes
        table += labels[:, np.newaxis]
        return table

    def counts(self, cells: Codes, classes: int) -> Codes:
        """Shape ``(cuts, 2, classes)``: how many of the rows of `cells` are on each side of each cut."""
        size = int(self.sizes.sum())
        found = np.bincount(cells.ravel(), minlength=size * classes).reshape(size, classes)
        up_to = np.concatenate([np.zeros((1, classes), np.int64), found.cumsum(axis=0, dtype=np.int64)])
        below = up_to[self.ends] - up_to[self.firsts[self.features]]
        return np.stack([below, up_to[self.sizes[0]] - below], axis=1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GrownTree:
    """A tree that was released: everything in it is noisy, and whatever is computed from it costs nothing.

    Attributes:
        features: shape ``(nodes,)``: what each node tests, level by level; the children of node i are 2i+1 and 2i+2.
        cuts: shape ``(nodes,)``: rows whose bin is at most this go to the first child.
        counts: shape ``(leaves, classes)``: noisy, so perhaps negative.
    """

    features: Codes
    cuts: Codes
    counts: Codes

    def apply(self, codes: NDArray[np.integer]) -> Codes:
        """The leaf of each row, from 0, shape ``(rows,)``.

        Raises:
            InvalidDataError: no table, or without a column for each feature that the tree tests.
        """
        needed = int(self.features.max()) + 1
        expected = f"rows of at least {needed} features"
        table = array_of(codes, "codes", kinds="iuf", shape=(None, None), expected=expected)
        if table.shape[1] < needed:
            raise InvalidDataError("codes", Shown(f"<{table.shape[1]} features>"), expected)
        nodes = np.zeros(len(table), np.int64)
        while nodes.size and nodes[0] < len(self.features):  # all rows are in the same level
            nodes = 2 * nodes + 1 + (table[np.arange(len(table)), self.features[nodes]] > self.cuts[nodes])
        return nodes - len(self.features) if nodes.size else nodes

    def shares(self) -> NDArray[np.float64]:
        """Shape ``(leaves, classes)``: the share of each class, from counts that are cut off at 0.

        A leaf without any count, where noise is all there is, has the shares of all leaves together.
        """
        kept = np.maximum(self.counts, 0).astype(np.float64)
        overall = kept.sum(axis=0) + 1.0 / kept.shape[1]
        kept[kept.sum(axis=1) == 0.0] = overall
        return kept / kept.sum(axis=1, keepdims=True)

    def predict(self, codes: NDArray[np.integer]) -> Codes:
        """The most frequent class of each row's leaf, shape ``(rows,)``.

        Raises:
            InvalidDataError: as for `apply`.
        """
        return self.shares().argmax(axis=1)[self.apply(codes)]


def _score(criterion: Criterion, most_rows: int | None) -> SplitScore:
    one_of(criterion, "criterion", get_args(Criterion))
    if criterion == "max":
        return MostFrequentClass()
    if criterion == "gini":
        return Gini()
    if most_rows is None:
        raise InvalidParameterError("most_rows", None, "a public bound on the number of rows, for the entropy")
    return Entropy(most_rows)

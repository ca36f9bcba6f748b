"""Which features predict a class best: the question of `dpselect.sklearn.PrivateSelectKBest`, about arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpselect.arguments import DeltaIfLess, Epsilon, K
from dpselect.checks import positive_count, positive_sensitivity
from dpselect.privacy import Sensitivity
from dpselect.questions.question import ListQuestion
from dpselect.questions.selection import terms_of_plan, top_k_plan
from dpselect.questions.words import Drawn, Planned, Terms, counted
from dpselect.summaries import CandidateTotals, PublicBins

if TYPE_CHECKING:
    from dpselect.mechanisms.top_k import TopKPlan


class BestFeatures(ListQuestion, name="best_features"):
    """The `k` features that predict the class of a row best, each by itself. It is asked by an estimator, of arrays.

    No table is scanned: the estimator calls `tally`.
    """

    column: Annotated[str, "text", "What the candidates are."] = "features"
    features: Annotated[object, "list", "Names of the features."]
    k: K
    weights: Annotated[Sequence[int], "levels", "What a row of each class counts for."]
    settings: Annotated[str, "text", "Hash of the bins and of the labels of the classes."]
    epsilon: Epsilon
    delta: DeltaIfLess = 0.0

    value = "list[Any]"
    listed: ClassVar[str] = "features"
    error_unit = "weighted rows"

    @property
    def answers(self) -> int:
        return positive_count(self.k, "k", at_most=len(self.choices), at_most_what="the number of features")

    @property
    def moved(self) -> Sensitivity:
        """The highest weight, in weighted rows: how much one row can change the score of any feature."""
        highest = positive_sensitivity(max(self.weights))
        return Sensitivity(highest, self.neighbours.one_way, self.neighbours, "proofs/feature_scores.md")

    @cached_property
    def mechanism(self) -> TopKPlan:
        return top_k_plan(self, self.epsilon)

    @cached_property
    def terms(self) -> Terms:
        plan = self.mechanism
        at_once = {"k": plan.k} if plan.is_at_once else {}
        return terms_of_plan(self, plan, {"classes": len(self.weights), **at_once})

    def released(self, summary: CandidateTotals, /) -> Drawn:
        return Drawn([self.choices[position] for position in self.mechanism.select(summary.totals)])

    @classmethod
    def accepts_usable_epsilon(cls, release: Planned) -> bool:
        return False  # features are arrays of numbers, of which each row counts

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        fewer = f"is right about at most {counted(math.floor(bound), f'fewer {release.unit}')} (weighted)"
        return f"the best rule on each selected feature {fewer} than on the best one left when it was selected"

    @classmethod
    def origin(cls, release: Planned) -> str:
        return f"out of {counted(release.candidates['count'], 'feature')}"


HIGHEST_WEIGHT = 1 << 20  # of a class: weighted counts of any table that fits into memory stay far below 2^63
MOST_CELLS = 1 << 24  # of the table of bins and classes that is counted for one feature


def tally(
    columns: Iterable[NDArray[np.float64]],
    classes: NDArray[np.int64],
    *,
    bins: Sequence[PublicBins],
    weights: Sequence[int],
) -> CandidateTotals:
    """What the best rule on each feature gets right; decided for each row alone, summed in whole numbers.

    A rule assigns one class to each bin of one feature, and one to a missing value; the best rule of a feature assigns
    the class with the largest weight there. The rule itself is never released; only its number of correct rows is used.
    One more row raises each total by a whole number from 0 to the weight of the row's class. Proof:
    ``proofs/feature_scores.md``.

    Args:
        columns: the values of each feature, shape ``(rows,)`` each; NaN is a missing value.
        classes: position of each row's class, shape ``(rows,)``; -1: none of them, and the row is left out.
        bins: of each feature.
        weights: whole numbers >= 1, one for each class: what a row of it counts for.

    >>> values, classes = np.array([1.0, 2.0, 3.0, 7.0, np.nan]), np.array([0, 0, 1, 1, -1])
    >>> tally([values], classes, bins=[PublicBins.given((0, 10), 2)], weights=(1, 1)).totals.tolist()
    [3]
    """
    known, many, right = classes >= 0, len(weights), list[int]()
    kept = classes[known]
    for cut, column in zip(bins, columns, strict=True):
        values = column[known]
        places = np.where(np.isnan(values), cut.count, cut.places(values))
        cells = np.bincount(places * many + kept, minlength=(cut.count + 1) * many).astype(np.int64, copy=False)
        weighted = cells.reshape(cut.count + 1, many) * np.array(weights, dtype=np.int64)
        right.append(int(weighted.max(axis=1).sum()))
    return CandidateTotals(np.array(right, dtype=np.int64))

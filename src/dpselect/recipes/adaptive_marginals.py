"""A synthetic table from the marginals that it gets most wrong: the loop of AIM, on a domain that fits into memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpselect.checks import members_in_order, positive_counts, whole_number
from dpselect.errors import InvalidParameterError, Shown
from dpselect.recipes.rows_and_rounds import EXPECTED_SIZES, Rounds, codes_within

_UNIT = 1 << 16
_MOST_CELLS = 1 << 22
_PASSES = 20
_MOST_ROWS = float(1 << 40)
"""More do not fit into memory; a noisy number of rows beyond this is cut off, so that guesses fit into 64 bits."""
_FARTHEST = 1 << 62
"""Scores are cut off here, which moves none by more than before."""
_EXPECTED_MARGINALS = "one or more tuples of positions of attributes, such as ((0, 1), (1, 2))"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveMarginals(Rounds):
    """In each round selects the marginal with the largest error, measures it, and fits the distribution to all.

    The score of a marginal is its weight times (the l1 distance between the table's marginal and the fitted one, less
    the error that the noise of a measurement would have itself).

    Args:
        sizes: how many values each attribute has; public. Their product is at most 2^22.
        marginals: tuples of positions of attributes; public.
        weights: whole numbers >= 1, one for each marginal; None: 1 each.
        rounds: how many marginals are measured; public.
        selection_share: the part of epsilon that the selections cost.
        selection: which mechanism selects, ``"auto"``, ``"permute_and_flip"`` or ``"exponential"``.
        delta: that the guarantee may fail, from 0 to below 1, for the selections.

    Proof: ``proofs/marginal_scores.md``, claim 2. Source: McKenna, Mullins, Sheldon & Miklau (2022), who fit a
    graphical model and use Gaussian noise.

    >>> import numpy as np
    >>> codes = np.array([[0, 1, 0], [1, 0, 1]] * 500)
    >>> loop = AdaptiveMarginals(epsilon=4.0, sizes=(2, 2, 2), marginals=((0, 1), (1, 2), (0, 2)), rounds=3)
    >>> bool(loop.fit(codes)[1, 0, 1] > 400)
    True
    """

    sizes: tuple[int, ...]
    marginals: tuple[tuple[int, ...], ...]
    weights: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        Rounds.__post_init__(self)
        sizes = positive_counts(self.sizes, "sizes", at_most=_MOST_CELLS, expected=EXPECTED_SIZES)
        if not sizes:
            raise InvalidParameterError("sizes", Shown("<0 of them>"), EXPECTED_SIZES)
        if math.prod(sizes) > _MOST_CELLS:
            raise InvalidParameterError("sizes", Shown("<a large product>"), f"at most {_MOST_CELLS:,} cells in all")
        marginals = _checked_marginals(self.marginals, len(sizes))
        expected = "whole numbers >= 1, one for each of the marginals"
        given = (1,) * len(marginals) if self.weights is None else self.weights
        weights = positive_counts(given, "weights", at_most=1 << 20, expected=expected)
        if len(weights) != len(marginals):
            raise InvalidParameterError("weights", Shown(f"<{len(weights)} of them>"), expected)
        relation = self.neighbours
        moved = relation.changed(1)  # a replaced row leaves one cell and enters another
        self._divide(self.epsilon, sensitivity=moved * max(weights) * _UNIT, moved=moved)
        self._set(sizes=sizes, marginals=marginals, weights=weights)

    def fit(self, codes: NDArray[np.integer]) -> NDArray[np.float64]:
        """The fitted table, at the cost of `event`: numbers >= 0, of shape `sizes`.

        Args:
            codes: shape ``(rows, attributes)``: whole numbers from 0, below the attribute's size.

        Raises:
            InvalidDataError: another shape or type. Nothing is drawn then.
        """
        cells = np.ravel_multi_index(tuple(codes_within(codes, self.sizes).T), self.sizes)
        table = np.bincount(cells, minlength=math.prod(self.sizes)).astype(np.int64).reshape(self.sizes)
        truths = [_summed(table, each) for each in self.marginals]
        fitted = np.full(self.sizes, 1.0 / table.size)
        measured: dict[int, NDArray[np.float64]] = {}
        rows = 1.0
        for _ in range(self.rounds):
            winner = self.selecting.select(self._scores(truths, fitted * rows))
            noisy = self.measuring.draw_many(truths[winner].ravel()).reshape(truths[winner].shape).astype(np.float64)
            measured[winner] = noisy if winner not in measured else (measured[winner] + noisy) / 2.0
            # The number of rows is that of the measured marginals, the smaller ones counting for more.
            sums = np.array([each.sum() for each in measured.values()])
            sizes = np.array([each.size for each in measured.values()], np.float64)
            rows = min(max(1.0, float((sums / sizes).sum() / (1.0 / sizes).sum())), _MOST_ROWS)
            fitted = self._refitted(fitted, measured, rows)
        return fitted * rows

    def _scores(self, truths: Sequence[NDArray[np.int64]], fitted: NDArray[np.float64]) -> NDArray[np.int64]:
        scores: list[int] = []
        for attributes, truth, weight in zip(self.marginals, truths, self.weights or (), strict=True):
            guess = np.rint(_summed(fitted, attributes) * _UNIT).astype(np.int64)
            # Public: it depends on sizes and epsilon alone.
            allowance = round(min(self.measuring.expected_error * truth.size * _UNIT, float(_FARTHEST)))
            score = weight * (int(np.abs(truth * _UNIT - guess).sum()) - allowance)
            scores.append(min(max(score, -_FARTHEST), _FARTHEST))
        return np.array(scores, np.int64)

    def _refitted(
        self, fitted: NDArray[np.float64], measured: dict[int, NDArray[np.float64]], rows: float
    ) -> NDArray[np.float64]:
        """Iterative proportional fitting, half a step at a time, as noisy marginals contradict each other."""
        floor = min((1.0 + self.measuring.expected_error) / 8.0, _MOST_ROWS)
        for _ in range(_PASSES):
            for place, noisy in measured.items():
                attributes = self.marginals[place]
                ratio = (np.maximum(noisy, 0.0) + floor) / (_summed(fitted, attributes) * rows + floor)
                fitted = fitted * np.sqrt(_spread(ratio, attributes, len(self.sizes)))
                fitted = fitted / fitted.sum()
        return fitted


def _checked_marginals(given: object, count: int) -> tuple[tuple[int, ...], ...]:
    marginals = members_in_order(given, "marginals", expected=_EXPECTED_MARGINALS)
    if not marginals:
        raise InvalidParameterError("marginals", Shown("<0 of them>"), _EXPECTED_MARGINALS)
    try:
        found = [members_in_order(each, "marginals", expected=_EXPECTED_MARGINALS) for each in marginals]
        positions = [tuple(whole_number(each, "marginals") for each in attributes) for attributes in found]
    except InvalidParameterError as error:
        raise InvalidParameterError("marginals", error.got, _EXPECTED_MARGINALS) from None
    for attributes in positions:
        if (
            not attributes
            or list(attributes) != sorted(set(attributes))
            or not 0 <= attributes[0] <= attributes[-1] < count
        ):
            expected = f"increasing positions of attributes, from 0 to {count - 1}"
            raise InvalidParameterError("marginals", Shown(repr(attributes)), expected)
    return tuple(positions)


def _summed(table: NDArray[np.int64] | NDArray[np.float64], attributes: tuple[int, ...]) -> NDArray[np.int64]:
    """The marginal of some attributes."""
    return table.sum(axis=tuple(each for each in range(table.ndim) if each not in attributes))


def _spread(marginal: NDArray[np.float64], attributes: tuple[int, ...], count: int) -> NDArray[np.float64]:
    """The marginal, with a side of length 1 for each of the other attributes."""
    return marginal.reshape(
        [marginal.shape[attributes.index(each)] if each in attributes else 1 for each in range(count)]
    )

"""The structure of a Bayesian network, chosen privately: PrivBayes' choice of parents, with three scores.

The scores are in whole multiples of a public unit, with sensitivities that hold for what is computed
(``proofs/marginal_scores.md``, claims 3 to 5). They compare tables with the same public number of rows, so the
neighbouring relation is ``"replace_one"`` throughout.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting import ComposedEvent
from dpselect.checks import one_of, positive_count, positive_counts
from dpselect.errors import InvalidParameterError, Shown
from dpselect.mechanisms import ExponentialMechanism, PermuteAndFlip
from dpselect.mechanisms.mechanism import MechanismValue
from dpselect.privacy import Neighbours
from dpselect.recipes.shared import EXPECTED_SIZES, Selection, codes_within, shared_selections

Counts = NDArray[np.int64]
ParentScore = Literal["mutual_information", "F", "R"]

_UNIT = 1 << 16
_MOST_ROWS = 1 << 24


@lru_cache(maxsize=4)
def _terms(rows: int) -> Counts:
    """n log2 n for n = 0 ... rows, in multiples of 1/65536, each rounded."""
    numbers = np.arange(1.0, rows + 1.0)
    return np.concatenate([[0], np.rint(numbers * np.log2(numbers) * _UNIT)]).astype(np.int64)


def mutual_information(counts: Counts) -> int:
    """65536 times the rows' number times the mutual information, in bits, of the two sides of `counts`.

    >>> import numpy as np
    >>> mutual_information(np.array([[4, 0], [0, 4]])) / 65536
    8.0
    """
    terms = _terms(int(counts.sum()))
    sides = terms[counts.sum(axis=0)].sum() + terms[counts.sum(axis=1)].sum()
    return int(terms[counts].sum() - sides + terms[-1])


def mutual_information_sensitivity(rows: int, *, binary: bool) -> int:
    """Of `mutual_information`, if one of `rows` rows is replaced; smaller if all tables have a `binary` side."""
    if binary or rows == 1:
        bits = math.log2(rows) + (rows - 1) * math.log2(rows / (rows - 1)) if rows > 1 else 0.0
    else:
        bits = 2.0 * math.log2((rows + 1) / 2.0) + (rows - 1) * math.log2((rows + 1) / (rows - 1))
    return math.ceil(bits * (1.0 + 1e-12) * _UNIT) + 7  # 12 rounded terms may change, each known within 0.51


def nearness_to_certainty(counts: Counts) -> int:
    """F of PrivBayes times twice the number of rows, for a `counts` whose first side is binary.

    Minus the l1 distance to the nearest table in which the parents determine the child and both its values are as
    frequent; found exactly, by a recursion over the parents' values.

    >>> import numpy as np
    >>> nearness_to_certainty(np.array([[5, 0], [0, 5]])), nearness_to_certainty(np.array([[5, 5], [0, 0]]))
    (0, -10)
    """
    rows = int(counts.sum())
    enough = (rows + 1) // 2
    best = np.full(enough + 1, -1, np.int64)  # by rows of value 0 that are right, at most `enough`: those of value 1
    best[0] = 0
    for zero, one in counts.T.tolist():
        kept = np.where(best >= 0, best + one, -1)
        moved = np.full_like(best, -1)
        step = min(zero, enough)
        moved[step:] = best[: enough + 1 - step]
        moved[enough] = max(moved[enough], best[enough - step :].max())
        best = np.maximum(kept, moved)
    reached = np.flatnonzero(best >= 0)
    missing = np.maximum(rows - 2 * reached, 0) + np.maximum(rows - 2 * best[reached], 0)
    return -int(missing.min())


def distance_from_independence(counts: Counts) -> int:
    """R of PrivBayes times twice the square of the number of rows: ``sum |N N_ab - N_a N_b|``.

    >>> import numpy as np
    >>> distance_from_independence(np.array([[5, 0], [0, 5]])), distance_from_independence(np.array([[2, 2], [3, 3]]))
    (100, 0)
    """
    rows = int(counts.sum())
    return int(np.abs(counts * rows - np.outer(counts.sum(axis=1), counts.sum(axis=0))).sum())


_SCORES = {"mutual_information": mutual_information, "F": nearness_to_certainty, "R": distance_from_independence}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentChoice(MechanismValue):
    """Chooses, one after another, an attribute and its parents among those chosen before.

    Args:
        sizes: how many values each attribute has; public.
        rows: the number of rows; public.
        degree: how many parents an attribute has at most, fewer than there are attributes; public. Default: 2, or 1
            for two attributes.
        score: ``"mutual_information"``, ``"F"`` (all attributes binary) or ``"R"``.
        selection: which mechanism selects, ``"auto"``, ``"permute_and_flip"`` or ``"exponential"``.
        delta: that the guarantee may fail, from 0 to below 1.

    Proof: ``proofs/marginal_scores.md``, claims 3 to 5. Source: Zhang, Cormode, Procopiuc, Srivastava & Xiao (2017),
    with a smaller sensitivity of R.

    >>> import numpy as np
    >>> codes = np.array([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]] * 250)
    >>> choice = ParentChoice(epsilon=20.0, sizes=(2, 2, 2), rows=1000, degree=1)
    >>> choice.choose(codes)[1]
    (1, (0,))
    """

    epsilon: float
    sizes: tuple[int, ...]
    rows: int
    degree: int | None = None
    score: ParentScore = "R"
    selection: Selection = "auto"
    delta: float = 0.0
    selecting: PermuteAndFlip | ExponentialMechanism = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        sizes = positive_counts(self.sizes, "sizes", at_most=1 << 16, expected=EXPECTED_SIZES)
        if len(sizes) < 2:
            raise InvalidParameterError("sizes", Shown(f"<{len(sizes)} attributes>"), "at least two attributes")
        rows = positive_count(self.rows, "rows", at_most=_MOST_ROWS)
        one_of(self.score, "score", get_args(ParentScore))
        if self.score == "F" and set(sizes) != {2}:
            raise InvalidParameterError("score", Shown("'F'"), "another score, as F is for attributes with two values")
        sensitivities = {"F": 2, "R": max(1, 6 * (rows - 1))}
        sensitivities["mutual_information"] = mutual_information_sensitivity(rows, binary=max(sizes) <= 2)
        selecting = shared_selections(
            self.selection,
            count=len(sizes) - 1,
            epsilon=self.epsilon,
            delta=self.delta,
            sensitivity=sensitivities[self.score],
            neighbours=Neighbours.REPLACE_ONE,
        )
        most = min(16, len(sizes) - 1)
        degree = min(2, most) if self.degree is None else positive_count(self.degree, "degree", at_most=most)
        self._set(sizes=sizes, rows=rows, degree=degree, selecting=selecting)

    @property
    def event(self) -> ComposedEvent:
        """What one structure costs, for accounting."""
        return ComposedEvent(event=self.selecting.event, count=len(self.sizes) - 1)

    def choose(self, codes: NDArray[np.integer]) -> list[tuple[int, tuple[int, ...]]]:
        """Attributes with their parents, in an order in which parents come first, at the cost of `event`.

        The first attribute is attribute 0, without parents.

        Args:
            codes: shape ``(rows, attributes)``: whole numbers from 0, below the attribute's size.

        Raises:
            InvalidDataError: another shape or type. Nothing is drawn then.
        """
        table, score = codes_within(codes, self.sizes, rows=self.rows), _SCORES[self.score]
        chosen: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        while len(chosen) < len(self.sizes):
            known = sorted(attribute for attribute, _ in chosen)
            others = [each for each in range(len(self.sizes)) if each not in known]
            parents = list(itertools.combinations(known, min(cast(int, self.degree), len(known))))
            options = [(child, each) for child in others for each in parents]
            scores = np.array([score(self.counts(table, child, each)) for child, each in options], np.int64)
            chosen.append(options[self.selecting.select(scores)])
        return chosen

    def counts(self, table: Counts, child: int, parents: tuple[int, ...]) -> Counts:
        """How many rows have each value of the child together with each of the parents; private."""
        sides = [self.sizes[each] for each in parents]
        joint = np.ravel_multi_index(tuple(table[:, list(parents)].T), sides)
        cells = np.bincount(table[:, child] * math.prod(sides) + joint, minlength=self.sizes[child] * math.prod(sides))
        return cells.astype(np.int64).reshape(self.sizes[child], math.prod(sides))

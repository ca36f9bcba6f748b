"""Records of answers: what is known of one before it is drawn, and what is drawn; and counts as sentences have them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

from dpselect.privacy import Guarantee, Neighbours

if TYPE_CHECKING:
    from dpselect.accounting.events import Event

CONFIDENCE = 0.99  # of the error bound that releases state
Value = int | float | str | bool | date  # a candidate, or a number

Answered = Value | list[Value] | dict[Value | tuple[Any, ...], "Value | list[Value]"]
"""One value, several in order, or either of these for each group, whose name in a cross table is a tuple."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyUnits:
    """Noisy numbers of units that are released together with an answer.

    As ``release.usable``: the number of units that the question could use, each with a row that has, as the question
    needs, one of the candidates, a number, and one of the groups. As ``release.counted``: the number of units with each
    selected candidate.

    Attributes:
        count: the number, at least 0; a list for a list of selected candidates; with groups, a dictionary with such a
            number or list for each group. None before the draw.
        within: with `confidence` all of them (in one group, with groups) are at most this far from the truth.
        epsilon: the part of the release's epsilon that was spent on them; None if they came at no cost.
        answer_epsilon: the part that was spent on the answer; None likewise.
        confidence: confidence level of `within`.

    Proof: ``proofs/usable_units.md`` and ``proofs/noisy_order.md``.
    """

    count: int | list[int] | dict[Value | tuple[Any, ...], int | list[int]] | None = None
    within: int
    epsilon: float | None = None
    answer_epsilon: float | None = None
    confidence: ClassVar[float] = CONFIDENCE

    @property
    def description(self) -> dict[str, Any]:
        """Its accuracy, and its cost if it cost anything, as in a certificate."""
        cost = {} if self.epsilon is None else {"epsilon": self.epsilon, "answer_epsilon": self.answer_epsilon}
        return {"within": self.within, "confidence": self.confidence, **cost}


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What is known of an answer before it is drawn: all of its certificate but the answer, its time and its receipt.

    A question by itself knows all but the names of the column and the unit, the words of what was asked, and the facts.

    Attributes:
        task: the question: the name of a method of `Dataset`; also ``"unbounded_quantile"``, ``"top_unknown"``,
            ``"histogram_of_bins"`` and ``"best_features"``.
        column: the column the answer is about.
        unit: the column that identifies who is protected.
        mechanism: name of the mechanism that drew the answer, as exported by `dpselect.mechanisms`.
        rounds: number of draws; 1 unless several candidates were selected.
        epsilon: privacy loss of the whole release.
        delta: probability with which epsilon may fail; 0 is pure differential privacy.
        sensitivity: the most by which one unit changes any one count, rank, revenue or sum, or a mean; for several
            quantiles the number of values on the wrong side of an answer (halving: at each of them).
        monotonic: adding or removing one unit changes all of them in the same direction.
        neighbours: which data sets the guarantee compares.
        candidates: the origin, number and kind of the candidates.
        error_bound: with probability `confidence` the answer is at most this far from the best or the true one, in each
            group if there are groups; `accuracy` says in a sentence what is how far from what. It is known before the
            data is seen, infinite if it does not fit into a double, and None if no bound holds for all data: for a
            quantile without a grid, and for several quantiles.
        confidence: confidence level of `error_bound`.
        proofs: pages of this project's repository that prove the guarantee.
        event: what the release costs, for accounting.
        error_unit: what the error is measured in, if not in units: ranks, revenue, a sum.
        arguments: other arguments of the question; for quantiles the levels, for quantiles and prices the maximum
            number of rows per unit.
        groups: for a question about groups: the column of groups, their number and kind, how many of them one unit
            takes part in, and the cost of one group. None: all rows together.
        question: the question in words, as it was asked; checked by asking it again.
        facts: what had to be known of the columns' types to plan it.
        usable: the noisy number of units that the question could use, if one is released.
        counted: the noisy number of units with each selected candidate, if released.
    """

    task: str
    column: str = ""
    unit: str = ""
    mechanism: str
    rounds: int = 1
    epsilon: float
    delta: float = 0.0
    sensitivity: float
    monotonic: bool
    neighbours: Neighbours
    candidates: Mapping[str, Any] = field(default_factory=dict[str, Any])
    error_bound: float | None
    confidence: float = CONFIDENCE
    proofs: tuple[str, ...]
    event: Event
    error_unit: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    groups: Mapping[str, Any] | None = None
    question: Mapping[str, Any] = field(default_factory=dict[str, Any])
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    usable: NoisyUnits | None = None
    counted: NoisyUnits | None = None

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each unit, unless a release is seeded: then nothing is."""
        return Guarantee(self.epsilon, self.delta, self.neighbours, self.unit)

    @property
    def asks(self) -> str:
        """What is asked, in a few words: the question, and its column if it has one."""
        column = self.question.get("column")
        return str(self.question.get("ask", self.task)).replace("_", " ") + (f" of {column}" if column else "")

    @property
    def where(self) -> Sequence[Mapping[str, Any]]:
        """The conditions that rows have to meet to be looked at, each with its column."""
        return self.question.get("where", ())

    def units_in(self, group: Any = None) -> Any:
        """The released number of units of a group; without one of all rows, or of each group. None: there is none."""
        count: Any = None if self.usable is None else self.usable.count
        return count if group is None or count is None else count.get(group)

    @property
    def rule(self) -> str:
        """How the noise is chosen, in one sentence; empty if there is no choice: see `planning.order_noise`."""
        said = str(self.arguments.get("rule", ""))
        return f"{said[:1].upper()}{said[1:]}." if said else ""


class Drawn(NamedTuple):
    """What was drawn."""

    answer: Answered
    usable: Any = None  # the noisy number of units, if released; with groups a dictionary, like the answer
    counted: Any = None  # likewise those with each selected candidate, in the shape of the answer
    places: Sequence[int] = ()  # of the selected candidates in their list, if their counts may be asked for


LARGEST_COUNT = 2**62  # noisy counts beyond this are released as this


def is_number(value: object) -> bool:
    """Whether it is a finite number as JSON has it."""
    return type(value) in (int, float) and abs(cast("float", value)) <= sys.float_info.max


def is_noisy_count(value: object) -> bool:
    """Whether it is a whole number that a noisy count can be."""
    return type(value) is int and 0 <= value <= LARGEST_COUNT


def released_count(noisy: int) -> int:
    """A noisy number of units as it is released: from 0 to `LARGEST_COUNT`."""
    return min(max(0, noisy), LARGEST_COUNT)


def counted(count: int, noun: str) -> str:
    """A number with a noun, in the singular for one."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


Words = dict[str, Any]
CERTIFICATE = 1  # the format of certificates
SEEDED = "seeded: not private"
"""What their field ``seeded`` says; it is there only if known random bits were part of the draw."""

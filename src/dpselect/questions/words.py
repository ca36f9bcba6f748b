"""What certificates, ledgers and plans hold of a question: its arguments in words, the same however they were given,
and the terms that it follows from them.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast

from dpselect import summaries
from dpselect.arguments import REQUIRED, Argument
from dpselect.checks import decimal_fraction
from dpselect.errors import InvalidCertificateError, Shown
from dpselect.privacy import Guarantee, Neighbours, Sensitivity

if TYPE_CHECKING:
    from dpselect.accounting.events import Event

CONFIDENCE = 0.99
"""Confidence level of the error bound that releases state."""

Value = int | float | str | bool | date
"""A candidate, or a number."""

Group = Value | tuple[Any, ...]
"""The name of a group; of a cross table a tuple."""

Answered = Value | list[Value] | dict[Group, "Value | list[Value]"]
"""One value, several in order, or either of these for each group."""

Numbers = int | list[int] | dict[Group, "int | list[int]"]
"""A number of units for each answer, in the same shape; or one for each list of answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyUnits:
    """Noisy numbers of units that are released together with an answer.

    As ``release.usable``: the number of units that the question could use, from which to see whether the answer is
    about anything. A unit is counted if at least one of its rows can be used: it has, as the question needs, one of the
    candidates, a number, and one of the groups. As ``release.counted``: the number of units with each selected
    candidate.

    Attributes:
        count: the number, at least 0; a list for a list of selected candidates; with groups, a dictionary with such a
            number or list for each group. None before the draw.
        within: with `confidence` all of them (in one group, with groups) are at most this far from the truth.
        epsilon: the part of the release's epsilon that was spent on them; None if they came with the answer, at no
            cost.
        answer_epsilon: the part that was spent on the answer; None likewise.

    Proof: ``proofs/usable_units.md`` and ``proofs/noisy_order.md``.
    """

    count: Numbers | None = None
    within: int
    epsilon: float | None = None
    answer_epsilon: float | None = None

    @property
    def confidence(self) -> float:
        """Confidence level of `within`."""
        return CONFIDENCE

    @property
    def description(self) -> dict[str, Any]:
        """Its accuracy, and its cost if it cost anything, as in a certificate."""
        accuracy = {"within": self.within, "confidence": self.confidence}
        if self.epsilon is None:
            return accuracy
        return {**accuracy, "epsilon": self.epsilon, "answer_epsilon": self.answer_epsilon}


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What of `Planned` follows from a question alone; `proofs` are without the page of the sensitivity."""

    task: str
    mechanism: str
    rounds: int = 1
    epsilon: float
    delta: float = 0.0
    sensitivity: Sensitivity
    candidates: Mapping[str, Any]
    error_bound: float | None
    proofs: tuple[str, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    groups: Mapping[str, Any] | None = None
    usable: NoisyUnits | None = None
    counted: NoisyUnits | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What is known of an answer before it is drawn: all of its certificate but the answer, its time and its receipt.

    Attributes:
        task: the question: the name of a method of `Dataset`; also ``"unbounded_quantile"``, ``"top_unknown"``,
            ``"histogram_of_bins"`` and ``"best_features"``.
        column: the column the answer is about.
        unit: the column that identifies who is protected.
        mechanism: name of the mechanism that drew the answer, as exported by `dpselect.mechanisms`.
        rounds: number of draws; 1 unless several candidates were selected.
        epsilon: privacy loss of the whole release.
        delta: probability with which epsilon may fail; 0 is pure differential privacy.
        sensitivity: the most by which one unit changes any one count; for a quantile any one rank, for a price any one
            revenue; for several quantiles the number of values on the wrong side of an answer (halving: at each of
            them). For ``best_by`` any one sum, for a mean the mean, in the unit of the column.
        monotonic: adding or removing one unit changes all of them in the same direction.
        neighbours: which data sets the guarantee compares.
        candidates: the origin, number and kind of the candidates.
        error_bound: with probability `confidence` the count of each selected candidate is at most this far below the
            largest count left when it was selected. For ``least_common`` it is at most this far above the lowest count;
            for ``best_by`` the sum is at most this far below the best. For a quantile, the rank of the released number
            is at most this far from the target rank, with all values rounded to the grid. For a price, its revenue is
            at most this far below the best. For a mean, a variance and a density see their methods of `Dataset`. With
            groups, it holds in each group. It is known before the data is seen, infinite if it does not fit into a
            double, and None if no bound holds for all data: for a quantile without a grid, for several quantiles and
            for a price between bounds.
        confidence: confidence level of `error_bound`.
        error_unit: what it is measured in, if not in units: ranks, revenue, a sum.
        proofs: pages of this project's repository that prove the guarantee.
        event: what the release costs, for accounting.
        error_unit: what the error is measured in, if not in units: ranks, revenue, a sum.
        arguments: other arguments of the question; for quantiles the levels, for quantiles and prices the maximum
            number of rows per unit.
        groups: for a question about groups: the column of groups, their number and kind, how many of them one unit
            takes part in, and the cost of one group. None: all rows together.
        question: the question in words, as it was asked; checked by asking it again.
        facts: what had to be known of the columns' types to plan it.
        usable: the noisy number of units that the question could use, if one is released: see `NoisyUnits`.
        counted: the noisy number of units with each selected candidate, if released, with its accuracy and its part of
            epsilon: see `NoisyUnits`.
    """

    task: str
    column: str
    unit: str
    mechanism: str
    rounds: int
    epsilon: float
    delta: float
    sensitivity: float
    monotonic: bool
    neighbours: Neighbours
    candidates: Mapping[str, Any]
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

    @property
    def rule(self) -> str:
        """How the noise is chosen, in one sentence; empty if there is no choice: see `planning.order_noise`."""
        said = str(self.arguments.get("rule", ""))
        return f"{said[:1].upper()}{said[1:]}." if said else ""


class Drawn(NamedTuple):
    """What was drawn.

    Attributes:
        answer: the answer.
        usable: the noisy number of units in each group, one without groups; None if none was released.
        counted: the noisy number of units with each selected candidate, of all groups one after another; None likewise.
    """

    answer: Answered
    usable: list[int] | None = None
    counted: list[int] | None = None


def is_number(value: object) -> bool:
    """Whether it is a finite number as JSON has it."""
    return type(value) in (int, float) and abs(cast("float", value)) <= sys.float_info.max


LARGEST_COUNT = 2**62
"""Noisy counts beyond this are released as this."""


def is_noisy_count(value: object) -> bool:
    """Whether it is a whole number that a noisy count can be."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_COUNT


def released_count(noisy: int) -> int:
    """A noisy number of units as it is released: from 0 to `LARGEST_COUNT`."""
    return min(max(0, noisy), LARGEST_COUNT)


def possible_counts(values: list[Any], units: int | None, size: int) -> bool:
    """Whether these are noisy counts of so many parts, and `units` is their sum; a 0 may stand for a negative one.

    >>> possible_counts([3, 0], 2, 2), possible_counts([3, 1], 2, 2)
    (True, False)
    """
    if len(values) != size or not all(map(is_noisy_count, values)):
        return False
    most = released_count(sum(values))
    return units is None or (units == most if all(values) else units <= most)


def as_text(value: object) -> str:
    """Every digit of it (a rounded epsilon would promise more than was kept), but 37 for 37.0.

    >>> as_text(0.1 + 0.2), as_text(37.0), as_text("37.0")
    ('0.30000000000000004', '37', '37.0')
    """
    if isinstance(value, tuple):  # a group of a cross table
        return ", ".join(map(as_text, cast("tuple[object, ...]", value)))
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def counted(count: int, noun: str) -> str:
    """A number with a noun, in the singular for one.

    >>> counted(1, "row"), counted(1000, "price"), counted(0, "rank")
    ('1 row', '1,000 prices', '0 ranks')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


Words = dict[str, Any]

CERTIFICATE = 1
"""The format of certificates."""

SEEDED = "seeded: not private"
"""What their field ``seeded`` says; it is there only if known random bits were part of the draw."""

_WHOLE_DOUBLES = 2**52
"""From here on, all doubles are whole numbers."""


def wrong(field: str, expected: str, hint: str = "") -> InvalidCertificateError:
    """The error for a field of a certificate. It never quotes what the field holds: that may be the answer."""
    return InvalidCertificateError("certificate", Shown(f"<{field}>"), expected, hint)


def canonical_json(held: Mapping[str, Any]) -> str:
    """JSON on one line with sorted keys: the same text for equal objects."""
    return json.dumps(held, sort_keys=True, allow_nan=False, ensure_ascii=False)


def identity_text(question: Words, *, unit: str, source: str = "", format: Mapping[str, Any] | None = None) -> str:
    """What tells a question from others in a ledger: its words, its table, and how the table's cells are written."""
    about: Words = {"question": question, "unit": unit, "source": source}
    return canonical_json({**about, "format": dict(format)} if format else about)


def written(value: Any, kind: object) -> Any:
    """An argument other than a public list in words.

    >>> written((0.0, Fraction(1, 3)), "bounds"), written(0.5, "number")
    ([0, '1/3'], 0.5)
    """
    if isinstance(value, bool | str):
        return value
    may_be_dates = kind == "numbers or dates" and not isinstance(value[0], Number)
    if kind == "ends" or (may_be_dates and summaries.as_date(value[0]) is not None):
        return [str(summaries.as_date(each)) for each in value]
    if kind in ("bounds", "levels", "numbers or dates"):
        return [number_written(each) for each in cast("Iterable[Any]", value)]
    return number_written(value)


def number_written(value: Any) -> int | float | str:
    """A number: as JSON has it where that is exactly what the caller means, else as a fraction."""
    if type(value) is int and abs(value) < 10**40:
        return value
    if type(value) is float:  # from 2^52 on as it is: see `whole_or_double_bounds`
        return int(value) if value.is_integer() and abs(value) < _WHOLE_DOUBLES else value
    exact = decimal_fraction(value, "number", expected="a finite number")
    if exact.denominator == 1 and abs(exact) < 10**40:
        return int(exact)
    nearest = float(exact)
    return nearest if Fraction(repr(nearest)) == exact else str(exact)


_FRACTION = re.compile(r"-?[0-9]{1,1000}/[0-9]{1,1000}", re.ASCII)


def _number(held: object, name: str) -> int | float | Fraction:
    if isinstance(held, str) and _FRACTION.fullmatch(held) and int(held.partition("/")[2]):
        return Fraction(held)
    if isinstance(held, bool) or not isinstance(held, int | float):
        raise wrong(name, "a number")
    return held


def _list(held: object, name: str) -> list[object]:
    if not isinstance(held, list):
        raise wrong(name, "a list")
    return cast("list[object]", held)


def _numbers(held: object, name: str) -> Any:
    return tuple(_number(each, name) for each in _list(held, name))


def a_text(held: object, name: str) -> str:
    if not isinstance(held, str) or not held:
        raise wrong(name, "a text")
    return held


def _whole(held: object, name: str) -> int:
    if isinstance(held, bool) or not isinstance(held, int):
        raise wrong(name, "a whole number")
    return held


def _flag(held: object, name: str) -> bool:
    if not isinstance(held, bool):
        raise wrong(name, "true or false")
    return held


def members(held: object, name: str = "list") -> Any:
    """The public list that `PublicCandidates.words` wrote.

    Raises:
        InvalidCertificateError: there is no such list.

    >>> members({"range": [1, 5]}), members({"dates": ["2026-11-21"]})
    (range(1, 6), [datetime.date(2026, 11, 21)])
    """
    if isinstance(held, list):
        return cast("list[object]", held)
    about: Words = cast("Words", held) if isinstance(held, dict) else {}
    if set(about) == {"range"}:
        ends = [_whole(each, name) for each in _list(about["range"], name)]
        if len(ends) in (2, 3) and all(ends[2:]):
            first, last, step = (*ends, 1)[:3]
            return range(first, last + (1 if step > 0 else -1), step)
    elif set(about) == {"dates"}:
        return [_date(each, name) for each in _list(about["dates"], name)]
    elif set(about) == {"count", "kind", "sha256"}:
        kind, hash = about["kind"], a_text(about["sha256"], name)
        if kind in [*summaries.CandidateKind] and re.fullmatch("[0-9a-f]{64}", hash):
            return summaries.UnlistedCandidates.stated_as(
                summaries.CandidateKind(kind), _whole(about["count"], name), hash
            )
    raise wrong(name, "a public list: its members, a range, dates, or a count, a kind and a hash")


def _date(held: object, name: str) -> date:
    try:
        read = date.fromisoformat(a_text(held, name))
    except ValueError:
        raise wrong(name, "dates such as 2026-11-21") from None
    if read.isoformat() != held:
        raise wrong(name, "dates such as 2026-11-21")
    return read


def _ends(held: object, name: str) -> Any:
    return tuple(a_text(each, name) for each in _list(held, name))


def _numbers_or_dates(held: object, name: str) -> Any:
    return (_ends if all(map(summaries.as_date, _list(held, name))) else _numbers)(held, name)


def _prices(held: object, name: str) -> Any:
    return _numbers(held, name) if not isinstance(held, dict) else members(cast("Words", held), name)


_READ: dict[object, Callable[[object, str], Any]] = {
    "text": a_text,
    "any text": a_text,
    "whole": _whole,
    "number": _number,
    "exact": _number,
    "flag": _flag,
    "bounds": _numbers,
    "ends": _ends,
    "numbers or dates": _numbers_or_dates,
    "levels": _numbers,
    "prices": _prices,
    "dates": members,
    "values": members,
    "list": members,
}


def read(words: Words, arguments: Iterable[Argument], *, within: str = "question") -> Words:
    """The arguments that `words` describe.

    Raises:
        InvalidCertificateError: one is missing, unknown, or not written as it has to be. The error names it.
        SelectionError: its own check refuses it.
    """
    known = {each.name: each for each in arguments}
    if unknown := words.keys() - known.keys():
        shown = min(unknown)
        name = f"{within}.{shown}" if len(shown) <= 60 and shown.isidentifier() else within
        raise wrong(name, f"one of the arguments {', '.join(known)}")
    found: Words = {}
    for name, each in known.items():
        if name in words:
            value = _READ.get(each.kind, a_text)(words[name], f"{within}.{name}")
            found[name] = value if each.check is None else each.check(value, name)
        elif each.default is REQUIRED:
            _missing(within, name)
    return found


def _missing(within: str, name: str) -> NoReturn:
    raise wrong(f"{within}.{name}", "a value")


def list_written(listed: Any) -> Any:
    """Public prices in words: whole numbers as a list of candidates, others as they are."""
    numbers = [number_written(each) for each in listed]
    if all(type(each) is int for each in numbers):
        return summaries.PublicCandidates.given(numbers).words(whole=True)
    return numbers

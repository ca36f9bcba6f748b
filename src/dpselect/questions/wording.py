"""Sentences and tables about an answer, from its certificate or its forecast, shared by all questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from html import escape
from typing import Any, cast

from dpselect import summaries
from dpselect.checks import in_digits
from dpselect.errors import printable
from dpselect.privacy import Guarantee, Neighbours, as_text
from dpselect.questions.question import QUESTIONS, Question
from dpselect.questions.records import NoisyUnits, Planned, Value, counted

_USELESS = 1e15  # an error bound beyond any number of people
_FAR_BELOW = 0.1  # of a delta times the number of units
_LARGE_DELTA = 1e-3  # a delta above this is not far below one over any number of units from 100 on
_FEW = 5  # groups, or values of a condition, named in a sentence
_WRONGLY = 5  # of 100 that are absent, those whom a test takes for present: the customary significance

LOUD = "WARNING"  # in the sentence about an answer that may be mostly noise
SEEDED_PROMISE = "Seeded: not private. The noise can be computed by anybody who knows the seed."

TO_COUNT_UNITS = "usable_epsilon=0.05"
"""As it is written in Python: what adds a noisy number of units to an answer, within 92 of the truth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worded(Planned):
    """The same, with sentences about it: a forecast's say what would be released, and a release's what was."""

    @property
    def _kind(self) -> type[Question]:
        return QUESTIONS[self.task]

    def cost(self, *, whole: Callable[[float], str] = as_text) -> str:
        """The epsilon: every digit, or where these are many, the parts that add up to it as they were given.

        The sum of 0.5 and 0.1 is a little more than the double 0.6, and so the next double is charged.
        """
        digits, parts = as_text(self.epsilon), list[float]()
        for numbers in (self.counted, self.usable):
            if numbers is not None and numbers.epsilon is not None and numbers.answer_epsilon is not None:
                parts = [*(parts or [numbers.answer_epsilon]), numbers.epsilon]
        in_parts = " + ".join(map(as_text, parts))
        return in_parts if parts and len(in_parts) < len(digits) else whole(self.epsilon)

    @property
    def promise(self) -> str:
        """The guarantee in one sentence, with its `cost`; and a remark if it is worth next to nothing."""
        if getattr(self, "seeded", False):
            return SEEDED_PROMISE
        said = str(self.guarantee).replace(f"epsilon = {as_text(self.epsilon)}", f"epsilon = {self.cost()}", 1)
        return said + remark(self.epsilon)

    @property
    def accuracy(self) -> str:
        """The error bound in one sentence; and why it does not hold for the answer, if it does not."""
        kind, bound, value = self._kind, self.error_bound, cast("Any", getattr(self, "value", None))
        if bound is None:
            return f"{kind.unbounded}."
        if not (bound < _USELESS if kind.error_unit in (None, "ranks") else math.isfinite(bound)):
            return "At this epsilon no useful bound on the error can be given."
        sure = f"{self.confidence:.0%} confidence {kind.within(self, bound)}{kind.counting(self)}."
        if self.groups is None:
            why = "" if value is None else kind.beyond(self, value)
            return f"{LOUD}: no bound on the error holds for this answer. {why}" if why else f"With {sure}"
        most = counted(self.groups["max_per_unit"], "group")
        sure = f"In each {self.groups['column']}, counting each {self.unit} in at most {most}, with {sure}"
        answers: dict[Any, Any] = value or {}
        beyond = {group: why for group, answer in answers.items() if (why := kind.beyond(self, answer))}
        if not beyond:
            return sure
        named, why = _some_of([*beyond]), next(iter(beyond.values()))
        return f"{sure} {LOUD}: this bound does not hold in these groups: {named}. {why}"

    @property
    def basis(self) -> str:
        """How many units were counted, with warnings if they are few or delta is large; often empty."""
        said = self._units_counted, self._counts_of_nothing, self._large_delta
        return " ".join(filter(None, said))

    @property
    def _units_counted(self) -> str:
        """How many units were counted, and whether the answer can be about them; empty if no number is released."""
        usable, groups = self.usable, self.groups
        if usable is None:
            return ""
        if usable.count is None:
            each = "" if groups is None else f" in each {groups['column']}"
            return _to_come(usable, f"({self.unit}) counted{each}")
        sure, counts = f"within {usable.within:,} with {usable.confidence:.0%} confidence", cast("Any", usable.count)
        if groups is None:
            return self._too_few(counts) or f"About {counts:,} units ({self.unit}) counted, {sure}."
        low, high = min(counts.values()), max(counts.values())
        about = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        said = f"In each {groups['column']} about {about} units ({self.unit}) counted, each {sure}."
        small = [group for group, count in counts.items() if self._too_few(count)]
        few = f" {LOUD}: these answers may be mostly noise, because too few units were counted: {_some_of(small)}."
        return said + few if small else said

    def _too_few(self, count: int) -> str:
        """A warning if the answer may be mostly noise; else an empty text."""
        assert self.usable is not None
        within, bound = self.usable.within, self.error_bound
        most = count + within
        if bound is None or self._kind.error_unit not in (None, "ranks"):
            bound = 0.0  # not one that can be compared with units
        if bound < count > within:
            return ""
        surely = "is" if bound >= most else "may be"
        return f"{LOUD}: at most about {most:,} units ({self.unit}) counted: this answer {surely} mostly noise."

    @property
    def _counts_of_nothing(self) -> str:
        """A warning if counts are what shows whether the answer is about anything, and none is surely above zero."""
        numbers = self.counted
        if numbers is None or numbers.count is None:
            return ""
        if self.usable is not None or self._kind.accepts_usable_epsilon(self):
            return ""
        groups = numbers.count if isinstance(numbers.count, dict) else {None: numbers.count}
        most = {
            group: max(counts if isinstance(counts, list) else [counts], default=numbers.within + 1)
            for group, counts in groups.items()
        }
        empty = [group for group, largest in most.items() if largest <= numbers.within]
        if not empty:
            return ""
        where = "" if self.groups is None else f" in these groups: {_some_of(empty)}"
        return f"{LOUD}: all of these counts may be zero in truth{where}, so the answer may be mostly noise."

    @property
    def _large_delta(self) -> str:
        """A warning if delta is not far below one over the number of units: the released one, or any that is likely."""
        count, delta = self.units_in(), self.delta
        units = sum(cast("dict[Value, int]", count).values()) if isinstance(count, dict) else count
        few = f"one over the number of units ({self.unit})"
        if isinstance(units, int) and delta * units >= _FAR_BELOW:
            few += f", about {units:,}"
        elif delta <= _LARGE_DELTA:
            return ""
        return f"{LOUD}: delta = {as_text(delta)} is not far below {few}: the guarantee may fail for some of them."

    @property
    def basis_missing(self) -> str:
        """How to get a number of units as well; empty if one is released, or if there is none."""
        if self.usable is not None or not self._kind.accepts_usable_epsilon(self):
            return ""
        verb = "was not" if hasattr(self, "value") else "would not be"
        return f"How many units ({self.unit}) had usable rows {verb} released: {TO_COUNT_UNITS} would tell."

    @property
    def count_accuracy(self) -> str:
        """The error bound of the noisy counts in one sentence; empty if none are released."""
        numbers = self.counted
        if numbers is None:
            return ""
        if numbers.count is None:
            is_private = self.candidates.get("origin") == "rows"  # how many values there are
            beforehand = " for a value fixed beforehand" if is_private else ""
            return _to_come(numbers, f"({self.unit}) with each answer", beforehand)
        sure, kind = f"with {numbers.confidence:.0%} confidence", self._kind
        counting = kind.counting(self) if "max_values_per_unit" in self.arguments else ""
        said = f"{kind.counts_within(self, numbers.within)}{counting}."
        return f"W{sure[1:]} {said}" if self.groups is None else f"In each {self.groups['column']}, {sure} {said}"

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is said of the answer besides the promise; some may be empty."""
        value: object = getattr(self, "value", None)
        ending = self._kind.ending(self, len(cast("list[Value]", value))) if isinstance(value, list) else ""
        return scope(self.where), ending, self.accuracy, self.count_accuracy, self.rule, self.basis

    @property
    def provenance(self) -> str:
        """What draws the value, and what from, and the number of groups."""
        rounds, groups = f", {self.rounds} rounds" if self.rounds > 1 else "", self.groups
        origin = f"{self.mechanism}{rounds}, {self._kind.origin(self)}"
        if groups is None:
            return origin
        values = "for 1 value" if groups["count"] == 1 else f"in each of {groups['count']:,} values"
        most = counted(groups["max_per_unit"], "group")
        return f"{origin}, {values} of {groups['column']}, each {self.unit} in at most {most}"


def _to_come(numbers: NoisyUnits, which: str, beforehand: str = "") -> str:
    cost = "at no cost" if numbers.epsilon is None else f"for epsilon = {as_text(numbers.epsilon)} of it"
    sure = f"within {numbers.within:,} with {numbers.confidence:.0%} confidence{beforehand}"
    return f"The number of units {which} would be released, {sure}, {cost}."


def _some_of(names: Sequence[Any]) -> str:
    """The first few, and how many more there are."""
    return ", ".join(map(as_text, names[:_FEW])) + (f" and {len(names) - _FEW:,} more" if len(names) > _FEW else "")


def remark(epsilon: float) -> str:
    """What follows a promise that is worth next to nothing: probabilities may change by a factor of more than 148."""
    return " This is hardly any protection." if epsilon > 5.0 else ""


def in_words(guarantee: Guarantee, *, several: bool = False) -> str:
    """What differential privacy promises, in words and as a factor; for one answer, or for several together."""
    unit, epsilon, delta = guarantee.unit, guarantee.epsilon, guarantee.delta
    is_added = guarantee.neighbours is Neighbours.ADD_REMOVE
    who = f"Whether or not any one {unit} is" if is_added else f"Which rows any one {unit} has"
    what = "these answers: whatever they show, and whatever is concluded from them, " if several else ""
    what = what or "this answer: whatever it shows "
    factor = rounded_up(math.exp(epsilon)) if epsilon < 50 else f"e^{as_text(epsilon)}"
    together = ", for all answers here together" if several else ""
    text = f"{who} in the table hardly changes {what}becomes at most {factor} times as likely or unlikely by it"
    text += f" (epsilon = {cost_shown(epsilon)}{together})."
    if said := remark(epsilon):
        text = text.replace("hardly changes", "may change") + said
    if is_added:
        found = rounded_up(100.0 * guarantee.power(_WRONGLY / 100))
        text += f" A test that wrongly reports {_WRONGLY} of 100 absent ones as present detects at most {found} of 100"
        text += " present ones, even if it knows all other rows."
    if delta:
        text += f" This may fail with a probability of at most delta = {cost_shown(delta)}."
    return f"{text} Other answers about the same table add to it." if several else text


def reported(release: Planned, value: Value, group: Any = None) -> Value:
    """A value as it would be reported: to the place of the first digit of its error bound, but whole numbers whole."""
    kind = QUESTIONS[release.task]
    bound = kind.value_bound(release, release.units_in(group), value)
    if not isinstance(value, float):
        return value
    if bound is None or not 0.0 < bound < math.inf:
        return float(format(value, kind.digits)) if kind.digits else value
    return round(value, max(0, -math.floor(math.log10(bound))))


def ends_shown(lower: float, upper: float, *, is_amount: bool) -> tuple[str, str]:
    """The ends of an interval, rounded outwards to the second digit of half its width; whole numbers stay.

    Those of amounts are in groups of three digits, as the amount is; others may be years.
    """
    half = (upper - lower) / 2.0
    if isinstance(lower, int) and isinstance(upper, int):
        return f"{lower:,}", f"{upper:,}"
    if not 0.0 < half < math.inf:
        return f"{lower:,.10g}", f"{upper:,.10g}"
    digits = max(0, 1 - math.floor(math.log10(half)))
    place, form = 10.0**digits, f"{',' * is_amount}.{digits}f"
    return format(math.floor(lower * place) / place, form), format(math.ceil(upper * place) / place, form)


def scope(where: Sequence[Mapping[str, Any]] | None) -> str:
    """Of which rows an answer is, in one sentence; empty if of all."""
    return f"Only rows where {' and '.join(map(condition, where))} count." if where else ""


def condition(held: Mapping[str, Any]) -> str:
    """A condition on a column: that it is one of some values, or a number between two ends."""
    column, values = held["column"], held.get("values")
    if values is not None:
        values = summaries.members(values)
        shown = [*map(as_text, values[: _FEW if len(values) > _FEW + 1 else _FEW + 1])]
        if more := len(values) - len(shown):
            shown.append(f"one of {more:,} more")
        *others, last = shown
        return f"{column} is {', '.join(others)}{' or ' * bool(others)}{last}"
    lower, upper = (end if end is None else as_text(end) for end in held["between"])
    if upper is None:
        return f"{column} is at least {lower}"
    return f"{column} is at most {upper}" if lower is None else f"{column} is between {lower} and {upper}"


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[int] = ()) -> str:
    """Rows below their heads in printable columns, those at the places `right` to the right; the last is as it is."""
    shown = [[*map(printable, row)] for row in (heads, *rows)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)][:-1]
    lines: list[str] = []
    for row in shown:
        pairs = enumerate(zip(row, widths, strict=False))
        padded = [cell.rjust(width) if place in right else cell.ljust(width) for place, (cell, width) in pairs]
        lines.append("  ".join([*padded, row[-1]]) if row[-1] else "  ".join(padded).rstrip())
    return "\n".join(lines)


def html_table(heads: Sequence[str], rows: Sequence[Sequence[object]], *notes: str) -> str:
    """A table for a notebook or a report, with sentences below. Everything is escaped, and no colour is set."""
    cells = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    return f"<table><tr>{head}</tr>{cells}</table>{html_notes(*notes)}"


def html_notes(*notes: str) -> str:
    """Sentences, some of which may be empty."""
    loud = (' class="loud"' if LOUD in note else "" for note in notes)
    return "".join(f"<p{how}>{escape(note)}</p>" for note, how in zip(notes, loud, strict=True) if note)


def cost_shown(cost: float) -> str:
    """An epsilon or a delta that is spent, with four digits, rounded up, but for what only the sum of doubles adds."""
    return as_text(in_digits(float(f"{cost:.15g}"), 4, up=True))  # 0.5 and 0.1 cost 0.6000000000000001


def bound_shown(bound: float | None, unit: str | None) -> str:
    """An error bound as far as it can be one: a count is off by a whole number. Empty if there is none."""
    if bound is None or not math.isfinite(bound):
        return ""
    if unit is None:
        return f"{math.floor(bound):,}"
    return f"{math.ceil(bound):,} ranks" if unit == "ranks" else rounded_up(bound)


def rounded_up(bound: float) -> str:
    """A bound with three digits, rounded so that it still holds; a decimal as people write it."""
    shown = Context(prec=3, rounding=ROUND_CEILING).create_decimal(repr(float(bound)))
    return f"{shown.normalize():,f}" if -4 < shown.adjusted() < 9 else f"{shown:.2e}"

"""What a check says: exact numbers in sentences, each with the option that helps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Any

from dpselect.backends.rows.inspect import (
    BLANKS_DIFFER,
    BOTH_DIFFER,
    CASE_DIFFERS,
    NUMBER_DIFFERS,
    ZEROS_DIFFER,
    Inspection,
)
from dpselect.errors import InvalidParameterError
from dpselect.formats import Format
from dpselect.questions.question import counted
from dpselect.questions.wording import html_table
from dpselect.summaries import PublicCandidates

WARNING = (
    "For the holder of the data only: these numbers are exact, not private. Acting on them is outside the guarantee:"
    " choose candidates, bounds and epsilon without them."
)

_HOW = {
    BLANKS_DIFFER: "with blanks around it",
    CASE_DIFFERS: "in other case",
    BOTH_DIFFER: "in other case, with blanks around it",
    ZEROS_DIFFER: "written as another number, such as 18.0 for 18",
    NUMBER_DIFFERS: "written as another number, such as 018 for 18",
}
_NEARLY: Mapping[str, Mapping[str, Any]] = {
    BLANKS_DIFFER: {"trim": True},
    CASE_DIFFERS: {"ignore_case": True},
    BOTH_DIFFER: {"trim": True, "ignore_case": True},
}
_AS_WRITTEN = "give the candidate as it is written"
_AS_INTEGERS = "--candidates-as integer, which reads 18 and 18.0 alike"
_SHARED = 0.1
"""From this share of tied values on, an answer between the values is a poor one."""
_PLAIN = re.compile("[A-Za-z0-9./:%_-]{2,}")
"""What no shell takes for something else."""
_WHOLE = re.compile("0|[1-9][0-9]{0,17}")
"""Text that is a whole number, and no code such as 007."""
_SHOWN, _LONGEST = 10, 60
"""Candidates that are listed, and characters of each."""
_LINES = (
    "they have another number of fields than the first line, or quotes that do not pair up. If each of them ends in a"
    " delimiter, let the first line end in one, too. If fields have line breaks inside, write the file anew:"
    " docs/files.md, CSV."
)
FEW_UNITS = 20
"""Units."""
_NO_NAME = "if it stands for an unknown one, leave these rows out of the table."
_SENTINEL = (
    "often a word for a missing value. If it is one here, make these cells empty: no option leaves them out, and"
    " bounds count them as the nearest bound."
)
_GERMAN = "They count as numbers near 1. If the dot is between thousands: --thousands . --decimal ','."
WHOSE = "An answer needs many of them. Is this the column that says whose row it is?"


class Limits(Enum):
    """What two numbers of a question are, and what happens to rows below the first and above the second."""

    BOUNDS = ("the lower bound", "the upper bound", "and are counted as if they were equal to it")
    BETWEEN = ("the first number", "the second number", "and do not count")
    CLIP = ("the lower end of the clip", "the upper end of the clip", "which is added in their place")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Check:
    """What was found. Print it; it is exact, and for the holder of the data only.

    Attributes:
        column: name of the column.
        unit: name of the column that identifies whom a row belongs to.
        found: the numbers behind the sentences.
        candidates: what was looked for; None: numbers.
        step: of the question, if one was given.
        limits: what the question's two numbers are.
        chooses_between: whether the answer is any number between the bounds, or one at each `step`.
        format: that was declared.
        untyped: whether the column has no type, as in CSV.
        scope: of which rows it is, in one sentence; empty: of all.
        groups: the same for the column of groups, if there are any.
        amounts: the same for the column that is summed, if there is one.
        together: rows, and units with such a row, that have a value, a group and an amount; None: as in `found`.
    """

    column: str
    unit: str
    found: Inspection
    candidates: PublicCandidates | None
    step: float | None = None
    limits: Limits = Limits.BOUNDS
    chooses_between: bool = True
    format: Format | None = None
    untyped: bool = False
    scope: str = ""
    groups: Check | None = None
    amounts: Check | None = None
    together: tuple[int, int] | None = None

    @property
    def rows(self) -> int:
        """All there are."""
        return self.found.rows

    @property
    def usable_rows(self) -> int:
        """Those that count: with a unit and all that the question asks for."""
        return self.found.usable_rows if self.together is None else self.together[0]

    @property
    def units(self) -> int:
        """Different ones, in all rows."""
        return self.found.units

    @property
    def usable_units(self) -> int:
        """Units with a row that counts."""
        return self.found.usable_units if self.together is None else self.together[1]

    @property
    def reasons(self) -> dict[str, int]:
        """Why rows of somebody's have no value that counts, and how many; most of them first."""
        return {each.reason: each.rows for each in self.found.unusable}

    @property
    def suggested(self) -> Format | None:
        """The declared format with all words that would make more cells count; None: there are none, or they contradict
        each other."""
        parts = [self, *(each for each in (self.groups, self.amounts) if each is not None)]
        found = [words for part in parts for words in part._helping_words()]
        merged: dict[str, Any] = {} if self.format is None else dict(self.format.words)
        for words in found:
            for name, value in words.items():
                joined = value if name != "strip" else "".join(dict.fromkeys(merged.get(name, "") + value))
                if merged.setdefault(name, joined) != joined and name != "strip":
                    return None
                merged[name] = joined
        try:
            return Format(**merged) if found else None
        except InvalidParameterError:
            return None

    @property
    def problems(self) -> tuple[str, ...]:
        """What may make an answer useless, each in a sentence; empty if nothing looks wrong."""
        found = [*self._of_units(), *self._of_values(), *self._of_numbers(), *self._of_candidates()]
        for other in (self.groups, self.amounts):
            if other is not None:
                said = (*other._of_values(), *other._of_numbers(), *other._of_candidates())
                found += [f"{printable(other.column)}: {each}" for each in said]
        suggested = self.suggested
        several = suggested is not None and len(set(map(_options, self._helping_words()))) > 1
        return (*found, *([_sentence(f"All of these: {_options(suggested.words)}")] if several and suggested else []))

    def __str__(self) -> str:
        found = self.found
        kind = "numbers" if self.candidates is None else counted(len(self.candidates), "candidate")
        lines = [
            f"{printable(self.column)}, for {kind}: {self.usable_rows:,} of {found.rows:,} rows count.",
            f"{printable(self.unit)}: {self.usable_units:,} of {found.units:,} units take part"
            + (f", {found.several:,} of them with several rows, up to {found.most:,}." if found.several else "."),
        ]
        problems = [f"- {each}" for each in self.problems] or ["Nothing looks wrong."]
        others = [other._head() for other in (self.groups, self.amounts) if other is not None]
        return "\n".join([WARNING, "", *lines, *others, *filter(None, [self.scope]), "", *problems])

    def _repr_html_(self) -> str:
        """For the notebook of the holder of the data."""
        about = [(printable(self.column), self.usable_rows, self.found.rows)]
        about += [(printable(each.column), each.usable_rows, each.rows) for each in (self.groups, self.amounts) if each]
        about += [(f"{printable(self.unit)} (units)", self.usable_units, self.units)]
        rows = [(name, f"{usable:,}", f"{of:,}") for name, usable, of in about]
        return html_table(("", "count", "of"), rows, *(self.problems or ("Nothing looks wrong.",)), WARNING)

    def __repr__(self) -> str:
        return f"Check({self.column!r}, unit={self.unit!r})"

    def _head(self) -> str:
        if self.candidates is None:
            return f"{printable(self.column)}, summed: {self.found.usable_rows:,} rows have a number."
        count = len(self.candidates)
        return f"{printable(self.column)}, for {count:,} groups: {self.found.usable_rows:,} rows are in one."

    def _of_units(self) -> Iterator[str]:
        found, unit = self.found, printable(self.unit)
        if found.left_out:
            lines = found.rows + found.left_out
            yield f"{found.left_out:,} of {lines:,} lines cannot be read: {_LINES}"
        if not found.rows:
            yield "The table has no rows."
        elif found.nobodys:
            yield f"{_share(found.nobodys, found.rows)} have no {unit}: they do not count."
        if found.units == 1 and found.rows > 1:
            yield f"All rows have the same {unit}. {WHOSE}"
        elif 1 < found.units <= FEW_UNITS and found.rows >= 10 * found.units:
            yield f"There are only {found.units:,} units. {WHOSE}"
        elif self.usable_units <= FEW_UNITS and found.rows >= 10 * max(1, self.usable_units):
            few = f"Only {counted(self.usable_units, 'unit')}" if self.usable_units else "No unit"
            yield f"{few} will take part: the answer would be mostly noise."
        if found.units > 1 and found.largest > max(FEW_UNITS, found.rows / 2):
            yield f"{_share(found.largest, found.rows)} have the same {unit}. They count as one person: {_NO_NAME}"
        elif found.no_names > 1:
            yield f"{_share(found.no_names, found.rows)} have a word such as 'unknown' for {unit}: {_NO_NAME}"
        if found.alike:
            yield f"{counted(found.alike, 'unit')} differ from another one in capitals only, and count beside it."

    def _helping_words(self) -> Iterator[Mapping[str, Any]]:
        yield from (each.words for each in self.found.unusable if each.words)
        differ = {each.differs_in for each in self.found.near}
        yield from (words for differs_in, words in _NEARLY.items() if differs_in in differ)

    def _of_values(self) -> Iterator[str]:
        owned = self.found.rows - self.found.nobodys
        for each in self.found.unusable:
            advice = _sentence(f" Try {_options(each.words)}") if each.words else ""
            advice += f" {each.otherwise}" if each.otherwise else ""
            yield f"{_share(each.rows, owned)}: {each.reason}.{advice}"

    def _of_numbers(self) -> Iterator[str]:
        found = self.found
        if self.candidates is not None or not found.usable_rows:
            return
        for each in found.sentinels:
            yield f"{_share(each.rows, found.usable_rows)} are {each.value:.0f}, {_SENTINEL}"
        if found.grouped and found.grouped == found.dotted:
            yield f"{_share(found.grouped, found.usable_rows)} have three digits after a dot, as in 1.234. {_GERMAN}"
        if self.chooses_between and self.step is None and found.ties >= _SHARED * found.usable_rows:
            of = f"All are multiples of {found.step:g}. Try --step {found.step:g}." if found.step else "Give a --step."
            yield f"{_share(found.ties, found.usable_rows)} share their value with another row. {of}"
        if self.limits is Limits.BOUNDS and found.commonest > max(1, found.usable_rows / 2):
            yield f"{_share(found.commonest, found.usable_rows)} have the same value."
        if self.step is not None and found.usable_rows > 1 and found.spread < self.step:
            yield "All values lie within one step, which cannot tell them apart. Try a smaller --step."
        lower, upper, then = self.limits.value
        for rows, beyond in ((found.below, f"below {lower}"), (found.above, f"above {upper}")):
            if rows:
                yield f"{_share(rows, found.usable_rows)} are {beyond}, {then}."

    def _of_candidates(self) -> Iterator[str]:
        if self.candidates is None:
            return
        nears = self.found.near
        numbers = [near for near in nears if near.differs_in == ZEROS_DIFFER]
        if self.untyped and numbers and all(_WHOLE.fullmatch(str(each)) for each in self.candidates.values):
            nears = tuple(near for near in nears if near.differs_in != ZEROS_DIFFER)
            rows = counted(sum(near.rows for near in numbers), "row")
            them = counted(len(numbers), "candidate")
            verb = "is" if len(numbers) == 1 else "are"
            yield f"{them} {verb} in {rows} {_HOW[ZEROS_DIFFER]}. Try this: {_AS_INTEGERS}."
        for near in nears[:_SHOWN]:
            advice = _options(_NEARLY[near.differs_in]) if near.differs_in in _NEARLY else _AS_WRITTEN
            how = f"{counted(near.rows, 'row')} {_HOW[near.differs_in]}"
            yield f"{_short(self.candidates[near.position])} is in {how}. Try this: {advice}."
        if len(nears) > _SHOWN:
            yield f"So are {len(nears) - _SHOWN:,} more."
        if self.found.missing:
            yield missing_candidates(self.candidates, self.found.missing)


def missing_candidates(candidates: PublicCandidates, places: Sequence[int]) -> str:
    """A sentence about candidates that no row has."""
    listed = ", ".join(_short(candidates[place]) for place in places[:_SHOWN])
    more = f", and {len(places) - _SHOWN:,} more" if len(places) > _SHOWN else ""
    return f"{len(places):,} of {len(candidates):,} occur in no row: {listed}{more}."


def _short(candidate: object) -> str:
    text = str(candidate) if isinstance(candidate, date) else repr(candidate)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def printable(name: str) -> str:
    """The name of a column on one line."""
    return name if name.isprintable() else repr(name)


def _share(rows: int, of: int) -> str:
    return f"{rows:,} of {of:,} rows ({rows / of:.1%})" if of else f"{rows:,} rows"


def _sentence(text: str) -> str:
    """With a full stop, unless a dot stands by itself at the end."""
    return text if text.endswith(" .") else f"{text}."


def _options(words: Mapping[str, Any]) -> str:
    """The words of a format as options of the command line, quoted for a shell."""
    given = (
        f"--{name.replace('_', '-')}" + ("" if value is True else f" {_quoted(value)}") for name, value in words.items()
    )
    return " ".join(given)


def _quoted(text: str) -> str:
    if text == "." or _PLAIN.fullmatch(text):
        return text
    return f'"{text}"' if text == "'" else "'" + text.replace("'", "'\"'\"'") + "'"

"""Public lists, ranges and intervals as people write them: ``a..b``, ``x,y,z``, ``@file`` or ``@codes.csv:column``.

The only reader of them, for commands, forms and plans, and their writer. Nothing is read from the table of a question.
"""

from __future__ import annotations

import csv
import glob
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar, cast

from dpselect.arguments import DATE, Argument, decimal, read
from dpselect.errors import InvalidCandidatesError, InvalidDataError, InvalidParameterError, Shown, typed
from dpselect.summaries import CandidateKind, PublicCandidates
from dpselect.summaries.candidates import Member
from dpselect.summaries.domain import CONVERSIONS, DECIMAL, INTEGER, kind_of

Listed = TypeVar("Listed", bound=Sequence[Member])

_RANGE = re.compile(r"\s*([+-]?[0-9]{1,19})\s*\.\.\s*([+-]?[0-9]{1,19})\s*")
_ALMOST_A_RANGE = re.compile(
    r"(?=.*[0-9])\s*([+-]?[.]?[0-9][0-9.eE/+-]*)?\s*(\.{2,}|\N{HORIZONTAL ELLIPSIS})\s*([+-]?[.]?[0-9][0-9.eE/+-]*)?\s*"
)
_DASHED = re.compile(r"\s*([+-]?[0-9]{1,19})\s*[-\N{EN DASH}]\s*([+-]?[0-9]{1,19})\s*")
_TABLE = re.compile(r"@(.+\.(?:csv|parquet)):([^:/\\]+)", re.IGNORECASE | re.DOTALL)
_TABLES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson", ".json", ".xlsx")
_NUMBERS = (CandidateKind.INTEGER, CandidateKind.NUMBER)
_ALMOST_A_LIST = re.compile(r"\s*(range)?(\(.*\)|\[.*\]|\{.*\})\s*|\s*('[^',]*'\s*[,\n]\s*)*'[^',]*'\s*", re.DOTALL)
_BOOLEAN = re.compile(r"\s*(true|false)\s*", re.IGNORECASE)
_FORMS = "a range a..b, a list x,y,z, @file with one per line, or @codes.csv:column"


def listed(
    text: str,
    argument: str = "candidates",
    *,
    kind: CandidateKind | None = None,
    fitting: Sequence[CandidateKind] = (),
    private: str,
    may_be_one: bool = False,
) -> range | Sequence[Any]:
    """The public list that `text` names, as `argument` takes it: prices as numbers, dates as texts.

    Args:
        text: a range is of whole numbers and includes both ends; a list is separated by commas or lines, with double
            quotes around members that hold a comma (``"Paris, Texas",Rome``); a file is in UTF-8.
        kind: the type of the members, if stated. Unless it is text, what nearly looks like a range or a Python list is
            refused instead of being read as a single member.
        fitting: otherwise the types that the column can match; the first one that all members look like is used. If
            there are none, integers, booleans or text, but no decimals.
        private: path or glob of the table of the question, from which nothing may be listed.
    """
    written = _Written(text, argument, private, may_be_one)
    match argument:
        case "prices":
            return written.prices()
        case "dates":
            return written.dates()
        case _:
            return written.values(kind, fitting)


@dataclass(frozen=True, slots=True)
class _Written:
    """The text of a public list: see `listed`."""

    text: str
    argument: str
    private: str
    may_be_one: bool

    def refused(self, expected: str = _FORMS, hint: str = "", *, got: str = "") -> InvalidCandidatesError:
        return InvalidCandidatesError(self.argument, Shown(got) if got else typed(self.text), expected, hint)

    def values(self, kind: CandidateKind | None, fitting: Sequence[CandidateKind]) -> range | Sequence[Any]:
        known, as_text = kind or (fitting[0] if len(fitting) == 1 else None), f"--{self.argument}-as text"
        if (column := self.of_column(known)) is not None:
            return self.several(column)
        if kind is not CandidateKind.TEXT and _ALMOST_A_LIST.fullmatch(self.text):
            hint = "Write a list with commas, no brackets or single quotes."
            if self.argument != "where":  # whose type is the column's
                hint += f" If these are part of a text: {as_text}."
            raise self.refused(hint=hint)
        if known is not CandidateKind.TEXT:
            self.refuse_dashed()
        found = self.members()
        if isinstance(found, range):
            if kind is None and known is CandidateKind.TEXT:
                hint = f"The column holds text. To read the whole numbers as text, use {as_text}."
                raise self.refused(f"{self.argument} of the column's type", hint)
            if kind in (None, CandidateKind.INTEGER):
                return self.several(found)
            # Checked as numbers first, so that a range that is too long is refused before it is listed.
            PublicCandidates.given(found)
            found = list(map(str, found))
        dotted = (member for member in found if ".." in member or "\N{HORIZONTAL ELLIPSIS}" in member)
        if kind is not CandidateKind.TEXT and any(map(_ALMOST_A_RANGE.fullmatch, dotted)):
            hint = "A range is of whole numbers and stands alone. List dates, decimals and other values, or"
            raise self.refused(hint=f"{hint} @file with one per line. If two dots are part of a text: {as_text}.")
        self.several(found)
        if kind is None:
            kind = known or (kind_of(found, _NUMBERS) if fitting else kind_of(found))
            are_numbers = all(map(DECIMAL.fullmatch, found))
            are_decimals = are_numbers and not all(map(INTEGER.fullmatch, found))
            if not fitting and found and all(map(_BOOLEAN.fullmatch, found)):
                kind = CandidateKind.BOOLEAN  # as text they would not match the True and TRUE of other programs
            elif not fitting and are_decimals:
                hint = f"The table does not say whether they are text. Use {as_text} to compare them as text, or number"
                raise self.refused("a type for these decimals", f"{hint} (0.5 is 0.50).")
            elif kind is CandidateKind.INTEGER and are_decimals:
                kind = CandidateKind.NUMBER  # refused by the question, which knows the type of the column
        try:
            return [CONVERSIONS[kind](member) for member in found]
        except ValueError:
            hint = f"State their type with --{self.argument}-as, or correct them."
            raise self.refused(str(kind), hint, got=f"<{len(found)} texts>") from None

    def prices(self) -> range | Sequence[Any]:
        """Numbers; what a Parquet file has is checked with the question."""
        self.refuse_dashed()
        column = self.of_column(CandidateKind.TEXT)
        found = self.several(self.members() if column is None else column)
        if isinstance(found, range) or not all(isinstance(member, str) for member in found):
            return found
        texts = cast("Sequence[str]", found)
        if not all(map(DECIMAL.fullmatch, texts)):
            raise self.refused("numbers such as 5 or 9.99", got=f"<{len(texts)} texts>")
        return [int(member) if INTEGER.fullmatch(member) else decimal(member) for member in texts]

    def dates(self) -> range | Sequence[Any]:
        """Texts, which the question reads; of a Parquet file they are as it has them."""
        if ".." in self.text and not self.text.startswith("@"):
            hint = "For all dates from a first to a last: --bounds."
            raise self.refused("dates separated by commas, or @file with one per line", hint)
        column = self.of_column(CandidateKind.TEXT)
        return self.several(self.members() if column is None else column)

    def refuse_dashed(self) -> None:
        """Refuse ``1-16``, which is no number, and hardly ever meant as a text."""
        found = _DASHED.fullmatch(self.text)
        if found is not None and int(found[1]) < int(found[2]):
            as_text = " If it is one text: --groups-as text." if self.argument == "groups" else ""
            raise self.refused(hint=f"Did you mean {int(found[1])}..{int(found[2])}?{as_text}")

    def several(self, found: Listed) -> Listed:
        """What the text lists, if that is at least two members, or one may stand alone."""
        if found and not found[1:2] and not self.may_be_one:  # a range may be too long for len()
            hint = "One leaves nothing to choose. Separate a list by commas, and write @ before the name of a file."
            hint += "" if self.argument == "dates" else " A range of whole numbers is written 1..100."
            raise self.refused(f"at least two {self.argument}", hint)
        return found

    def of_column(self, kind: CandidateKind | None) -> list[Member] | None:
        """The members that ``@codes.csv:column`` names; None if it has another form. Parquet files state the types."""
        table = _TABLE.fullmatch(self.text)
        if table is None or os.path.exists(self.text[1:]):
            return None
        from dpselect.rows.opening import candidates_from

        path, column = table.groups()
        self.refuse_private(path)
        try:
            return candidates_from(path, column=column, kind=None if path.lower().endswith(".parquet") else kind)
        except InvalidCandidatesError as refused:  # named like the Python argument
            at = f"; {refused.got.strip('<>')} has none" if refused.got.startswith("<") else ""
            raise self.refused(refused.expected + at, refused.hint) from None

    def members(self) -> range | list[str]:
        """What the text lists, not yet read as numbers or dates; a range is one of whole numbers."""
        if self.text.startswith("@"):
            self.refuse_private(self.text[1:])
            return self.lines_of_file()
        if found := _RANGE.fullmatch(self.text):
            first, last = (int(end) for end in found.groups())
            if first > last:
                raise self.refused("a range a..b with a <= b")
            return range(first, last + 1)
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        if len(lines) < 2:
            listed = _separated(self.text)
        else:
            rows = [_separated(line) or line.split(",") for line in lines]  # a quote that is not closed is part of it
            if any(len(row) > 1 for row in rows):
                expected = "one on each line, or all separated by commas on a single line; not both"
                hint = "A value with a comma, or with quotes that are doubled, stands in double quotes."
                raise self.refused(expected, hint, got=f"<{len(lines)} lines>")
            listed = [row[0] for row in rows]
        if not listed or not all(member.strip() for member in listed):
            raise self.refused()
        return listed

    def lines_of_file(self) -> list[str]:
        """The lines of the file behind the @. Of a table the first one would be read as a candidate."""
        path, hint, is_there = self.text[1:], "", os.path.isfile(self.text[1:])
        if is_there and path.lower().endswith(_TABLES):
            expected = "@file with one per line, or the name of a column after it: @codes.csv:code, @codes.parquet:code"
            hint = "If the file is a list with one per line, end its name in .txt."
        else:
            expected = "a readable text file in UTF-8" if is_there else "an existing file behind the @"
            with suppress(OSError, ValueError), open(path, encoding="utf-8-sig") as file:  # also a NUL in the path
                return [line for line in file.read().split("\n") if line.strip()]
        raise self.refused(expected, hint, got=repr(self.text))

    def refuse_private(self, path: str) -> None:
        """Refuse the table of the question as the source of its own candidates, whatever name is given for it."""
        asked = [self.private] if os.path.exists(self.private) else glob.iglob(self.private, recursive=True)
        try:
            same = any(os.path.samefile(path, each) for each in asked)
        except (OSError, ValueError):
            return  # a missing file is reported elsewhere
        if same:
            hint = "Which values occur in it is private. Without a public list, ask for values, or top-k with --delta."
            raise self.refused("a public file, not the table of the question", hint)


def _separated(line: str) -> list[str]:
    """What commas separate; nothing if quotes are not closed."""
    with suppress(csv.Error):
        return next(csv.reader([line], strict=True, skipinitialspace=True))
    return []


def value_of(
    argument: Argument,
    words: Sequence[str],
    given: Mapping[str, Any],
    kinds: Callable[[str], Sequence[CandidateKind]],
    *,
    private: str,
) -> Any:
    """The value of any argument of a question that is written in these words: one, two for a pair, or all conditions.

    What else was `given` has, by name, the column that the members of a list are compared with, which can match these
    `kinds`, and their type if it is stated. Nothing is listed from what is `private`.
    """
    named = {"groups": "by", "where": "where"}.get(argument.name, "column")

    def fitting(column: object) -> Sequence[CandidateKind]:
        try:
            return kinds(column) if isinstance(column, str) and column else ()
        except InvalidDataError as error:  # whose text is about the column of the question
            raise InvalidDataError(named, error.got, error.expected, error.hint) from None

    if argument.kind == "where":
        return conditions(words, fitting, private=private)
    if not argument.names_members:
        return read(argument.kind, argument.name, *words)
    types = () if argument.kind in ("prices", "dates") else fitting(given.get(named))
    stated, may_be_one = given.get(f"{argument.name}_as") or None, argument.may_be_one
    return listed(words[0], argument.name, kind=stated, fitting=types, private=private, may_be_one=may_be_one)


def conditions(
    written: Iterable[str], kinds: Callable[[str], Sequence[CandidateKind]], *, private: str
) -> dict[str, Any]:
    """Conditions on rows, by the names of their columns, each once: ``age=18..65`` or ``region=north,south``."""
    found: dict[str, Any] = {}
    for text in written:
        column, separator, condition = text.partition("=")
        column = column.strip()
        if not separator or not column or not condition.strip() or column in found:
            hint = "Each column once." if column in found else ""
            raise InvalidParameterError("where", typed(text), "a column and what it has to be: age=18..65", hint)
        ends = interval(condition)
        if ends is None and ".." in condition and not condition.strip().startswith(('"', "@")):
            expected = "two ends such as 18..65, 18.. or 2026-01-01..2026-01-31, or a list of values"
            hint = "A value that has two dots itself stands in double quotes."
            raise InvalidParameterError("where", typed(text), expected, hint)
        found[column] = ends or listed(condition, "where", fitting=kinds(column), private=private, may_be_one=True)
    return found


def interval(text: object) -> tuple[Any, Any] | None:
    """The ends of an interval of numbers or dates, None where one is open; None if it is no such text."""
    ends = [each.strip() for each in text.split("..")] if isinstance(text, str) and len(text) <= 200 else []
    if len(ends) != 2 or not any(ends):
        return None
    if all(map(DATE.fullmatch, ends)):
        return ends[0], ends[1]
    with suppress(InvalidOperation):  # no number, or beyond all of them
        lower, upper = (Decimal(each) if each else None for each in ends)
        return (lower, upper) if all(DECIMAL.fullmatch(each) for each in ends if each) else None
    return None

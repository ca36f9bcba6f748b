"""Public lists, ranges and intervals as people write them: ``a..b``, ``x,y,z``, ``@file`` or ``@codes.csv:column``.

The only reader of them, for commands, forms and plans, and their writer. Nothing is read from the table of a question.
"""

from __future__ import annotations

import csv
import glob
import io
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any, TypeVar, cast

from dpselect.arguments import Argument, decimal, read
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
_LOOKS_LIKE_A_TABLE = re.compile(r".*\.(csv|tsv|parquet|jsonl|ndjson|json|xlsx)", re.IGNORECASE | re.DOTALL)
_NUMBERS = (CandidateKind.INTEGER, CandidateKind.NUMBER)
_ALMOST_A_LIST = re.compile(r"\s*(range)?(\(.*\)|\[.*\]|\{.*\})\s*|\s*('[^',]*'\s*,\s*)*'[^',]*'\s*", re.DOTALL)
_BOOLEAN = re.compile(r"\s*(true|false)\s*", re.IGNORECASE)
_ONE_NUMBER = r"[+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
_INTERVAL = re.compile(rf"\s*({_ONE_NUMBER})?\s*[.][.]\s*({_ONE_NUMBER})?\s*")
_DATES = re.compile(r"\s*([0-9]{4}-[0-9]{2}-[0-9]{2})[.][.]([0-9]{4}-[0-9]{2}-[0-9]{2})\s*")
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
    """The public list that `text` names, as `argument` takes it.

    Args:
        text: an inclusive range of whole numbers (``-5..5``); a list, with double quotes around members that hold a
            comma (``"Paris, Texas",Rome``); ``@`` and the path of a UTF-8 file with one member a line, blank lines
            ignored; or ``@codes.csv:code`` for a column of a public CSV or Parquet file.
        argument: the name of the argument. Prices are numbers; dates remain texts, which the question reads.
        kind: the type of the members, if stated. Unless it is text, what nearly looks like a range or a Python list is
            refused instead of being read as a single member.
        fitting: otherwise the types that the column can match; the first one that all members look like is used. If
            there are none, integers, booleans or text, but no decimals. A range is always of whole numbers.
        private: path or glob of the table of the question, from which nothing may be listed.
        may_be_one: whether a list of one leaves something to ask.

    Raises:
        InvalidCandidatesError: not such a text, no such file, the private one, a member that is not of the kind, or
            only one.
    """
    if argument in ("prices", "dates"):
        return _numbers_or_dates(text, argument, private)
    known, as_text = kind or (fitting[0] if len(fitting) == 1 else None), f"--{argument}-as text"
    if (column := _of_column(text, kind=known, private=private, argument=argument)) is not None:
        return _several(column, text, argument, may_be_one=may_be_one)
    if kind is not CandidateKind.TEXT and _ALMOST_A_LIST.fullmatch(text):
        hint = "Write a list with commas, no brackets or single quotes."
        if argument != "where":  # whose type is the column's
            hint += f" If these are part of a text: {as_text}."
        raise InvalidCandidatesError(argument, typed(text), _FORMS, hint)
    if known is not CandidateKind.TEXT:
        _refuse_dashed(text, argument)
    found = _members(text, private=private, argument=argument)
    if isinstance(found, range):
        if kind is None and known is CandidateKind.TEXT:
            hint = f"The column holds text. To read the whole numbers as text, use {as_text}."
            raise InvalidCandidatesError(argument, typed(text), f"{argument} of the column's type", hint)
        if kind in (None, CandidateKind.INTEGER):
            return _several(found, text, argument, may_be_one=may_be_one)
        # Checked as numbers first, so that a range that is too long is refused before it is listed.
        PublicCandidates.given(found)
        found = list(map(str, found))
    dotted = (member for member in found if ".." in member or "\N{HORIZONTAL ELLIPSIS}" in member)
    if kind is not CandidateKind.TEXT and any(map(_ALMOST_A_RANGE.fullmatch, dotted)):
        hint = "A range is of whole numbers and stands alone. List dates, decimals and other values, or put them in a"
        hint += f" @file. If two dots are part of a text: {as_text}."
        raise InvalidCandidatesError(argument, typed(text), _FORMS, hint)
    _several(found, text, argument, may_be_one=may_be_one)
    if kind is None:
        kind = known or (kind_of(found, _NUMBERS) if fitting else kind_of(found))
        if not fitting and found and all(map(_BOOLEAN.fullmatch, found)):
            kind = CandidateKind.BOOLEAN  # as text they would not match the True and TRUE of other programs
        elif not fitting and _are_decimals(found):
            hint = f"The table does not say whether they are text. Use {as_text} to compare them as text, or number"
            hint += " (0.5 is 0.50)."
            raise InvalidCandidatesError(argument, typed(text), "a type for these decimals", hint)
        elif kind is CandidateKind.INTEGER and _are_decimals(found):
            kind = CandidateKind.NUMBER  # refused by the question, which knows the type of the column
    convert = CONVERSIONS[kind]
    try:
        return [convert(member) for member in found]
    except ValueError:
        hint = f"State their type with --{argument}-as, or correct them."
        raise InvalidCandidatesError(argument, Shown(f"<{len(found)} texts>"), str(kind), hint) from None


def _are_decimals(listed: Sequence[str]) -> bool:
    return all(map(DECIMAL.fullmatch, listed)) and not all(map(INTEGER.fullmatch, listed))


def _refuse_dashed(text: str, argument: str) -> None:
    """Refuse ``1-16``, which is no number, and hardly ever meant as a text."""
    found = _DASHED.fullmatch(text)
    if found is None or not int(found[1]) < int(found[2]):
        return
    as_text = " If it is one text: --groups-as text." if argument == "groups" else ""
    hint = f"Did you mean {int(found[1])}..{int(found[2])}?{as_text}"
    raise InvalidCandidatesError(argument, typed(text), _FORMS, hint)


def _several(listed: Listed, text: str, argument: str, *, may_be_one: bool = False) -> Listed:
    """The members that `text` lists, if there are at least two, or one may stand alone."""
    # A range may be too long for len().
    if listed and not listed[1:2] and not may_be_one:
        hint = "One leaves nothing to choose. Separate a list by commas, and write @ before the name of a file."
        hint += "" if argument == "dates" else " A range of whole numbers is written 1..100."
        raise InvalidCandidatesError(argument, typed(text), f"at least two {argument}", hint)
    return listed


def _numbers_or_dates(text: str, argument: str, private: str) -> range | Sequence[Any]:
    """Prices, or dates as texts, which the question reads; of a Parquet file they are as it has them."""
    if argument == "prices":
        _refuse_dashed(text, argument)
    elif ".." in text and not text.startswith("@"):
        expected = "dates separated by commas, or @file with one per line"
        raise InvalidCandidatesError(argument, typed(text), expected, "For all dates from a first to a last: --bounds.")
    given = _of_column(text, kind=CandidateKind.TEXT, private=private, argument=argument)
    given = _several(_members(text, private=private, argument=argument) if given is None else given, text, argument)
    are_texts = not isinstance(given, range) and all(isinstance(member, str) for member in given)
    if argument == "dates" or not are_texts:
        return given  # checked as prices with the question
    if not all(map(DECIMAL.fullmatch, cast("Sequence[str]", given))):
        raise InvalidCandidatesError(argument, Shown(f"<{len(given)} texts>"), "numbers such as 5 or 9.99")
    return [int(member) if INTEGER.fullmatch(member) else decimal(member) for member in cast("Sequence[str]", given)]


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
        if not separator or not column or column in found:
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
    if not isinstance(text, str) or len(text) > 200:
        return None
    if (days := _DATES.fullmatch(text)) is not None:
        return days[1], days[2]
    found = _INTERVAL.fullmatch(text)
    if found is None or found.groups() == (None, None):
        return None
    lower, upper = (None if end is None else Decimal(end) for end in found.groups())
    return lower, upper


def on_a_line(text: str, argument: str) -> str:
    """Lines as a list with commas, each quoted if it has one itself; a text of both lines and commas is refused."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) < 2:
        return text
    read = [_one(line) for line in lines]
    if None in read:
        hint = "A value with a comma stands in double quotes."
        expected = "one on each line, or all separated by commas on a single line; not both"
        raise InvalidCandidatesError(argument, Shown(f"<{len(lines)} lines>"), expected, hint)
    written = io.StringIO()
    csv.writer(written, lineterminator="").writerow(read)
    return written.getvalue()


def _one(line: str) -> str | None:
    """The only value of a line; None if commas separate several."""
    with suppress(csv.Error, ValueError):
        if line.startswith('"'):
            (found,) = csv.reader([line], strict=True)
            return found[0] if len(found) == 1 else None
    return None if "," in line else line


def _of_column(text: str, *, kind: CandidateKind | None, private: str, argument: str) -> list[Member] | None:
    """The members that ``@codes.csv:column`` names; None if it has another form. A Parquet file states its types."""
    table = _TABLE.fullmatch(text)
    if table is None or os.path.exists(text[1:]):
        return None
    from dpselect.rows.opening import candidates_from

    path, column = table.groups()
    _refuse_private(path, private, text, argument)
    try:
        return candidates_from(path, column=column, kind=None if path.lower().endswith(".parquet") else kind)
    except InvalidCandidatesError as refused:  # named like the Python argument
        at = f"; {refused.got.strip('<>')} has none" if refused.got.startswith("<") else ""
        raise InvalidCandidatesError(argument, typed(text), refused.expected + at, refused.hint) from None


def _members(text: str, *, private: str, argument: str) -> range | list[str]:
    """The members that `text` lists, not yet read as numbers or dates; a range is one of whole numbers."""
    if text.startswith("@"):
        _refuse_private(text[1:], private, text, argument)
        return _lines(text, argument)
    if found := _RANGE.fullmatch(text):
        first, last = (int(end) for end in found.groups())
        if first > last:
            raise InvalidCandidatesError(argument, typed(text), "a range a..b with a <= b")
        return range(first, last + 1)
    try:
        (listed,) = csv.reader([text], strict=True, skipinitialspace=True)
    except (csv.Error, ValueError):
        listed = []
    if not listed or not all(member.strip() for member in listed):
        raise InvalidCandidatesError(argument, typed(text), _FORMS)
    return listed


def _lines(text: str, argument: str) -> list[str]:
    """The lines of the file behind the @. Of a table the first one would be read as a candidate."""
    hint, is_there = "", os.path.isfile(text[1:])
    if is_there and text.lower().endswith((".csv", ".parquet")):
        expected, hint = f"the name of a column after it, such as {text}:code", "If the file is a list with one per"
        hint += " line, end its name in .txt."
    elif is_there and _LOOKS_LIKE_A_TABLE.fullmatch(text):
        expected = "@file with one per line, or a column of a .csv or .parquet file"
    else:
        expected = "a readable text file in UTF-8" if is_there else "an existing file behind the @"
        with suppress(OSError, ValueError), open(text[1:], encoding="utf-8-sig") as file:  # also a NUL in the path
            return [line for line in file.read().split("\n") if line.strip()]
    raise InvalidCandidatesError(argument, Shown(repr(text)), expected, hint)


def _refuse_private(path: str, private: str, text: str, argument: str) -> None:
    """Refuse the table of the question as the source of its own candidates, whatever name is given for it."""
    asked = [private] if os.path.exists(private) else glob.iglob(private, recursive=True)
    try:
        same = any(os.path.samefile(path, each) for each in asked)
    except (OSError, ValueError):
        return  # a missing file is reported elsewhere
    if same:
        hint = "Which values occur in it is private: a value that only one person has would reveal that person."
        hint += " Without a public list, values and top-k, with --delta, name what enough units have."
        raise InvalidCandidatesError(argument, typed(text), "a public file, not the table of the question", hint)

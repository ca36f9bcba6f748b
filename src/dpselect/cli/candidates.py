"""``--candidates`` and the like: a range ``a..b``, a list ``x,y,z``, ``@file`` or ``@codes.csv:column``.

Read from public text only.
"""

from __future__ import annotations

import csv
import glob
import os
import re
from collections.abc import Sequence
from typing import TypeVar, cast

from dpselect.errors import InvalidCandidatesError, Shown
from dpselect.summaries import CandidateKind, PublicCandidates
from dpselect.summaries.texts import CONVERSIONS, INTEGER, Member, kind_of

Listed = TypeVar("Listed", bound=Sequence[Member])

_RANGE = re.compile(r"\s*([+-]?[0-9]{1,19})\s*\.\.\s*([+-]?[0-9]{1,19})\s*")
_ALMOST_A_RANGE = re.compile(
    r"(?=.*[0-9])\s*([+-]?[.]?[0-9][0-9.eE/+-]*)?\s*(\.{2,}|\N{HORIZONTAL ELLIPSIS})\s*([+-]?[.]?[0-9][0-9.eE/+-]*)?\s*"
)
_DECIMAL = re.compile(r"\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")
_TABLE = re.compile(r"@(.+\.(?:csv|parquet)):([^:/\\]+)", re.IGNORECASE | re.DOTALL)
_LOOKS_LIKE_A_TABLE = re.compile(r".*\.(csv|tsv|parquet|jsonl|ndjson|json|xlsx)", re.IGNORECASE | re.DOTALL)
_NUMBERS = (CandidateKind.INTEGER, CandidateKind.NUMBER)
_UNTYPED = (CandidateKind.INTEGER, CandidateKind.TEXT)
_ALMOST_A_LIST = re.compile(r"\s*(range)?(\(.*\)|\[.*\]|\{.*\})\s*|\s*('[^',]*'\s*,\s*)*'[^',]*'\s*", re.DOTALL)
_BOOLEAN = re.compile(r"\s*(true|false)\s*", re.IGNORECASE)
_FORMS = "a range a..b, a list x,y,z, @file with one a line, or @codes.csv:column"


def parsed(
    text: str,
    *,
    kind: CandidateKind | None = None,
    fitting: Sequence[CandidateKind] = (),
    private: str,
    argument: str = "candidates",
) -> range | Sequence[Member]:
    """The candidates that `text` names.

    Args:
        text: an inclusive range of whole numbers (``-5..5``); a list, with double quotes around members that hold a
            comma (``"Paris, Texas",Rome``); ``@`` and the path of a UTF-8 file with one candidate a line, blank lines
            ignored; or ``@codes.csv:code`` for a column of a public CSV or Parquet file.
        kind: what the members are, if it was said.
        fitting: else the kinds that the column can match, of which it is the first that all look like; if there are
            none, integers or text. A range is one of whole numbers, whether or not the column can match it; and what
            nearly looks like one, or like a list of Python, is refused unless `kind` is text, not taken for the name of
            a single candidate; so are booleans and decimals of which neither `kind` nor `fitting` says that they are.
        private: path or glob of the table that is asked, from which nothing is listed.
        argument: what errors call them.

    Raises:
        InvalidCandidatesError: not such a text, no such file, the private one, a member that is not of the kind, or
            candidates of which there is only one.

    >>> parsed("1..41270", private="people.csv")
    range(1, 41271)
    >>> [parsed("1,2,3", kind=each, private="people.csv") for each in (None, CandidateKind.TEXT)]
    [[1, 2, 3], ['1', '2', '3']]
    >>> parsed("01067,80331", private="people.csv"), parsed("1.5,2", fitting=_NUMBERS, private="people.parquet")
    (['01067', '80331'], [1.5, 2.0])
    """
    in_file = kind or (fitting[0] if len(fitting) == 1 else None)
    if (column := _of_column(text, kind=in_file, private=private, argument=argument)) is not None:
        return _several(column, text, argument)
    if kind is not CandidateKind.TEXT and _ALMOST_A_LIST.fullmatch(text):
        raise _almost_a_list(text, argument)
    listed = members(text, private=private, argument=argument)
    if isinstance(listed, range):
        if kind is None and tuple(fitting) == (CandidateKind.TEXT,):
            hint = f"The column holds text: to look for the whole numbers as text, say --{argument}-as text."
            raise InvalidCandidatesError(argument, _shown(text), f"{argument} of the column's type", hint)
        if kind in (None, CandidateKind.INTEGER):
            return _several(listed, text, argument)
        # Checked as numbers first: a range too long to be counted out is refused before it is.
        PublicCandidates.given(listed)
        listed = list(map(str, listed))
    dotted = (member for member in listed if ".." in member or "\N{HORIZONTAL ELLIPSIS}" in member)
    if kind is not CandidateKind.TEXT and any(map(_ALMOST_A_RANGE.fullmatch, dotted)):
        raise _almost_a_range(text, argument)
    _several(listed, text, argument)
    if kind is None:
        if listed and not fitting:
            _check_clear(listed, text, argument)
        kind = fitting[0] if len(fitting) == 1 else kind_of(listed, _NUMBERS if fitting else _UNTYPED)
        if kind is CandidateKind.INTEGER and _are_decimals(listed):
            kind = CandidateKind.NUMBER  # refused by the question, which knows what the column holds
    convert = CONVERSIONS[kind]
    try:
        return [convert(member) for member in listed]
    except ValueError:
        hint = f"Say how to read them with --{argument}-as, or correct them."
        raise InvalidCandidatesError(argument, Shown(f"<{len(listed)} texts>"), str(kind), hint) from None


def _are_decimals(listed: Sequence[str]) -> bool:
    return all(map(_DECIMAL.fullmatch, listed)) and not all(map(INTEGER.fullmatch, listed))


def _check_clear(listed: Sequence[str], text: str, argument: str) -> None:
    """Refuse what may be text or something else, where nothing says which, and many a text would stand for it."""
    if all(map(_BOOLEAN.fullmatch, listed)):
        what, how = "booleans", "boolean (true is True and TRUE)"
    elif _are_decimals(listed):
        what, how = "decimals", "number (0.5 is 0.50)"
    else:
        return
    hint = f"The table does not say whether they are text: --{argument}-as text, letter by letter, or {how}."
    raise InvalidCandidatesError(argument, _shown(text), f"a word on how to read these {what}", hint)


def _several(listed: Listed, text: str, argument: str) -> Listed:
    """What `text` lists, if anything is left to choose."""
    if listed and not listed[1:2] and argument != "groups":  # a range may be too long for its length to be asked
        ranges = "" if argument == "dates" else " Whole numbers in a row are 1..100."
        hint = f"Of a single one the answer is known. A list has commas, and a file an @ before its name.{ranges}"
        raise InvalidCandidatesError(argument, _shown(text), f"at least two {argument}", hint)
    return listed


def _almost_a_list(text: str, argument: str) -> InvalidCandidatesError:
    hint = f"A list has commas, and no brackets or single quotes. If these are part of a text: --{argument}-as text."
    return InvalidCandidatesError(argument, _shown(text), _FORMS, hint)


def _almost_a_range(text: str, argument: str) -> InvalidCandidatesError:
    hint = "A range is of whole numbers and stands alone; dates, decimals and the rest are listed, or stand in a @file."
    hint += f" If two dots are part of a text: --{argument}-as text."
    return InvalidCandidatesError(argument, _shown(text), _FORMS, hint)


def parsed_prices(text: str, *, private: str) -> range | Sequence[int | float]:
    """The prices that `text` names, as `parsed` names candidates.

    Raises:
        InvalidCandidatesError: not such a text, no such file, or a member that is not a number.

    >>> parsed_prices("1..100", private="offers.csv"), parsed_prices("5, 9.99", private="offers.csv")
    (range(1, 101), [5, 9.99])
    """
    column = _of_column(text, kind=CandidateKind.TEXT, private=private, argument="prices")
    given = members(text, private=private, argument="prices") if column is None else column
    given = _several(given, text, "prices")
    if isinstance(given, range):
        return given
    listed = [member for member in given if isinstance(member, str)]
    if len(listed) < len(given):  # of a Parquet file; checked as prices with the question
        return cast("Sequence[int | float]", given)
    if not all(map(_DECIMAL.fullmatch, listed)):
        raise InvalidCandidatesError("prices", Shown(f"<{len(listed)} texts>"), "numbers such as 5 or 9.99")
    return [int(member) if INTEGER.fullmatch(member) else float(member) for member in listed]


def parsed_dates(text: str, *, private: str) -> range | Sequence[Member]:
    """The dates that `text` names, as `parsed` names candidates; texts are read as dates with the question.

    >>> parsed_dates("2026-12-01, 2026-12-08", private="free_days.csv")
    ['2026-12-01', '2026-12-08']
    """
    if ".." in text and not text.startswith("@"):
        expected = "dates with commas between them, or @file with one a line"
        raise InvalidCandidatesError("dates", _shown(text), expected, "For all from a first to a last one: --bounds.")
    column = _of_column(text, kind=CandidateKind.TEXT, private=private, argument="dates")
    listed = members(text, private=private, argument="dates") if column is None else column
    return _several(listed, text, "dates")


def _of_column(text: str, *, kind: CandidateKind | None, private: str, argument: str) -> list[Member] | None:
    """What ``@codes.csv:column`` names; None if `text` is of another form.

    Args:
        text: see `parsed`.
        kind: how to read a CSV file; a Parquet file says it itself.
        private: see `parsed`.
        argument: what errors call it.
    """
    table = _TABLE.fullmatch(text)
    if table is None or os.path.exists(text[1:]):
        return None
    from dpselect import candidates_from

    path, column = table.groups()
    _refuse_private(path, private, text, argument)
    typed = path.lower().endswith(".parquet")
    try:
        return candidates_from(path, column=column, kind=None if typed else kind)
    except InvalidCandidatesError as refused:  # in the words of a Python argument
        at = f"; {refused.got.strip('<>')} has none" if refused.got.startswith("<") else ""
        raise InvalidCandidatesError(argument, _shown(text), refused.expected + at) from None


def members(text: str, *, private: str, argument: str) -> range | list[str]:
    """What `text` lists, not yet taken for numbers or dates; a range is one of whole numbers."""
    if text.startswith("@"):
        _refuse_private(text[1:], private, text, argument)
        if _LOOKS_LIKE_A_TABLE.fullmatch(text) and os.path.isfile(text[1:]):
            raise _without_column(text, argument)
        return _lines(text[1:], argument)
    if found := _RANGE.fullmatch(text):
        first, last = (int(end) for end in found.groups())
        if first > last:
            raise InvalidCandidatesError(argument, _shown(text), "a range a..b with a <= b")
        return range(first, last + 1)
    return _listed(text, argument)


def _lines(path: str, argument: str) -> list[str]:
    try:
        with open(path, encoding="utf-8-sig") as file:
            return [line for line in file.read().split("\n") if line.strip()]
    except (OSError, ValueError):  # also a NUL in the path, and bytes that are not UTF-8
        expected = "a readable text file in UTF-8" if os.path.isfile(path) else "an existing file behind the @"
        raise InvalidCandidatesError(argument, Shown(repr("@" + path)), expected) from None


def _without_column(text: str, argument: str) -> InvalidCandidatesError:
    """A table of which no column is named: its first line would be taken for a candidate."""
    from dpselect.backends.public_column import public_columns

    names = public_columns(text[1:])
    if not names:
        expected = "@file with one a line, or a column of a .csv or .parquet file"
        return InvalidCandidatesError(argument, _shown(text), expected)
    shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
    hint = f"Its columns are {shown}. For a list with one a line, end its name in .txt."
    return InvalidCandidatesError(argument, _shown(text), f"the name of a column behind it, such as {text}:code", hint)


def _listed(text: str, argument: str) -> list[str]:
    try:
        (listed,) = csv.reader([text], strict=True, skipinitialspace=True)
    except (csv.Error, ValueError):
        listed = []
    if not listed or not all(member.strip() for member in listed):
        raise InvalidCandidatesError(argument, _shown(text), _FORMS)
    return listed


def _refuse_private(path: str, private: str, text: str, argument: str) -> None:
    """Refuse the table that is asked as the source of its own candidates, whatever names it goes by."""
    asked = [private] if os.path.exists(private) else glob.iglob(private, recursive=True)
    try:
        same = any(os.path.samefile(path, each) for each in asked)
    except (OSError, ValueError):
        return  # a file that is not there is said elsewhere not to be
    if same:
        hint = "Which values occur in it is private, and a value only one person has would give that person away."
        raise InvalidCandidatesError(argument, _shown(text), "a public file, not the table that is asked", hint)


def _shown(text: str) -> Shown:
    return Shown(repr(text) if len(text) <= 60 else f"<{len(text)} characters>")

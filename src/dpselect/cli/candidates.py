"""``--candidates``: a range ``a..b``, a list ``x,y,z`` or ``@file``. Read from public text only."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from datetime import date

from dpselect.errors import InvalidCandidatesError, Shown
from dpselect.summaries import CandidateKind, PublicCandidates

Member = int | float | str | bool | date

_RANGE = re.compile(r"\s*([+-]?[0-9]{1,19})\s*\.\.\s*([+-]?[0-9]{1,19})\s*")
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,19}\s*")
_FORMS = "a range a..b, a list x,y,z or @file with one a line"


def parsed(text: str, *, kind: CandidateKind | None) -> range | Sequence[Member]:
    """The candidates that `text` names.

    Args:
        text: an inclusive range of whole numbers (``-5..5``); a list, with double quotes around members that hold a
            comma (``"Paris, Texas",Rome``); or ``@`` and the path of a UTF-8 file with one candidate a line, blank
            lines ignored.
        kind: what the members are; None: integers if every one looks like one, else text.

    Raises:
        InvalidCandidatesError: not such a text, no such file, or a member that is not of the kind.

    >>> parsed("1..41270", kind=None)
    range(1, 41271)
    >>> parsed("1,2,3", kind=None), parsed("1,2,3", kind=CandidateKind.TEXT)
    ([1, 2, 3], ['1', '2', '3'])
    """
    if text.startswith("@"):
        members = _lines(text[1:])
    elif found := _RANGE.fullmatch(text):
        first, last = (int(end) for end in found.groups())
        if first > last:
            raise InvalidCandidatesError("candidates", _shown(text), "a range a..b with a <= b")
        numbers = range(first, last + 1)
        if kind in (None, CandidateKind.INTEGER):
            return numbers
        # Checked as numbers first: a range too long to be counted out is refused before it is.
        PublicCandidates.given(numbers)
        members = list(map(str, numbers))
    else:
        members = _listed(text)
    if kind is None:
        kind = CandidateKind.INTEGER if all(map(_INTEGER.fullmatch, members)) else CandidateKind.TEXT
    convert = _CONVERSIONS[kind]
    try:
        return [convert(member) for member in members]
    except ValueError:
        hint = "Say how to read them with --candidates-as, or correct them."
        raise InvalidCandidatesError("candidates", Shown(f"<{len(members)} texts>"), str(kind), hint) from None


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8-sig") as file:
            return [line for line in file.read().split("\n") if line.strip()]
    except (OSError, ValueError):  # also a NUL in the path, and bytes that are not UTF-8
        raise InvalidCandidatesError("candidates", Shown(repr("@" + path)), "a readable text file in UTF-8") from None


def _listed(text: str) -> list[str]:
    try:
        (members,) = csv.reader([text], strict=True, skipinitialspace=True)
    except (csv.Error, ValueError):
        members = []
    if not members or not all(member.strip() for member in members):
        raise InvalidCandidatesError("candidates", _shown(text), _FORMS)
    return members


def _shown(text: str) -> Shown:
    return Shown(repr(text) if len(text) <= 60 else f"<{len(text)} characters>")


def _boolean(text: str) -> bool:
    match text.strip().lower():
        case "true":
            return True
        case "false":
            return False
        case _:
            raise ValueError


_CONVERSIONS: dict[CandidateKind, Callable[[str], Member]] = {
    CandidateKind.INTEGER: int,
    CandidateKind.NUMBER: float,
    CandidateKind.TEXT: str,
    CandidateKind.DATE: lambda text: date.fromisoformat(text.strip()),
    CandidateKind.BOOLEAN: _boolean,
}

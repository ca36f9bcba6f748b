"""The kinds of candidates, and how public text is read as them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from enum import StrEnum

from dpselect.arguments import Argument
from dpselect.errors import InvalidCandidatesError, typed


class CandidateKind(StrEnum):
    """The kind of the candidates; it determines how the values of a column are compared with them."""

    INTEGER = "whole numbers"
    NUMBER = "numbers"
    TEXT = "text"
    DATE = "dates"
    BOOLEAN = "booleans"


TYPES = {
    name: Argument(
        CandidateKind,
        f"Type of the {name}. Default: the column's type; for CSV, integers if all look like it (007 does not).",
        f"{name}_as",
        None,
    )
    for name in ("candidates", "groups")
}
"""Beside a list that is written as a text."""


def candidate_kind(value: object) -> CandidateKind:
    """The kind that a caller names: one of ``text``, ``integer``, ``number``, ``date`` and ``boolean``.

    >>> candidate_kind("integer") is CandidateKind.INTEGER
    True
    """
    for kind in CandidateKind:
        if isinstance(value, str) and value in (kind.name.lower(), kind.value):
            return kind
    words = ", ".join(repr(kind.name.lower()) for kind in CandidateKind)
    raise InvalidCandidatesError("kind", typed(value), f"one of {words}")


Member = int | float | str | bool | date

DECIMAL = re.compile(r"\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")
INTEGER = re.compile(r"\s*[+-]?[0-9]{1,19}\s*")

_WRITTEN_AS_A_NUMBER = re.compile(r"\s*[+-]?(0|[1-9][0-9]{0,18})\s*")
"""A zero before other digits means that the text is a code."""


def kind_of(
    texts: Sequence[str], choice: tuple[CandidateKind, CandidateKind] = (CandidateKind.INTEGER, CandidateKind.TEXT)
) -> CandidateKind:
    """The first of `choice`, whole numbers, if all texts are written like one; otherwise the second.

    >>> kind_of(["12", "7"]).name, kind_of(["01067", "80331"]).name
    ('INTEGER', 'TEXT')
    """
    return choice[not all(map(_WRITTEN_AS_A_NUMBER.fullmatch, texts))]


def _number(text: str) -> float:
    """The nearest double; but no whole number in place of another one."""
    nearest = float(text)
    if 2**52 < abs(nearest) < math.inf and Decimal(text) not in (Decimal(nearest), Decimal(repr(nearest))):
        raise ValueError
    return nearest


CONVERSIONS: dict[CandidateKind, Callable[[str], Member]] = {
    CandidateKind.INTEGER: int,
    CandidateKind.NUMBER: _number,
    CandidateKind.TEXT: str,
    CandidateKind.DATE: lambda text: date.fromisoformat(text.strip()),
    CandidateKind.BOOLEAN: lambda text: bool(("false", "true").index(text.strip().lower())),
}
"""How a text becomes a candidate of each kind; a `ValueError` if it is not one."""

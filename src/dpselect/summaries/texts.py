"""Public text read as candidates of a kind."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal

from dpselect.summaries.candidates import CandidateKind

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


def _boolean(text: str) -> bool:
    match text.strip().lower():
        case "true":
            return True
        case "false":
            return False
        case _:
            raise ValueError


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
    CandidateKind.BOOLEAN: _boolean,
}
"""How a text becomes a candidate of each kind; a `ValueError` if it is not one."""

"""Public text read as candidates of a kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date

from dpselect.summaries.candidates import CandidateKind

Member = int | float | str | bool | date

INTEGER = re.compile(r"\s*[+-]?[0-9]{1,19}\s*")


def kind_of(texts: Sequence[str]) -> CandidateKind:
    """Whole numbers if every one looks like one, else text."""
    return CandidateKind.INTEGER if all(map(INTEGER.fullmatch, texts)) else CandidateKind.TEXT


def _boolean(text: str) -> bool:
    match text.strip().lower():
        case "true":
            return True
        case "false":
            return False
        case _:
            raise ValueError


CONVERSIONS: dict[CandidateKind, Callable[[str], Member]] = {
    CandidateKind.INTEGER: int,
    CandidateKind.NUMBER: float,
    CandidateKind.TEXT: str,
    CandidateKind.DATE: lambda text: date.fromisoformat(text.strip()),
    CandidateKind.BOOLEAN: _boolean,
}
"""How a text becomes a candidate of each kind; a `ValueError` if it is none."""

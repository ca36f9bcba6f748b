"""The kinds of candidates."""

from __future__ import annotations

from enum import StrEnum

from dpselect.errors import InvalidCandidatesError, typed


class CandidateKind(StrEnum):
    """The kind of the candidates; it determines how the values of a column are compared with them."""

    INTEGER = "whole numbers"
    NUMBER = "numbers"
    TEXT = "text"
    DATE = "dates"
    BOOLEAN = "booleans"


def candidate_kind(value: object) -> CandidateKind:
    """The kind that a caller names: one of ``text``, ``integer``, ``number``, ``date`` and ``boolean``.

    Raises:
        InvalidCandidatesError: it is none of these words.

    >>> candidate_kind("integer") is CandidateKind.INTEGER
    True
    """
    if isinstance(value, CandidateKind):
        return value
    for kind in CandidateKind:
        if isinstance(value, str) and value in (kind.name.lower(), kind.value):
            return kind
    words = ", ".join(repr(kind.name.lower()) for kind in CandidateKind)
    raise InvalidCandidatesError("kind", typed(value), f"one of {words}")

"""What questions about values without a public list have in common."""

from __future__ import annotations

from datetime import date

from dpselect.arguments import positive_count
from dpselect.errors import InvalidParameterError
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.questions.question import Planned
from dpselect.questions.wording import counted

PAGE = "proofs/unknown_candidates.md"
"""The page that proves how much one unit can change the counts of unknown values."""


def name_sensitivity(neighbours: Neighbours) -> Sensitivity:
    """How much one unit can change the count of any one value that is not public.

    Proof: ``proofs/unknown_candidates.md``, claim 1.
    """
    return Sensitivity(1.0, monotonic=neighbours is Neighbours.ADD_REMOVE, neighbours=neighbours, proof=PAGE)


def checked_most(kind: str, max_values_per_unit: object) -> int:
    """For how many values a unit counts, or an error if no unit can have so many of this kind."""
    at_most, what = _POSSIBLE.get(str(kind), (None, ""))
    return positive_count(max_values_per_unit, "max_values_per_unit", at_most=at_most, at_most_what=what)


def check_countable(max_values_per_unit: object, usable_epsilon: object) -> None:
    """Refuse a number of units if a unit may count for several values: the counts do not tell it then."""
    if usable_epsilon is not None and max_values_per_unit != 1:
        hint = "Ask count() for the number of all units."
        raise InvalidParameterError("usable_epsilon", usable_epsilon, "None, unless max_values_per_unit is 1", hint)


def nothing_named(release: Planned) -> str:
    """The sentence about an answer without any value."""
    kind = release.candidates["kind"]
    return f"No value was named: none has enough units, or nothing in the column could be read as {kind}."


def most_values(release: Planned) -> str:
    """For how many values one unit counts."""
    return counted(release.arguments["max_values_per_unit"], "value")


_POSSIBLE = {
    "booleans": (2, "the number of booleans"),
    "dates": ((date.max - date.min).days + 1, "the number of days in the years 1 to 9999"),
}
"""Kinds with few values, of which no unit can have more."""

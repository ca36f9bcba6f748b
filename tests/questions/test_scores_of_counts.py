"""The sensitivity of counts that every question of a list states, as the proof page shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpselect import Neighbours
from dpselect.errors import InvalidParameterError
from dpselect.privacy import check_monotonic
from dpselect.questions.selection import MostCommon
from tests.drawn_answers import planned
from tests.reference.counting import add_remove_pairs, is_monotone, movements, replace_one_pairs, sensitivity

ROOT = Path(__file__).parents[2]
DISTINCT_UNITS = planned(MostCommon, candidates=["x", "y"], epsilon=1.0).terms.sensitivity
REPLACED_UNITS = planned(MostCommon, candidates=["x", "y"], epsilon=1.0, neighbours="replace_one").terms.sensitivity


def test_the_claim_is_what_enumeration_gives() -> None:
    units, rows = ("ann", "bob", "cid"), [(), ("x",), ("x", "y"), ("y", "y", "x")]
    changes = movements(add_remove_pairs(units, rows), candidates=("x", "y"))
    assert sensitivity(changes) == DISTINCT_UNITS.value == 1
    assert is_monotone(changes) is DISTINCT_UNITS.monotonic is True
    assert DISTINCT_UNITS.neighbours is Neighbours.ADD_REMOVE


def test_the_claim_would_be_false_under_replace_one() -> None:
    changes = movements(replace_one_pairs(("ann", "bob"), [("x",), ("y",)]), candidates=("x", "y"))
    assert is_monotone(changes) is REPLACED_UNITS.monotonic is False
    with pytest.raises(InvalidParameterError):
        check_monotonic(DISTINCT_UNITS.monotonic, Neighbours.REPLACE_ONE)


def test_the_proof_is_there() -> None:
    assert (ROOT / DISTINCT_UNITS.proof).is_file()

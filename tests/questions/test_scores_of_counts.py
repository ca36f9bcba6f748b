"""The counting score: counts as they are, with the sensitivity that the proof page shows."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

from dpselect import Neighbours
from dpselect.errors import InvalidParameterError
from dpselect.privacy import check_monotonic
from dpselect.questions.scores import DISTINCT_UNITS, count_scores
from dpselect.summaries import CandidateCounts
from tests.reference.counting import add_remove_pairs, is_monotone, movements, replace_one_pairs, sensitivity

ROOT = Path(__file__).parents[2]


def test_scores_are_the_counts() -> None:
    counts = CandidateCounts(np.array([3, 0, 2**60]))
    scores = count_scores(counts)
    assert scores.values.tolist() == [3, 0, 2**60]
    assert scores.sensitivity is DISTINCT_UNITS


def test_the_claim_is_what_enumeration_gives() -> None:
    units, rows = ("ann", "bob", "cid"), [(), ("x",), ("x", "y"), ("y", "y", "x")]
    changes = movements(add_remove_pairs(units, rows), candidates=("x", "y"))
    assert sensitivity(changes) == DISTINCT_UNITS.value == 1
    assert is_monotone(changes) is DISTINCT_UNITS.monotonic is True
    assert DISTINCT_UNITS.neighbours is Neighbours.ADD_REMOVE


def test_the_claim_would_be_false_under_replace_one() -> None:
    changes = movements(replace_one_pairs(("ann", "bob"), [("x",), ("y",)]), candidates=("x", "y"))
    assert not is_monotone(changes)
    with pytest.raises(InvalidParameterError):
        check_monotonic(DISTINCT_UNITS.monotonic, Neighbours.REPLACE_ONE)


def test_the_proof_is_there() -> None:
    assert (ROOT / DISTINCT_UNITS.proof).is_file()


def test_scores_are_shown_by_no_repr_and_kept_by_no_copy() -> None:
    scores = count_scores(CandidateCounts(np.array([987654321])))
    assert "987654321" not in f"{scores} {scores!r}"
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="private"):
            leave(scores)

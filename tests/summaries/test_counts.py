"""Private counts stay where they are."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from dpselect.summaries import CandidateCounts


def test_counts_are_shown_by_no_repr_and_kept_by_no_copy() -> None:
    counts = CandidateCounts(np.array([987654321]))
    assert "987654321" not in f"{counts} {counts!r}"
    assert not hasattr(counts, "__dict__")
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="private"):
            leave(counts)


def test_counts_cannot_be_changed() -> None:
    counts = CandidateCounts(np.array([1, 2]))
    with pytest.raises(ValueError, match="read-only"):
        counts.counts[0] = 7

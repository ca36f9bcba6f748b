"""Private counts and values stay where they are, and so does how many there are."""

from __future__ import annotations

import copy
import pickle

import pytest

from tests.drawn_answers import handed, planned

COUNTS = planned("histogram", candidates=[1, 2], epsilon=1.0)
VALUES = planned("median", bounds=(0, 1e9), continuous=True, max_rows_per_unit=2, epsilon=1.0)


def test_they_are_shown_by_no_repr_and_kept_by_no_copy() -> None:
    counts, values = handed(COUNTS, [987654321]), handed(VALUES, [987654321.0] * 4321)
    assert "987654321" not in f"{counts} {counts!r}"
    assert repr(values) == str(values) == "UnitValues(<private>)"
    for private in (counts, values):
        assert not hasattr(private, "__dict__")
        for leave in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="private"):
                leave(private)

"""Private values stay where they are, and so does how many there are."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from dpselect.summaries import PublicDomain, UnitValues

DOMAIN = PublicDomain.given((0, 1e9))


def test_values_are_shown_by_no_repr_and_kept_by_no_copy() -> None:
    values = UnitValues(np.array([987654321.0] * 4321), domain=DOMAIN, max_rows_per_unit=2)
    assert repr(values) == str(values) == "UnitValues(<private numbers>, at most 2 per unit)"
    assert not hasattr(values, "__dict__")
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="private"):
            leave(values)


def test_values_cannot_be_changed() -> None:
    values = UnitValues(np.array([1.0, 2.0]), domain=DOMAIN, max_rows_per_unit=1)
    with pytest.raises(ValueError, match="read-only"):
        values.values[0] = 7.0

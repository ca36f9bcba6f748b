"""Densities of columns: what is drawn from which counts, how far one unit moves them, what a release says."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from dpselect import Release
from dpselect.errors import InvalidParameterError
from tests.drawn_answers import planned, released

FIVE: dict[str, Any] = {"bounds": (0, 10), "bins": 5}


def _shares(release: Release) -> list[float]:
    assert isinstance(release.value, list)
    return [float(share) for share in release.value]  # type: ignore[arg-type]


VALUES = [1.0] * 600 + [2.0] * 300 + [10.0] * 100


def test_noisy_counts_are_close_to_the_counts() -> None:
    release = released(planned("density", **FIVE, epsilon=100.0), VALUES)
    assert _shares(release) == [0.6, 0.3, 0.0, 0.0, 0.1]
    assert release.mechanism == "GeometricMechanism"
    assert (
        release.accuracy == "With 99% confidence the noisy count of each bin is within 0 of the truth"
        ", counting at most 1 row of each person."
    )


@pytest.mark.parametrize("values", [[], [3.0]])
def test_nobody_and_one_person_get_an_answer(values: list[float]) -> None:
    shares = _shares(released(planned("density", **FIVE, epsilon=1.0), values))
    assert len(shares) == 5
    assert 0.0 <= sum(shares) <= 1.0 + 1e-12


def test_the_certificate() -> None:
    release = released(planned("density", **FIVE, epsilon=1.0), VALUES)
    certificate = json.loads(release.to_json())
    assert certificate["arguments"] == {"max_rows_per_unit": 1}
    assert certificate["candidates"] == {"source": "bins", "lower": 0.0, "upper": 10.0, "count": 5}
    assert "unit" not in certificate["error_bound"]
    assert math.floor(release.error_bound or 0.0) == release.error_bound
    assert [row[0] for row in release.table()[1]] == ["0 to 2", "2 to 4", "4 to 6", "6 to 8", "8 to 10"]


def test_edges_are_shown_with_the_digits_that_tell_them_apart() -> None:
    for bounds, count in (((0, 1), 3), ((-1, 1), 64), ((0, 1e-9), 10), ((1e6, 1e6 + 1), 100), ((-1e300, 1e300), 4)):
        task = planned("density", bounds=bounds, bins=count, epsilon=1.0)
        bins, rows = task.bins, released(task, []).table()[1]
        shown = [float(row[0].partition(" to ")[0]) for row in rows]
        assert all(one < other for one, other in pairwise(shown))
        assert shown == pytest.approx(list(bins.edges[:-1]), abs=float(np.diff(bins.edges).max()) / 50)


def test_no_epsilon_is_refused_before_anything_is_read() -> None:
    with pytest.raises(InvalidParameterError, match="epsilon"):
        planned("density", **FIVE, epsilon=0.0)


def test_values_of_another_question_are_refused() -> None:
    task = planned("density", **FIVE, epsilon=1.0)
    others: list[dict[str, Any]] = [{"bounds": (0, 9)}, {"most": 2}]
    for other in others:
        with pytest.raises(InvalidParameterError, match="values"):
            released(task, [1.0], **other)

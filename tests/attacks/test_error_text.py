"""Attack: learn somebody's value from the error it causes, or from there being an error at all.

`test_messages` makes every door of the product face many such values; here it faces what a naive script does.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dpselect as dps
from tests.attacks import naive
from tests.attacks.test_messages import SECRET, everything_said
from tests.rows.tables import write_csv

HONEST = [(str(unit), str(20 + unit % 50)) for unit in range(200)]
SECRETIVE = ("200", f"{SECRET}: none of your business")


def test_a_naive_script_repeats_what_somebody_wrote() -> None:
    rng = np.random.default_rng(6)
    with pytest.raises(ValueError, match=SECRET):
        naive.mean_age([*HONEST, SECRETIVE], 1.0, rng)
    assert 20 < naive.mean_age(HONEST, 1.0, rng) < 70  # without them all is well: failing itself tells


@pytest.mark.parametrize("people", [HONEST, [*HONEST, SECRETIVE]])
def test_here_a_value_that_cannot_be_read_is_left_out(tmp_path: Path, people: list[tuple[str, str]]) -> None:
    path = write_csv(tmp_path / "t.csv", [f"{unit},{age}".encode() for unit, age in people])
    release = dps.Dataset(path, unit="unit").median("value", bounds=(0, 120), step=1, epsilon=1.0)
    assert isinstance(release.value, float)
    assert SECRET not in release.to_json() + repr(release)


def test_here_an_error_is_about_arguments(tmp_path: Path) -> None:
    """With and without the value, word for word the same."""
    said = []
    for people in (HONEST, [*HONEST, SECRETIVE]):
        path = write_csv(tmp_path / "t.csv", [f"{unit},{age}".encode() for unit, age in people])
        with pytest.raises(dps.SelectionError) as caught:
            dps.Dataset(path, unit="unit").median("value", bounds=(120, 0), continuous=True, epsilon=1.0)
        said.append(str(caught.value))
        assert SECRET not in everything_said(caught.value)
    assert said[0] == said[1]


def test_a_naive_mean_fails_when_nobody_is_there() -> None:
    with pytest.raises(ZeroDivisionError):
        naive.mean_age([], 1.0, np.random.default_rng(7))


def test_here_nobody_gets_an_answer_as_well(tmp_path: Path) -> None:
    data = dps.Dataset(write_csv(tmp_path / "t.csv", []), unit="unit")
    assert data.median("value", bounds=(0, 120), step=1, epsilon=1.0).value in range(121)
    assert data.most_common("value", candidates=["a", "b"], epsilon=1.0).value in ("a", "b")

"""What a guarantee leaves to an attacker, drawn."""

from __future__ import annotations

from typing import Any

import pytest

import dpselect as dps
from dpselect import Neighbours
from dpselect.errors import InvalidParameterError
from dpselect.privacy import Guarantee
from dpselect.questions.wording import in_words


def guarantee(epsilon: float, delta: float = 0.0, relation: Neighbours = Neighbours.ADD_REMOVE) -> Guarantee:
    return Guarantee(epsilon, delta, relation, "person")


def test_each_guarantee_has_a_curve_above_a_blind_guess() -> None:
    given = [guarantee(0.5), guarantee(1.0, 0.25)]
    drawn: Any = dps.planning.plot_power(*given).to_dict()
    points = [row for rows in drawn["datasets"].values() for row in rows if "y" in row]
    assert {row["series"] for row in points} == {"epsilon = 0.5", "epsilon = 1, delta = 0.25", "a blind guess"}
    for each, name in zip(given, ("epsilon = 0.5", "epsilon = 1, delta = 0.25"), strict=True):
        of_one = {row["x"]: row["y"] for row in points if row["series"] == name}
        assert len(of_one) == 200
        assert all(power == each.power(level) >= level for level, power in of_one.items())


@pytest.mark.parametrize("count", [0, 6])
def test_so_many_guarantees_have_no_chart(count: int) -> None:
    with pytest.raises(InvalidParameterError, match=f"guarantees=<{count} guarantees>"):
        dps.planning.plot_power(*[guarantee(place + 1.0) for place in range(count)])


def test_a_report_says_what_an_attacker_finds() -> None:
    said = "A test that takes 5 of 100 absent ones for present finds at most 8.25 of 100 present ones"
    assert said in in_words(guarantee(0.5))
    assert "absent" not in in_words(guarantee(0.5, relation=Neighbours.REPLACE_ONE))

"""The public rules for values without a list: the fewest units for one half, and what is said about it."""

from __future__ import annotations

from typing import Any

import pytest

from dpselect import Neighbours
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import GaussianThresholdCounts, PartitionSelection, StopCandidate, ThresholdCounts
from dpselect.planning import naming_noise, unknown_noise

PRICE: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}
KINDS = {"geometric": ThresholdCounts, "gaussian": GaussianThresholdCounts, "stop": StopCandidate}


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("with_counts", [False, True])
@pytest.mark.parametrize("k", [1, 3, 30])
@pytest.mark.parametrize("most", [1, 2, 20, 1000])
def test_the_fewest_units_decide(k: int, most: int, with_counts: bool, neighbours: Neighbours) -> None:
    asked = {**PRICE, "max_values_per_unit": most, "neighbours": neighbours}
    found = unknown_noise(k, **asked, with_counts=with_counts)
    needed = {
        "geometric": ThresholdCounts(**asked).threshold,
        "gaussian": GaussianThresholdCounts(**asked).threshold,
        **({} if with_counts else {"stop": StopCandidate(k=k, **asked).count_needed(0.5)}),
    }
    assert found.needed == needed
    assert needed[found.chosen] == min(needed.values())
    mechanism = found.mechanism
    assert type(mechanism) is KINDS[found.chosen]
    assert mechanism.count_needed(0.5) == needed[found.chosen]
    assert (mechanism.epsilon, mechanism.delta, mechanism.neighbours) == (1.0, 1e-6, neighbours)


def test_each_of_the_three_is_chosen_somewhere_and_ties_have_counts() -> None:
    assert unknown_noise(1, **PRICE).needed == {"geometric": 15, "gaussian": 25, "stop": 15}
    assert unknown_noise(1, **PRICE).chosen == "geometric"
    assert unknown_noise(10, **PRICE, max_values_per_unit=10).chosen == "gaussian"
    assert unknown_noise(10, **PRICE, max_values_per_unit=100).chosen == "stop"
    assert unknown_noise(10, **PRICE, max_values_per_unit=100, with_counts=True).chosen == "gaussian"


def test_names_alone() -> None:
    for most, kind in ((1, PartitionSelection), (3, PartitionSelection), (4, GaussianThresholdCounts)):
        asked: dict[str, Any] = {**PRICE, "max_values_per_unit": most}
        found = naming_noise(**asked)
        assert type(found.mechanism) is kind
        partition, gaussian = PartitionSelection(**asked).count_needed(0.5), GaussianThresholdCounts(**asked).threshold
        assert found.needed == {"partition": partition, "gaussian": gaussian}
        assert found.mechanism.count_needed(0.5) == min(partition, gaussian)


def test_what_is_said() -> None:
    reason = "because a value is then released with probability one half at 15 units (with Gaussian noise at 25, with a"
    assert unknown_noise(10, **PRICE).rule == f"geometric noise is added to all counts, {reason} stop candidate at 99)"
    many = unknown_noise(100, **PRICE, max_values_per_unit=100, with_counts=True)
    assert many.rule.endswith("one half at 270 units (with geometric noise at 1,775)")
    assert unknown_noise(1, **PRICE, max_values_per_unit=3).rule.startswith("a stop candidate ends the answer, because")
    assert naming_noise(**PRICE).rule == (
        "each value is named by a coin, because a value is then named with probability one half at 14"
        " units (with Gaussian noise at 25)"
    )
    alone = naming_noise(epsilon=1.0, delta=5e-324)  # too small to be halved for Gaussian noise
    assert [*alone.needed] == ["partition"]
    assert alone.rule.endswith("with probability one half at 745 units")
    equal = naming_noise(epsilon=3.0, delta=1e-3, max_values_per_unit=4)
    assert (equal.chosen, equal.needed) == ("partition", {"partition": 11, "gaussian": 11})


def test_what_cannot_be_planned_is_left_out() -> None:
    assert "stop" not in unknown_noise(10**6, epsilon=1.0, delta=0.01).needed  # nothing would be left of epsilon
    assert "gaussian" not in unknown_noise(1, epsilon=1.0, delta=5e-324).needed
    assert "gaussian" not in naming_noise(epsilon=1.0, delta=5e-324).needed


BAD: list[tuple[dict[str, Any], str]] = [
    ({"k": 0}, "k=0"),
    ({"k": 10**9}, "k=1000000000"),
    ({"epsilon": 0}, "epsilon=0"),
    ({"epsilon": 1e-300}, "large enough for a count to be released"),
    ({"delta": 0}, "delta=0: expected a number strictly between 0 and 1"),
    ({"delta": 1}, "delta=1"),
    ({"max_values_per_unit": 0}, "max_values_per_unit=0"),
    ({"max_values_per_unit": 10**10}, "max_values_per_unit=10000000000"),
    ({"neighbours": "none"}, "neighbours"),
]


@pytest.mark.parametrize(("change", "said"), BAD)
def test_bad_arguments(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidParameterError, match=said):
        unknown_noise(**({"k": 3, **PRICE} | change))
    if "k" not in change and "1e-300" not in str(change):
        with pytest.raises(InvalidParameterError, match=said):
            naming_noise(**(PRICE | change))

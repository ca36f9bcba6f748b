"""Which way to the best k is recommended, from public facts alone, and why."""

from __future__ import annotations

from typing import Any

import pytest

import dpselect as dps
from dpselect.mechanisms import NoisyOrder
from dpselect.planning import order_noise, recommend_top_k


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ({"k": 1}, dps.PermuteAndFlip),
        ({"k": 10}, dps.ExponentialNoiseTopK),
        ({"k": 10, "ordered": False}, dps.ExponentialNoiseTopK),
        ({"k": 30, "delta": 1e-6}, dps.ExponentialMechanism),
        ({"k": 10, "monotonic": True, "max_values_per_unit": 1}, NoisyOrder),
        ({"k": 10, "monotonic": True, "max_values_per_unit": 500}, dps.ExponentialNoiseTopK),
        ({"k": 10, "max_values_per_unit": 2, "neighbours": "replace_one"}, NoisyOrder),
    ],
)
def test_the_way(facts: dict[str, Any], kind: type) -> None:
    advice = recommend_top_k(1000, **facts)
    assert type(advice.mechanism) is kind
    assert advice.reason.endswith(".")
    assert min(advice.bounds.values()) > 0.0


def test_it_follows_the_rules_that_select() -> None:
    for most in (1, 5, 8, 20):
        asked: dict[str, Any] = {"epsilon": 0.5, "delta": 1e-6, "max_values_per_unit": most}
        advice = recommend_top_k(500, 20, monotonic=True, **asked)
        assert isinstance(advice.mechanism, NoisyOrder) is order_noise(500, 20, **asked).is_once


def test_a_set_is_named_with_what_it_takes() -> None:
    advice = recommend_top_k(1000, 10, monotonic=True, ordered=False)
    bound = dps.TopKSet(epsilon=1.0, sensitivity=1.0, k=10, monotonic=True).error_bound(1000)
    assert advice.bounds["the set at once"] == bound
    assert (
        "If the best 10 lead all others by more than 118, TopKSet finds exactly them with 99% confidence."
        in advice.reason
    )
    assert "TopKSet" not in recommend_top_k(1000, 10, monotonic=True).reason
    assert "TopKSet" not in recommend_top_k(10, 10, monotonic=True, ordered=False).reason


def test_counts_leave_half_for_the_selection() -> None:
    advice = recommend_top_k(1000, 10, monotonic=True, max_values_per_unit=500, with_counts=True)
    assert isinstance(advice.mechanism, dps.ExponentialNoiseTopK)
    assert advice.mechanism.epsilon == 0.5
    assert advice.reason.endswith("The counts of what was selected cost the other 0.5 of epsilon.")


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"k": 0}, "k"),
        ({"k": 1001}, "k"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"confidence": 1.0}, "confidence"),
        ({"max_values_per_unit": 1}, "monotonic"),
        ({"monotonic": "yes"}, "monotonic"),
        ({"monotonic": 1, "max_values_per_unit": 1}, "monotonic"),
        ({"monotonic": True, "neighbours": "replace_one"}, "monotonic"),
        ({"ordered": "x"}, "ordered"),
        ({"with_counts": "x", "monotonic": True}, "with_counts"),
        ({"with_counts": None}, "with_counts"),
        ({"max_values_per_unit": 0, "monotonic": True}, "max_values_per_unit"),
    ],
)
def test_bad_arguments_are_named(changed: dict[str, Any], named: str) -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match=f"^{named}="):
        recommend_top_k(1000, **{"k": 3} | changed)


def test_a_set_by_top_k() -> None:
    scores = [0.0, 900.0, 5.0, 1800.0, 905.0]
    asked: dict[str, Any] = {"epsilon": 50.0, "sensitivity": 1.0, "monotonic": True}
    assert dps.top_k(scores, 3, method="set", **asked) == [1, 3, 4]
    assert dps.top_k(scores, 3, method="set", candidates=list("edcba"), **asked) == ["d", "b", "a"]
    assert dps.top_k(scores, 3, **asked) == [3, 4, 1]
    for wrong, named in (({"method": "best"}, "method"), ({"method": "set", "delta": 1e-6}, "delta")):
        with pytest.raises(dps.errors.InvalidParameterError, match=f"^{named}="):
            dps.top_k(scores, 3, **asked, **wrong)
    with pytest.raises(dps.SelectionError):
        dps.top_k(scores, 5, method="set", **asked)

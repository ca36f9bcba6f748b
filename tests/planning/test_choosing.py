"""One question for all mechanisms: what is recommended is what the parts recommend, from public facts alone."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

import dpselect as dps
from dpselect.mechanisms import AboveThreshold, BestOfRuns, LazySelection, NoisyOrder
from dpselect.planning import recommend, recommend_top_k, recommendation, why

EXPECTED: list[tuple[dict[str, Any], type[Any]]] = [
    ({}, dps.PermuteAndFlip),
    ({"selections": 10, "delta": 1e-6}, dps.ExponentialMechanism),
    ({"n": 1000, "k": 10, "monotonic": True}, dps.ExponentialNoiseTopK),
    ({"n": 1000, "k": 20, "delta": 1e-6, "monotonic": True}, dps.ExponentialMechanism),
    ({"n": 1000, "k": 10, "monotonic": True, "max_values_per_unit": 1}, NoisyOrder),
    ({"sensitivities": [1, 1, 1, 100]}, dps.GeneralizedSelection),
    ({"situation": "stream"}, AboveThreshold),
    ({"situation": "private runs"}, BestOfRuns),
    ({"situation": "expensive scores"}, LazySelection),
    ({"situation": "weights"}, dps.ExponentialMechanism),
    ({"situation": "weights", "selections": 4}, dps.ExponentialMechanism),
    ({"situation": "weights", "k": 3, "n": 9}, dps.ExponentialMechanism),
    ({"situation": "weights", "k": 3, "n": 9, "selections": 2, "delta": 1e-6}, dps.ExponentialMechanism),
    ({"situation": "expensive scores", "selections": 5}, LazySelection),
    ({"sensitivities": [1, 1, 1, 100], "selections": 3}, dps.GeneralizedSelection),
    ({"n": 9, "k": 3, "selections": 2}, dps.ExponentialNoiseTopK),
    ({"n": 10, "k": 3, "selections": 2, "delta": 1e-12}, dps.ExponentialNoiseTopK),
    ({"n": 1000, "k": 10, "selections": 5, "delta": 1e-6}, dps.ExponentialMechanism),
    ({"n": 99, "k": 9, "selections": 5, "monotonic": True, "max_values_per_unit": 1, "delta": 1e-6}, NoisyOrder),
]


@pytest.mark.parametrize(("facts", "expected"), EXPECTED)
def test_what_is_recommended(facts: dict[str, Any], expected: type[Any]) -> None:
    assert recommend(**facts) is expected
    assert why(**facts).endswith(".")


def test_each_has_a_reason_of_its_own() -> None:
    assert len({why(**each) for each, _ in EXPECTED}) == len(EXPECTED)


def test_reasons_are_those_of_the_parts() -> None:
    assert why(10, 1e-6, n=50) == recommendation(10, 1e-6, n=50).reason
    best = recommend_top_k(500, 7, epsilon=0.3, monotonic=True, confidence=0.9)
    assert why(n=500, k=7, epsilon=0.3, monotonic=True, confidence=0.9) == best.reason
    sensitivities = [1.0, 2.0, 50.0]
    unlike = dps.GeneralizedSelection(epsilon=0.5, sensitivities=sensitivities, confidence=0.9)
    assert why(epsilon=0.5, n=3, sensitivities=sensitivities, confidence=0.9) == unlike.reason


def test_each_of_several_selections_has_its_share_of_the_budget() -> None:
    # With a third of epsilon the same rule; with a delta, more than a third.
    sensitivities = [1.0, 2.0, 50.0]
    third = dps.GeneralizedSelection(epsilon=1 / 3, sensitivities=sensitivities)
    assert why(3, sensitivities=sensitivities).endswith(third.reason)
    assert "epsilon = 0.3333." in why(3, sensitivities=sensitivities)
    assert "epsilon = 0.01." in why(100, sensitivities=sensitivities)
    assert "epsilon = 0.01." not in why(100, 1e-6, sensitivities=sensitivities)
    assert why(2, n=9, k=3).endswith(recommend_top_k(9, 3, epsilon=0.5).reason)
    assert "Each of 3 rounds of 2 selections may spend epsilon = 0.1667." in why(2, n=9, k=3, situation="weights")


def test_several_orders_have_the_smaller_of_both_bounds() -> None:
    figures = [re.findall(r"([0-9.]+) below|, ([0-9.]+)\.$", why(5, 1e-6, n=1000, k=k)) for k in (2, 10)]
    figures += [re.findall(r"([0-9.]+) below|, ([0-9.]+)\.$", why(2, 1e-12, n=10, k=3))]
    for found in figures:
        first, second = (float(one or other) for one, other in found)
        assert first < second


def test_the_arguments_of_both_are_stated_once() -> None:
    signatures = [inspect.signature(each) for each in (recommend, why)]
    assert list(signatures[0].parameters.values()) == list(signatures[1].parameters.values())
    assert list(signatures[0].parameters)[:4] == ["selections", "delta", "epsilon", "n"]
    with pytest.raises(TypeError, match="situations"):
        recommend(situations="stream")  # pyright: ignore[reportCallIssue]


def test_equal_sensitivities_are_one_sensitivity() -> None:
    for facts in ({}, {"selections": 10, "delta": 1e-6}):
        assert recommend(sensitivities=[2, 2, 2], **facts) is recommend(n=3, **facts)
        assert why(sensitivities=[2, 2, 2], **facts) == f"All sensitivities are the same. {why(n=3, **facts)}"
    assert recommend(sensitivities=[2]) is recommend()
    assert recommend(sensitivities=[2, 2, 3]) is not recommend()


def test_sets_are_named_beside_rounds_with_weights() -> None:
    assert "`TopKSet`" in why(situation="weights", n=9, k=2)
    assert "`TopKSet`" not in why(situation="weights", n=9)


@pytest.mark.parametrize(
    ("facts", "match"),
    [
        ({"situation": "river"}, "situation"),
        ({"situation": "stream", "k": 2, "n": 9}, "situation='stream': .* without `k`.* `positives`"),
        ({"situation": "stream", "selections": 2}, "compose"),
        ({"situation": "private runs", "sensitivities": [1, 2]}, "without `sensitivities`"),
        ({"situation": "expensive scores", "k": 2, "n": 9}, "take it out"),
        ({"situation": "weights", "sensitivities": [1, 2]}, "largest"),
        ({"sensitivities": [1, 2, 3], "k": 2}, "sensitivities=<several>: .* without `k`.* take it"),
        ({"sensitivities": [1, 2, 3], "n": 4}, "n=4: expected 3, as many as `sensitivities`"),
        ({"situation": "weights", "k": 10, "n": 9}, "k=10"),
        ({"k": 3}, "k=3"),
        ({"k": 0}, "k=0"),
        ({"situation": "stream", "max_values_per_unit": 1}, "without `max_values_per_unit`, .* Leave it out"),
        ({"situation": "weights", "max_values_per_unit": 1}, "without `max_values_per_unit`, .* has no weights"),
        ({"sensitivities": [1, 2], "max_values_per_unit": 1}, "without `max_values_per_unit`, .* Leave it out"),
        ({"max_values_per_unit": 0}, "^max_values_per_unit=0"),
        ({"selections": 0}, "selections=0"),
        ({"monotonic": "yes"}, "^monotonic=<str>: expected True or False"),
        ({"monotonic": None, "situation": "stream"}, "^monotonic=None: expected True or False"),
        ({"situation": ["stream"]}, "^situation=<list>: expected 'stream' or"),
    ],
)
def test_bad_input(facts: dict[str, Any], match: str) -> None:
    for ask in (recommend, why):
        with pytest.raises(dps.errors.InvalidParameterError, match=match):
            ask(**facts)

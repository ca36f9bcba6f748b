"""One question for all mechanisms: what is recommended is what the parts recommend, from public facts alone."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    ("facts", "match"),
    [
        ({"situation": "river"}, "situation"),
        ({"situation": "stream", "k": 2, "n": 9}, "situation"),
        ({"sensitivities": [1, 2], "selections": 3}, "sensitivities"),
        ({"k": 3, "n": 9, "selections": 2}, "k=3"),
        ({"k": 3}, "k=3"),
        ({"k": 0}, "k=0"),
        ({"selections": 0}, "selections=0"),
    ],
)
def test_bad_input(facts: dict[str, Any], match: str) -> None:
    for ask in (recommend, why):
        with pytest.raises(dps.InvalidParameterError, match=match):
            ask(**facts)

"""The words of a privacy claim."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

import dpselect as dps
from dpselect import Neighbours
from dpselect.errors import InvalidParameterError


def forecast(neighbours: Any, unit: str = "person") -> dps.Forecast:
    return dps.DryRun(unit=unit, neighbours=neighbours).count(epsilon=1.0)


def event_of(monotonic: Any, neighbours: Neighbours) -> Any:
    return dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0, monotonic=monotonic, neighbours=neighbours)


@pytest.mark.parametrize("relation", Neighbours)
def test_relations_by_name_or_member(relation: Neighbours) -> None:
    assert forecast(relation).neighbours is relation
    assert forecast(str(relation)).neighbours is relation


@pytest.mark.parametrize("value", ["swap", "", None, 1, ["add_remove"], {}])
def test_unknown_relations_list_the_choices(value: Any) -> None:
    with pytest.raises(InvalidParameterError, match="'add_remove' or 'replace_one'") as caught:
        forecast(value)
    assert caught.value.name == "neighbours"


def test_monotonic_scores_need_add_remove() -> None:
    assert event_of(True, Neighbours.ADD_REMOVE).monotonic is True
    for relation in Neighbours:
        assert event_of(False, relation).monotonic is False
    with pytest.raises(InvalidParameterError, match="monotonic=True") as caught:
        event_of(True, Neighbours.REPLACE_ONE)
    assert "added or removed" in caught.value.hint


@pytest.mark.parametrize("value", [0, 1, "True", None])
def test_monotonic_is_a_plain_truth_value(value: Any) -> None:
    with pytest.raises(InvalidParameterError, match="True or False"):
        event_of(value, Neighbours.ADD_REMOVE)


def test_claims_are_values() -> None:
    guarantee = forecast(Neighbours.ADD_REMOVE).guarantee
    assert guarantee == dataclasses.replace(guarantee)
    assert guarantee != dataclasses.replace(guarantee, unit="session")
    with pytest.raises(dataclasses.FrozenInstanceError):
        guarantee.epsilon = 2.0  # type: ignore[misc]

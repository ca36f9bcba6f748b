"""The words of a privacy claim."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from dpselect import Neighbours
from dpselect.errors import InvalidParameterError
from dpselect.privacy import Guarantee, Sensitivity, check_monotonic, neighbouring_relation


@pytest.mark.parametrize("relation", Neighbours)
def test_relations_by_name_or_member(relation: Neighbours) -> None:
    assert neighbouring_relation(relation) is relation
    assert neighbouring_relation(str(relation)) is relation


@pytest.mark.parametrize("value", ["swap", "", None, 1, ["add_remove"], {}])
def test_unknown_relations_list_the_choices(value: Any) -> None:
    with pytest.raises(InvalidParameterError, match="'add_remove' or 'replace_one'") as caught:
        neighbouring_relation(value)
    assert caught.value.name == "neighbours"


def test_monotonic_scores_need_add_remove() -> None:
    assert check_monotonic(True, Neighbours.ADD_REMOVE) is True
    assert check_monotonic(False, Neighbours.ADD_REMOVE) is False
    assert check_monotonic(False, Neighbours.REPLACE_ONE) is False
    with pytest.raises(InvalidParameterError, match="monotonic=True") as caught:
        check_monotonic(True, Neighbours.REPLACE_ONE)
    assert "added or removed" in caught.value.hint


@pytest.mark.parametrize("value", [0, 1, "True", None])
def test_monotonic_is_a_plain_truth_value(value: Any) -> None:
    with pytest.raises(InvalidParameterError, match="True or False"):
        check_monotonic(value, Neighbours.ADD_REMOVE)


def test_claims_are_values() -> None:
    guarantee = Guarantee(epsilon=1.0, delta=0.0, neighbours=Neighbours.ADD_REMOVE, unit="person")
    assert guarantee == dataclasses.replace(guarantee)
    assert guarantee != dataclasses.replace(guarantee, unit="session")
    sensitivity = Sensitivity(1.0, True, Neighbours.ADD_REMOVE, "proofs/counting.md")
    with pytest.raises(dataclasses.FrozenInstanceError):
        sensitivity.value = 2.0  # type: ignore[misc]

"""`dps.select` shares mechanisms between calls; no call may get another's."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect.mechanisms.permute_and_flip import _mechanism

SCORES = np.array([0.0, 5.0, 9.0])


def test_a_number_that_equals_a_valid_one_is_not_taken_for_it():
    dps.select(SCORES, epsilon=1, sensitivity=1)
    for name in ("epsilon", "sensitivity"):
        with pytest.raises(dps.errors.InvalidParameterError):
            dps.select(SCORES, **{"epsilon": 1, "sensitivity": 1, name: True})
    with pytest.raises(dps.errors.InvalidParameterError):
        dps.select(SCORES, epsilon=1, sensitivity=1, monotonic=1)  # type: ignore[call-overload]


def test_each_combination_of_arguments_has_its_own_mechanism():
    combinations = [
        (1.0, 1.0, False, "add_remove"),
        (1.0, 1.0, True, "add_remove"),
        (1.0, 1.0, False, "replace_one"),
        (2.0, 1.0, False, "add_remove"),
        (1.0, 2.0, False, "add_remove"),
    ]
    for epsilon, sensitivity, monotonic, neighbours in combinations * 2:
        mechanism = _mechanism(epsilon, sensitivity, monotonic, neighbours)
        assert mechanism == dps.PermuteAndFlip(
            epsilon=epsilon, sensitivity=sensitivity, monotonic=monotonic, neighbours=dps.Neighbours(neighbours)
        )


def test_there_is_no_mechanism_before_the_first_call():
    code = "import dpselect as dps; dps.select([1.0], epsilon=None, sensitivity=None)"
    failed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "InvalidParameterError" in failed.stderr


def test_only_a_call_with_the_very_same_arguments_uses_the_mechanism_of_the_last():
    exact, faint, changing = 1e4, 1e-9, np.array(1e4)
    always_the_best = {"epsilon": exact, "sensitivity": 1.0}
    others: list[dict[str, Any]] = [
        {"epsilon": faint, "sensitivity": 1.0},
        {"epsilon": exact, "sensitivity": 1e15},
        {"epsilon": changing, "sensitivity": 1.0},
    ]
    for other in others:
        assert {dps.select(SCORES, **always_the_best) for _ in range(40)} == {2}
        changing[...] = 1e4
        dps.select(SCORES, **other)
        changing[...] = 1e-9
        assert len({dps.select(SCORES, **other) for _ in range(60)}) > 1  # else with probability 3^-59
    dps.select(SCORES, **always_the_best)
    with pytest.raises(dps.errors.InvalidParameterError):
        dps.select(SCORES, **always_the_best, monotonic=0)  # type: ignore[call-overload]
    with pytest.raises(dps.errors.InvalidParameterError):
        dps.select(SCORES, **always_the_best, neighbours="none")


@pytest.mark.parametrize("value", [[1.0], {"a": 1}, np.array([1.0]), set()], ids=["list", "dict", "array", "set"])
def test_what_cannot_be_hashed_is_refused_in_the_usual_words(value: object):
    for name in ("epsilon", "sensitivity"):
        with pytest.raises(dps.errors.InvalidParameterError, match=f"{name}=<"):
            dps.select(SCORES, **{"epsilon": 1.0, "sensitivity": 1.0, name: value})


@pytest.mark.parametrize("value", [[1.0, 2.0], (1, 2), np.array([1.0, 2.0])], ids=["list", "tuple", "array"])
def test_several_sensitivities_have_a_mechanism_of_their_own(value: object):
    with pytest.raises(dps.errors.InvalidParameterError, match=r"sensitivity=<.*GeneralizedSelection"):
        dps.select([1, 2], epsilon=1.0, sensitivity=value)  # type: ignore[call-overload]


def test_a_zero_dimensional_array_is_a_number():
    assert dps.select(SCORES, epsilon=np.array(50.0), sensitivity=np.float32(1)) == 2  # type: ignore[call-overload]


@pytest.mark.parametrize("unit", ["s", "ns", "generic"])
@pytest.mark.parametrize("name", ["epsilon", "sensitivity"])
def test_durations_are_no_numbers(name: str, unit: str) -> None:
    """NumPy counts them among whole numbers, and makes datetimes of some of them in place of integers."""
    given: dict[str, Any] = {"epsilon": 1.0, "sensitivity": 1.0, name: np.timedelta64(1, unit)}
    with pytest.raises(dps.SelectionError, match=f"^{name}=<timedelta64>"):
        dps.PermuteAndFlip(**given)
    with pytest.raises(dps.SelectionError, match=r"^k=<timedelta64>"):
        dps.top_k([1, 2, 3], given[name], epsilon=1.0, sensitivity=1.0)


def test_help_explains_each_argument_in_the_order_of_the_call() -> None:
    """What is shared is explained once, and completes what a docstring says itself."""
    lines = (dps.PermuteAndFlip.select_with_gap.__doc__ or "").splitlines()
    said = [
        line.partition(":")[0].strip() for line in lines if line.startswith(("Args", "Raises", "    ")) and ":" in line
    ]
    assert said[:4] == ["Args", "scores, candidates", "step", "Raises"]
    lines = (dps.PermuteAndFlip.peel.__doc__ or "").splitlines()
    assert [line.partition(":")[0].strip() for line in lines if ": " in line or line.endswith(":")] == [
        "Args",
        "scores",
        "k",
        "Raises",
        "InvalidParameterError",
        "InvalidScoresError",
        "Proof",
    ]

"""The checks of public arguments: NaN-safe, exact, rounded to the safe side."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dpselect as dps
from dpselect import planning
from dpselect.checks import (
    boolean,
    decimal_fraction,
    delta_below_one,
    divided,
    finite_bounds,
    fraction_down,
    fraction_up,
    members_in_order,
    memory_size,
    positive_count,
    positive_counts,
    positive_epsilon,
    positive_sensitivity,
    probability,
    target_error,
    whole_or_double_bounds,
)
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import NoisyOrder

POSITIVE = pytest.mark.parametrize("check", [positive_epsilon, positive_sensitivity])
NOT_NUMBERS = ["1", None, True, False, [1.0], {1.0: 1.0}, np.array([1.0, 2.0]), np.array(["1"]), 1j, b"1", object()]
NOT_NUMBERS += [np.ma.masked, np.ma.array(5.0, mask=True)]  # what lies beneath a mask is missing


def test_numbers_in_arrays_and_long_doubles_are_exact() -> None:
    array, long = np.array(2**53 + 1), np.longdouble(2**53) + 1  # which is 2^53 where long doubles are doubles
    assert positive_sensitivity(array) == 2**53 + 2
    assert positive_epsilon(array) == 2**53 <= positive_epsilon(long)
    assert positive_sensitivity(long) >= long


@POSITIVE
@given(st.floats(min_value=5e-324, allow_nan=False, allow_infinity=False))
def test_doubles_stay_as_they_are(check: Any, value: float) -> None:
    assert check(value) == value
    assert type(check(np.float64(value))) is float


@POSITIVE
@pytest.mark.parametrize(
    "value", [5e-324, 1e300, 1.7976931348623157e308, 1, np.int8(3), np.float32(0.1), np.float16(2)]
)
def test_numbers_that_are_doubles(check: Any, value: Any) -> None:
    assert Fraction(check(value)) == Fraction(float(value))


@given(st.fractions(min_value=Fraction(1, 10**30)))
def test_other_numbers_are_rounded_to_the_safe_side(value: Fraction) -> None:
    assume(value < Fraction(10) ** 300)
    epsilon, sensitivity = positive_epsilon(value), positive_sensitivity(value)
    assert Fraction(epsilon) <= value <= Fraction(sensitivity)
    assert sensitivity <= math.nextafter(epsilon, math.inf)


@given(st.integers(1, 2**200))
def test_integers_are_rounded_to_the_safe_side(value: int) -> None:
    assert positive_epsilon(value) <= value <= positive_sensitivity(value)


@POSITIVE
@pytest.mark.parametrize(
    "value",
    [*NOT_NUMBERS, 0, 0.0, -0.0, -1, -1e-300, math.nan, math.inf, -math.inf, np.float32("nan"), Fraction(-1, 3)],
)
def test_what_is_not_a_positive_number(check: Any, value: Any) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        check(value, "rate")
    assert caught.value.name == "rate"


def test_numbers_beyond_doubles() -> None:
    for check in (positive_epsilon, positive_sensitivity):
        with pytest.raises(InvalidParameterError, match="a double can hold"):
            check(10**400)
    with pytest.raises(InvalidParameterError, match="a double can hold"):
        positive_epsilon(Fraction(1, 10**400))
    assert positive_sensitivity(Fraction(1, 10**400)) == 5e-324


def test_decimals_are_refused_rather_than_rounded_the_wrong_way() -> None:
    with pytest.raises(InvalidParameterError):
        positive_epsilon(decimal.Decimal("0.1"))


@pytest.mark.parametrize("value", [0.5, 1e-300, Fraction(1, 3), np.float64(0.25), 1 - 2**-53])
def test_probabilities(value: Any) -> None:
    assert probability(value, "confidence") == float(value)


@pytest.mark.parametrize("value", [*NOT_NUMBERS, 0, 1, 0.0, 1.0, -0.1, 1.1, math.nan, math.inf])
def test_what_is_not_a_probability(value: Any) -> None:
    with pytest.raises(InvalidParameterError, match="strictly between 0 and 1"):
        probability(value, "confidence")


@pytest.mark.parametrize("value", [0, 0.0, 1e-9, Fraction(1, 3), np.float64(0.5)])
def test_deltas(value: Any) -> None:
    assert delta_below_one(value) == float(value)


@pytest.mark.parametrize("value", [*NOT_NUMBERS, 1, 1.0, -1e-300, math.nan, math.inf])
def test_what_is_not_a_delta(value: Any) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        delta_below_one(value)
    assert caught.value.name == "delta"


@pytest.mark.parametrize("value", [1, 7, 2**70, np.int16(7), np.uint64(2**63)])
def test_counts(value: Any) -> None:
    assert positive_count(value, "k") == int(value)
    assert type(positive_count(value, "k")) is int


@pytest.mark.parametrize("value", [*NOT_NUMBERS, 0, -1, 1.0, 2.5, math.nan, math.inf, np.bool_(True), Fraction(3)])
def test_what_is_not_a_count(value: Any) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        positive_count(value, "k")
    assert caught.value.name == "k"


def test_counts_up_to_a_limit() -> None:
    assert positive_count(5, "k", at_most=5) == 5
    with pytest.raises(InvalidParameterError, match=r"k=6: expected at most 5 \(the number of scores\)"):
        positive_count(6, "k", at_most=5, at_most_what="the number of scores")


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("2GiB", 2**31),
        (" 2 gib ", 2**31),
        ("0.5GB", 500_000_000),
        ("64MiB", 2**26),
        ("67108864B", 2**26),
        (np.int64(2**31), 2**31),
        ("1TB", 10**12),
    ],
)
def test_sizes_of_memory(value: Any, size: int) -> None:
    assert memory_size(value, "memory_limit") == size


@pytest.mark.parametrize(
    "value",
    [*NOT_NUMBERS, "2", "2G", "GiB", "-2GiB", "1e9B", "２GB", "2GiB; --", "63MiB", 0, 2**26 - 1, 2**63, 2.0**31, ""],
)
def test_what_is_no_size_of_memory(value: Any) -> None:
    with pytest.raises(InvalidParameterError, match="at least 64 MiB"):
        memory_size(value, "memory_limit")


def test_bounds_that_nobody_knows_lead_to_a_private_one() -> None:
    for unknown in (None, "private"):
        with pytest.raises(InvalidParameterError, match=r"lower < upper\. If none is publicly known, .*upper_bound"):
            finite_bounds(unknown)
    with pytest.raises(InvalidParameterError, match=r"lower < upper\.$"):
        finite_bounds(5)


@pytest.mark.parametrize("value", ["yes", "", None, 0, 1, 1.0, [], [True], np.True_])
def test_only_true_and_false_are_booleans(value: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"^monotonic=.*: expected True or False"):
        boolean(value, "monotonic")


def asked_of_people(task: str, *given: Any, **named: Any) -> Any:
    rows = {"who": [1, 2, 3], "name": ["x", "y", "x"], "n": [1, 2, 3]}
    return getattr(dps.Dataset(rows, unit="who"), task)(*given, **named)


LISTED: dict[str, Any] = {"candidates": ["x", "y"], "epsilon": 1.0}
FLAGS: dict[str, Callable[[Any], Any]] = {
    "with_counts": lambda flag: planning.order_noise(9, 2, epsilon=1.0, with_counts=flag),
    "with_counts of no list": lambda flag: planning.unknown_noise(2, epsilon=1.0, delta=1e-6, with_counts=flag),
    "with_counts of a table": lambda flag: asked_of_people("most_common", "name", **LISTED, with_counts=flag),
    "continuous": lambda flag: asked_of_people("median", "n", bounds=(0, 9), epsilon=1.0, continuous=flag),
    "rarest": lambda flag: NoisyOrder(2, 1, epsilon=1.0, max_values_per_unit=1).select([1, 2], rarest=flag),
    "tails": lambda flag: dps.mechanisms.ConcaveMechanism(epsilon=1.0, sensitivity=1).draw([0, 1], [1, -1], tails=flag),
    "tight": lambda flag: dps.accounting.compose([], tight=flag),
    "tight of calibrate": lambda flag: dps.accounting.calibrate(
        dps.PermuteAndFlip, count=2, epsilon=1.0, sensitivity=1, tight=flag
    ),
    "pld": lambda flag: dps.accounting.compose([], pld=flag),
    "monotonic": lambda flag: dps.PermuteAndFlip(epsilon=1.0, sensitivity=1, monotonic=flag),
}


@pytest.mark.parametrize("name", FLAGS)
def test_arguments_that_are_true_or_false_are_nothing_else(name: str) -> None:
    for flag in ("yes", None, 1):
        with pytest.raises(InvalidParameterError, match=f"^{name.split()[0]}=.*: expected True or False"):
            FLAGS[name](flag)


@pytest.mark.parametrize("value", [3, None, "32", b"32", {3, 2}, {3: 2}, np.int64(3), np.array(3)])
def test_what_has_no_members_in_an_order_is_refused(value: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"^bins=.*: expected the bins"):
        members_in_order(value, "bins", expected="the bins")
    with pytest.raises(InvalidParameterError, match=r"^bins=.*: expected the bins"):
        positive_counts(value, "bins", at_most=9, expected="the bins")


def test_members_keep_their_order() -> None:
    for value in ([3, 2], (3, 2), np.array([3, 2]), iter([3, 2])):
        assert positive_counts(value, "bins", at_most=3, expected="the bins") == (3, 2)
    with pytest.raises(InvalidParameterError, match="at most 2"):
        positive_counts([3, 2], "bins", at_most=2, expected="the bins")


def test_floats_are_the_decimals_that_denote_them() -> None:
    assert decimal_fraction(0.1, "step", expected="a number") == Fraction(1, 10)
    assert finite_bounds((0, 0.3)) == (0, Fraction(3, 10))
    assert whole_or_double_bounds((0, 2**53 + 1), "between") == (0.0, 2**53 + 1)


def test_an_error_to_stay_within_may_be_zero_where_that_is_said() -> None:
    assert target_error(3, "within") == 3.0
    assert target_error(0, "within", zero_allowed=True) == 0.0
    with pytest.raises(InvalidParameterError, match="> 0"):
        target_error(0, "within")


@given(st.floats(1e-9, 1e9), st.floats(0.01, 0.99))
def test_parts_never_exceed_the_whole(value: float, share: float) -> None:
    part, rest = divided(value, share)
    assert Fraction(part) + Fraction(rest) <= Fraction(value)
    assert math.isclose(part, value * share)
    assert math.isclose(rest, value * (1 - share))


@given(st.fractions(-1000, 1000))
def test_doubles_on_both_sides_of_a_fraction(exact: Fraction) -> None:
    below, above = fraction_down(exact), fraction_up(exact)
    assert Fraction(below) <= exact <= Fraction(above)
    assert above in (below, math.nextafter(below, math.inf))
    assert str(fraction_down(Fraction(0))) == "0.0"

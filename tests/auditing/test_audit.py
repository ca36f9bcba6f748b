"""Audits find what is broken, and only that; whatever is wrong with their arguments is said in one line."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpselect as dps
from dpselect.auditing.audit import Reader, flat
from dpselect.errors import InvalidParameterError
from tests.auditing.broken import BROKEN
from tests.auditing.cases import Case
from tests.auditing.right import RIGHT

HARD = {"truth half of the time", "sparse with numbers", "again until positive", "epsilon for each of three"}
"""What needs more draws than a test has; `benchmarks/audit.py` finds them."""


@pytest.mark.parametrize("case", [each for each in BROKEN if each.what not in HARD], ids=lambda case: case.what)
def test_what_is_broken_is_found(case: Case) -> None:
    report = case.audited(1, 8000)
    assert report.broken
    assert str(report).startswith("Broken: ")


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.what)
def test_what_is_right_is_not_called_broken(case: Case) -> None:
    """One audit in 10^9 would be wrong, if all of the claim were used up."""
    report = case.audited(1, 1200, confidence=1 - 1e-9)
    assert not report.broken
    assert "private" not in str(report).lower()


def _geometric(seed: int) -> Callable[[int], int]:
    rng = np.random.default_rng(seed)
    chance = 1 - np.exp(-1.0)
    return lambda count: count + int(rng.geometric(chance)) - int(rng.geometric(chance))


def test_the_same_mechanism_is_broken_at_half_its_epsilon_and_not_at_its_own() -> None:
    """Control: what makes the difference is the claim alone."""
    right, wrong = (dps.audit(_geometric(3), (0, 1), claimed_epsilon=each, draws=8000) for each in (1.0, 0.5))
    assert (right.broken, wrong.broken) == (False, True)
    assert 0.5 < wrong.lower_bound < 1
    assert 0.5 < right.lower_bound < 1
    assert [draws for draws, _ in right.looks] == [1000, 2000, 4000, 8000]


def test_a_delta_that_is_claimed_counts() -> None:
    """One draw in five tells which neighbour it is: that is delta = 0.2, at any epsilon."""

    def telling(seed: int) -> Callable[[int], object]:
        rng = np.random.default_rng(seed)
        return lambda neighbour: neighbour if rng.random() < 0.2 else "nothing"

    reports = [
        dps.audit(telling(1), (0, 1), claimed_epsilon=0.5, claimed_delta=delta, draws=4000) for delta in (0, 0.2)
    ]
    assert [each.broken for each in reports] == [True, False]


def test_of_several_pairs_the_one_that_tells_is_named() -> None:
    report = dps.audit(_geometric(1), [(0, 0), (0, 1), (0, 9)], claimed_epsilon=1.0, draws=1000)
    assert report.broken
    assert "pair 3" in report.event


@pytest.mark.parametrize("seed", range(40))
def test_two_neighbours_that_are_alike_are_never_told_apart(seed: int) -> None:
    """Control of the choice of events: with many parts, some differ by chance on the half that chooses."""
    rng = np.random.default_rng(seed)
    report = dps.audit(lambda _: rng.normal(size=12), (0, 0), claimed_epsilon=0.1, draws=400, confidence=0.9999)
    assert not report.broken


def test_what_chose_an_event_does_not_count_for_it() -> None:
    """The first 500 draws for each neighbour tell all, and the others nothing: no fresh draw confirms the event."""
    calls = [0, 0]

    def sampler(neighbour: int) -> int:
        calls[neighbour] += 1
        return neighbour if calls[neighbour] <= 500 else 2

    report = dps.audit(sampler, (0, 1), claimed_epsilon=0.1, draws=8000)
    assert report.lower_bound == 0
    assert report.looks[0] == (1000, 0.0)


OUTPUTS: dict[str, tuple[Any, Any]] = {
    "the sign of zero": (0.0, -0.0),
    "NaN": (0.0, float("nan")),
    "text": ("a", "b"),
    "a type": (1, True),
    "a length": ([1.0], [1.0, 1.0]),
    "a set": ({1}, {1, 2}),
    "a key": ({"a": 1}, {"b": 1}),
    "an array": (np.zeros(3), np.ones(3)),
    "a column": (pd.Series([1, 2]), pd.Series([2, 1])),
    "nesting": ([[1], [2]], [[1, 2]]),
    "none": (None, 0),
    "huge whole numbers": (10**400, -(10**400)),
    "decimals": (Decimal("0.1"), Decimal("0.2")),
    "the last bit": (1.0, np.nextafter(1.0, 2.0)),
    "whole numbers that floats do not hold": (2**60, 2**60 + 1),
    "the last digit of a huge number": (10**400, 10**400 + 1),
    "numbers too long to print": ([10**5000, 1], [10**5000, 2]),
    "a fraction": (Fraction(1, 3), 1 / 3),
    "the last digit of a decimal": (Decimal("0.1"), Decimal("0.1000000000000000000001")),
    "a NaN that signals": (Decimal("sNaN"), Decimal("NaN")),
    "a cell in the midst of a long table": tuple(
        pd.DataFrame({"a": [0] * 500 + [cell] + [0] * 500}) for cell in (0, 1)
    ),
    "a cell of Polars": tuple(pl.DataFrame({"a": [0, cell]}) for cell in (0, 1)),
    "labels of rows": (pd.Series({"a": 1, "b": 1}), pd.Series({"a": 1, "c": 1})),
}


@pytest.mark.parametrize("outputs", OUTPUTS.values(), ids=OUTPUTS)
def test_any_difference_between_outputs_is_seen(outputs: tuple[Any, Any]) -> None:
    report = dps.audit(lambda at: outputs[at], (0, 1), claimed_epsilon=1.0, draws=200)
    assert report.broken


@dataclass
class Answer:
    value: float


NOISY: dict[str, Callable[[float], object]] = {
    "text": lambda number: f"about {number} people",
    "JSON": lambda number: json.dumps({"count": number}),
    "a data class": Answer,
    "a date": lambda number: datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=number),
    "a complex number": lambda number: complex(number, 1),
    "the values of a dictionary": lambda number: {"a": number}.values(),
    "a queue": lambda number: deque([number]),
    "a set": lambda number: {number, "a"},
}


@pytest.mark.parametrize("made", NOISY.values(), ids=NOISY)
def test_noise_is_seen_in_whatever_holds_the_number(made: Callable[[float], object]) -> None:
    """Hardly an output comes twice, so only thresholds tell; with enough noise nothing does."""
    rng = np.random.default_rng(6)
    few, enough = (
        dps.audit(
            lambda count, scale=scale: made(round(count + rng.laplace(0.0, scale), 4)),
            (0, 1),
            claimed_epsilon=1.0,
            draws=4000,
        )
        for scale in (0.3, 1.0)
    )
    assert (few.broken, enough.broken) == (True, False)


def test_noise_in_the_text_of_an_error_is_seen() -> None:
    rng = np.random.default_rng(6)

    def sampler(count: int) -> int:
        if rng.random() < 0.9:
            raise ValueError(f"{count + rng.laplace(0.0, 0.3):.5f} is too much")
        return 0

    assert dps.audit(sampler, (0, 1), claimed_epsilon=1.0, draws=4000).broken


@pytest.mark.parametrize("made", [list, np.array, lambda cells: dict(enumerate(cells))], ids=["list", "array", "dict"])
def test_of_many_parts_the_one_that_tells_is_found(made: Callable[[list[int]], object]) -> None:
    rng = np.random.default_rng(4)

    def sampler(count: int) -> object:
        cells = rng.geometric(0.9, 120) - rng.geometric(0.9, 120)
        cells[90] += count
        return made(cells.tolist())

    report = dps.audit(sampler, (0, 1), claimed_epsilon=1.0, draws=4000)
    assert report.broken
    assert "the output[90]" in report.event


@pytest.mark.parametrize("output", [object(), iter([1]), lambda: 1, [object()]], ids=lambda each: type(each).__name__)
def test_outputs_that_cannot_be_told_apart_are_refused(output: object) -> None:
    """Each has a text of its own, which says where it is in memory: an audit would find nothing, whatever is in it."""
    with pytest.raises(InvalidParameterError, match=r"sampler=<returns a \w+>: expected .* a repr of its own"):
        dps.audit(lambda _: output, (0, 1), claimed_epsilon=1.0, draws=400)


def test_equal_sets_are_equal_however_they_were_made() -> None:
    """Python goes through these two in different orders."""
    made = [{0, 8}, {8, 0}]
    assert [*made[0]] != [*made[1]]
    assert flat(made[0]) == flat(made[1])
    assert [*flat(made[0])] == [*flat(made[1])]
    report = dps.audit(lambda at: made[at], (0, 1), claimed_epsilon=0.1, draws=400)
    assert report.lower_bound == 0
    assert str(report).endswith("Event: none that tells the neighbours apart.")


def test_an_output_is_read_alike_among_however_many_others() -> None:
    """Else an event would not be the same for all draws that test it, and its bound not exact."""
    rng = np.random.default_rng(1)
    outputs = [flat([*rng.permutation(8).astype(float), rng.normal()]) for _ in range(200)]
    reader = Reader(outputs, outputs)
    columns = reader.columns(outputs)
    for size in (1, 2, 3, 7, 16, 101):
        parts = [reader.columns(outputs[at : at + size]) for at in range(0, len(outputs), size)]
        for name, column in columns.items():
            assert np.concatenate([part[name] for part in parts]).tobytes() == column.tobytes(), name


def test_errors_are_outputs() -> None:
    def sampler(count: int) -> int:
        if count:
            raise ValueError("too many")
        return 0

    report = dps.audit(sampler, (0, 1), claimed_epsilon=1.0, draws=200)
    assert report.broken


def test_noise_that_hides_in_pairs_of_numbers_is_found() -> None:
    """Each number alone is uniform for both neighbours; their order or their sum is not."""
    rng = np.random.default_rng(5)

    def sampler(bit: int) -> list[float]:
        first = rng.random()
        return [first, (first + 0.5 * bit) % 1.0]

    report = dps.audit(sampler, (0, 1), claimed_epsilon=1.0, draws=400)
    assert report.broken
    assert not report.event.startswith("the output[0] is")


def test_the_parts_of_an_output_have_names() -> None:
    assert flat(3) == {"the output": 3}
    assert set(flat({"a": [7]})) == {"the length of the output", "the length of the output['a']", "the output['a'][0]"}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"sampler": 3}, r"sampler=3: expected a function"),
        ({"sampler": len}, r"sampler=<raises TypeError at every draw>"),
        ({"neighbours": [0, 1]}, r"neighbours=<list>: expected a tuple of two neighbours"),
        ({"neighbours": []}, r"neighbours=<list>: expected"),
        ({"neighbours": (1, 2, 3)}, r"neighbours=<tuple>: expected"),
        ({"claimed_epsilon": 0}, r"claimed_epsilon=0: expected"),
        ({"claimed_epsilon": 12.0}, r"draws=1000: expected at least about \d,\d{3},\d{3}"),
        ({"claimed_delta": 1.0}, r"claimed_delta=1.0: expected"),
        ({"draws": 0}, r"draws=0: expected a whole number"),
        ({"draws": 20}, r"draws=20: expected at least about 200"),
        ({"confidence": 1.0}, r"confidence=1.0: expected"),
    ],
)
def test_bad_input_is_refused_before_anything_is_drawn(changed: dict[str, Any], said: str) -> None:
    given = {"sampler": lambda _: 0, "neighbours": (0, 1), "claimed_epsilon": 1.0, "draws": 1000} | changed
    with pytest.raises(InvalidParameterError, match=f"^{said}") as refused:
        dps.audit(given.pop("sampler"), given.pop("neighbours"), **given)
    assert "\n" not in str(refused.value)


def test_what_draws_are_said_to_be_needed_are_enough() -> None:
    with pytest.raises(InvalidParameterError, match="draws") as refused:
        dps.audit(lambda count: count, (0, 1), claimed_epsilon=5.0, draws=300)
    needed = int(refused.value.expected.rpartition(" ")[2].replace(",", ""))
    assert dps.audit(lambda count: count, (0, 1), claimed_epsilon=5.0, draws=needed).broken

"""One contract for all engines: the same rows give the same summaries as a few lines of Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dpselect import Neighbours
from tests.rows import engines, laws, model, table_questions
from tests.rows.awkward import AWKWARD, QUESTIONS, UNITS
from tests.rows.engines import Opener, Source
from tests.rows.laws import Questions
from tests.rows.model import Rows
from tests.rows.tables import Groups, Opened
from tests.slow import SLOW

pytestmark = engines.deprecations


THE_GROUPS: Groups = ("group", ["south", "north", "west"], 3)


@pytest.mark.partners(2)
@pytest.mark.parametrize(
    ("column", "candidates"), QUESTIONS, ids=[f"{each[0]}-{i}" for i, each in enumerate(QUESTIONS)]
)
def test_counts(awkward: Opened, rows: Rows, column: str, candidates: Any) -> None:
    assert awkward.counts(column, candidates, unit="text") == model.counts(rows, "text", column, candidates)


@pytest.mark.parametrize("unit", UNITS)
def test_units(awkward: Opened, rows: Rows, unit: str) -> None:
    """Who is who, and who is nobody, in every type."""
    candidates = ["south", "north", "east"]
    assert awkward.counts("group", candidates, unit=unit) == model.counts(rows, unit, "group", candidates)


def test_counts_in_groups(awkward: Opened, rows: Rows) -> None:
    expected = model.counts(rows, "whole", "short", [7, 8], group="group", groups=["south", "north", "west"])
    assert awkward.counts("short", [7, 8], unit="whole", groups=THE_GROUPS) == expected


UNKNOWN = [
    *((name, "whole numbers") for name in ("whole", "short", "number", "single", "exact", "huge", "fine")),
    *((name, "numbers") for name in ("number", "exact", "huge", "fine")),
    *(("text", "text"), ("group", "text"), ("day", "dates"), ("flag", "booleans")),
]


@pytest.mark.partners(2)
@pytest.mark.parametrize(("column", "kind"), UNKNOWN, ids=[f"{name}-{kind}" for name, kind in UNKNOWN])
def test_unknown_values(awkward: Opened, rows: Rows, column: str, kind: str) -> None:
    """Each value that a row may have, and none that only some engines could return."""
    is_text = awkward.holds(column) == "untyped values (CSV)"

    def known(names: list[dict[Any, int]]) -> list[dict[Any, int]]:
        """From 2^53 on, a number in text may be rounded, so it is no name."""
        is_rounded = is_text and kind == "numbers"
        return [{name: n for name, n in each.items() if not is_rounded or abs(name) < 2**53} for each in names]

    found = awkward.values(column, kind, unit="text", most=20)
    assert found == known(model.names(rows, "text", column, kind, most=20))
    groups: dict[str, Any] = {"group": "group", "groups": ["south", "north", "west"]}
    found = awkward.values(column, kind, unit="whole", most=20, groups=THE_GROUPS)
    assert found == known(model.names(rows, "whole", column, kind, most=20, **groups))


@pytest.mark.sampled(9)
def test_values_that_cannot_be_names(opened: Opener) -> None:
    """Text that is too long by one byte, in letters of one byte or of two; and no rows at all."""
    texts = ["x" * 1024, "x" * 1025, "ä" * 512, "ä" * 512 + "x", "", " ", None, "a\\'b"]
    rows = pa.table({"unit": [f"u{place}" for place in range(len(texts))], "value": texts})
    for some in (rows, rows.slice(0, 0)):
        found = opened(some).values("value", "text")
        assert found == [dict.fromkeys([texts[0], texts[2], " ", texts[7]], 1) if some.num_rows else {}]


NEEDED: list[tuple[str | None, str | None]] = [("group", None), (None, "number"), ("group", "fine")]


@pytest.mark.parametrize("unit", ["text", "whole", "number"])
def test_usable_units(awkward: Opened, rows: Rows, unit: str) -> None:
    """Units with a candidate, with a number, or with both in one row; with and without groups."""
    for column, number in NEEDED:
        matched = None if column is None else (column, ["south", "north"])
        needed: dict[str, Any] = {"unit": unit, "matched": matched, "number": number}
        assert awkward.units(**needed) == model.usable_units(rows, **needed)
        expected = model.usable_units(rows, **needed, group="group", groups=["south", "north", "west"])
        assert awkward.units(**needed, groups=THE_GROUPS) == expected


NUMBERS = ["whole", "short", "number", "single", "exact", "huge", "fine"]
SCALES = [(Fraction(1), 0, 10), (Fraction(1, 2), -100, 100), (Fraction(100), -(2**31), 2**31), (Fraction(1, 3), -7, -1)]
BOUNDS = [(-1e18, 1e18), (0.0, 7.2)]


def in_turn(engine: str, column: str, turn: int, cases: list[Any]) -> Any:
    """By day one case of each engine and column, the next one for the next: any two of the three come together."""
    place = [*dict.fromkeys((*engines.ASKED_EVERYTHING, *engines.ALL))].index(engine)
    return cases[(place + NUMBERS.index(column) + turn) % len(cases)]


@pytest.mark.parametrize("amount", NUMBERS)
@pytest.mark.parametrize("turn", range(len(SCALES) if SLOW else 1))
def test_totals(engine: str, awkward: Opened, rows: Rows, amount: str, turn: int) -> None:
    scale, lower, upper = in_turn(engine, amount, turn, SCALES)
    listed: dict[str, Any] = {"column": "flag", "candidates": [True, False], "unit": "day"}
    expected = model.totals(rows, **listed, amount=amount, scale=scale, lower=lower, upper=upper)
    assert awkward.totals(amount, (lower, upper), scale=scale, **listed) == expected


@pytest.mark.sampled(9)
@pytest.mark.parametrize("scale", [Fraction(10**12), Fraction(1, 10**12)])
def test_huge_products(opened: Opener, scale: Fraction) -> None:
    """Beyond all doubles, or nearer to zero than any: no error."""
    numbers = [1.7e308, -1.7e308, 5e-324, 1e-300, float("inf"), 1e12, 0.4]
    rows = pa.table({"unit": range(7), "value": [1] * 7, "amount": numbers})
    expected = model.totals(
        rows.to_pylist(), "unit", "value", [1, 2], amount="amount", scale=scale, lower=-10, upper=50
    )
    assert opened(rows).totals("amount", (-10, 50), scale=scale, column="value", candidates=[1, 2]) == expected


def test_totals_in_groups(awkward: Opened, rows: Rows) -> None:
    listed: dict[str, Any] = {"unit": "flag", "column": "short", "candidates": range(6, 9)}
    found = awkward.totals("number", (-50, 71), scale=10, **listed, groups=THE_GROUPS)
    amounts = {"amount": "number", "scale": Fraction(10), "lower": -50, "upper": 71}
    assert found == model.totals(rows, **listed, group="group", groups=["south", "north", "west"], **amounts)


@pytest.mark.parametrize("column", NUMBERS)
@pytest.mark.parametrize("turn", range(len(BOUNDS) if SLOW else 1))
def test_all_numbers_are_kept_if_nobody_has_too_many(
    engine: str, awkward: Opened, rows: Rows, column: str, turn: int
) -> None:
    bounds = in_turn(engine, column, turn, BOUNDS)
    expected = model.numbers(rows, "day", column, bounds=bounds)
    kept = sorted(number for each in expected.values() for number in each)
    assert awkward.numbers(column, bounds, unit="day", most=12) == [kept]


@pytest.mark.sampled(9)
def test_an_empty_table(opened: Opener) -> None:
    table = opened(AWKWARD.slice(0, 0))
    for most in (1, 3):
        groups = ("group", ["south", "north", "west"], most)
        assert table.counts("whole", [1, 2], unit="text", groups=groups) == [[0, 0]] * 3
    assert table.numbers("whole", (0, 1), unit="text") == [[]]


EXPECTED = laws.expected_summaries(table_questions.ROWS)


@pytest.fixture(scope="module")
def answers(place: Callable[[pa.Table], Source]) -> Questions:
    """What this engine hands up for each question."""
    return laws.summaries(place(table_questions.ROWS))


def relations(name: str) -> list[Neighbours]:
    return [Neighbours.ADD_REMOVE] if name.endswith("-by") else list(Neighbours)


@cache
def expected_law(name: str, neighbours: Neighbours) -> laws.Law:
    """The same for all engines, and for the controls."""
    return law_of(name, neighbours, table_questions.QUESTIONS[name](EXPECTED))


KNOWN: dict[Any, laws.Law] = {}


def to_the_last_bit(part: Any) -> Any:
    """Equal only for summaries that are the same in every bit, in the same order."""
    if isinstance(part, np.ndarray):
        return str(part.dtype), part.shape, part.tobytes()
    if isinstance(part, pa.Array | pa.ChunkedArray):
        return str(part.type), repr(part.to_pylist())
    if isinstance(part, list | tuple):
        return type(part), *map(to_the_last_bit, part)
    if is_dataclass(part):
        return type(part), *(to_the_last_bit(getattr(part, each.name)) for each in fields(part))
    return part


def law_of(name: str, neighbours: Neighbours, summary: Any) -> laws.Law:
    """By day computed once for summaries that are the same to the last bit: engines differ in these, if in anything."""
    key = name, neighbours, to_the_last_bit(summary)
    if SLOW or key not in KNOWN:
        KNOWN[key] = laws.law(laws.planned(table_questions.QUESTIONS[name], neighbours), summary)
    return KNOWN[key]


@pytest.mark.partners(2)
@pytest.mark.parametrize("name", table_questions.QUESTIONS)
def test_the_law(answers: Questions, name: str) -> None:
    ask = table_questions.QUESTIONS[name]
    found = ask(answers)
    for neighbours in relations(name):
        ours, theirs = law_of(name, neighbours, found), expected_law(name, neighbours)
        assert [each.tolist() for each in ours] == [each.tolist() for each in theirs]


def test_all_questions_are_asked() -> None:
    public = {name for name in dir(Questions) if not name.startswith("_")}
    assert {name.split("-")[0] for name in table_questions.QUESTIONS} == public - {"by", "where"}


def differ(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape != other.shape or np.abs(one - other).max() > 1e-4


@pytest.mark.parametrize("name", table_questions.QUESTIONS)
def test_the_law_can_differ(name: str) -> None:
    """Control: of a table on which rows of nobody's are somebody's."""
    ask = table_questions.QUESTIONS[name]
    others = laws.expected_summaries(
        table_questions.table([f"somebody {each}" for each in range(len(table_questions.NOBODY))])
    )
    for neighbours in relations(name):
        ours, theirs = law_of(name, neighbours, ask(others)), expected_law(name, neighbours)
        assert any(differ(one, other) for one, other in zip(ours, theirs, strict=True))


WITHOUT_FORMULA = {"quantiles-halving"}
"""Their "laws" are what was gathered."""


@pytest.mark.parametrize("name", sorted(table_questions.QUESTIONS.keys() - WITHOUT_FORMULA))
def test_laws_are_laws(name: str) -> None:
    """Probabilities of all answers together, or of one up to the largest."""
    for neighbours in relations(name):
        for each in expected_law(name, neighbours):
            wholes = [each.sum(), *np.atleast_1d(each[..., -1])]
            assert any(whole == pytest.approx(1.0, abs=1e-4) for whole in wholes)

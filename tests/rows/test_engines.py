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
from dpselect.rows.columns import Amount, Grouping, Holds
from dpselect.rows.table import Table
from dpselect.summaries import CandidateKind, NameCounts, PublicCandidates, PublicDomain
from tests.rows import engines, laws, model, table_questions
from tests.rows.awkward import AWKWARD, QUESTIONS, UNITS
from tests.rows.engines import Opener, Source
from tests.rows.laws import Questions
from tests.rows.model import Rows
from tests.rows.tables import scanned
from tests.slow import SLOW

pytestmark = engines.deprecations


def the_groups(table: Table, most: int) -> Grouping:
    return Grouping(table.column("group"), PublicCandidates.given(["south", "north", "west"]), most)


@pytest.mark.partners(2)
@pytest.mark.parametrize(
    ("column", "candidates"), QUESTIONS, ids=[f"{each[0]}-{i}" for i, each in enumerate(QUESTIONS)]
)
def test_counts(awkward: Table, rows: Rows, column: str, candidates: Any) -> None:
    (found,) = scanned(
        awkward,
        "count",
        unit=awkward.unit("text"),
        column=awkward.column(column),
        candidates=PublicCandidates.given(candidates),
    )
    assert [found.counts.tolist()] == model.counts(rows, "text", column, candidates)


@pytest.mark.parametrize("unit", UNITS)
def test_units(awkward: Table, rows: Rows, unit: str) -> None:
    """Who is who, and who is nobody, in every type."""
    candidates = PublicCandidates.given(["south", "north", "east"])
    (found,) = scanned(awkward, "count", unit=awkward.unit(unit), column=awkward.column("group"), candidates=candidates)
    assert [found.counts.tolist()] == model.counts(rows, unit, "group", candidates.values)


def test_counts_in_groups(awkward: Table, rows: Rows) -> None:
    candidates = PublicCandidates.given([7, 8])
    found = scanned(
        awkward,
        "count",
        unit=awkward.unit("whole"),
        column=awkward.column("short"),
        candidates=candidates,
        grouping=the_groups(awkward, 3),
    )
    expected = model.counts(rows, "whole", "short", [7, 8], group="group", groups=["south", "north", "west"])
    assert [each.counts.tolist() for each in found] == expected


UNKNOWN = [
    *((name, CandidateKind.INTEGER) for name in ("whole", "short", "number", "single", "exact", "huge", "fine")),
    *((name, CandidateKind.NUMBER) for name in ("number", "exact", "huge", "fine")),
    ("text", CandidateKind.TEXT),
    ("group", CandidateKind.TEXT),
    ("day", CandidateKind.DATE),
    ("flag", CandidateKind.BOOLEAN),
]


def as_found(found: list[NameCounts]) -> list[dict[Any, int]]:
    return [dict(zip(each.names.to_pylist(), each.counts.tolist(), strict=True)) for each in found]


@pytest.mark.partners(2)
@pytest.mark.parametrize(("column", "kind"), UNKNOWN, ids=[f"{name}-{kind.name.lower()}" for name, kind in UNKNOWN])
def test_unknown_values(awkward: Table, rows: Rows, column: str, kind: CandidateKind) -> None:
    """Each value that a row may have, and none that only some engines could return."""
    asked: dict[str, Any] = {"column": awkward.column(column), "kind": kind, "max_values_per_unit": 20}
    found = scanned(awkward, "names", unit=awkward.unit("text"), **asked)
    is_text = awkward.column(column).holds is Holds.ANYTHING

    def known(names: list[dict[Any, int]]) -> list[dict[Any, int]]:
        """From 2^53 on, a number in text may be rounded, so it is no name."""
        is_rounded = is_text and kind is CandidateKind.NUMBER
        return [{name: n for name, n in each.items() if not is_rounded or abs(name) < 2**53} for each in names]

    assert as_found(found) == known(model.names(rows, "text", column, kind, most=20))
    found = scanned(awkward, "names", unit=awkward.unit("whole"), **asked, grouping=the_groups(awkward, 3))
    groups: dict[str, Any] = {"group": "group", "groups": ["south", "north", "west"]}
    assert as_found(found) == known(model.names(rows, "whole", column, kind, most=20, **groups))


@pytest.mark.sampled(9)
def test_values_that_cannot_be_names(opened: Opener) -> None:
    """Text that is too long by one byte, in letters of one byte or of two; and no rows at all."""
    texts = ["x" * 1024, "x" * 1025, "ä" * 512, "ä" * 512 + "x", "", " ", None, "a\\'b"]
    rows = pa.table({"unit": [f"u{place}" for place in range(len(texts))], "value": texts})
    for some in (rows, rows.slice(0, 0)):
        table = opened(some)
        asked: dict[str, Any] = {"kind": CandidateKind.TEXT, "max_values_per_unit": 1}
        found = scanned(table, "names", unit=table.unit("unit"), column=table.column("value"), **asked)
        assert as_found(found) == [dict.fromkeys([texts[0], texts[2], " ", texts[7]], 1) if some.num_rows else {}]


NEEDED: list[tuple[str | None, str | None]] = [("group", None), (None, "number"), ("group", "fine")]


@pytest.mark.parametrize("unit", ["text", "whole", "number"])
def test_usable_units(awkward: Table, rows: Rows, unit: str) -> None:
    """Units with a candidate, with a number, or with both in one row; with and without groups."""
    candidates = PublicCandidates.given(["south", "north"])
    for matched, number in NEEDED:
        needed: dict[str, Any] = {
            "matched": None if matched is None else (awkward.column(matched), candidates),
            "number": None if number is None else awkward.column(number),
        }
        expected: dict[str, Any] = {"matched": None if matched is None else (matched, candidates.values)}
        expected["number"] = number
        found = scanned(awkward, "units", unit=awkward.unit(unit), **needed)
        assert found == model.usable_units(rows, unit, **expected)
        expected |= {"group": "group", "groups": ["south", "north", "west"]}
        found = scanned(awkward, "units", unit=awkward.unit(unit), **needed, grouping=the_groups(awkward, 3))
        assert found == model.usable_units(rows, unit, **expected)


NUMBERS = ["whole", "short", "number", "single", "exact", "huge", "fine"]
SCALES = [
    (Fraction(1), 0, 10),
    (Fraction(1, 2), -100, 100),
    (Fraction(100), -(2**31), 2**31),
    (Fraction(1, 3), -7, -1),
]
BOUNDS = [(-1e18, 1e18), (0.0, 7.2)]


def in_turn(engine: str, column: str, turn: int, cases: list[Any]) -> Any:
    """By day one case of each engine and column, the next one for the next: any two of the three come together."""
    place = [*dict.fromkeys((*engines.ASKED_EVERYTHING, *engines.ALL))].index(engine)
    return cases[(place + NUMBERS.index(column) + turn) % len(cases)]


@pytest.mark.parametrize("amount", NUMBERS)
@pytest.mark.parametrize("turn", range(len(SCALES) if SLOW else 1))
def test_totals(engine: str, awkward: Table, rows: Rows, amount: str, turn: int) -> None:
    scale, lower, upper = in_turn(engine, amount, turn, SCALES)
    amounts = Amount(awkward.column(amount), scale, lower, upper)
    (found,) = scanned(
        awkward,
        "total",
        unit=awkward.unit("day"),
        column=awkward.column("flag"),
        candidates=PublicCandidates.given([True, False]),
        amount=amounts,
    )
    expected = model.totals(rows, "day", "flag", [True, False], amount=amount, scale=scale, lower=lower, upper=upper)
    assert [found.totals.tolist()] == expected


@pytest.mark.sampled(9)
@pytest.mark.parametrize("scale", [Fraction(10**12), Fraction(1, 10**12)])
def test_huge_products(opened: Opener, scale: Fraction) -> None:
    """Beyond all doubles, or nearer to zero than any: no error."""
    numbers = [1.7e308, -1.7e308, 5e-324, 1e-300, float("inf"), 1e12, 0.4]
    rows = pa.table({"unit": range(7), "value": [1] * 7, "amount": numbers})
    table = opened(rows)
    amounts = Amount(table.column("amount"), scale, -10, 50)
    (found,) = scanned(
        table,
        "total",
        unit=table.unit("unit"),
        column=table.column("value"),
        candidates=PublicCandidates.given([1, 2]),
        amount=amounts,
    )
    (model_of,) = model.totals(
        rows.to_pylist(), "unit", "value", [1, 2], amount="amount", scale=scale, lower=-10, upper=50
    )
    assert found.totals.tolist() == model_of


def test_totals_in_groups(awkward: Table, rows: Rows) -> None:
    found = scanned(
        awkward,
        "total",
        unit=awkward.unit("flag"),
        column=awkward.column("short"),
        candidates=PublicCandidates.given(range(6, 9)),
        amount=Amount(awkward.column("number"), Fraction(10), -50, 71),
        grouping=the_groups(awkward, 3),
    )
    amounts = {"amount": "number", "scale": Fraction(10), "lower": -50, "upper": 71}
    expected = model.totals(
        rows, "flag", "short", range(6, 9), group="group", groups=["south", "north", "west"], **amounts
    )
    assert [each.totals.tolist() for each in found] == expected


@pytest.mark.parametrize("column", NUMBERS)
@pytest.mark.parametrize("turn", range(len(BOUNDS) if SLOW else 1))
def test_all_numbers_are_kept_if_nobody_has_too_many(
    engine: str, awkward: Table, rows: Rows, column: str, turn: int
) -> None:
    bounds = in_turn(engine, column, turn, BOUNDS)
    (found,) = scanned(
        awkward,
        "gather",
        unit=awkward.unit("day"),
        column=awkward.column(column),
        domain=PublicDomain.given(bounds),
        max_rows_per_unit=12,
    )
    expected = model.numbers(rows, "day", column, bounds=bounds)
    assert sorted(found.values.tolist()) == sorted(number for each in expected.values() for number in each)


@pytest.mark.sampled(9)
def test_an_empty_table(opened: Opener) -> None:
    table = opened(AWKWARD.slice(0, 0))
    unit, column, candidates = table.unit("text"), table.column("whole"), PublicCandidates.given([1, 2])
    for most in (1, 3):
        found = scanned(
            table, "count", unit=unit, column=column, candidates=candidates, grouping=the_groups(table, most)
        )
        assert [each.counts.tolist() for each in found] == [[0, 0]] * 3
    (values,) = scanned(
        table, "gather", unit=unit, column=column, domain=PublicDomain.given((0, 1)), max_rows_per_unit=1
    )
    assert values.values.shape == (0,)


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

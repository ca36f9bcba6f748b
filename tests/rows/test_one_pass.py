"""Several questions in one pass over the rows: each summary is the one that its own pass finds."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect.rows import duckdb as engine
from dpselect.rows.statements import Statement
from dpselect.rows.table import Rows
from dpselect.session.answering import TableQuestion, gathered
from dpselect.session.dataset import seen
from tests.rows.engines import PLACERS
from tests.rows.laws import Questions
from tests.rows.table_questions import BY_CITY, BY_PAGE, NAMES, QUESTIONS, ROWS
from tests.rows.tables import Opened, opened
from tests.slow import SLOW
from tests.watched import before_each_pass

STREAMS = ("csv", "parquet", "duckdb", *(("json", "pandas", "csv-glob") if SLOW else ()))
CHOSEN: dict[str, Any] = {"by": "page", "groups": [1, 2], "max_groups_per_unit": 1}


def plain(summary: Any) -> Any:
    """What is in a summary, for comparison; values have no order."""
    if isinstance(summary, np.ndarray):
        return np.sort(summary).tolist() if summary.dtype == np.float64 else summary.tolist()
    if isinstance(summary, pa.Array | pa.ChunkedArray):
        return summary.to_pylist()
    if isinstance(summary, dict | list | tuple):
        held: Any = summary.items() if isinstance(summary, dict) else summary
        return [plain(each) for each in held]
    if type(summary).__name__ == "NameCounts":
        return sorted(zip(map(str, summary.names.to_pylist()), summary.counts.tolist(), strict=True))
    if is_dataclass(summary):
        return {each.name: plain(getattr(summary, each.name)) for each in fields(summary)}
    return getattr(summary, "__dict__", summary)


def planned(table: Opened, names: list[str]) -> list[TableQuestion]:
    asked = Questions(Rows(table.table, origin="", unit="who"))
    return [QUESTIONS[name](asked) for name in names]


def together(asked: list[TableQuestion]) -> list[Any]:
    assert len({each.read for each in asked}) == 1
    return gathered(asked)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("engine", STREAMS)
def test_every_question_reads_together_what_it_reads_alone(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = list(QUESTIONS)
    asked = planned(PLACERS[engine](ROWS, tmp_path).opened(), names)
    alone = [plain(*gathered([each])) for each in asked]
    passes: list[str] = []
    before_each_pass(monkeypatch, passes.append)
    found = [plain(each) for each in together(asked)]
    assert dict(zip(names, found, strict=True)) == dict(zip(names, alone, strict=True))
    assert len(passes) == 1


@pytest.mark.parametrize("engine", STREAMS)
def test_cross_tables_read_beside_others_what_they_read_alone(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Questions(Rows(PLACERS[engine](ROWS, tmp_path).opened().table, origin="", unit="who"))
    pairs = [("south", "x"), ("north", "y"), ("south", "y"), ("north", "nobody")]
    crossed = seen(data, by=["city", "name"], groups=pairs, max_groups_per_unit=len(pairs))
    other = seen(data, by=["name", "city"], groups=[("y", "west"), ("x", "north")], max_groups_per_unit=2)
    both = [
        crossed.count(epsilon=1.0),
        data.count("name", candidates=["x", "z"], epsilon=1.0),
        crossed.count("page", candidates=range(5), epsilon=1.0),
        other.count("age", between=(30, 60), epsilon=1.0),
        seen(data, **BY_CITY).count(epsilon=1.0),
        crossed.sum("age", clip=(0, 60), epsilon=1.0),
    ]
    alone = [plain(*gathered([each])) for each in both]
    passes: list[str] = []
    before_each_pass(monkeypatch, passes.append)
    assert [plain(each) for each in together(both)] == alone
    assert len(passes) == 1
    counts = np.array(alone[0][0])
    assert counts[:3].all()
    assert not counts[3]


def test_the_comparison_above_can_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = planned(PLACERS["csv"](ROWS, tmp_path).opened(), ["count", "count-between", "histogram", "median"])
    alone = [plain(*gathered([each])) for each in asked]
    assert [plain(each) for each in together(asked)] == alone
    cells = Statement.cells

    def mixed(*given: Any) -> dict[str, list[str]]:
        return {name: of if name == "who" else ["c1"] for name, of in cells(*given).items()}

    monkeypatch.setattr(Statement, "cells", mixed)
    assert [plain(each) for each in together(asked)] != alone


def test_a_column_read_by_other_rules_is_read_apart(tmp_path: Path) -> None:
    """A long text is no number, and a text of its own."""
    long = "0" * 2000 + "7"
    table = PLACERS["csv"](pa.table({"who": [1, 2, 3], "x": [long, "7", "8"]}), tmp_path).opened()
    asked = [[7, 8], [long, "8"], ["7", "8"]]
    for order in (asked, asked[::-1]):
        alone = [table.counts("x", listed, unit="who")[0] for listed in order]
        both = table.found([table.asked("count", unit="who", column="x", candidates=listed) for listed in order])
        assert [each[0].totals.tolist() for each in both] == alone
    assert alone == [[1, 1]] * 3


@pytest.mark.parametrize("whole", [True, False])
def test_each_question_chooses_rows_by_itself(whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two rows of each unit either is as likely, and one question's choice says nothing of another's."""
    units = 4000
    values = np.arange(2 * units) if whole else np.arange(2 * units) + 0.25
    table = opened(pa.table({"who": np.arange(2 * units) // 2, "x": values}))
    asked = table.kept("x", (0, 2 * units), unit="who", step=1 if whole else 0.25)

    def chosen() -> tuple[np.ndarray, np.ndarray]:
        first, second = (np.sort(each[0].values) for each in table.found([asked] * 2))
        assert (first // 2).astype(int).tolist() == (second // 2).astype(int).tolist() == list(range(units))
        return first % 2 >= 1, second % 2 >= 1

    far = 6.2 * np.sqrt(units) / 2
    first, second = chosen()
    for heads in (first, second, first == second):
        assert abs(int(heads.sum()) - units / 2) < far
    random = np.random.default_rng(1).integers(-(2**62), 2**62, 2 * units).tobytes()  # the same for both questions
    monkeypatch.setattr("dpselect.rows.duckdb.os.urandom", lambda size: random[:size])
    first, second = chosen()
    assert abs(int((first == second).sum()) - units / 2) > far


@pytest.mark.parametrize("others", [[], [5, 6, 7, 8, 9, 10, 11, 3], [*range(100, 170)]])
def test_groups_and_values_are_chosen_by_each_question_alone(others: list[int]) -> None:
    units = 3000
    who = np.repeat(np.arange(units), 2)
    table = pa.table({"who": who, "page": np.tile([1, 2], units), "age": np.tile([1, 2], units)})
    data: Any = dps.Dataset(table, unit="who")
    asked = Questions(data._rows)
    histograms = [asked.histogram("page", candidates=[1, *others, 2], epsilon=1.0) for _ in range(6)]
    counts = [seen(asked, **CHOSEN).count("age", between=(0, 9), epsilon=1.0) for _ in range(2)]
    found = [each[0] for each in together([*histograms, *counts])]
    assert not any(sum(each[0].totals[1:-1]) for each in found[:6])
    tables = [each[0].totals[[0, -1]] for each in found[:6]] + found[6:]
    far = 6.2 * np.sqrt(units) / 2
    for each in tables:
        assert sum(each) == units
        assert abs(each[0] - units / 2) < far
    # Neither all alike nor some the other way round, as with keys that are only joined by xor: by chance below 1e-7.
    assert len({min(each) for each in tables[:6]}) > 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize("number", [20, 31, 32, 40, 63, 64])
def test_one_value_of_each_unit_in_several_words(number: int) -> None:
    """Each unit has a single value, so that there is nothing to choose; and some have none."""
    values = {f"c{place}": np.arange(200) * (place + 3) % (number + 2) for place in range(5)}
    data: Any = dps.Dataset(pa.table({"who": np.arange(200), **values}), unit="who")
    asked = Questions(data._rows)
    both = [asked.histogram(name, candidates=range(number), epsilon=1.0) for name in values]
    both.insert(2, asked.most_common("c0", candidates=range(50), epsilon=1.0))
    alone = [plain(*gathered([each])) for each in both]
    assert [plain(each) for each in together(both)] == alone


def test_what_does_not_fit_together_is_read_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = planned(PLACERS["csv"](ROWS, tmp_path).opened(), ["count", "histogram", "values"])
    alone = [plain(*gathered([each])) for each in asked]

    def full(*_: Any, **__: Any) -> Any:
        raise dps.SelectionError("Reading the table needs more memory than there is.")

    real: Any = engine.answer
    monkeypatch.setattr(
        engine, "answer", lambda scan, *given, **named: full() if scan.kept else real(scan, *given, **named)
    )
    assert [plain(each) for each in together(asked)] == alone


def test_other_failures_are_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = planned(PLACERS["csv"](ROWS, tmp_path).opened(), ["count", "histogram"])
    (tmp_path / next(tmp_path.iterdir()).name).unlink()
    with pytest.raises(dps.SelectionError, match="source="):
        together(asked)


def test_files_that_the_engine_reads_itself_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = ROWS.select(["page", "age"]).append_column("who", pa.array(range(len(ROWS))))
    rows = Rows(PLACERS["parquet"](numbers, tmp_path).opened().table, origin="", unit="who")
    asked = Questions(rows)
    both = [
        asked.histogram("page", candidates=range(5), epsilon=1.0),
        asked.most_common("page", candidates=range(500), epsilon=1.0),
        asked.histogram("age", candidates=range(20, 30), epsilon=1.0),
    ]
    alone = [plain(*gathered([each])) for each in both]
    passes: list[str] = []
    before_each_pass(monkeypatch, passes.append)
    assert [plain(each) for each in together(both)] == alone
    assert passes == ["files"]


def test_questions_under_other_conditions_have_a_pass_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = {"where": {"age": (40, None)}}
    questions = [
        {"ask": "count", "column": "age", "between": (30, 50), "epsilon": 1000.0, **more}
        for more in ({}, old, {"usable_epsilon": 1.0})
    ]
    data = PLACERS["csv"](ROWS, tmp_path).asked("who")
    alone = [data.ask([each])[0].value for each in questions]
    passes: list[str] = []
    before_each_pass(monkeypatch, passes.append)
    assert [each.value for each in data.ask(questions)] == alone
    assert len(passes) == 2


def test_a_seeded_block_repeats_its_answers(tmp_path: Path) -> None:
    data = PLACERS["csv"](ROWS, tmp_path).asked("who")
    questions = [
        {"ask": "median", "column": "age", "bounds": (20, 60), "step": 1, "epsilon": 1.0},
        {"ask": "histogram", "column": "name", "candidates": NAMES, "epsilon": 1.0},
        {"ask": "count", "column": "age", "between": (30, 50), "epsilon": 1.0, **BY_CITY},
        {"ask": "sum", "column": "age", "clip": (0, 60), "epsilon": 1.0, **BY_PAGE},
    ]

    def values() -> list[Any]:
        with dps.testing.seeded(5):
            return [each.value for each in data.ask(questions)]

    assert values() == values()

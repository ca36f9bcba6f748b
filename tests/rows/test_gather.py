"""Numbers with bounded contributions: which rows have one, how many of a unit are kept, and that chance chooses."""

from __future__ import annotations

import decimal
import math
import os
import struct
from datetime import date
from itertools import combinations, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpselect import SelectionError
from dpselect.errors import InvalidDataError
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.rows.tables import Row, gather, write_csv, write_parquet
from tests.slow import EXAMPLES
from tests.watched import engine_settings

KINDS = pytest.mark.parametrize("kind", ["csv", "parquet"])
in_time = settings(max_examples=EXAMPLES // 2)  # each reads several files

cells = st.one_of(st.none(), st.floats(-1e6, 1e6).map(lambda x: x + 0.0), st.just(math.inf), st.just(-math.inf))
tables = st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 5)), cells), max_size=30)


def write(folder: Path, rows: list[Row], *, kind: str) -> Path:
    if kind == "parquet":
        return write_parquet(folder / "t.parquet", rows, types=(pa.int64(), pa.float64()), groups=1)
    # An infinity is not a number in text; 1e999 is one that no double can hold.
    texts = {None: "", math.inf: "1e999", -math.inf: "-1e999"}
    lines = [f"{'' if unit is None else unit},{texts.get(value, value)}".encode() for unit, value in rows]
    return write_csv(folder / "t.csv", lines)


def gathered(rows: list[Row], *, kind: str, bounds: tuple[float, float] = (-50.0, 120.0), most: int = 1) -> list[float]:
    with TemporaryDirectory() as folder:
        return gather(write(Path(folder), rows, kind=kind), bounds=bounds, most=most)


def numbers_of(rows: list[Row], *, bounds: tuple[float, float] = (-50.0, 120.0)) -> dict[int, list[float]]:
    """What each unit has, clipped."""
    found: dict[int, list[float]] = {}
    for unit, value in rows:
        if unit is not None and value is not None:
            found.setdefault(unit, []).append(max(bounds[0], min(bounds[1], value)))
    return found


@KINDS
@in_time
@given(rows=tables)
@example(rows=[])
@example(rows=[(None, 1.0), (None, 2.0)])
def test_all_numbers_are_kept_if_no_unit_has_too_many(kind: str, rows: list[Row]) -> None:
    expected = sorted(value for values in numbers_of(rows).values() for value in values)
    assert gathered(rows, kind=kind, most=30) == expected


@KINDS
@pytest.mark.parametrize("most", [1, 2, 7])
def test_of_each_unit_at_most_so_many_of_its_own(kind: str, most: int, tmp_path: Path) -> None:
    generator = np.random.default_rng(11)
    rows = [(int(unit), int(unit) * 1000 + i) for i, unit in enumerate(generator.integers(0, 40, 300))]
    own = numbers_of(rows, bounds=(0, 1e9))
    kept = gather(write(tmp_path, rows, kind=kind), most=most)
    for unit, values in own.items():
        mine = [value for value in kept if value in set(values)]
        assert len(mine) == len(set(mine)) == min(most, len(values)), unit
    assert len(kept) == sum(min(most, len(values)) for values in own.values())
    assert max(map(len, own.values())) > 7  # or the bound would bind nobody


def test_a_units_rows_in_several_files_are_bounded_together(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write_csv(tmp_path / f"{name}.csv", [b"1,5", b"1,6", b"2,7"])
    kept = gather(tmp_path / "*.csv")
    assert len(kept) == 2
    assert kept[1] == 7
    assert kept[0] in (5, 6)


@KINDS
@in_time
@given(rows=tables, added=st.lists(cells, max_size=10), most=st.integers(1, 3))
def test_one_more_unit_adds_so_many_values_and_changes_no_other(
    kind: str, rows: list[Row], added: list[Any], most: int
) -> None:
    """With the same lots for everybody else: chance is nailed down, one fixed lot for each row of the table."""
    lots = np.random.default_rng(5).bytes(8 * 100)
    larger = [*rows, *((99, value) for value in added)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "urandom", lambda size: lots[:size])
        before = gathered(rows, kind=kind, most=most)
        after = gathered(larger, kind=kind, most=most)
    for value in before:
        after.remove(value)  # fails if it is not there
    assert len(after) == min(most, len(numbers_of([(99, value) for value in added]).get(99, [])))


UNITS = 20_000


def choices(path: Path, *, most: int, rows: int) -> np.ndarray:
    """Which of its `rows` rows each of the units keeps, as sorted row numbers: shape ``(units, most)``."""
    kept = np.array(gather(path, bounds=(0, UNITS * rows), most=most)).astype(int)
    return np.sort((kept % rows).reshape(UNITS, most), axis=1)


@pytest.fixture
def repeated(tmp_path: Path) -> Path:
    """Each unit has five rows, in an order of their own; the value says whose and which it is."""
    unit, row = np.divmod(np.random.default_rng(3).permutation(UNITS * 5), 5)
    pq.write_table(pa.table({"unit": unit, "value": unit * 5 + row}), tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def fit(chosen: np.ndarray, *, most: int) -> float:
    sets = {each: i for i, each in enumerate(combinations(range(5), most))}
    counts = np.bincount([sets[tuple(each)] for each in chosen.tolist()], minlength=len(sets))
    return p_value(counts, np.full(len(sets), 1.0 / len(sets)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("most", [1, 2, 4])
def test_each_set_of_a_units_rows_is_equally_likely(repeated: Path, most: int) -> None:
    assert fit(choices(repeated, most=most, rows=5), most=most) > NEVER


@pytest.mark.parametrize("most", [1, 2])
def test_units_that_choose_and_units_that_do_not_stand_side_by_side(most: int, tmp_path: Path) -> None:
    unit, row = np.divmod(np.random.default_rng(4).permutation(UNITS * 5), 5)
    there = (unit % 2 == 0) | (row < most)  # the odd ones have just as many rows as they may
    pq.write_table(pa.table({"unit": unit[there], "value": (unit * 5 + row)[there]}), tmp_path / "t.parquet")
    chosen = choices(tmp_path / "t.parquet", most=most, rows=5)
    assert (chosen[1::2] == np.arange(most)).all()
    assert fit(chosen[::2], most=most) > NEVER
    assert fit(chosen, most=most) < NEVER  # control


@KINDS
@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("value", [7, 7.5])
def test_only_rows_that_are_chosen_among_draw_lots(
    kind: str, most: int, value: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight bytes each. A row without a unit or a number is not among them."""
    system, drawn = os.urandom, list[int]()
    monkeypatch.setattr(os, "urandom", lambda size: drawn.append(size) or system(size))
    few: list[Row] = [(unit, value) for unit in range(9) for _ in range(most)]
    others: list[Row] = [(None, value)] * 5 + [(1, None)] * 6
    assert gather(write(tmp_path, [*few, *others], kind=kind), most=most) == [value] * 9 * most
    assert drawn == []
    many: list[Row] = [(99, value)] * (most + 4) + [(99, None)]
    assert gather(write(tmp_path, [*few, *others, *many], kind=kind), most=most) == [value] * 10 * most
    assert sum(drawn) == 8 * (most + 4)


def test_units_choose_independently(repeated: Path) -> None:
    chosen = choices(repeated, most=1, rows=5)[:, 0].reshape(-1, 2)
    counts = np.bincount(chosen[:, 0] * 5 + chosen[:, 1], minlength=25)
    assert p_value(counts, np.full(25, 1.0 / 25)) > NEVER
    shifted = np.bincount(chosen[:, 0] * 5 + np.roll(chosen[:, 0], 1), minlength=25)
    assert p_value(shifted, np.full(25, 1.0 / 25)) > NEVER
    alike = np.bincount(chosen[:, 0] * 6, minlength=25)  # control: both choose the same
    assert p_value(alike, np.full(25, 1.0 / 25)) < NEVER


@pytest.mark.parametrize("most", [1, 2])
def test_lots_that_are_not_random_are_noticed(tmp_path: Path, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Control: lots with two bits of chance, and else of the order in which the rows stand."""
    unit, row = np.divmod(np.arange(UNITS * 5), 5)
    pq.write_table(pa.table({"unit": unit, "value": unit * 5 + row}), tmp_path / "t.parquet")
    generator = np.random.default_rng()
    chance = lambda rows: generator.integers(0, 4, rows) * 2**40 + np.arange(rows)  # noqa: E731
    monkeypatch.setattr(os, "urandom", lambda size: chance(size // 8).tobytes())
    assert fit(choices(tmp_path / "t.parquet", most=most, rows=5), most=most) < NEVER


@pytest.mark.parametrize("most", [1, 2])
def test_equal_lots_leave_nothing_to_chance(repeated: Path, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", bytes)
    first, second = (choices(repeated, most=most, rows=5) for _ in range(2))
    assert (first == second).all()


def test_every_pass_chooses_anew(repeated: Path) -> None:
    first, second = (choices(repeated, most=1, rows=5)[:, 0] for _ in range(2))
    assert 0.15 < (first == second).mean() < 0.25  # a fifth, within 17 standard deviations


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("7", 7.0),
        ("+7", 7.0),
        ("-07.50", -7.5),
        (" 7\t", 7.0),
        ("7.", 7.0),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1E-3", 0.001),
        ("1e+2", 100.0),
        ("0.1", 0.1),
        ("-0", 0.0),
        ("9007199254740993", 9007199254740992.0),
        ("1e999", 1e18),
        ("-1e999", -1e18),
        ("9" * 400, 1e18),
        ("1e-999", 0.0),
        ("0." + "0" * 400 + "1", 0.0),
    ],
)
def test_numbers_in_text(tmp_path: Path, cell: str, number: float) -> None:
    assert gather(write_csv(tmp_path / "t.csv", [f'1,"{cell}"'.encode()])) == [number]


NO_NUMBERS = ["", " ", "x", "1,5", "1 5", "1_000", "0x1F", "0b1", "1e", "e5", ".", "+", "--1", "$7", "7%", "1/2"]
NO_NUMBERS += ["inf", "-inf", "Infinity", "nan", "NaN", "NULL", "NA", "true", "１", "7\0", "2026-11-21"]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("cell", NO_NUMBERS)
def test_what_is_no_number_is_left_out_alone(tmp_path: Path, cell: str) -> None:
    lines = [f'1,"{cell}"'.encode(), b"1,3", b"2,4", f'3,"{cell}"'.encode()]
    assert gather(write_csv(tmp_path / "t.csv", lines)) == [3.0, 4.0]


@settings(max_examples=max(20, EXAMPLES))
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_text_is_read_as_the_nearest_double(values: list[float]) -> None:
    with TemporaryDirectory() as folder:
        largest = 1.7976931348623157e308
        lines = [f"{i},{value!r}".encode() for i, value in enumerate(values)]
        lines += [f"{i}x,{value:.17e}".encode() for i, value in enumerate(values)]
        assert gather(write_csv(Path(folder) / "t.csv", lines), bounds=(-largest, largest)) == sorted(values * 2)


TYPES: list[tuple[Any, list[Any], list[float]]] = [
    (pa.int8(), [7, -1, None], [-1.0, 7.0]),
    (pa.int64(), [2**53 + 1, -(2**63)], [-1e18, float(2**53)]),
    (pa.uint64(), [2**64 - 1, 2**53 + 3], [float(2**53 + 4), 1e18]),
    (pa.float64(), [0.1, math.nan, None, math.inf, -math.inf, -0.0], [-1e18, 0.0, 0.1, 1e18]),
    (pa.float32(), [0.1, math.nan], [float(np.float32(0.1))]),
    (pa.float16(), [np.float16(0.5), np.float16(math.inf)], [0.5, 1e18]),
    (pa.decimal128(5, 2), [decimal.Decimal("7.25"), decimal.Decimal("-0.10")], [-0.1, 7.25]),
    (pa.decimal256(60, 2), [decimal.Decimal(10) ** 50, decimal.Decimal("0.01")], [0.01, 1e18]),
    (pa.dictionary(pa.int8(), pa.float64()), [1.5, 1.5, None], [1.5, 1.5]),
    (pa.null(), [None, None], []),
]


@pytest.mark.parametrize(("type_", "values", "expected"), TYPES, ids=[str(each[0]) for each in TYPES])
def test_typed_columns(tmp_path: Path, type_: Any, values: list[Any], expected: list[float]) -> None:
    pq.write_table(
        pa.table({"unit": list(range(len(values))), "value": pa.array(values, type_)}), tmp_path / "t.parquet"
    )
    assert gather(tmp_path / "t.parquet") == expected


@pytest.mark.parametrize(
    ("type_", "reason"),
    [
        (pa.string(), "This one holds text. Convert it to numbers first"),
        (pa.bool_(), "This one holds booleans"),
        (pa.date32(), "This one holds dates"),
        (pa.timestamp("us"), "This one holds times"),
        (pa.duration("s"), "This one holds times"),
        (pa.binary(), "This one holds bytes"),
        (pa.list_(pa.float64()), "This one holds nested values"),
        (pa.dictionary(pa.int8(), pa.string()), "This one holds text"),
    ],
)
def test_columns_that_hold_no_numbers(tmp_path: Path, type_: Any, reason: str) -> None:
    path = write_parquet(tmp_path / "t.parquet", [(1, None)], types=(None, type_))
    with pytest.raises(InvalidDataError) as caught:
        gather(path)
    assert "column='value': expected a column of numbers." in str(caught.value)
    assert reason in str(caught.value)


def test_whoever_has_no_unit_is_nobody(tmp_path: Path) -> None:
    nobody = ["", " ", "NA", "N/A", "NaN", "nan", "NULL", "Null", "null", "None", "<NA>", " nan "]
    lines = [f'"{cell}",1'.encode() for cell in [*nobody, "7", " 7 ", "ann"]]
    assert gather(write_csv(tmp_path / "t.csv", lines)) == [1.0, 1.0]
    assert gather(tmp_path / "t.csv", most=9) == [1.0, 1.0, 1.0]  # 7 has two rows
    floats = [(math.nan, 1.0), (None, 1.0), (7.0, 2.0)]
    assert gather(write_parquet(tmp_path / "t.parquet", floats)) == [2.0]


def test_a_row_without_a_number_is_not_chosen(tmp_path: Path) -> None:
    rows = [(1, None)] * 50 + [(1, math.nan)] * 50 + [(1, 3.0)]
    assert gather(write_parquet(tmp_path / "t.parquet", rows)) == [3.0]


@pytest.mark.parametrize(
    "type_", [pa.string(), pa.int64(), pa.float64(), pa.date32(), pa.decimal128(9, 2), pa.binary()]
)
def test_units_of_every_type(tmp_path: Path, type_: Any) -> None:
    units = {
        pa.string(): ["a", "b"],
        pa.date32(): [date(2026, 1, 1), date(2026, 1, 2)],
        pa.decimal128(9, 2): [decimal.Decimal("1.50"), decimal.Decimal("2.50")],
        pa.binary(): [b"\xff", b"\xfe"],
    }.get(type_, [1, 2])
    rows = list(product(units, [3.0, 3.0, 3.0]))
    assert gather(write_parquet(tmp_path / "t.parquet", rows, types=(type_, None))) == [3.0, 3.0]


def test_more_than_memory_holds_spills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine_settings(monkeypatch, memory_limit="30MB", threads="1")
    path = tmp_path / "t.parquet"
    units = np.arange(1_500_000) % 750_000
    pq.write_table(pa.table({"unit": units * 2**33, "value": units * 1.0}), path)
    assert gather(path) == list(range(750_000))
    engine_settings(monkeypatch, max_temp_directory_size="0KB")
    with pytest.raises(SelectionError, match="more memory or temporary disk space"):
        gather(path)


@given(value=st.floats(allow_nan=False))
@example(value=0.0)
@example(value=-math.inf)
@example(value=5e-324)
def test_what_settles_equal_lots_tells_all_numbers_apart(value: float) -> None:
    ((mixed,),) = duckdb.execute("SELECT hash(?::DOUBLE)", [value]).fetchall()
    (bits,) = struct.unpack("<Q", struct.pack("<d", value + 0.0))
    for odd in (0xD6E8FEB86659FD93, 0xD6E8FEB86659FD93, 1):  # each step can be undone: its upper half is there to see
        bits = (bits ^ bits >> 32) * odd % 2**64
    assert mixed == bits

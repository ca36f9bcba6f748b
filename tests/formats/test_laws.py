"""Laws of every format: rows are read one by one, so that one unit moves each count by at most one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpselect as dps
from dpselect import Format
from tests.attacks.test_messages import HOSTILE_CELLS
from tests.formats.reading import counts, numbers, written


@dataclass(frozen=True)
class Case:
    """A format, cells that are written in it, candidates for them, and cells that nearly are."""

    format: Format
    cells: tuple[str, ...]
    candidates: tuple[Any, ...]
    nearly: tuple[str, ...]


CASES = {
    "delimiter": Case(Format(delimiter=";"), ("a", "b,c", "a"), ("a", "b,c"), ("a;a", '"', "b")),
    "latin-1": Case(Format(encoding="latin-1"), ("ä", "ö", "ä"), ("ä", "ö"), ("\x85", "\xa0", "ÿ")),
    "cp1252": Case(Format(encoding="cp1252"), ("€", "ö", "€"), ("€", "ö"), ("\u2026", "\u0178")),
    "utf-16": Case(Format(encoding="utf-16"), ("ä", "\u0a0a", "ä"), ("ä", "\u0a0a"), ("\u0a00", "\u000d", "\ufeff")),
    "thousands": Case(Format(thousands=","), ("1,234", "1234", "5"), (1234, 5), ("1,23", "1,2345", ",234", "$5")),
    "decimal": Case(
        Format(decimal=",", thousands="."), ("1.234,5", "7,0", "7"), (7.0, 1234.5), ("7.0", "1,234.5", "7,,0")
    ),
    "strip": Case(Format(strip="$%"), ("$5", "5 %", "$ 6"), (5, 6), ("-$5", "5$5", "$", "%%%%")),
    "date_format": Case(
        Format(date_format="%d.%m.%y"),
        ("1.2.26", "01.02.26", "3.4.99"),
        (date(2026, 2, 1), date(1999, 4, 3)),
        ("31.2.26", "2026-02-01", "1.2.2026", "0.0.00", "99.99.99"),
    ),
    "ignore_case": Case(Format(ignore_case=True), ("Red", "rED", "Ä"), ("red", "ä"), ("reed", "\u0130", "ẞ", "ǅ")),
    "as_date": Case(
        Format(as_date=True),
        ("2026-02-01T10:00:00Z", "2026-02-01 23:59", "2026-02-03"),
        (date(2026, 2, 1), date(2026, 2, 3)),
        ("2026-02-31 10:00", "2026-02-01T", "10:00", "9999999-02-01 10:00", "2026-02-01 10:00 or so"),
    ),
    "quoted_line_breaks": Case(
        Format(quoted_line_breaks=True), ("a\nb", "c", "a\nb"), ("a\nb", "c"), ("a", "b", "a\r\nb", '"\n"', "\n")
    ),
    "trim": Case(Format(trim=True), (" a\t", "\u00a0a", "b b"), ("a", "b b"), ("\u200ba", "", "   ", "b\u00a0b")),
}
ENCODED = {
    name: case
    for name, case in CASES.items()
    if case.format.encoding == "utf-8" and not case.format.quoted_line_breaks  # which needs rows that are well formed
}


def honest(case: Case) -> list[tuple[object, str]]:
    return [(unit, case.cells[unit % len(case.cells)]) for unit in range(12)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("at", [0, 6, 12])
def test_one_unit_more_moves_each_count_by_at_most_one_and_none_down(name: str, at: int, tmp_path: Path) -> None:
    case = CASES[name]
    before = counts(written(tmp_path / "t.csv", honest(case), case.format), case.candidates, case.format)
    assert before == [8, 4]
    for cell in (*case.cells, *case.nearly):
        rows = [*honest(case)[:at], ("new", cell), ("new", case.cells[0]), *honest(case)[at:]]
        after = counts(written(tmp_path / "t.csv", rows, case.format), case.candidates, case.format)
        assert {now - then for now, then in zip(after, before, strict=True)} <= {0, 1}


@pytest.mark.parametrize("name", ENCODED)
@pytest.mark.parametrize("hostile", range(len(HOSTILE_CELLS)))
def test_no_bytes_of_one_row_change_how_another_is_read(name: str, hostile: int, tmp_path: Path) -> None:
    case = ENCODED[name]
    delimiter = (case.format.delimiter or ",").encode()
    content = written(tmp_path / "t.csv", honest(case), case.format).read_bytes()
    header, _, rows = content.partition(b"\n")
    bad = HOSTILE_CELLS[hostile]
    for line in (b"new" + delimiter + bad + b"\n", bad + delimiter + b"1\n"):
        (tmp_path / "t.csv").write_bytes(header + b"\n" + line + rows)
        assert counts(tmp_path / "t.csv", case.candidates, case.format) == [8, 4]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_what_a_row_counts_as_does_not_depend_on_others(name: str, tmp_path: Path) -> None:
    """Together all cells count as the sum of what each counts as in a file of its own."""
    case = CASES[name]
    cells = [*case.cells, *case.nearly]
    together = counts(written(tmp_path / "t.csv", list(enumerate(cells)), case.format), case.candidates, case.format)
    alone = [
        counts(written(tmp_path / "t.csv", [(1, cell)], case.format), case.candidates, case.format) for cell in cells
    ]
    assert together == [sum(column) for column in zip(*alone, strict=True)]
    assert together == [2, 1]  # and what is nearly written so counts as nothing


@pytest.mark.parametrize("name", ["thousands", "decimal", "strip"])
def test_one_unit_adds_at_most_one_number_and_changes_no_other(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    before = numbers(written(tmp_path / "t.csv", honest(case), case.format), case.format)
    assert len(before) == 12
    for cell in (*case.cells, *case.nearly):
        after = numbers(written(tmp_path / "t.csv", [("new", cell), *honest(case)], case.format), case.format)
        for number in before:
            after.remove(number)
        assert len(after) <= 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_no_row_decides_whether_a_question_fails(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    for cell in case.nearly:
        data = dps.Dataset(written(tmp_path / "t.csv", [(1, cell)], case.format), unit="unit", format=case.format)
        assert data.most_common("value", candidates=case.candidates, epsilon=1.0).value in case.candidates
        assert 0.0 <= data.median("value", bounds=(0, 2), continuous=True, epsilon=1.0).value <= 2.0


@pytest.mark.parametrize(("name", "cell"), [("thousands", "about 5"), ("cp1252", "\x81")])
def test_a_general_reader_falls_for_it(name: str, cell: str, tmp_path: Path) -> None:
    """Control: what one such cell does to a reader that converts whole columns."""
    case = CASES[name]
    words = {"encoding": case.format.encoding, "thousands": case.format.thousands}
    path = written(tmp_path / "t.csv", honest(case), case.format)
    type_before = pd.read_csv(path, **words).value.dtype
    path.write_bytes(path.read_bytes() + b'new,"' + cell.encode("latin-1") + b'"\n')
    try:
        type_after = pd.read_csv(path, **words).value.dtype
    except UnicodeDecodeError:
        type_after = None
    assert type_after != type_before
    assert counts(path, case.candidates, case.format) == [8, 4]

"""Attack: one person's row that changes how everybody else's are read."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import dpselect as dps
from tests.attacks.test_messages import HOSTILE_CELLS
from tests.rows.tables import count, gather, write_csv

HONEST = [f"{unit},{unit % 3}".encode() for unit in range(60)]
HONEST_COUNTS = [20, 20, 20]

ATTACKERS = [
    *(b"666," + cell for cell in HOSTILE_CELLS),
    *(cell + b",1" for cell in HOSTILE_CELLS),
    b'666,"1',
    b'"666,1',
    b'666,"1"""',
    b"666,1.5",
    b"666,text",
    b"666,1,1,1",
    b"666",
    b",",
    b'"',
    b"#,1",
    b"666,1\r666,2",
    b"666;1",
    b"666\t1",
    b"\\",
    b"666,1\x1a",
    b"unit,value",
    b"x" * 3_000_000,
    b'"' + b"x" * 3_000_000,
    b"666,\xef\xbb\xbf1",
]


@pytest.mark.sampled(14)
@pytest.mark.parametrize("at", [0, 30, 60])
@pytest.mark.parametrize("attacker", ATTACKERS)
def test_one_row_moves_each_count_by_at_most_one_and_none_down(tmp_path: Path, attacker: bytes, at: int) -> None:
    path = write_csv(tmp_path / "t.csv", [*HONEST[:at], attacker, *HONEST[at:]])
    for candidates in (range(3), ["0", "1", "2"]):
        moved = [after - before for before, after in zip(HONEST_COUNTS, count(path, candidates), strict=True)]
        assert set(moved) <= {0, 1}


@pytest.mark.parametrize("at", [0, 30, 60])
@pytest.mark.parametrize("attacker", ATTACKERS)
def test_one_row_adds_at_most_one_number_and_changes_no_other(tmp_path: Path, attacker: bytes, at: int) -> None:
    path = write_csv(tmp_path / "t.csv", [*HONEST[:at], attacker, *HONEST[at:]])
    kept = gather(path, bounds=(0, 2))
    for number, times in enumerate(HONEST_COUNTS):
        assert 0 <= kept.count(number) - times <= 1
    assert 60 <= len(kept) <= 61


@pytest.mark.parametrize("attacker", [b'666,"1', b"666,text", b"x" * 3_000_000])
def test_a_general_reader_falls_for_it(tmp_path: Path, attacker: bytes) -> None:
    """Control: what the same row does to a reader that looks at all rows to decide how to read one."""
    path = write_csv(tmp_path / "t.csv", [*HONEST[:30], attacker, *HONEST[30:]])
    query = f"SELECT count(DISTINCT unit) FROM read_csv('{path}') WHERE value IN (0, 1, 2)"
    with duckdb.connect() as connection:
        try:
            (counted,) = connection.execute(query).fetchone() or (None,)
        except duckdb.Error:
            counted = None
    assert counted != 60


@pytest.mark.sampled(11)
@pytest.mark.parametrize("attacker", ATTACKERS)
def test_no_row_decides_whether_a_question_fails(tmp_path: Path, attacker: bytes) -> None:
    data = dps.Dataset(write_csv(tmp_path / "t.csv", [attacker]), unit="unit")
    assert data.most_common("value", candidates=range(3), epsilon=1.0).value in range(3)
    assert 0.0 <= data.median("value", bounds=(0, 2), continuous=True, epsilon=1.0).value <= 2.0
    assert data.median("value", bounds=(0, 2), step=1, epsilon=1.0).value in (0.0, 1.0, 2.0)


def test_rows_without_a_unit_are_nobody_and_no_error(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", [*HONEST, *([b",0"] * 50), *([b"NULL,1"] * 50)])
    assert count(path, range(3)) == HONEST_COUNTS

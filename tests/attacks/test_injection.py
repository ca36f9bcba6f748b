"""Attack: names, paths and candidates that are SQL."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpselect as dps
from tests.rows.tables import count, gather, write_csv, write_parquet

NAMES = [
    "value'; DROP TABLE rows; --",
    'value"; DROP TABLE rows; --',
    "unit) FROM rows; --",
    "$1",
    "?",
    "a.b",
    "rows",
    "candidates",
    "position",
    "select",
    " ",
    "日付",
    "%s{}\\",
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", NAMES)
def test_columns_may_have_any_name(tmp_path: Path, name: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"u'": [1, 2, 2], name: [5, 5, 6], "unit": [0, 0, 0]}), tmp_path / "t.parquet")
    assert count(tmp_path / "t.parquet", [5, 6], unit="u'", column=name) == [2, 1]
    assert gather(tmp_path / "t.parquet", most=2, unit="u'", column=name) == [5.0, 5.0, 6.0]
    quoted = name.replace('"', '""')
    write_csv(tmp_path / "t.csv", [b"1,5,0", b"2,5,0", b"2,6,0"], header=f'u\',"{quoted}",unit\n'.encode())
    assert count(tmp_path / "t.csv", range(5, 7), unit="u'", column=name) == [2, 1]
    assert gather(tmp_path / "t.csv", most=2, unit="u'", column=name) == [5.0, 5.0, 6.0]


def test_a_struct_does_not_pass_for_a_column_with_a_dot(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"unit": [1, 2], "a": [{"b": 5}, {"b": 5}], "a.b": [6, 6]})
    pq.write_table(table, tmp_path / "t.parquet")
    assert count(tmp_path / "t.parquet", [5, 6], column="a.b") == [0, 2]


@pytest.mark.parametrize("folder", ["it's", 'say "hi"', "a;b", "--", "$(x)", "{a,b}", "%20", "日付", "a[b", "c*d"])
def test_paths_may_have_any_name(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    for path in (
        write_csv(tmp_path / folder / "t'.csv", [b"1,5"]),
        write_parquet(tmp_path / folder / "t'.parquet", [(1, 5)]),
    ):
        assert count(path, [5, 6]) == [1, 0]


def test_candidates_may_be_any_text(tmp_path: Path) -> None:
    candidates = [*NAMES, "'", "''", '"', "%", "_", "a%", "\\", "NULL", "null", "\t", "a\0b", "\u00e9", "e\u0301"]
    rows = [(i, candidate) for i, candidate in enumerate(candidates) for _ in range(2)]
    assert count(write_parquet(tmp_path / "t.parquet", rows), candidates) == [1] * len(candidates)
    assert count(tmp_path / "t.parquet", candidates[::-1]) == [1] * len(candidates)


def test_a_path_that_is_sql_reads_nothing(tmp_path: Path) -> None:
    for source in ("x.csv') UNION SELECT 1 --", "examples/data/clicks.parquet'; --.csv"):
        with pytest.raises(dps.errors.InvalidDataError):
            dps.Dataset(source, unit="unit")

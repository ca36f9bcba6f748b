"""``--scores``: numbers are read exactly, anything else is refused by the number of its line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.cli.plan import public_scores
from dpselect.errors import InvalidScoresError


def written(tmp_path: Path, content: str | bytes) -> str:
    path = tmp_path / "scores.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scores")


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_integers_are_exact(folder: Path, numbers: list[int]) -> None:
    read = public_scores(written(folder, "\n".join(map(str, numbers))))
    assert read.dtype == np.int64
    assert read.tolist() == numbers


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_doubles_are_exact(folder: Path, numbers: list[float]) -> None:
    assert public_scores(written(folder, "\n".join(map(repr, numbers)))).tolist() == numbers


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blank_lines_comments_and_marks_do_not_count(tmp_path: Path, end: str) -> None:
    lines = ["\ufeff# last year", "", "+3", "  # 7", " -1.5\t", "  ", ".5", "2.", "1E3", "#"]
    assert public_scores(written(tmp_path, end.join(lines))).tolist() == [3.0, -1.5, 0.5, 2.0, 1000.0]


def test_large_integers(tmp_path: Path) -> None:
    read = public_scores(written(tmp_path, f"{2**64 - 1}\n000000000000000000000000{2**63}\n"))
    assert read.dtype == np.uint64
    assert read.tolist() == [2**64 - 1, 2**63]


@pytest.mark.parametrize(
    "line",
    [
        "ann 42",
        "1,5",
        "1 2",
        "nan",
        "inf",
        "-Infinity",
        "1e999",
        "0x10",
        "1_000",
        "٣",
        "3 # three",
        "--3",
        ".",
        "e5",
        "true",
        "9" * 21,
        "9" * 5000,
        "a\0b",
    ],
)
def test_a_bad_line_is_named_by_its_number_alone(tmp_path: Path, line: str) -> None:
    with pytest.raises(InvalidScoresError) as refused:
        public_scores(written(tmp_path, f"# public\n17\n{line}\n23\n"))
    integer = "an integer of 64 bits" if line.isdigit() and line.isascii() else ""
    wanted = integer or "a finite number, and nothing else on its line"
    assert str(refused.value) == f"scores=<line 3>: expected {wanted}."
    assert refused.value.__context__ is None or refused.value.__suppress_context__


def test_numbers_no_array_holds_exactly(tmp_path: Path) -> None:
    for content in ("-1\n18446744073709551615\n", "0.5\n9007199254740993\n", f"{'9' * 20}\n"):
        with pytest.raises(InvalidScoresError, match=r"^scores=<list") as refused:
            public_scores(written(tmp_path, content))
        assert not any(line in str(refused.value) for line in content.split())


@pytest.mark.parametrize("content", ["", "\n\n", "# only words\n", b"\xef\xbb\xbf"])
def test_no_number_at_all(tmp_path: Path, content: str | bytes) -> None:
    with pytest.raises(InvalidScoresError, match="at least one number"):
        public_scores(written(tmp_path, content))


@pytest.mark.parametrize("content", [b"caf\xe9\n", b"\xff\xfe3\x00\n\x00", b"PAR1\x15\x04\x80"])
def test_no_text(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InvalidScoresError, match="UTF-8") as refused:
        public_scores(written(tmp_path, content))
    assert refused.value.__suppress_context__  # the decoder's own error quotes the file


def test_no_file(tmp_path: Path) -> None:
    for path in (str(tmp_path / "gone.txt"), str(tmp_path), "", "a\0b", "x" * 5000):
        with pytest.raises(InvalidScoresError, match="a readable text file"):
            public_scores(path)


@pytest.mark.parametrize("name", ["clicks.csv", "clicks.parquet", "CLICKS.CSV", "clicks.tsv", "x.jsonl", "x.arrow"])
def test_a_table_is_refused_whatever_is_in_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("1\n2\n")
    with pytest.raises(InvalidScoresError, match=r"not a table.* would itself leak"):
        public_scores(str(path))
    path.rename(tmp_path / "fine.txt")
    assert public_scores(str(tmp_path / "fine.txt")).tolist() == [1, 2]

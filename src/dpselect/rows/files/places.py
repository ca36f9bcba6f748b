"""Where rows of a CSV file stand, for a check: their lines, from 1, and what these say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dpselect.errors import Shown
from dpselect.rows.files import lines
from dpselect.rows.files.text_streams import opened

Place = tuple[str, bytes]
"""Such as ``line 7`` or ``line 7 of may.csv``, and the line."""


def places(
    files: Sequence[tuple[str, Shown]],
    wanted: Sequence[int],
    others: int,
    *,
    width: int,
    delimiter: str,
    encoding: str,
    above: int,
) -> tuple[dict[int, Place], list[Place]]:
    """Where some rows stand, counted from 0 over all files, and the first lines that are no rows, at most `others`."""
    rows, found, left_out = 0, dict[int, Place](), list[Place]()
    missing = set(wanted)
    for path, shown in files:
        name = f" of {shown}" if len(files) > 1 else ""
        for number, line in _lines(path, encoding):
            if not missing and len(left_out) >= others:
                return found, left_out
            if number <= above + 1 or not line.strip(b"\r"):
                continue
            place = f"line {number:,}{name}", line
            if not is_row(line, delimiter.encode(), width):
                left_out += [place] if len(left_out) < others else []
                continue
            if rows in missing:
                found[rows] = place
                missing.remove(rows)
            rows += 1
    return found, left_out


def is_row(line: bytes, delimiter: bytes, width: int) -> bool:
    """Whether a line has as many fields as there are columns, and quotes that pair up; as `csv_lines.rows` has it.

    >>> is_row(b'1,"a,b"', b",", 2), is_row(b"1,2,", b",", 2), is_row(b'1,"2', b",", 2)
    (True, False, False)
    """
    parts = line.split(b'"')
    fits = len(line.removesuffix(b"\r")) <= lines.LONGEST_LINE
    return fits and len(parts) % 2 == 1 and sum(part.count(delimiter) for part in parts[::2]) == width - 1


def _lines(path: str, encoding: str) -> Iterator[tuple[int, bytes]]:
    number, too_long = 0, list[int]()
    skipped: Callable[[int], None] = too_long.append
    with opened(path, encoding) as text:
        for block in lines.whole_lines(text, skipped):
            for line in block.removesuffix(b"\n").split(b"\n"):
                number += 1
                yield number + len(too_long), line

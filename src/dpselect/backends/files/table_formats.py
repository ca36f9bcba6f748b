"""Folders that a table format keeps its Parquet files in: which of their rows are still there, only its log says.

Whoever deletes a row of such a table, because a person asked for it, leaves the old file where it is. To read all files
of the folder is to count that row, and each row that was changed twice.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dpselect.errors import InvalidDataError, Shown


@dataclass(frozen=True, slots=True)
class _TableFormat:
    """What a table format is called, what it keeps beside the files, and which objects hold the rows that count."""

    name: str
    signs: tuple[str, ...]
    way: str


_FORMATS = (
    _TableFormat(
        "Delta",
        ("_delta_log",),
        "polars.scan_delta(folder), or deltalake.DeltaTable(folder).to_pyarrow_table() if it fits into memory",
    ),
    _TableFormat(
        "Iceberg",
        (os.path.join("metadata", "*.metadata.json"), os.path.join("metadata", "*.metadata.json.gz")),
        "catalog.load_table(name).scan().to_arrow() of pyiceberg, or polars.scan_iceberg(catalog.load_table(name))",
    ),
    _TableFormat("Hudi", (".hoodie",), "spark.read.format('hudi').load(folder)"),
)


def refuse_tables_of_formats(paths: Sequence[str], labels: Sequence[Shown]) -> None:
    """Refuse files, or folders, that a table format keeps.

    Args:
        paths: of files or folders.
        labels: how errors speak of each.

    Raises:
        InvalidDataError: its log or metadata lies in a folder that one of them is, or is in, or in one above that.
    """
    known = dict[str, _TableFormat | None]()
    for path, shown in zip(paths, labels, strict=True):
        for folder in _folders(path):
            if folder not in known:
                known[folder] = _format_in(folder)
            if (found := known[folder]) is not None:
                raise _refused(found, shown)


def _folders(path: str) -> list[str]:
    """The folder itself, or that of a file, and all above; also those where a link leads to."""
    found: list[str] = []
    for start in dict.fromkeys((os.path.abspath(path), os.path.realpath(path))):
        folder = start if os.path.isdir(start) else os.path.dirname(start)
        found += [folder, *map(str, Path(folder).parents)]
    return found


def _format_in(folder: str) -> _TableFormat | None:
    literal = glob.escape(folder)
    return next((each for each in _FORMATS if any(glob.glob(os.path.join(literal, sign)) for sign in each.signs)), None)


def _refused(found: _TableFormat, shown: Shown) -> InvalidDataError:
    hint = f"This is part of a table of {found.name}, in whose files deleted rows are left. "
    hint += f"Give the Dataset what its own library reads: {found.way}."
    return InvalidDataError("source", shown, "files of which every row counts", hint)

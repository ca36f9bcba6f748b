"""Folders of table formats: only the format's log tells which rows of its Parquet files still count.

When a row of such a table is deleted, for example because a person asked for it, the old file stays. Reading all files
of the folder would count the deleted row, and would count each changed row twice.
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
    """A table format: its name, the signs of its log, and what to give for the rows that count."""

    article: str
    name: str
    signs: tuple[str, ...]
    way: str


_FORMATS = (
    _TableFormat("a", "Delta", ("_delta_log",), "give Dataset the folder that contains _delta_log (extra: delta)"),
    _TableFormat(
        "an",
        "Iceberg",
        (os.path.join("metadata", "*.metadata.json"), os.path.join("metadata", "*.metadata.json.gz")),
        "give Dataset the table of its catalogue, pyiceberg's catalog.load_table(name) (extra: iceberg)",
    ),
    _TableFormat("a", "Hudi", (".hoodie",), "give Dataset spark.read.format('hudi').load(folder)"),
)


def refuse_tables_of_formats(paths: Sequence[str], labels: Sequence[Shown]) -> None:
    """Refuse files and folders that belong to a table format.

    Args:
        paths: paths of files or folders.
        labels: their names in errors.

    Raises:
        InvalidDataError: one of the folders, or a folder above it, contains the log or metadata of a table format.
    """
    known = dict[str, _TableFormat | None]()
    for path, shown in zip(paths, labels, strict=True):
        for folder in _folders(path):
            if folder not in known:
                known[folder] = _format_in(folder)
            if (found := known[folder]) is not None:
                raise _refused(found, shown)


def _folders(path: str) -> list[str]:
    """The folder itself or the folder of a file, and all folders above, also those of a link's target."""
    found: list[str] = []
    for start in dict.fromkeys((os.path.abspath(path), os.path.realpath(path))):
        folder = start if os.path.isdir(start) else os.path.dirname(start)
        found += [folder, *map(str, Path(folder).parents)]
    return found


def _format_in(folder: str) -> _TableFormat | None:
    literal = glob.escape(folder)
    return next((each for each in _FORMATS if any(glob.glob(os.path.join(literal, sign)) for sign in each.signs)), None)


def _refused(found: _TableFormat, shown: Shown) -> InvalidDataError:
    hint = f"This is part of {found.article} {found.name} table, whose files still contain deleted rows. "
    hint += f"For the rows that are left {found.way}."
    return InvalidDataError("source", shown, "files in which every row counts", hint)

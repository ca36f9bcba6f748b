"""Which files a source names: a path, a glob, a list of paths, or a folder: with a partition of rows in each folder, or
written as a whole by Spark.

A file is read once, whatever links lead to it: its rows would count twice, and one person's contribution with them.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from urllib.parse import unquote

from dpselect.errors import InvalidDataError, Shown
from dpselect.rows.files import formats


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


_SECRETIVE = re.compile(r"@|^\s*postgres|(?:passw\w*|pwd|token|secret|key)\s*=", re.IGNORECASE)
"""Signs that a source that is no file is an address, and may contain a password."""

_PARTITION = re.compile(r"([^=/\\]+)=([^/\\]*)")
"""The name of a folder with the rows that have one value in one column."""

_MISSING = "__HIVE_DEFAULT_PARTITION__"
"""The value of rows that have none."""


_Values = tuple[tuple[str, str | None], ...]
"""Columns that the folders of a file name, with the file's value in each."""


@dataclass(frozen=True, slots=True)
class Found:
    """Files that are there.

    Attributes:
        shown: how errors and ``repr`` speak of all of them.
        paths: of the files.
        labels: how errors speak of each: the name of a file that only a glob or a folder held might be a person's.
        partition: names of the columns that the folders name.
        values: of each file, its values in these columns.
    """

    shown: str
    paths: tuple[str, ...]
    labels: tuple[Shown, ...]
    partition: tuple[str, ...] = ()
    values: tuple[tuple[str | None, ...], ...] = ()


def several(source: object) -> Sequence[str | Path] | None:
    """The paths, if it is a list of them."""
    if not isinstance(source, list | tuple):
        return None
    members = cast("Sequence[object]", source)
    is_list = bool(members) and all(isinstance(each, str | Path) for each in members)
    return cast("Sequence[str | Path]", members) if is_list else None


def is_named(source: object) -> bool:
    """Whether it is a path, a glob or a list of paths, and not a table itself."""
    return isinstance(source, str | Path) or several(source) is not None


def found(source: object) -> Found:
    """The files that `source` names.

    Raises:
        InvalidDataError: no such files, twice the same, or a folder that is not partitioned by columns.
    """
    if (paths := several(source)) is not None:
        return _listed([str(path) for path in paths])
    if not isinstance(source, str | Path) or not str(source) or "\0" in str(source):
        raise InvalidDataError("source", source, "the path of a file, a list of paths, or a glob")
    text = str(source)
    if os.path.isdir(text) and (partitioned := _partitioned(text)) is not None:
        return partitioned
    matching = tuple(_written_by_spark(text) or _matching_files(text))
    return Found(repr(text), matching, _numbered(repr(text), len(matching)))


def _numbered(shown: str, count: int) -> tuple[Shown, ...]:
    if count == 1:
        return (Shown(shown),)
    return tuple(Shown(f"{shown} (file {at + 1} of {count} in sorted order)") for at in range(count))


def _listed(paths: list[str]) -> Found:
    for path in paths:
        if "\0" in path or not os.path.isfile(path):
            got = Shown("<text that may hold a password>" if _SECRETIVE.search(path) else repr(path))
            raise InvalidDataError("source", got, "existing files in a list of files", "Globs are given by themselves.")
    if len({_identity(path) for path in paths}) < len(paths):
        hint = "Two of them are the same file, whose rows would count twice."
        raise InvalidDataError("source", Shown(f"<{len(paths)} files>"), "different files", hint)
    return Found(f"<{len(paths)} files>", tuple(paths), tuple(Shown(repr(path)) for path in paths))


def _identity(path: str) -> object:
    """What is equal for two paths exactly if they lead to one file or folder."""
    try:
        about = os.stat(path)
    except OSError:  # it is gone, which is said when it is read
        return os.path.realpath(path)
    return (about.st_dev, about.st_ino) if about.st_ino else os.path.realpath(path)  # some systems have no numbers


def _partitioned(folder: str) -> Found | None:
    """All files in folders such as ``year=2026/month=11``, or links to them; None if there is no such folder in it."""
    with os.scandir(folder) as entries:
        if not any(entry.is_dir() and _PARTITION.fullmatch(entry.name) for entry in entries):
            return None
    refuse_tables_of_formats([folder], [Shown(repr(folder))])
    shown = repr(folder)
    parts: dict[object, tuple[str, _Values]] = {}
    for inside, folders, names in os.walk(folder, followlinks=True):
        folders.sort()
        levels = os.path.relpath(inside, folder).split(os.sep) if inside != folder else []
        above = {_identity(os.path.join(folder, *levels[:depth])) for depth in range(len(levels) + 1)}
        if any(_identity(os.path.join(inside, each)) in above for each in folders):
            raise InvalidDataError("source", Shown(shown), "a folder without links that lead back into it")
        for name in sorted(name for name in names if not name.startswith((".", "_"))):
            matches = [_PARTITION.fullmatch(level) for level in levels]
            if not matches or None in matches:
                expected = "a folder in which all files are in folders such as year=2026/month=11"
                raise InvalidDataError("source", Shown(shown), expected, "One file is in another place.")
            values = tuple((unquote(each[1]), _value(each[2])) for each in matches if each is not None)
            path = os.path.join(inside, name)
            if parts.setdefault(_identity(path), (path, values))[1] != values:
                expected = "folders that give each file one value in each column"
                raise InvalidDataError("source", Shown(shown), expected, "Links lead to one file from two folders.")
    if not parts:
        hint = f"It contains no file whose name ends in {formats.ENDINGS_TEXT}."
        raise InvalidDataError("source", Shown(shown), "a folder with files in it", hint)
    (columns, *others) = {tuple(column for column, _ in values) for _, values in parts.values()}
    if others:
        expected = "folders that name the same columns, in the same order, for every file"
        raise InvalidDataError("source", Shown(shown), expected)
    held = tuple(tuple(value for _, value in values) for _, values in parts.values())
    return Found(shown, tuple(path for path, _ in parts.values()), _numbered(shown, len(parts)), columns, held)


def _value(written: str) -> str | None:
    return None if written == _MISSING else unquote(written)


def _hint_for_folder(folder: str) -> str:
    found = [ending for ending in formats.ENDINGS if any(Path(folder).glob(f"*{ending}"))]
    if not found:
        return f"It contains no file whose name ends in {formats.ENDINGS_TEXT}."
    globs = " or ".join(repr(os.path.join(folder, f"*{ending}")) for ending in found)
    return f"For all files in it give {globs}."


def _written_by_spark(folder: str) -> list[str]:
    """The files of a folder that Spark wrote to its end, without empty ones; none if it is no such folder."""
    if not os.path.isdir(folder) or not os.path.isfile(os.path.join(folder, "_SUCCESS")):
        return []
    refuse_tables_of_formats([folder], [Shown(repr(folder))])
    with os.scandir(folder) as entries:
        parts = [each for each in entries if each.is_file() and not each.name.startswith((".", "_"))]
    return sorted(each.path for each in parts if each.stat().st_size)


def _matching_files(source: str) -> list[str]:
    if os.path.isfile(source):
        return [source]
    if os.path.isdir(source):
        refuse_tables_of_formats([source], [Shown(repr(source))])
        raise InvalidDataError("source", Shown(repr(source)), "a file, not a folder", _hint_for_folder(source))
    got = Shown("<text that may hold a password>" if _SECRETIVE.search(source) else repr(source))
    if any(wildcard in source for wildcard in "*?["):
        paths = sorted(path for path in glob.iglob(source, recursive=True) if os.path.isfile(path))
        files = dict[object, str]()
        for path in paths:
            files.setdefault(_identity(path), path)
        if files:
            return [*files.values()]
        raise InvalidDataError("source", got, "a glob that matches at least one file")
    hint = "Data is read from local files only." if "://" in source else ""
    if source.startswith("~"):
        hint = "A ~ means the home folder only in a shell, without quotes; in Python use os.path.expanduser."
    raise InvalidDataError("source", got, "an existing file", hint)

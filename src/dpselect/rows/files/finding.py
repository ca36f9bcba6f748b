"""Which files a source names, and of which kind they are: by the ends of their names, and by their first bytes.

A file is read once, whatever links lead to it: its rows would count twice, and one person's contribution with them.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from enum import Enum
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

from dpselect.errors import InvalidDataError, SelectionError, Shown
from dpselect.formats import Format
from dpselect.rows.failures import TranslatedErrors, unanswered
from dpselect.rows.files.lines import COMPRESSIONS, blocks_of, first_bytes

_NUMBERS = ("thousands", "strip", "date_format", "as_date")
_TEXT = ("ignore_case", "trim")
_OF_TYPES = (*_TEXT, "as_date")
_OF_LINES = tuple(each.name for each in fields(Format) if each.name not in ("sheet", "header_row"))


class FileKind(Enum):
    """What a file is: its file name endings, its reader, what errors call it, and the words of a format that fit it."""

    CSV = (".csv .txt", "csv_lines", "a CSV file", _OF_LINES, "CSV files")
    TAB_SEPARATED = (".tsv .tab", "csv_lines", "a file of tab-separated values", _OF_LINES, "tab-separated values")
    PARQUET = (".parquet", "typed_files", "a Parquet file", _OF_TYPES, "Parquet files")
    ARROW = (".arrow .feather .ipc", "typed_files", "an Arrow file", _OF_TYPES, "Arrow files")
    ORC = (".orc", "typed_files", "an ORC file", _OF_TYPES, "ORC files")
    EXCEL = (".xlsx", "excel_sheets", "an Excel workbook", ("sheet", "header_row", *_NUMBERS, *_TEXT), "Excel files")
    STATA = (".dta", "typed_files", "a Stata file", _OF_TYPES, "Stata files")
    SPSS = (".sav .zsav", "typed_files", "an SPSS file", _OF_TYPES, "SPSS files")
    JSON_LINES = (".jsonl .ndjson", "json_lines", "a file of JSON lines", (*_NUMBERS, *_TEXT), "files of JSON lines")

    def __init__(self, endings: str, reader: str, called: str, words: tuple[str, ...], many: str) -> None:
        self.endings, self.called, self.words = endings.split(), called, words
        self.has_types, self.has_cells = words is _OF_TYPES, words is _OF_LINES
        self.many = f"{many}, whose columns have types" if self.has_types else many
        self._reader = reader

    @property
    def reader(self) -> Any:
        """The module that reads such files. It has ``read_columns(path, shown, declared)`` and ``rows(reading)``."""
        return import_module(f"dpselect.rows.files.{self._reader}")


ENDINGS = {ending: kind for kind in FileKind for ending in kind.endings}
ENDINGS_TEXT = f"{', '.join(list(ENDINGS)[:-1])} or {list(ENDINGS)[-1]}"
_NO_FILES = f"It contains no file whose name ends in {ENDINGS_TEXT}."

_SHEET = "Save the sheet as CSV."
_COMPRESSED = f"Text files may be compressed, with names in {' and '.join(COMPRESSIONS)}, such as .csv.gz; no others."
_HINTS = {
    ".json": "With one object on each line, name it .jsonl; convert a list of objects first.",
    **dict.fromkeys((".xlsb", ".xlsm", ".xls", ".ods"), _SHEET),
    **dict.fromkeys((".gz", ".zst", ".zip"), _COMPRESSED),
}

_SIGNATURES = {
    FileKind.PARQUET: b"PAR1",
    FileKind.ARROW: b"ARROW1",
    FileKind.ORC: b"ORC",
    FileKind.EXCEL: b"PK\x03\x04",
}
"""The bytes that each begins with."""

_OTHER_CONTENT = {
    b"PAR1": "Parquet",
    b"PARE": "encrypted",
    b"\x1f\x8b": "compressed by gzip",
    b"PK\x03\x04": "a zip archive",
    **dict.fromkeys((b"\xff\xfe", b"\xfe\xff"), "UTF-16"),
}


def kind_of(path: str, shown: Shown, declared: Format | None = None) -> FileKind:
    """The kind by the end of the name, confirmed by the first bytes; the declared format has to fit it."""
    kind = named_kind(path)
    if kind is None:
        hint = _HINTS.get(os.path.splitext(path)[1].lower(), "")
        raise InvalidDataError("source", shown, f"a file whose name ends in {ENDINGS_TEXT}", hint)
    if declared is not None:
        declared.check(kind.words, kind.many)
    with reading_file(kind, shown):
        with closing(blocks_of(path)) as blocks:
            start = first_bytes(blocks, 6)
        if not start:
            raise InvalidDataError("source", shown, "a table", "The file is empty (0 bytes).")
        hint = _other_content(kind, start, declared)
    if hint:
        raise InvalidDataError("source", shown, f"{kind.called}, as its name says", hint)
    return kind


def named_kind(path: str) -> FileKind | None:
    """The kind that the end of a name stands for; None: no table has such a name."""
    base, last = os.path.splitext(os.path.basename(path).lower())
    if last not in COMPRESSIONS:
        return ENDINGS.get(last)
    inside = os.path.splitext(base)[1]
    kind = FileKind.JSON_LINES if inside == ".json" else ENDINGS.get(inside)
    return kind if kind is FileKind.JSON_LINES or (kind is not None and kind.has_cells) else None


def _other_content(kind: FileKind, start: bytes, declared: Format | None) -> str:
    """What a file holds instead, if it does not begin as its name says."""
    found = next((content for other, content in _OTHER_CONTENT.items() if start.startswith(other)), "")
    if (signature := _SIGNATURES.get(kind)) is not None:
        also = " Streams and Feather of version 1 are written anew, by pyarrow.feather.write_feather."
        hint = f"Its content is {found or 'something else'}.{also if kind is FileKind.ARROW else ''}"
        return "" if start.startswith(signature) else hint
    if not found or (found == "UTF-16" and declared is not None and declared.encoding.startswith("utf-16")):
        return ""
    way = "Declare the format: `encoding='utf-16'`." if "encoding" in kind.words else "Convert it to UTF-8 first."
    return f"Its content is {found}. {way if found == 'UTF-16' else ''}".rstrip()


def reading_file(kind: FileKind, shown: Shown) -> TranslatedErrors:
    """Hide every error of the system, which quotes the whole path that a glob may have found, and of a library."""

    def say(error: BaseException) -> SelectionError:
        if isinstance(error, OSError) and error.errno is not None:  # the system's own
            return InvalidDataError("source", shown, "a file that can be opened")
        return unanswered(error, shown, hint=_DAMAGED, expected=f"{kind.called} that can be read to its end")

    return TranslatedErrors(say)


_DAMAGED = "It is cut off, damaged or encrypted, or was changed while it was read."
_TABLES = (
    ("_delta_log", "a Delta", "give Dataset the folder that contains _delta_log (extra: delta)"),
    (
        os.path.join("metadata", "*.metadata.json*"),
        "an Iceberg",
        "give Dataset the table of its catalogue, pyiceberg's catalog.load_table(name) (extra: iceberg)",
    ),
    (".hoodie", "a Hudi", "give Dataset spark.read.format('hudi').load(folder)"),
)
"""Of each table format the sign of its log, its name, and what to give for the rows that count."""


def refuse_tables_of_formats(paths: Sequence[str], labels: Sequence[Shown]) -> None:
    """Refuse files and folders, called by their labels, in or below a folder with the log of a table format."""
    looked_at = set[str]()
    for path, shown in zip(paths, labels, strict=True):
        for start in (os.path.abspath(path), os.path.realpath(path)):  # also above a link's target
            folder = start if os.path.isdir(start) else os.path.dirname(start)
            for each in {folder, *map(str, Path(folder).parents)} - looked_at:
                looked_at.add(each)
                for sign, name, way in _TABLES:
                    if glob.glob(os.path.join(glob.escape(each), sign)):
                        hint = f"This is part of {name} table, whose files still contain deleted rows. "
                        hint += f"For the rows that are left {way}."
                        raise InvalidDataError("source", shown, "files in which every row counts", hint)


_SECRETIVE = re.compile(r"@|^\s*postgres|(?:passw\w*|pwd|token|secret|key)\s*=", re.IGNORECASE)
"""Signs that a source that is no file is an address, and may contain a password."""
_PARTITION = re.compile(r"([^=/\\]+)=([^/\\]*)")
"""The name of a folder with the rows that have one value in one column."""
_MISSING = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True)
class Found:
    """Files that are there.

    Attributes:
        shown: how errors and ``repr`` speak of all of them.
        paths, labels: how errors speak of each, as a name that only a glob or a folder holds may be a person's.
        partition, values: names of the columns that the folders name, and the values of each file in them.
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
    """The files that `source` names."""
    if (paths := several(source)) is not None:
        return _listed([str(path) for path in paths])
    if not isinstance(source, str | Path) or not str(source) or "\0" in str(source):
        raise InvalidDataError("source", source, "the path of a file, a list of paths, or a glob")
    text = str(source)
    if os.path.isdir(text) and (whole := _as_a_whole(text)) is not None:
        return whole
    matching = tuple(_matching_files(text))
    return Found(repr(text), matching, _labels(repr(text), len(matching)))


def _labels(shown: str, count: int) -> tuple[Shown, ...]:
    which = [f" (file {at + 1} of {count} in sorted order)" for at in range(count)] if count > 1 else [""]
    return tuple(Shown(f"{shown}{each}") for each in which)


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


def _as_a_whole(folder: str) -> Found | None:
    """All files in folders such as ``year=2026/month=11``, or links to them; or those that Spark wrote to its end.

    None if it is no such folder. Spark leaves empty files beside others.
    """
    is_done = os.path.isfile(os.path.join(folder, "_SUCCESS"))
    with os.scandir(folder) as entries:
        is_divided = any(entry.is_dir() and _PARTITION.fullmatch(entry.name) for entry in entries)
    if not is_done and not is_divided:
        return None
    shown = repr(folder)
    refused = partial(InvalidDataError, "source", Shown(shown))
    refuse_tables_of_formats([folder], [Shown(shown)])
    parts: dict[object, tuple[str, list[tuple[str, str | None]]]] = {}
    for inside, folders, names in os.walk(folder, followlinks=True):
        folders[:] = sorted(folders) if is_divided else []
        levels = os.path.relpath(inside, folder).split(os.sep) if inside != folder else []
        above = {_identity(os.path.join(folder, *levels[:depth])) for depth in range(len(levels) + 1)}
        if any(_identity(os.path.join(inside, each)) in above for each in folders):
            raise refused("a folder without links that lead back into it")
        found = [each for each in map(_PARTITION.fullmatch, levels) if each]
        values = [(unquote(each[1]), None if each[2] == _MISSING else unquote(each[2])) for each in found]
        for name in sorted(name for name in names if not name.startswith((".", "_"))):
            if is_divided and not len(found) == len(levels) > 0:
                expected = "a folder in which all files are in folders such as year=2026/month=11"
                raise refused(expected, "One file is in another place.")
            path = os.path.join(inside, name)
            if is_done and not os.path.getsize(path):
                continue
            if parts.setdefault(_identity(path), (path, values))[1] != values:
                expected = "folders that give each file one value in each column"
                raise refused(expected, "Links lead to one file from two folders.")
    if not parts:
        raise refused("a folder with files in it", _NO_FILES)
    (columns, *others) = {tuple(column for column, _ in values) for _, values in parts.values()}
    if others:
        raise refused("folders that name the same columns, in the same order, for every file")
    held = tuple(tuple(value for _, value in values) for _, values in parts.values())
    return Found(shown, tuple(path for path, _ in parts.values()), _labels(shown, len(parts)), columns, held)


def _matching_files(source: str) -> list[str]:
    if os.path.isfile(source):
        return [source]
    if os.path.isdir(source):
        refuse_tables_of_formats([source], [Shown(repr(source))])
        globs = [os.path.join(source, f"*{ending}") for ending in ENDINGS if any(Path(source).glob(f"*{ending}"))]
        hint = f"For all files in it give {' or '.join(map(repr, globs))}." if globs else _NO_FILES
        raise InvalidDataError("source", Shown(repr(source)), "a file, not a folder", hint)
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
    if source == "-" or os.path.exists(source):
        hint = "A table is read more than once, which a pipe cannot be: write it to a file first."
    if source.startswith("~"):
        hint = "A ~ means the home folder only in a shell, without quotes; in Python use os.path.expanduser."
    raise InvalidDataError("source", got, "an existing file", hint)

"""One table in files of one kind: which files a source names, of which kind they are, and what their columns are.

The kind follows from the end of a name and the first bytes; nothing but headers and footers is read to open a table. A
file is read once, whatever links lead to it: its rows would count twice, and one person's contribution with them.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

from dpselect.errors import HIDDEN, InvalidDataError, SelectionError, Shown
from dpselect.formats import Format
from dpselect.rows import lines
from dpselect.rows.arrow import Advance, Batches, Skipped, ignored, pa
from dpselect.rows.columns import Column, Holds, TranslatedErrors, unanswered
from dpselect.rows.lines import COMPRESSIONS, Above, File, blocks_of, first_bytes
from dpselect.rows.scan import Source

OF_TYPES = ("ignore_case", "trim", "as_date")  # the words of a format that fit columns with types
_OF_OBJECTS = ("thousands", "strip", "date_format", *OF_TYPES)
_OF_SHEETS = ("sheet", "header_row", *_OF_OBJECTS)
_OF_LINES = tuple(each.name for each in fields(Format) if each.name not in ("sheet", "header_row"))


class FileKind(Enum):
    """A kind of file: its endings, reader, first bytes, what errors call it, and the words of a format that fit it."""

    CSV = (".csv .txt", "lines", b"", "a CSV file", _OF_LINES)
    TAB_SEPARATED = (".tsv .tab", "lines", b"", "a file of tab-separated values", _OF_LINES)
    PARQUET = (".parquet", "library_files", b"PAR1", "a Parquet file", OF_TYPES)
    ARROW = (".arrow .feather .ipc", "library_files", b"ARROW1", "an Arrow file", OF_TYPES)
    ORC = (".orc", "library_files", b"ORC", "an ORC file", OF_TYPES)
    EXCEL = (".xlsx", "library_files", b"PK\x03\x04", "an Excel workbook", _OF_SHEETS)
    STATA = (".dta", "library_files", b"", "a Stata file", OF_TYPES)
    SPSS = (".sav .zsav", "library_files", b"", "an SPSS file", OF_TYPES)
    JSON_LINES = (".jsonl .ndjson", "json_lines", b"", "a file of JSON lines", _OF_OBJECTS)

    def __init__(self, endings: str, reader: str, start: bytes, called: str, words: tuple[str, ...]) -> None:
        self.endings, self.signature, self.called, self.words = endings.split(), start, called, words
        self.has_types, self.has_cells = words is OF_TYPES, words is _OF_LINES
        self.has_lines = words in (_OF_LINES, _OF_OBJECTS)
        self._reader = reader

    @property
    def reader(self) -> Any:
        """The module that reads such files: ``described(file)`` is the file with its columns, ``rows`` reads them."""
        return import_module(f"dpselect.rows.{self._reader}")


ENDINGS = {ending: kind for kind in FileKind for ending in kind.endings}
ENDINGS_TEXT = f"{', '.join(list(ENDINGS)[:-1])} or {list(ENDINGS)[-1]}"
_NO_FILES = f"It contains no file whose name ends in {ENDINGS_TEXT}."

_COMPRESSED = f"Text files may be compressed, with names in {' and '.join(COMPRESSIONS)}, such as .csv.gz; no others."
_HINTS = {
    ".json": "With one object on each line, name it .jsonl; convert a list of objects first.",
    **dict.fromkeys((".xlsb", ".xlsm", ".xls", ".ods"), "Save the sheet as CSV."),
    **dict.fromkeys((".gz", ".zst", ".zip"), _COMPRESSED),
}

_OTHER_CONTENT = {
    b"PAR1": "Parquet",
    b"PARE": "encrypted",
    b"\x1f\x8b": "compressed by gzip",
    b"PK\x03\x04": "a zip archive",
    **dict.fromkeys((b"\xff\xfe\0\0", b"\0\0\xfe\xff"), "UTF-32"),
    **dict.fromkeys((b"\xff\xfe", b"\xfe\xff"), "UTF-16"),
}


def kind_of(file: File, declared: Format) -> FileKind:
    """The kind by the end of the name, confirmed by the first bytes; the declared format has to fit it."""
    kind, refused = named_kind(file.path), partial(InvalidDataError, "source", file.shown)
    if kind is None:
        hint = _HINTS.get(os.path.splitext(file.path)[1].lower(), "")
        raise refused(f"a file whose name ends in {ENDINGS_TEXT}", hint)
    declared.check(kind.words, kind.called)
    with reading_file(kind, file.shown), closing(blocks_of(file.path)) as blocks:
        start = first_bytes(blocks, 6)
    if not start:
        raise refused("a table", "The file is empty (0 bytes).")
    found = next((content for other, content in _OTHER_CONTENT.items() if start.startswith(other)), "")
    is_declared = found == "UTF-16" and declared.encoding.startswith("utf-16")
    if start.startswith(kind.signature) if kind.signature else not found or is_declared:
        return kind
    hint = f"Its content is {found or 'something else'}."
    if kind is FileKind.ARROW:
        hint += " Streams and Feather of version 1 are written anew, by pyarrow.feather.write_feather."
    if found.startswith("UTF") and not kind.signature:
        can_be_declared = found == "UTF-16" and "encoding" in kind.words
        hint += " Declare the format: `encoding='utf-16'`." if can_be_declared else " Convert it to UTF-8 first."
    raise refused(f"{kind.called}, as its name says", hint)


def named_kind(path: str) -> FileKind | None:
    """The kind that the end of a name stands for; None: no table has such a name."""
    base, last = os.path.splitext(os.path.basename(path).lower())
    if last not in COMPRESSIONS:
        return ENDINGS.get(last)
    kind = {**ENDINGS, ".json": FileKind.JSON_LINES}.get(os.path.splitext(base)[1])
    return kind if kind is not None and kind.has_lines else None


def reading_file(kind: FileKind, shown: Shown) -> TranslatedErrors:
    """Hide every error of the system, which quotes the whole path that a glob may have found, and of a library."""

    def say(error: BaseException) -> SelectionError:
        if isinstance(error, OSError) and error.errno is not None:  # the system's own
            return InvalidDataError("source", shown, "a file that can be opened")
        return unanswered(error, shown, hint=_DAMAGED, expected=f"{kind.called} that can be read to its end")

    return TranslatedErrors(say)


_DAMAGED = "It is cut off, damaged or encrypted, or was changed while it was read."
_TABLES = (  # of each table format the sign of its log, its name, and what to give for the rows that count
    ("_delta_log", "a Delta", "give Dataset the folder that contains _delta_log (extra: delta)"),
    ("metadata/*.metadata.json*", "an Iceberg", "give Dataset pyiceberg's catalog.load_table(name) (extra: iceberg)"),
    (".hoodie", "a Hudi", "give Dataset spark.read.format('hudi').load(folder)"),
)


_SECRETIVE = re.compile(r"@|^\s*postgres|(?:passw\w*|pwd|token|secret|key)\s*=", re.IGNORECASE)
"""Signs that a source that is no file is an address, and may contain a password."""
_PARTITION = re.compile(r"([^=/\\]+)=([^/\\]*)")  # the name of a folder with the rows that have one value in one column
_MISSING = "__HIVE_DEFAULT_PARTITION__"
_LINES = 1 << 40  # more than a file has: the lines of the next one are counted from there


def paths_of(source: object) -> Sequence[str | Path] | None:
    """The path or glob, or each path of a list; None if it is no such thing, but may be a table itself."""
    members = cast("Sequence[Any]", source if isinstance(source, list | tuple) else [source])
    return members if members and all(isinstance(each, str | Path) for each in members) else None


def found(source: object) -> tuple[str, tuple[File, ...]]:
    """The files that `source` names, each once, and what errors and ``repr`` call them together."""
    paths, files = [*map(str, paths_of(source) or ())], dict[object, File]()
    if not all(paths) or not paths or "\0" in "".join(paths):
        raise InvalidDataError("source", source, "the path of a file, a list of paths, or a glob")
    for path in paths:
        parts = _in_folder(path) if os.path.isdir(path) else [(each, ()) for each in _matching_files(path)]
        for at, (part, above) in enumerate(parts, start=1):
            which = f" (file {at} of {len(parts)} in sorted order)" if len(parts) > 1 else ""
            file = File(part, Shown(f"{path!r}{which}"), above)
            if files.setdefault(_identity(part), file).above != above:
                expected = "folders that give each file one value in each column"
                raise InvalidDataError("source", file.shown, expected, "Links lead to one file from two folders.")
    shown = repr(paths[0]) if isinstance(source, str | Path) else f"<{len(files)} files>"
    if len({tuple(column for column, _ in file.above) for file in files.values()}) > 1:
        expected = "folders that name the same columns, in the same order, for every file"
        raise InvalidDataError("source", Shown(shown), expected)
    return shown, tuple(files.values())


def _quoted(path: str) -> Shown:
    url = re.match(r"[a-z][a-z0-9+.-]{0,19}://", path, re.IGNORECASE)
    shown = f"<URL {url[0]}...>" if url else repr(path)
    return Shown(HIDDEN if _SECRETIVE.search(path) else shown)


def _identity(path: str) -> object:
    """What is equal for two paths exactly if they lead to one file or folder."""
    try:
        about = os.stat(path)
    except OSError:  # it is gone, which is said when it is read
        return os.path.realpath(path)
    return (about.st_dev, about.st_ino) if about.st_ino else os.path.realpath(path)  # some systems have no numbers


def _in_folder(folder: str) -> list[tuple[str, Above]]:
    """All files in folders such as ``year=2026/month=11``, or links to them; or those that Spark wrote to its end.

    Any other folder is refused. Spark leaves empty files beside others.
    """
    refused = partial(InvalidDataError, "source", Shown(repr(folder)))
    _refuse_tables_of_formats([folder], Shown(repr(folder)))
    is_done = os.path.isfile(os.path.join(folder, "_SUCCESS"))
    is_divided = any(each.is_dir() and _PARTITION.fullmatch(each.name) for each in Path(folder).iterdir())
    if not is_done and not is_divided:
        globs = [os.path.join(folder, f"*{ending}") for ending in ENDINGS if any(Path(folder).glob(f"*{ending}"))]
        hint = f"For all files in it give {' or '.join(map(repr, globs))}." if globs else _NO_FILES
        raise refused("a file, not a folder", hint)
    parts = list[tuple[str, Above]]()
    for inside, folders, names in os.walk(folder, followlinks=True):
        folders[:] = sorted(folders) if is_divided else []
        here = Path(inside)
        above = {_identity(str(each)) for each in (here, *here.parents)}
        if any(_identity(str(here / each)) in above for each in folders):
            raise refused("a folder without links that lead back into it")
        levels = here.relative_to(folder).parts
        found = [each for each in map(_PARTITION.fullmatch, levels) if each]
        values = tuple((unquote(each[1]), None if each[2] == _MISSING else unquote(each[2])) for each in found)
        for name in sorted(name for name in names if not name.startswith((".", "_"))):
            if is_divided and not len(found) == len(levels) > 0:
                expected = "a folder in which all files are in folders such as year=2026/month=11"
                raise refused(expected, "One file is in another place.")
            path = os.path.join(inside, name)
            if not is_done or os.path.getsize(path):
                parts.append((path, values))
    if not parts:
        raise refused("a folder with files in it", _NO_FILES)
    return parts


def _matching_files(source: str) -> list[str]:
    if os.path.isfile(source):
        return [source]
    if "://" not in source and any(wildcard in source for wildcard in "*?["):
        if files := sorted(filter(os.path.isfile, glob.iglob(source, recursive=True))):
            return files
        raise InvalidDataError("source", _quoted(source), "a glob that matches at least one file")
    hint = ""
    if "://" in source:
        hint = "Data is read from local files only. Of PostgreSQL give postgresql://user@host/database;"
        hint += " of other databases give an Ibis table."
    if source == "-" or os.path.exists(source):
        hint = "A table is read more than once, which a pipe cannot be: write it to a file first."
    if source.startswith("~"):
        hint = "A ~ means the home folder only in a shell, without quotes; in Python use os.path.expanduser."
    raise InvalidDataError("source", _quoted(source), "an existing file", hint)


def _refuse_tables_of_formats(paths: Iterable[str], shown: Shown) -> None:
    """Refuse files and folders, and targets of links, in or below a folder with the log of a table format."""
    starts = {Path(full(path)) for path in paths for full in (os.path.abspath, os.path.realpath)}
    for folder in {each for start in starts for each in (start, *start.parents)}:
        for sign, name, way in _TABLES:
            if any(folder.glob(sign)):
                hint = f"This is part of {name} table, whose files still contain deleted rows. "
                hint += f"For the rows that are left {way}."
                raise InvalidDataError("source", shown, "files in which every row counts", hint)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FileSource(Source):
    """One table in files of one format, whose columns may differ; those that a question asks for have to be alike."""

    files: tuple[File, ...]  # with the columns that each had when it was opened
    kind: FileKind

    @classmethod
    def at(cls, source: object, declared: Format | None = None) -> FileSource:
        """The table at a path, a glob, a list or a folder; names, first lines and footers decide whether it is one."""
        (shown, given), declared, files = found(source), declared or Format(), list[File]()
        kinds = {kind_of(file, declared) for file in given}
        if {FileKind.PARQUET, FileKind.ORC} & kinds:
            _refuse_tables_of_formats([file.path for file in given], Shown(shown))
        refused = partial(InvalidDataError, "source", Shown(shown))
        if len(kinds) > 1:
            raise refused("files of one format, such as all .csv or all .parquet")
        (kind,) = kinds
        if kind is FileKind.TAB_SEPARATED:
            declared = replace(declared, delimiter=declared.delimiter or "\t")
        size = 0
        for file in given:
            file = replace(file, declared=declared, before=len(files) * _LINES)
            with reading_file(kind, file.shown):
                files.append(kind.reader.described(file))
                size += os.path.getsize(file.path)
        inside = _together(files)
        if all(column.holds is Holds.UNLIKE for column in inside):
            raise refused("files that share at least one column")
        columns = (*inside, *(Column(name, Holds.ANYTHING) for name, _ in files[0].above))
        if len({column.name for column in columns}) < len(columns):
            hint = "The names of the folders and the files have a column in common."
            raise refused("columns with different names", hint)
        about: dict[str, Any] = {"listed": kind.has_types}  # else the names in the first line may be a person's row
        about |= {"has_header": kind is not FileKind.JSON_LINES, "has_lines": kind.has_lines, "size": size}
        parquet = tuple((file.path, file.schema) for file in files if kind is FileKind.PARQUET)
        return cls(shown, columns, tuple(files), kind, parquet=parquet, **about)

    def place(self, row: int) -> str:
        """See `Source`. Rows of a workbook have no place: those that are blank are not counted."""
        if not self.has_lines:
            return Source.place(self, row) if self.kind.has_types else ""
        position, number = divmod(row, _LINES)
        return f"line {number:,}" + (f" of {self.files[position].shown}" if len(self.files) > 1 else "")

    def lines(self, rows: Sequence[int]) -> list[bytes]:
        """See `Source`."""
        read = list[bytes]()
        for position, number in (divmod(row, _LINES) for row in rows if self.kind.has_cells):
            with closing(lines.opened(self.files[position])) as text:
                read.append(lines.line_and_rest(text, number - 1)[0])
        return read

    def batches(self, columns: Sequence[Column], advance: Advance = ignored, skipped: Skipped = ignored) -> Batches:
        """The rows of one file after another."""
        for file in self.files:
            above = {Column(name, Holds.ANYTHING): pa.scalar(value, pa.large_string()) for name, value in file.above}
            # Or nothing would say how many rows there are.
            asked = [column for column in columns if column not in above] or [file.columns[0]]
            with reading_file(self.kind, file.shown):
                # Of a workbook a change is found while the rows are read.
                if self.kind is not FileKind.EXCEL and file != self.kind.reader.described(file):
                    raise EOFError
                for read in self.kind.reader.rows(file, asked, advance, skipped):
                    yield read | {each: pa.repeat(value, len(read[asked[0]])) for each, value in above.items()}


def _together(files: Sequence[File]) -> tuple[Column, ...]:
    """The columns of all files, in the order in which they are met; a question can use those that are alike in all."""
    together, by_name = list[Column](), [{column.name: column for column in each.columns} for each in files]
    for name in dict.fromkeys(column.name for each in files for column in each.columns):
        found = [each.get(name) for each in by_name]
        alike = [column for column in found if column is not None and column == found[0]]
        if len(alike) == len(files):
            wide, stamp = all(each.wide for each in alike), all(each.stamp for each in alike)
            together.append(replace(alike[0], wide=wide, stamp=stamp))
            continue
        other = next(at for at, column in enumerate(found) if column != found[0])
        said = [(f"holds {each.holds}" if each else "is missing") for each in (found[0], found[other])]
        hint = f"It {said[0]} in {files[0].shown} and {said[1]} in {files[other].shown}."
        together.append(Column(name, Holds.UNLIKE, hint=hint))
    return tuple(together)

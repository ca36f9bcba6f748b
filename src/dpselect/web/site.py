"""What the pages are about: one table, or none, whom it protects, and the account that pays."""

from __future__ import annotations

import glob
import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from dpselect.errors import HIDDEN, InvalidParameterError, SelectionError, may_tell_password, without_password
from dpselect.formats import Format, declared
from dpselect.ledger import Account, Ledger
from dpselect.privacy import EACH_ROW, EachRow, Neighbours, Times, is_each_row
from dpselect.rows.columns import Column
from dpselect.rows.files import named_kind
from dpselect.rows.opening import is_server, open_table
from dpselect.session.answering import Spending
from dpselect.session.dataset import Dataset, DryRun


class Folder:
    """The tables of one folder, and no others: files of a known kind that are directly in it, no links, none hidden."""

    def __init__(self, path: str = ".") -> None:
        self.path = os.path.realpath(path)

    def names(self) -> list[str]:
        with os.scandir(self.path) as found:
            files = [each.name for each in found if each.is_file(follow_symlinks=False)]
        shown = (name for name in files if not name.startswith(".") and name.isprintable() and named_kind(name))
        return sorted(shown, key=str.casefold)

    def place_of(self, name: str) -> str:
        """The path of a table, if one of those that are there now has this name."""
        if name not in self.names():
            raise SelectionError("There is no such table in this folder.")
        return os.path.join(self.path, name)


@dataclass(kw_only=True)
class Site:
    """The public arguments that all pages share: those of `dpselect.Dataset`, and what is only known here."""

    source: str | None = None  # None: still to be chosen, like the unit
    folder: Folder | None = None  # whose tables can be chosen; None: the table was named in the command
    unit: str | EachRow | None = None
    table: str | None = None
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    format: Format = field(default_factory=Format)
    memory_limit: str | None = None
    source_name: str | None = None
    times: Times = Times.DAY
    ledger: Ledger | None = None
    account: str | None = None
    people: str = ""  # how many are supposed to be in the table, as it was last typed or released
    id: str = field(default_factory=lambda: secrets.token_hex(4), init=False)  # tells its forms from those of another
    _known: dict[str, Any] = field(default_factory=dict[str, Any], init=False, repr=False, compare=False)
    _lock: Any = field(default_factory=Lock, init=False, repr=False, compare=False)

    def check(self) -> None:
        """Raise now what every question would raise: of the table, its columns, and the account."""
        if self.source is None:
            if self.unit is not None:
                raise InvalidParameterError("unit", None, "a table together with it")
            return
        _ = self.columns
        if self.unit is not None:
            self.data()
        Spending(self.ledger, self.account)
        _ = self.held

    @property
    def held(self) -> Account | None:
        """The account that pays, as it is now."""
        return None if self.ledger is None or self.account is None else self.ledger.account(self.account)

    @property
    def protects(self) -> str:
        """What sentences call the unit."""
        if is_each_row(self.unit) and is_each_row(self.unit, (each.name for each in self.columns)):
            return EACH_ROW
        return str(self.unit or "")

    @property
    def columns(self) -> Sequence[Column]:
        """The columns of the table, for the holder's eyes."""
        how: dict[str, Any] = {"table": self.table, "format": declared(self.format)}
        return self._remembered("columns", lambda: open_table(self.located, **how).columns)

    def dry(self) -> DryRun:
        """All questions without a row; the account is looked at."""
        given = self._given("unit neighbours table format ledger account")
        return self._remembered("dry", lambda: DryRun(source=self.located, **given))

    def data(self, progress: Callable[[float], None] | None = None) -> Dataset:
        """The table, opened anew: what has changed since another question is noticed by this one."""
        given = self._given("unit neighbours table format ledger account memory_limit source_name times")
        return Dataset(self.located, progress=progress, **given)

    def _given(self, names: str) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names.split()}

    @property
    def located(self) -> str:
        """Where the table is; one of a folder only as long as it is one of its tables."""
        source = self.source or ""
        return source if self.folder is None else self.folder.place_of(source)

    @property
    def shown_source(self) -> str:
        """The table as pages name it: a file, or a server without options, any of which may hold a password."""
        text = self.source or ""
        return without_password(text) if is_server(text) else HIDDEN if may_tell_password(text) else text

    @property
    def subject(self) -> tuple[object, ...]:
        """What is the same of sites whose answers can stand in one report: the account may be another one."""
        return self.source, self.folder, self.protects, self.neighbours, self.table, self.format

    @property
    def stamp(self) -> str:
        """What differs once a file of the table has been written: sizes and times. Empty for a server."""
        source = self.source or ""
        if not source or "://" in source:
            return ""
        place = source if self.folder is None else os.path.join(self.folder.path, source)
        found = [place] if os.path.exists(place) else sorted(glob.glob(place, recursive=True))
        below = [path for each in found for path in (each, *sorted(map(str, Path(each).rglob("*"))))]
        paths = [path for path in below if os.path.isfile(path)]
        return "|".join([*map(_written, paths[:10_000]), str(len(paths))])  # of more, only the number

    def _remembered(self, key: str, make: Callable[[], Any]) -> Any:
        """What was made for the files as they are now."""
        with self._lock:
            stamp, held = self.stamp, self._known.get(key)
            if held is None or held[0] != stamp:
                held = self._known[key] = stamp, make()
            return held[1]


def _written(path: str) -> str:
    try:
        held = os.stat(path)
    except OSError:
        return "gone"
    return f"{held.st_ino}:{held.st_size}:{held.st_mtime_ns}"

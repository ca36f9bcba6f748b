"""What the pages are about: one table, or none, whom it protects, and the account that pays."""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from dpselect.errors import InvalidParameterError
from dpselect.formats import Format, declared
from dpselect.ledger import Ledger
from dpselect.privacy import Neighbours
from dpselect.public_time import Times
from dpselect.rows.columns import Column, Holds
from dpselect.rows.opening import open_table
from dpselect.server_urls import may_hold_password, without_password
from dpselect.session import Dataset, DryRun

NOBODY = "person"
"""Whom a plan without a table protects."""

_LATELY_SECONDS = 0.5

_MOST_FILES = 10_000
"""Whose times are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The public arguments that all pages share.

    Attributes:
        source: the table as for `dpselect.Dataset`, as a text; None: plans alone.
        unit: column that identifies whom a row belongs to; None: chosen on the page.
        table: of a server.
        neighbours, format, memory_limit, source_name, times: as for `dpselect.Dataset`.
        ledger: that is charged, or None.
        ledger_url: how it was named, for the commands that the pages show.
        account: of the ledger.

    >>> site = Site(source="examples/data/adult.csv", unit="person_id")
    >>> site.column_names[:2], site.dry("person_id").count(epsilon=1.0).error_bound
    (['person_id', 'age'], 4.0)
    """

    source: str | None = None
    unit: str | None = None
    table: str | None = None
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    format: Format = field(default_factory=Format)
    memory_limit: str | None = None
    source_name: str | None = None
    times: Times = Times.DAY
    ledger: Ledger | None = None
    ledger_url: str | None = None
    account: str | None = None
    _known: dict[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)
    _lock: Any = field(default_factory=Lock, repr=False, compare=False)

    def check(self) -> None:
        """Raise now what every question would raise.

        Raises:
            InvalidDataError, TableUnavailableError: there is no such table or column.
            InvalidAccountError, LedgerError: the account cannot be charged.
            InvalidParameterError: only one of ledger and account is given, or a ledger without a table.
        """
        if self.source is None:
            given = {"ledger": self.ledger, "unit": None, "table": self.table}
            for name, value in given.items():
                if value is not None:
                    raise InvalidParameterError(name, None, "a table to ask", "Without a table nothing is released.")
            return
        _ = self.columns
        if self.unit is not None:
            self.data(self.unit)
        if (self.ledger is None) != (self.account is None):
            missing = "ledger" if self.ledger is None else "account"
            raise InvalidParameterError(missing, None, "a ledger together with one of its accounts")
        if self.ledger is not None and self.account is not None:
            self.ledger.account(self.account)

    @property
    def columns(self) -> Sequence[Column]:
        """The columns of the table, for the holder's eyes; empty without a table."""
        if self.source is None:
            return ()
        reading: dict[str, Any] = {"table": self.table, "format": declared(self.format)}
        return self._remembered("columns", lambda: open_table(self.source, **reading).engine.columns)

    @property
    def column_names(self) -> list[str]:
        """Their names."""
        return [each.name for each in self.columns]

    @property
    def is_typed(self) -> bool:
        """Whether the table has types."""
        return any(each.holds is not Holds.ANYTHING for each in self.columns)

    def dry(self, unit: str, *, paying: bool = False) -> DryRun:
        """All questions without a row; with `paying` the account is looked at."""
        payer: dict[str, Any] = {"ledger": self.ledger, "account": self.account} if paying else {}
        about: dict[str, Any] = {"unit": unit, "neighbours": self.neighbours, "format": declared(self.format)}

        def made() -> DryRun:
            return DryRun(source=self.source, table=self.table, **about, **payer)

        return self._remembered(f"dry {paying} {unit}", made)

    def data(self, unit: str, progress: Callable[[float], None] | None = None) -> Dataset:
        """The table, opened anew: what has changed since another question is noticed by this one."""
        reading: dict[str, Any] = {
            "table": self.table,
            "memory_limit": self.memory_limit,
            "source_name": self.source_name,
        }
        return Dataset(
            self.source,
            unit=unit,
            progress=progress,
            format=declared(self.format),
            neighbours=self.neighbours,
            times=self.times,
            ledger=self.ledger,
            account=self.account,
            **{name: value for name, value in reading.items() if value is not None},
        )

    @property
    def shown_source(self) -> str:
        """The table as pages name it, without a password."""
        return shown_address(self.source or "")

    @property
    def stamp(self) -> str:
        """What differs once a file of the table has been written: sizes and times. Empty for a server."""
        source = self.source
        if source is None or "://" in source:
            return ""
        found = [source] if os.path.exists(source) else sorted(glob.glob(source, recursive=True))
        paths: list[str] = []
        for each in found:
            if os.path.isdir(each):
                paths += (os.path.join(folder, name) for folder, _, names in os.walk(each) for name in sorted(names))
            else:
                paths.append(each)
        return "|".join(map(_written, paths[:_MOST_FILES])) + f"|{len(paths)}"

    def _stamp_lately(self) -> str:
        """The stamp, at most a little old: a plan looks many times in a row."""
        now = time.monotonic()
        held = self._known.get("stamp")
        if held is None or now - held[0] > _LATELY_SECONDS:
            held = self._known["stamp"] = now, self.stamp
        return held[1]

    def _remembered(self, key: str, make: Callable[[], Any]) -> Any:
        """What was made for the files as they are now."""
        with self._lock:
            stamp = self._stamp_lately()
            held = self._known.get(key)
            if held is None or held[0] != stamp:
                held = self._known[key] = stamp, make()
            return held[1]


def shown_address(text: str) -> str:
    """A file, or a server without the password.

    >>> shown_address("people.csv"), shown_address("postgresql://ann:secret@db/shop")
    ('people.csv', 'postgresql://ann@db/shop')
    """
    if text.startswith(("postgres://", "postgresql://", "postgresql+")) and may_hold_password(text):
        return without_password(text)
    return text


def _written(path: str) -> str:
    try:
        held = os.stat(path)
    except OSError:
        return "gone"
    return f"{held.st_ino}:{held.st_size}:{held.st_mtime_ns}"

"""An anchor in a table of another database than the ledger's, where heads are only ever inserted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

import sqlalchemy as sa

from dpselect.errors import AnchorError, LedgerError
from dpselect.ledger.anchors import Head, damaged, latest
from dpselect.ledger.arguments import seconds
from dpselect.ledger.database import Database

_metadata = sa.MetaData()
_heads = sa.Table(
    "dpselect_anchors",
    _metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("ledger", sa.Text, nullable=False, index=True),
    sa.Column("line", sa.Text, nullable=False),
)


class TableAnchor:
    """Heads in a table ``dpselect_anchors``, which is made if it is missing; of any number of ledgers.

    Args:
        url: of the database, as a ledger's. Let whoever may write the ledger only insert there.
        wait: seconds to wait for another process that holds the lock.

    Raises:
        AnchorError: by each method, if the database cannot be read or written, or a row is damaged.
    """

    __slots__ = ("_database", "_is_made", "_known", "_last", "_lock")

    def __init__(self, url: str | sa.URL, *, wait: float = 30.0) -> None:
        self._database = Database(url, wait=seconds(wait))
        self._lock, self._is_made = threading.Lock(), False
        self._known: dict[str, dict[str, Head]] = {}
        self._last: dict[str, int] = {}

    def __repr__(self) -> str:
        return f"TableAnchor({self._database!r})"

    def __str__(self) -> str:
        return self._database.shown

    def __reduce__(self) -> tuple[Callable[..., TableAnchor], tuple[sa.URL, float]]:
        return _opened, self._database.address

    def heads(self, ledger: str) -> dict[str, Head]:
        """See `Anchor.heads`."""
        if not self._known and self._database.is_nowhere():
            return {}
        with self._told("it cannot be read"), self._database.reading() as connection:
            self._is_made = self._is_made or not self._database.is_empty(connection, _heads.name)
            return self._catch_up(connection, ledger) if self._is_made else {}

    def note(self, ledger: str, head: Head) -> None:
        """See `Anchor.note`."""
        with self._told("it cannot be written to"), self._database.writing(create=True) as connection:
            self._database.lock_whole(connection)  # so that whoever has seen a row has seen all before it
            if not self._is_made:
                _metadata.create_all(connection)
            connection.execute(_heads.insert(), {"ledger": ledger, "line": head.to_line()})
        self._is_made = True

    @contextmanager
    def _told(self, what: str) -> Generator[None]:
        try:
            yield
        except LedgerError as error:
            raise AnchorError(str(self), f"{what}: {error.what}") from None

    def _catch_up(self, connection: sa.Connection, ledger: str) -> dict[str, Head]:
        last = self._last.get(ledger, 0)
        new = sa.select(_heads).where(_heads.c.ledger == ledger, _heads.c.number > last).order_by(_heads.c.number)
        rows = connection.execute(new).all()
        with self._lock:
            known = self._known.setdefault(ledger, {})
            for row in rows:
                if row.number <= self._last.get(ledger, 0):  # another thread has read it meanwhile
                    continue
                try:
                    head = Head.from_line(row.line)
                except (ValueError, TypeError, AttributeError, RecursionError):
                    raise damaged(str(self), row.number) from None
                latest(known, head)
                self._last[ledger] = row.number
            return dict(known)


def _opened(url: sa.URL, wait: float) -> TableAnchor:
    return TableAnchor(url, wait=wait)

"""An anchor in a table of another database than the ledger's, where heads are only ever inserted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

import sqlalchemy as sa

from dpselect.errors import AnchorError, LedgerError
from dpselect.ledger.anchors import SUMMARY, Head, Heads, damaged
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

_ROWS = (
    sa.select(_heads)
    .where(_heads.c.ledger == sa.bindparam("wanted"), _heads.c.number > sa.bindparam("last"))
    .order_by(_heads.c.number)
)
_LAST_SUMMARY = (
    sa.select(_heads.c.number)
    .where(_heads.c.ledger == sa.bindparam("wanted"), _heads.c.line.startswith(SUMMARY))
    .order_by(_heads.c.number.desc())
    .limit(1)
)


class TableAnchor:
    """Heads in a table ``dpselect_anchors``, which is made if it is missing; of any number of ledgers.

    Args:
        url: of the database, as a ledger's. Let whoever may write the ledger only insert there.
        wait: seconds to wait for another process that holds the lock.

    Raises:
        AnchorError: by each method, if the database cannot be read or written, or a row is damaged.
    """

    __slots__ = ("_database", "_is_made", "_known", "_lock")

    def __init__(self, url: str | sa.URL, *, wait: float = 30.0) -> None:
        self._database = Database(url, wait=seconds(wait), table=_heads.name)
        self._lock, self._is_made = threading.Lock(), False
        self._known: dict[str, tuple[Heads, int]] = {}  # of each ledger, with the number of the last row read

    def __repr__(self) -> str:
        return f"TableAnchor({self._database!r})"

    def __str__(self) -> str:
        return self._database.shown

    def __reduce__(self) -> tuple[Callable[..., TableAnchor], tuple[sa.URL, float]]:
        return _opened, self._database.address

    @property
    def url(self) -> sa.URL:
        """Of the database."""
        return self._database.address[0]

    def disconnect(self) -> None:
        """Let go of the database connections; the next use opens new ones."""
        self._database.close()

    def heads(self, ledger: str) -> dict[str, Head]:
        """See `Anchor.heads`."""
        if not self._known and self._database.is_nowhere():
            return {}
        with self._told("it cannot be read"), self._database.reading() as connection:
            self._is_made = self._is_made or not self._database.is_empty(connection, _heads.name)
            return self._caught_up(connection, ledger).by_account() if self._is_made else {}

    def note(self, ledger: str, head: Head) -> None:
        """See `Anchor.note`."""
        new = not self._known
        with self._told("it cannot be written to"), self._database.writing(create=new) as connection:
            self._database.lock_whole(connection)  # so that whoever has seen a row has seen all before it
            if not self._is_made:
                _metadata.create_all(connection)
            lines = self._caught_up(connection, ledger).next_lines(head)
            connection.execute(_heads.insert(), [{"ledger": ledger, "line": line} for line in lines])
        self._is_made = True

    @contextmanager
    def _told(self, what: str) -> Generator[None]:
        try:
            yield
        except LedgerError as error:
            raise AnchorError(str(self), f"{what}: {error.what}") from None

    def _caught_up(self, connection: sa.Connection, ledger: str) -> Heads:
        """With the rows since the last look; at the first one, those from the last summary on."""
        _, last = self._known.get(ledger, (None, None))
        if last is None:
            last = (connection.scalar(_LAST_SUMMARY, {"wanted": ledger}) or 1) - 1
        rows = connection.execute(_ROWS, {"wanted": ledger, "last": last}).all()
        with self._lock:
            heads, seen = self._known.get(ledger, (Heads(), 0))
            for row in rows:
                if row.number > seen:  # or another thread has read it meanwhile
                    try:
                        heads.take(row.line)
                    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                        raise damaged(str(self), row.number) from None
                    seen = row.number
            self._known[ledger] = heads, max(seen, last)
            return heads


def _opened(url: sa.URL, wait: float) -> TableAnchor:
    return TableAnchor(url, wait=wait)

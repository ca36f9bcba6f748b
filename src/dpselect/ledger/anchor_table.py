"""An anchor in a table of another database than the ledger's, where heads are only ever inserted.

The rows of each ledger are numbered from 1 without a gap, and ledger and number are their key. So whoever inserts a
row has seen all rows before it: of two who insert the same number, one is refused, reads what the other wrote, and
takes the next number. No lock is needed, and everybody reads the rows in the same order; a gap is damage.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, ProgrammingError

from dpselect.errors import AnchorError, LedgerError
from dpselect.ledger.anchors import Head, Heads, damaged
from dpselect.ledger.arguments import seconds
from dpselect.ledger.database import Database, schema_of

_NAME = "dpselect_anchors"
_heads = sa.Table(
    _NAME,
    sa.MetaData(),
    sa.Column("ledger", sa.Text, primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("line", sa.Text, nullable=False),
)
_older = sa.Table(
    _NAME,
    sa.MetaData(),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("ledger", sa.Text, nullable=False, index=True),
    sa.Column("line", sa.Text, nullable=False),
)
"""As versions before made it. The database numbers its rows, of all ledgers together and with gaps."""

_BLOCK = 10_000
_ROWS = (
    sa.select(_heads.c.number, _heads.c.line)
    .where(_heads.c.ledger == sa.bindparam("ledger_id"), _heads.c.number > sa.bindparam("last"))
    .order_by(_heads.c.number)
    .limit(_BLOCK)
)


class TableAnchor:
    """Heads in a table ``dpselect_anchors``, which is made if it is missing; of any number of ledgers.

    Args:
        url: of the database, as a ledger's. Let whoever may write the ledger only insert there.
        wait: seconds to wait for another process that is noting a head, or for the server.

    Raises:
        AnchorError: by each method, if the database cannot be read or written, or a row is damaged.
    """

    __slots__ = ("_database", "_has_own_numbers", "_known", "_lock")

    def __init__(self, url: str | sa.URL, *, wait: float = 30.0) -> None:
        self._database = Database(url, wait=seconds(wait), table=_NAME)
        self._lock = threading.Lock()
        self._has_own_numbers: bool | None = None  # each ledger's rows; None until the table is found
        self._known: dict[str, tuple[Heads, int]] = {}  # of each ledger, with the number of the last row read

    def __repr__(self) -> str:
        return f"TableAnchor({self._database!r})"

    def __str__(self) -> str:
        return self._database.shown

    def __reduce__(self) -> tuple[Callable[..., TableAnchor], tuple[sa.URL, float]]:
        return _opened, self._database.address

    @property
    def url(self) -> sa.URL:
        """The address of the database."""
        return self._database.address[0]

    def disconnect(self) -> None:
        """Let go of the database connections; the next use opens new ones."""
        self._database.close()

    def heads(self, ledger: str) -> dict[str, Head]:
        """See `Anchor.heads`."""
        if not self._known and self._database.is_nowhere():
            return {}
        with self._told("it cannot be read"), self._database.reading() as connection:
            return self._caught_up(connection, ledger).by_account() if self._is_there(connection) else {}

    def note(self, ledger: str, head: Head) -> None:
        """See `Anchor.note`."""
        new = not self._known
        with self._told("it cannot be written to"), self._database.writing(create=new) as connection:
            if not self._is_there(connection):
                self._create(connection)
            if not self._has_own_numbers:
                self._append_to_older(connection, ledger, head)
                return
            self._append(connection, ledger, head)

    def _append(self, connection: sa.Connection, ledger: str, head: Head) -> None:
        """Insert what notes `head` after all rows that are there by then."""
        while True:
            self._caught_up(connection, ledger)
            _, last = self._known[ledger]
            row = {"ledger": ledger, "number": last + 1, "line": head.to_line()}
            try:
                with connection.begin_nested():
                    connection.execute(_heads.insert(), row)
                return
            except IntegrityError:  # another process was faster
                self._caught_up(connection, ledger)
                if self._known[ledger][1] == last:
                    raise

    def _append_to_older(self, connection: sa.Connection, ledger: str, head: Head) -> None:
        """The same in a table of an earlier version, where users who may insert may not choose a number.

        It takes a lock, so that whoever sees a row has seen all rows before it.
        """
        self._database.lock_whole(connection)
        self._caught_up(connection, ledger)
        connection.execute(_older.insert(), {"ledger": ledger, "line": head.to_line()})

    def _is_there(self, connection: sa.Connection) -> bool:
        """Whether there is a table, of this version or an earlier one."""
        if self._has_own_numbers is None and not self._database.is_empty(connection, _NAME):
            key = sa.inspect(connection).get_pk_constraint(_NAME, schema=schema_of(connection))
            self._has_own_numbers = key["constrained_columns"] != ["number"]
        return self._has_own_numbers is not None

    def _create(self, connection: sa.Connection) -> None:
        """Make the table, unless another process is faster."""
        try:
            with connection.begin_nested():
                _heads.create(connection)
        except (IntegrityError, ProgrammingError):
            if not self._is_there(connection):
                raise
        self._is_there(connection)

    @contextmanager
    def _told(self, what: str) -> Generator[None]:
        try:
            yield
        except LedgerError as error:
            raise AnchorError(str(self), f"{what}: {error.what}") from None

    def _caught_up(self, connection: sa.Connection, ledger: str) -> Heads:
        """With the rows since the last look."""
        while True:
            _, last = self._known.get(ledger, (None, 0))
            found = connection.execute(_ROWS, {"ledger_id": ledger, "last": last})
            rows = [(int(row.number), str(row.line)) for row in found]
            heads = self._with(rows, ledger)
            if len(rows) < _BLOCK:
                return heads

    def _with(self, rows: Sequence[tuple[int, str]], ledger: str) -> Heads:
        """What is known after these rows, too."""
        with self._lock:
            heads, seen = self._known.get(ledger, (Heads(), 0))
            for number, line in rows:
                if number <= seen:  # another thread has read it meanwhile
                    continue
                if self._has_own_numbers and number != seen + 1:
                    raise damaged(str(self), seen + 1)
                try:
                    heads.take(line)
                except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError):
                    raise damaged(str(self), number) from None
                seen = number
            self._known[ledger] = heads, seen
            return heads


def _opened(url: sa.URL, wait: float) -> TableAnchor:
    return TableAnchor(url, wait=wait)

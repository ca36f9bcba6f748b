"""An anchor in a table of another database than the ledger's, where heads are only ever inserted."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from dpselect.errors import AnchorError
from dpselect.ledger.addresses import Address
from dpselect.ledger.anchors import Head, damaged, latest

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

    Raises:
        AnchorError: by each method, if the database cannot be read or written, or a row is damaged.
    """

    __slots__ = ("_address", "_engine", "_known", "_last")

    def __init__(self, url: str) -> None:
        self._address = Address.given(url)
        self._engine = sa.create_engine(self._address.url, poolclass=sa.pool.NullPool)
        self._known: dict[str, dict[str, Head]] = {}
        self._last: dict[str, int] = {}

    def __repr__(self) -> str:
        return f"TableAnchor({self._address.shown!r})"

    def __str__(self) -> str:
        return self._address.shown

    def __reduce__(self) -> tuple[type[TableAnchor], tuple[str]]:
        return TableAnchor, (self._address.url.render_as_string(hide_password=False),)

    def heads(self, ledger: str) -> dict[str, Head]:
        """See `Anchor.heads`."""
        try:
            with self._engine.connect() as connection:
                if sa.inspect(connection).has_table(_heads.name):
                    self._catch_up(connection, ledger)
        except SQLAlchemyError:
            raise AnchorError(str(self), "it cannot be read. Nothing was charged.") from None
        return dict(self._known.get(ledger, {}))

    def note(self, ledger: str, head: Head) -> None:
        """See `Anchor.note`."""
        try:
            with self._engine.begin() as connection:
                _metadata.create_all(connection)
                if connection.dialect.name == "postgresql":  # so that whoever has seen a row has seen all before it
                    connection.exec_driver_sql("LOCK TABLE dpselect_anchors IN SHARE ROW EXCLUSIVE MODE")
                connection.execute(_heads.insert(), {"ledger": ledger, "line": head.to_line()})
        except SQLAlchemyError:
            raise AnchorError(str(self), "it cannot be written to.") from None

    def _catch_up(self, connection: sa.Connection, ledger: str) -> None:
        known, last = self._known.setdefault(ledger, {}), self._last.get(ledger, 0)
        new = sa.select(_heads).where(_heads.c.ledger == ledger, _heads.c.number > last).order_by(_heads.c.number)
        for row in connection.execute(new):
            try:
                head = Head.from_line(row.line)
            except (ValueError, TypeError, AttributeError, RecursionError):
                raise damaged(str(self), row.number) from None
            latest(known, head)
            self._last[ledger] = row.number

"""A hand in the database, past the ledger."""

from __future__ import annotations

import sqlalchemy as sa


def engine_of(url: str) -> sa.Engine:
    return sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))


def by_hand(url: str, *statements: str, guarded: bool = False) -> None:
    """Run statements as whoever owns the database can; `guarded` leaves the guards against accidents on."""
    engine = engine_of(url)
    try:
        with engine.begin() as connection:
            if not guarded:
                _drop_guards(connection)
            for statement in statements:
                connection.exec_driver_sql(statement)
    finally:
        engine.dispose()


def _drop_guards(connection: sa.Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET session_replication_role = replica")
        return
    connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
    names = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'").scalars().all()
    for name in names:
        connection.exec_driver_sql(f"DROP TRIGGER {name}")

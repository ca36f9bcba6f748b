"""Connections and engines that the caller has opened: where they lead, so that questions open connections of their own.

A question needs a connection with settings of its own (read-only, one state of the table, numbers with all digits). So
the caller's connection is not used, closed or changed, and what its open transaction has written is not seen.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

from dpselect.backends.failures import TranslatedErrors
from dpselect.errors import InvalidDataError, Shown

_IN_PATH = ("user", "password", "host", "port", "dbname")


def server_of(source: Any) -> object:
    """The URL of the PostgreSQL server that a connection of psycopg or a SQLAlchemy engine leads to.

    The URL may contain a password. Anything else is returned unchanged.

    Raises:
        InvalidDataError: the connection is closed, or the engine is of another database or cannot connect.
    """
    package = type(source).__module__.partition(".")[0]
    if package == "psycopg" and hasattr(source, "info"):
        with TranslatedErrors(lambda _: _closed()):
            return _url({**source.info.get_parameters(), "password": source.info.password})
    if package == "psycopg2" and hasattr(source, "info"):
        with TranslatedErrors(lambda _: _closed()):
            return _url({**source.info.dsn_parameters, "password": source.info.password})
    if package == "sqlalchemy" and hasattr(source, "engine"):
        return _of_engine(source.engine)
    return source


def _of_engine(engine: Any) -> object:
    """By a connection that the engine makes: its URL alone may lack what the engine adds, such as checks of TLS."""
    shown, hint = (
        Shown("<SQLAlchemy engine>"),
        "Give a URL, a path or an Ibis table; docs/engines.md lists the engines.",
    )
    if engine.dialect.name != "postgresql" or engine.dialect.is_async:
        raise InvalidDataError("source", shown, "an engine of PostgreSQL, by psycopg", hint)
    with TranslatedErrors(
        lambda _: InvalidDataError("source", shown, "an engine that can connect to its server", hint)
    ):
        connection = engine.raw_connection()
        try:
            found = server_of(connection.driver_connection)
        finally:
            connection.close()
    if not isinstance(found, str):
        raise InvalidDataError("source", shown, "an engine of PostgreSQL, by psycopg", hint)
    return found


def _url(parameters: dict[str, str | None]) -> str:
    """A URL with these parameters of libpq.

    >>> _url({"user": "ann", "password": "a/b", "host": "db", "port": "5433", "dbname": "shop", "sslmode": "require"})
    'postgresql://ann:a%2Fb@db:5433/shop?sslmode=require'
    """
    given = {name: str(value) for name, value in parameters.items() if value}
    user, password, host, port, name = (quote(given.get(part, ""), safe="") for part in _IN_PATH)
    others = {part: value for part, value in given.items() if part not in _IN_PATH}
    if ":" in given.get("host", "") and "," not in given["host"]:
        host = f"[{given['host']}]"
    elif "%" in host:  # a folder with a socket, or several hosts
        others, host = {**others, "host": given["host"]}, ""
        if port:
            others, port = {**others, "port": given["port"]}, ""
    login = f"{user}:{password}@" if password else f"{user}@" if user else ""
    server = f"{host}:{port}" if port else host
    return f"postgresql://{login}{server}/{name}" + (f"?{urlencode(others, quote_via=quote)}" if others else "")


def _closed() -> InvalidDataError:
    return InvalidDataError("source", Shown("<connection>"), "an open connection to a PostgreSQL server")

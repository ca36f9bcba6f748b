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
        InvalidDataError: the connection is closed, or the engine is of another database.
    """
    package = type(source).__module__.partition(".")[0]
    if package == "psycopg" and hasattr(source, "info"):
        with TranslatedErrors(lambda _: _closed()):
            return _url({**source.info.get_parameters(), "password": source.info.password})
    if package == "psycopg2" and hasattr(source, "info"):
        with TranslatedErrors(lambda _: _closed()):
            return _url({**source.info.dsn_parameters, "password": source.info.password})
    if package == "sqlalchemy" and hasattr(source, "engine"):
        url = source.engine.url
        if url.get_backend_name() != "postgresql":
            hint = "Give a path or an Ibis table; docs/engines.md lists the engines."
            raise InvalidDataError("source", Shown("<SQLAlchemy engine>"), "an engine of PostgreSQL", hint)
        return url.set(drivername="postgresql").render_as_string(hide_password=False)
    return source


def _url(parameters: dict[str, str | None]) -> str:
    """A URL with these parameters of libpq.

    >>> _url({"user": "ann", "password": "a/b", "host": "db", "port": "5433", "dbname": "shop", "sslmode": "require"})
    'postgresql://ann:a%2Fb@db:5433/shop?sslmode=require'
    """
    given = {name: str(value) for name, value in parameters.items() if value}
    user, password, host, port, name = (quote(given.get(part, ""), safe="") for part in _IN_PATH)
    others = {part: value for part, value in given.items() if part not in _IN_PATH}
    if "%" in host:  # a folder with a socket
        others, host = {**others, "host": given["host"]}, ""
        if port:
            others, port = {**others, "port": port}, ""
    login = f"{user}:{password}@" if password else f"{user}@" if user else ""
    server = f"{host}:{port}" if port else host
    return f"postgresql://{login}{server}/{name}" + (f"?{urlencode(others, quote_via=quote)}" if others else "")


def _closed() -> InvalidDataError:
    return InvalidDataError("source", Shown("<connection>"), "an open connection to a PostgreSQL server")

"""The address of a ledger, a file or a server: as the caller gave it, and as messages may show it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError

from dpselect.errors import InvalidParameterError, Shown
from dpselect.server_urls import HIDDEN, is_conninfo, may_tell_password, without_password

_SQLITE, _POSTGRES = "sqlite", "postgresql"
_LONGEST_NAME, _LONGEST_PATH = 255 - len("-journal"), 512 - len("-journal")
"""The longest name and path that file systems and SQLite allow, less the suffix of the files beside the ledger."""

EXPECTED = "a database URL such as 'sqlite:///budget.db' or 'postgresql://user@host/database', or the path of a file"


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a ledger.

    Attributes:
        url: the URL, with the driver to use.
        shown: the address in messages: without a password, and without options, since any option may hold one.
        path: path of the file; None for a server.
        read_only: whether the caller asked not to write.
    """

    url: sa.URL
    shown: str
    path: Path | None
    read_only: bool

    @classmethod
    def given(cls, url: object) -> Address:
        """The address of `url`, a URL or a path as the caller gave it.

        Raises:
            InvalidParameterError: it is neither a URL nor a path, or has unknown options.

        >>> Address.given("postgresql://ann:secret@db/budgets").shown
        'postgresql://ann@db/budgets'
        >>> Address.given("budget.db").shown == Address.given(Path("budget.db")).shown == "sqlite:///budget.db"
        True
        """
        parsed = _parsed(url)
        if parsed.get_backend_name() == _SQLITE:
            return cls(parsed, f"{_SQLITE}:///{parsed.database}", _path(parsed), parsed.query.get("mode") == "ro")
        if isinstance(url, str):
            return cls(parsed, without_password(url), None, False)
        bare = sa.URL.create(_POSTGRES, parsed.username, host=parsed.host, port=parsed.port, database=parsed.database)
        return cls(parsed, bare.render_as_string(hide_password=True), None, False)


def _parsed(url: object) -> sa.URL:
    if isinstance(url, sa.URL):
        return _of_known(url)
    if isinstance(url, Path) or (isinstance(url, str) and _names_file(url)):
        return sa.URL.create(_SQLITE, database=str(url))
    if not isinstance(url, str):
        raise InvalidParameterError("ledger", url, EXPECTED)
    before, _, options = url.partition("?")
    if url.startswith(_POSTGRES) and (before.count("@") > 1 or "@" in options):
        hint = "In names and passwords write @ as %40, ? as %3F."
        raise InvalidParameterError("ledger", Shown("<URL>"), EXPECTED, hint)
    try:
        parsed = sa.make_url(url)
    except (ArgumentError, ValueError):
        raise InvalidParameterError("ledger", Shown("<text>"), EXPECTED) from None
    return _of_known(parsed)


def _names_file(text: str, *, windows: bool = os.name == "nt") -> bool:
    r"""Whether `text` is a path and not a URL.

    >>> _names_file("budget.db"), _names_file("sqlite:///budget.db"), _names_file(r"C:\data\budget.db", windows=True)
    (True, False, True)
    """
    if windows and re.match(r"[A-Za-z]:[\\/](?!/)", text):
        return True
    return bool(text) and ":" not in text and "?" not in text


def _of_known(url: sa.URL) -> sa.URL:
    backend = url.get_backend_name()
    if backend not in (_SQLITE, _POSTGRES):
        raise InvalidParameterError("ledger", Shown(f"<{backend} URL>"), EXPECTED)
    return url.set(drivername="postgresql+psycopg") if backend == _POSTGRES else url


def _path(url: sa.URL) -> Path:
    if set(url.query) - {"mode"} or url.query.get("mode", "rw") not in ("ro", "rw"):
        raise InvalidParameterError("ledger", Shown("<URL with another option>"), "no option but ?mode=ro")
    if not url.database or url.database == ":memory:":
        hint = "A ledger has to outlive the process that writes it."
        raise InvalidParameterError("ledger", Shown("<in memory>"), EXPECTED, hint)
    if names_a_server(url.database) or url.username or url.password or url.host:
        hint = "A server is named by a URL, never by host=...; and a new file by no name that looks like one."
        raise InvalidParameterError("ledger", Shown(HIDDEN), EXPECTED, hint)
    if "\0" in url.database:
        raise InvalidParameterError("ledger", Shown("<path with a NUL>"), EXPECTED)
    try:
        path = Path(os.path.realpath(url.database))  # SQLite keeps its log beside the file, not beside a link to it
        length, last = len(os.fsencode(path)), len(os.fsencode(path.name))
    except UnicodeEncodeError:
        raise InvalidParameterError("ledger", Shown("<path that is no text>"), EXPECTED) from None
    if length > _LONGEST_PATH or last > _LONGEST_NAME:
        expected = f"a path of at most {_LONGEST_PATH} bytes, its last part of at most {_LONGEST_NAME}"
        hint = "SQLite keeps files with longer names beside it."
        raise InvalidParameterError("ledger", Shown(f"<path of {length} bytes>"), expected, hint)
    return path


def names_a_server(path: str) -> bool:
    """Whether a path to no file was probably meant as a server's address. Folders that exist count as folders."""
    try:
        if os.path.exists(path):
            return False
        folder, name = os.path.split(path)
        name = name if folder and os.path.isdir(folder) else path
    except ValueError:
        name = path
    return is_conninfo(name) or may_tell_password(name)

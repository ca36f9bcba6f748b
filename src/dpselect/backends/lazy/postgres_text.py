"""The encoding of text sent to a PostgreSQL server: UTF-8 on the connection, the database's own encoding in its tables.

Text that a table cannot hold is in none of its rows. If it were sent, the server would refuse the whole query.
"""

from __future__ import annotations

import codecs
from typing import Any

from dpselect.errors import InvalidCandidatesError, InvalidDataError, Shown

UNICODE = "UTF8"
"""UTF-8, as PostgreSQL names it."""

_ANYTHING = (UNICODE, "SQL_ASCII")
"""Encodings of databases that hold any text; the second stores and compares bytes."""

_CODECS = {
    **{f"LATIN{part}": f"latin{part}" for part in range(1, 11)},
    **{f"WIN{page}": f"cp{page}" for page in (866, 874, *range(1250, 1259))},
    **{f"ISO_8859_{part}": f"iso8859_{part}" for part in range(5, 9)},
    "EUC_CN": "euc_cn",
    "KOI8R": "koi8_r",
    "KOI8U": "koi8_u",
}
"""Python's codecs for the server's encodings, except those in which the two differ."""


def speak_unicode(connection: Any) -> None:
    """Set the connection's encoding to UTF-8 for the present transaction."""
    if connection.info.parameter_status("client_encoding") != UNICODE:
        connection.execute(f"SET LOCAL client_encoding = '{UNICODE}'")


def check_unicode(connection: Any) -> None:
    """Refuse a database from which not every text arrives: whether one does would depend on a row.

    Raises:
        InvalidDataError: the encoding of the database is not UTF-8.
    """
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != UNICODE:
        expected = f"a column that is not text, because the encoding of the database is {encoding}"
        raise InvalidDataError("column", Shown("<text>"), expected, "Copy the table to a database in UTF8.")


def storable(connection: Any, texts: list[str], *, argument: str) -> list[str]:
    """The public `texts`, given as `argument`, that a table of this database can hold.

    Raises:
        InvalidCandidatesError: the encoding of the database is not supported.
    """
    encoding = connection.info.parameter_status("server_encoding")
    if encoding in _ANYTHING:
        return texts
    if encoding not in _CODECS:
        expected = f"no text, because the encoding of the database, {encoding}, is not supported"
        hint = "Ask about numbers, or copy the table to a database in UTF8."
        raise InvalidCandidatesError(argument, Shown("<text>"), expected, hint)
    return [text for text in texts if _is_known(text, _CODECS[encoding])]


def _is_known(text: str, codec: str) -> bool:
    try:
        codecs.encode(text, codec)
    except UnicodeEncodeError:
        return False
    return True

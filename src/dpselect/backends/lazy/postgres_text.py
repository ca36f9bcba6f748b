"""Text on its way to a PostgreSQL server and back: in UTF-8 on the line, in the encoding of the database in its tables.

Text that a table cannot hold is in none of its rows. Were it sent, the server would refuse the whole question.
"""

from __future__ import annotations

import codecs
from typing import Any

from dpselect.errors import InvalidCandidatesError, Shown

UNICODE = "UTF8"
"""As PostgreSQL calls it."""

_ANYTHING = (UNICODE, "SQL_ASCII")
"""Encodings of databases that hold whatever is sent; the second knows bytes only, and so compares these."""

_CODECS = {
    **{f"LATIN{part}": f"latin{part}" for part in range(1, 11)},
    **{f"WIN{page}": f"cp{page}" for page in (866, 874, *range(1250, 1259))},
    **{f"ISO_8859_{part}": f"iso8859_{part}" for part in range(5, 9)},
    "EUC_CN": "euc_cn",
    "KOI8R": "koi8_r",
    "KOI8U": "koi8_u",
}
"""Python's codecs of the same characters as the server's encodings: all but those in which the two differ."""


def speak_unicode(connection: Any) -> None:
    """Let the connection, within the transaction it is in, speak UTF-8, whatever it spoke before."""
    if connection.info.parameter_status("client_encoding") != UNICODE:
        connection.execute(f"SET LOCAL client_encoding = '{UNICODE}'")


def storable(connection: Any, texts: list[str], *, argument: str) -> list[str]:
    """Those of public `texts`, given as `argument`, that a table of this database can hold.

    Raises:
        InvalidCandidatesError: the encoding is one of which that is not known.
    """
    encoding = connection.info.parameter_status("server_encoding")
    if encoding in _ANYTHING:
        return texts
    if encoding not in _CODECS:
        expected = f"no text, as the encoding of the database, {encoding}, is not supported"
        hint = "Ask about numbers, or copy the table to a database in UTF8."
        raise InvalidCandidatesError(argument, Shown("<text>"), expected, hint)
    return [text for text in texts if _is_known(text, _CODECS[encoding])]


def _is_known(text: str, codec: str) -> bool:
    try:
        codecs.encode(text, codec)
    except UnicodeEncodeError:
        return False
    return True

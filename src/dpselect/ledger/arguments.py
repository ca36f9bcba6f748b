"""Checks of the arguments that callers give a ledger, and its address, as given and as messages may show it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from dpselect.checks import exact_number, members_in_order
from dpselect.errors import InvalidParameterError, Shown
from dpselect.privacy import as_utc_text
from dpselect.server_urls import HIDDEN, is_conninfo, is_login, is_server, may_tell_password, without_password

_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
"""A decimal that every reader understands alike: no underscores, no blanks, no digits of other scripts."""
_LARGEST = Fraction(sys.float_info.max)
"""A larger limit promises nothing, and could not be shown as a number."""

_MOST_BITS = 4000
"""Above and below the bar of a limit, so that it can be read back."""

_LONGEST = 1000
_MOST_NOTE = 10_000


def exact_fraction(value: object, name: str, *, zero: bool = False, below_one: bool = False) -> Fraction:
    """A limit as an exact fraction. Floats, decimals and fractions keep their exact values; text is read as a decimal.

    So the float 0.3 is a little below three tenths, and three charges of 0.1, each a little above a tenth, exceed it.

    >>> exact_fraction(0.3, "epsilon") < 3 * Fraction(0.1), exact_fraction("0.3", "epsilon")
    (True, Fraction(3, 10))
    """
    least = "from 0" if zero else "> 0"
    expected = f"a number {least} to below 1" if below_one else f"a finite number {least.replace('from', '>=')}"
    is_decimal = isinstance(value, str) and len(value) <= 100 and _DECIMAL.fullmatch(value)
    try:
        exact = exact_number(Decimal(str(value)) if is_decimal else value, name)
    except InvalidParameterError:
        exact = Fraction(-1)
    is_long = max(exact.numerator.bit_length(), exact.denominator.bit_length()) >= _MOST_BITS
    if is_long or not 0 <= exact <= _LARGEST or (exact == 0 and not zero) or (below_one and exact >= 1):
        raise InvalidParameterError(name, Shown(repr(value)) if isinstance(value, Decimal) else value, expected)
    return exact


def short_text(value: object, name: str, *, empty: bool = False) -> str:
    """Check a name or a note: printable, and not too long."""
    most = _MOST_NOTE if empty else _LONGEST
    if not isinstance(value, str) or not (empty or value) or len(value) > most or not (value.isprintable()):
        got = Shown(f"<text of length {len(value)}>") if isinstance(value, str) else value
        raise InvalidParameterError(name, got, f"a printable text of {0 if empty else 1} to {most} characters")
    if is_login(value):
        hint = "It is stored for ever, and receipts show parts of it. Did you pass the ledger, or the table, here?"
        raise InvalidParameterError(name, Shown(HIDDEN), "a text without a password", hint)
    return value


def any_text(value: object, name: str) -> str:
    """Check a text of any length: one that every database can hold."""
    if not isinstance(value, str):
        raise InvalidParameterError(name, value, "a text")
    try:
        if b"\0" not in value.encode():
            return value
    except UnicodeEncodeError:
        pass  # refused below, like the other texts that PostgreSQL refuses
    raise InvalidParameterError(name, Shown("<text>"), "a text that UTF-8 can hold, without NUL characters")


def hash_text(value: object, name: str) -> str:
    """Check a SHA-256 hash in hexadecimal digits."""
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{64}", value):
        raise InvalidParameterError(name, value, "a hash of 64 hexadecimal digits")
    return value


def public_moment(value: object, name: str) -> str:
    """Check a time that a receipt will show, as text in UTC: it needs a time zone, to mean the same everywhere."""
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise InvalidParameterError(name, value, "a datetime with a time zone")
    if (value.minute, value.second, value.microsecond) != (0, 0, 0):
        hint = "A finer time tells how long reading took: time.replace(minute=0, second=0, microsecond=0)."
        raise InvalidParameterError(name, Shown("<a time>"), "the start of an hour", hint)
    return as_utc_text(value)


def seconds(value: object) -> float:
    """Check a waiting time in seconds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e6:
        raise InvalidParameterError("wait", value, "a number of seconds, from 0 to below a million")
    return float(value)


def tuples_of(value: object, name: str, size: int) -> Sequence[Any]:
    """Check a list of tuples of one size."""
    expected = f"a list of tuples of {size}"
    held: Sequence[Any] = members_in_order(value, name, expected=expected)
    if not all(isinstance(each, (tuple, list)) and len(cast("Sequence[object]", each)) == size for each in held):
        raise InvalidParameterError(name, Shown("<other members>"), expected)
    return held


EXPECTED = "a database URL such as 'sqlite:///budget.db' or 'postgresql://user@host/database', or the path of a file"
_NO_SERVER = "A server is named by a URL, never by host=...; and a new file by no name that looks like one."


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a ledger.

    Attributes:
        place: the same for one database, however its address is written: the file's path, or the server's URL.
        shown: the address in messages: without a password, and without options, since any option may hold one.
        path: path of the file; None for a server.
        read_only: whether the caller asked not to write.
    """

    place: str
    shown: str
    path: Path | None = None
    read_only: bool = False

    @classmethod
    def given(cls, url: object) -> Address:
        """The address of `url`, a URL or a path as the caller gave it.

        >>> Address.given("postgresql://ann:secret@db/budgets").shown
        'postgresql://ann@db/budgets'
        >>> Address.given("budget.db").shown == Address.given(Path("budget.db")).shown == "sqlite:///budget.db"
        True
        """
        if isinstance(url, Path) or (isinstance(url, str) and _names_file(url)):
            return cls._of_file(str(url))
        if not isinstance(url, str):
            raise InvalidParameterError("ledger", url, EXPECTED)
        scheme, is_url, rest = url.partition("://")
        before, _, options = rest.partition("?")
        if not (is_url and re.fullmatch(r"\w+(\+\w+)?", scheme)):
            raise InvalidParameterError("ledger", Shown("<text>"), EXPECTED)
        if scheme == "sqlite":
            if before and not before.startswith("/"):
                raise InvalidParameterError("ledger", Shown(HIDDEN), EXPECTED, _NO_SERVER)
            if options not in ("", "mode=ro", "mode=rw"):
                raise InvalidParameterError("ledger", Shown("<URL with another option>"), "no option but ?mode=ro")
            return cls._of_file(before[1:], read_only=options == "mode=ro")
        if scheme != "postgresql":
            raise InvalidParameterError("ledger", Shown(f"<{scheme} URL>"), EXPECTED)
        if before.count("@") > 1 or "@" in options:
            hint = "In names and passwords write @ as %40, ? as %3F."
            raise InvalidParameterError("ledger", Shown("<URL>"), EXPECTED, hint)
        if not is_server(before.rpartition("@")[2].partition("/")[0]):
            raise InvalidParameterError("ledger", Shown("<text>"), EXPECTED)
        return cls(url, without_password(url))

    @classmethod
    def _of_file(cls, name: str, *, read_only: bool = False) -> Address:
        if not name or name == ":memory:":
            hint = "A ledger has to outlive the process that writes it."
            raise InvalidParameterError("ledger", Shown("<in memory>"), EXPECTED, hint)
        if names_a_server(name):
            raise InvalidParameterError("ledger", Shown(HIDDEN), EXPECTED, _NO_SERVER)
        if "\0" in name:
            raise InvalidParameterError("ledger", Shown("<path with a NUL>"), EXPECTED)
        try:
            path = Path(os.path.realpath(name))  # SQLite keeps its log beside the file, not beside a link to it
            os.fsencode(path)
        except UnicodeEncodeError:
            raise InvalidParameterError("ledger", Shown("<path that is no text>"), EXPECTED) from None
        return cls(str(path), f"sqlite:///{name}", path, read_only)


def _names_file(text: str, *, windows: bool = os.name == "nt") -> bool:
    r"""Whether `text` is a path and not a URL.

    >>> _names_file("budget.db"), _names_file("sqlite:///budget.db"), _names_file(r"C:\data\budget.db", windows=True)
    (True, False, True)
    """
    if windows and re.match(r"[A-Za-z]:[\\/](?!/)", text):
        return True
    return bool(text) and ":" not in text and "?" not in text


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

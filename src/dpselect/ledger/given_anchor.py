"""The anchor that a caller gives a ledger, as an object."""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

import sqlalchemy as sa

from dpselect.errors import InvalidParameterError, Shown
from dpselect.ledger.addresses import names_a_server
from dpselect.ledger.anchor_file import FileAnchor
from dpselect.ledger.anchor_table import TableAnchor
from dpselect.ledger.anchors import Anchor
from dpselect.ledger.unsettled import place_of
from dpselect.server_urls import HIDDEN

_EXPECTED = "the path of a file, the URL of a database, or an anchor"


def anchor_of(given: object, *, wait: float, ledger: sa.URL) -> Anchor | None:
    """The anchor that a caller gives: a path, the URL of a database, or an anchor object.

    Args:
        given: the caller's argument.
        wait: seconds to wait for the anchor's lock.
        ledger: address of the ledger, which cannot be its own anchor.

    Raises:
        InvalidParameterError: `given` is not one of these.
    """
    if given is None or isinstance(given, Anchor):
        anchor = given
    elif isinstance(given, str) and given.startswith(("postgresql://", "postgresql+psycopg://", "sqlite://")):
        try:
            anchor = TableAnchor(given, wait=wait)
        except InvalidParameterError as error:  # which speaks of a ledger
            raise InvalidParameterError("anchor", Shown(error.got), _EXPECTED, error.hint) from None
    elif isinstance(given, str) and names_a_server(given):
        hint = "A server is named by a URL, never by host=...; and a new file by no name that looks like one."
        raise InvalidParameterError("anchor", Shown(HIDDEN), _EXPECTED, hint)
    elif isinstance(given, Path) or (isinstance(given, str) and given and "://" not in given and "\0" not in given):
        anchor = FileAnchor(given, wait=wait)
    else:
        raise InvalidParameterError("anchor", cast(object, given), _EXPECTED)
    if anchor is not None and _is_within(anchor, ledger):
        hint = "Whatever harms the ledger would harm it, too."
        raise InvalidParameterError("anchor", Shown("<the ledger>"), "another file or database than the ledger's", hint)
    return anchor


def _is_within(anchor: Anchor, ledger: sa.URL) -> bool:
    if isinstance(anchor, FileAnchor):
        own = [f"{ledger.database}{ending}" for ending in ("", "-wal", "-shm", "-journal")]
        return ledger.get_backend_name() == "sqlite" and os.path.realpath(anchor.path) in own
    if not isinstance(anchor, TableAnchor):
        return False
    mine, other = place_of(anchor.url), ledger
    return (mine.get_backend_name(), mine.host, mine.port, mine.database, mine.query) == (
        *(other.get_backend_name(), other.host, other.port, other.database, other.query),
    )

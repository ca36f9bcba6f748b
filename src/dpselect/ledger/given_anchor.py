"""The anchor that a caller gives a ledger, as an object."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from dpselect.errors import InvalidParameterError
from dpselect.ledger.anchor_file import FileAnchor
from dpselect.ledger.anchor_table import TableAnchor
from dpselect.ledger.anchors import Anchor


def anchor_of(given: object, *, wait: float) -> Anchor | None:
    """The anchor that a caller names: a path, the URL of a database, or an object that is one.

    Args:
        given: by the caller.
        wait: seconds to wait for a database.

    Raises:
        InvalidParameterError: it is none of these.
    """
    if given is None or isinstance(given, Anchor):
        return given
    if isinstance(given, str) and given.startswith(("postgresql://", "postgresql+psycopg://", "sqlite://")):
        return TableAnchor(given, wait=wait)
    if isinstance(given, Path) or (isinstance(given, str) and given and "://" not in given and "\0" not in given):
        return FileAnchor(given)
    raise InvalidParameterError(
        "anchor", cast(object, given), "the path of a file, the URL of a database, or an anchor"
    )

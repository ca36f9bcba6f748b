"""Checks of a frame's columns: their names, and that they do not change after the frame is opened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dpselect.backends.columns import Column, Holds
from dpselect.backends.failures import changed
from dpselect.errors import InvalidDataError, Shown


def named_columns(names: Sequence[object], holds: Iterable[Holds], *, shown: str) -> tuple[Column, ...]:
    """The columns of a frame, after a check that each has a name of its own.

    Raises:
        InvalidDataError: no columns, two of the same name, or a name that is not text.
    """
    if not names:
        raise InvalidDataError("source", Shown(shown), "a table with columns")
    texts = [name for name in names if isinstance(name, str)]
    if len(texts) < len(names):
        raise InvalidDataError("source", Shown(shown), "columns whose names are text", "Rename the others first.")
    if len(set(texts)) < len(texts):
        raise InvalidDataError("source", Shown(shown), "columns with different names", "Two of them have the same.")
    return tuple(map(Column, texts, holds))


def check_unchanged(now: Iterable[Column], opened: Sequence[Column], *, shown: str) -> None:
    """Refuse a frame whose columns, or their types, changed after it was opened.

    Questions refer to the columns at that time. A position may now be that of another column, and if a column changed
    its type, one row may decide how the others are read.

    Args:
        now: the columns that are about to be read.
        opened: the columns when the frame was opened.
        shown: the kind of frame.

    Raises:
        InvalidDataError: they differ in names, order or types.
    """
    if tuple(now) != tuple(opened):
        raise changed(shown)

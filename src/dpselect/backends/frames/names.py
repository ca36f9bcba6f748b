"""What the columns of a frame have to be called, and that they stay what they were when it was opened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dpselect.backends.columns import Column, Holds
from dpselect.errors import InvalidDataError, Shown


def named_columns(names: Sequence[object], holds: Iterable[Holds], *, shown: str) -> tuple[Column, ...]:
    """The columns of a frame, once it is known that each can be called by its name.

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
    """Refuse a frame that got other columns, or columns of other types, after it was opened.

    Questions are understood by what its columns were then: a place among them may be another column's by now, and of a
    column that changed its type one row may decide how the others are read.

    Args:
        now: the columns of what is about to be read.
        opened: those when the frame was opened.
        shown: the kind of frame.

    Raises:
        InvalidDataError: they differ in a name, in order or in what they hold.
    """
    if tuple(now) != tuple(opened):
        expected = "a table with the columns that it had when it was opened, of the same types"
        raise InvalidDataError("source", Shown(shown), expected, "It was changed since then; make the Dataset anew.")

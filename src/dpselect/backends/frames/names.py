"""What the columns of a frame have to be called."""

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

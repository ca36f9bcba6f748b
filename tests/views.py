"""Asks a question whose arguments may also say of which rows it is answered; and the day that an answer states."""

from __future__ import annotations

from datetime import datetime
from typing import Any

_OF_ROWS = ("where", "by", "groups", "max_groups_per_unit")


def seen(data: Any, *, where: Any = None, by: Any = None, groups: Any = None, max_groups_per_unit: Any = 1) -> Any:
    """`data`, or its view under conditions and by groups."""
    data = data if where is None else data.where(where)
    if by is None and groups is None and max_groups_per_unit == 1:
        return data
    return data.by(by, groups=groups, max_groups_per_unit=max_groups_per_unit)


def ask(data: Any, question: str, *positional: Any, **given: Any) -> Any:
    """The reply of `data`, or of its view by groups, to the question of this name."""
    view = {name: given.pop(name) for name in _OF_ROWS if name in given}
    return getattr(seen(data, **view), question)(*positional, **given)


def day_of(moment: datetime) -> datetime:
    """What a release says of a moment unless it was asked for hours."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)

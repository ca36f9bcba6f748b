"""Asks a question whose arguments may also say of which rows it is answered."""

from __future__ import annotations

from typing import Any

from dpselect.arguments import OF_VIEWS
from dpselect.session.described import seen


def ask(data: Any, question: str, *positional: Any, **given: Any) -> Any:
    """The reply of `data`, or of its view by groups, to the question of this name."""
    view = {each.name: given.pop(each.name) for each in OF_VIEWS if each.name in given}
    return getattr(seen(data, **view), question)(*positional, **given)

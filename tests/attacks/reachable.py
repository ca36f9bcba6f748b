"""Everything that whoever reports an error could print of it: its text, its contexts, and its frames' variables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

_TESTS = str(Path(__file__).parents[1])


def reachable(error: BaseException) -> str:
    """What can be printed of `error` and of all that it leads to, but for the frames of tests, whose rows they are."""
    return "\n".join(_said(error, set()))


def _said(error: BaseException | None, seen: set[int]) -> Iterator[str]:
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    yield from (str(error), repr(error), repr(error.args), repr(getattr(error, "__notes__", "")))
    yield from (repr(value) for value in vars(error).values())
    for frame in _frames(error.__traceback__):
        for value in frame.f_locals.values():
            yield _printed(value)
            if isinstance(value, BaseException):
                yield from _said(value, seen)
    yield from _said(error.__context__, seen)
    yield from _said(error.__cause__, seen)


def _printed(value: object) -> str:
    try:
        return repr(value)
    except AttributeError:
        return ""  # an object whose making broke off


def _frames(traceback: TracebackType | None) -> Iterator[Any]:
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(_TESTS):
            yield traceback.tb_frame
        traceback = traceback.tb_next

"""Errors of other engines, in this package's words: an engine's own message quotes rows and is never passed on."""

from __future__ import annotations

from dpselect.backends.failures import TranslatedErrors
from dpselect.errors import InvalidDataError, SelectionError, Shown


def reading(shown: str) -> TranslatedErrors:
    """A block in which every error of an engine is replaced.

    Raises:
        InvalidDataError: the engine could not answer.
        SelectionError: there is not enough memory.
    """
    return TranslatedErrors(lambda error: unanswered(error, shown))


def unanswered(error: BaseException, shown: str) -> SelectionError:
    """The error to raise for an engine's error. It reveals only whether memory was full."""
    if isinstance(error, MemoryError):
        return SelectionError("Reading the table needs more memory than there is.")
    hint = "Its engine could not answer; ask it for the first and the last rows to see why."
    return InvalidDataError("source", Shown(shown), "a table that can be read to its end", hint)


def changed(shown: str) -> InvalidDataError:
    """The error for a table whose columns changed since it was opened, whatever its rows are."""
    expected = "a table with the columns that it had when it was opened"
    hint = "A column of the question was removed, or has another type now: make a new Dataset."
    return InvalidDataError("source", Shown(shown), expected, hint)

"""Errors of foreign engines: what they say quotes rows, so none of it is passed on."""

from __future__ import annotations

from dpselect.backends.failures import TranslatedErrors
from dpselect.errors import InvalidDataError, SelectionError, Shown


def reading(shown: str) -> TranslatedErrors:
    """Whatever goes wrong inside is said in our own words.

    Raises:
        InvalidDataError: the engine could not answer.
        SelectionError: not enough memory.
    """
    return TranslatedErrors(lambda error: unanswered(error, shown))


def unanswered(error: BaseException, shown: str) -> SelectionError:
    """What may be said of an engine's error: nothing of it but whether memory was full."""
    if isinstance(error, MemoryError):
        return SelectionError("Reading the table needs more memory than there is.")
    hint = "Its engine could not answer; ask it for the first and the last rows to see why."
    return InvalidDataError("source", Shown(shown), "a table that can be read to its end", hint)


def changed(shown: str) -> InvalidDataError:
    """What is said of a table whose columns are others than when it was opened, whatever its rows are."""
    expected = "a table whose columns are those that it had when it was opened"
    hint = "One that this is about was taken away or has another type now: make the Dataset anew."
    return InvalidDataError("source", Shown(shown), expected, hint)

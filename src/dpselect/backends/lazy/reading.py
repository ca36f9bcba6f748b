"""Errors of foreign engines: what they say quotes rows, so none of it is passed on."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from dpselect.errors import InvalidDataError, SelectionError, Shown


@contextmanager
def reading(shown: str) -> Generator[None]:
    """Whatever goes wrong inside is said in our own words.

    Raises:
        InvalidDataError: the engine could not answer.
        SelectionError: not enough memory.
    """
    try:
        yield
    except SelectionError:
        raise
    except MemoryError:
        raise SelectionError("Reading the table needs more memory than there is.") from None
    except Exception:  # noqa: BLE001 - engines raise what they like, and name values
        hint = "Its engine could not answer; ask it for the first and the last rows to see why."
        raise InvalidDataError("source", Shown(shown), "a table that can be read to its end", hint) from None

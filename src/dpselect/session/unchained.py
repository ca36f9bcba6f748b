"""Errors without what lies behind them."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from dpselect.errors import SelectionError


@contextmanager
def unchained() -> Generator[None]:
    """Errors of ours leave without the one that an engine raised before: it quotes rows, and debuggers look behind."""
    try:
        yield
    except SelectionError as error:
        error.__cause__ = error.__context__ = None
        raise

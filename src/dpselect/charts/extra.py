"""The optional plotting library, loaded when the first chart is asked for."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from dpselect.errors import MissingExtraError


def altair() -> ModuleType:
    """The library every chart is made with.

    Raises:
        MissingExtraError: it is not installed; the text says how to.

    >>> altair().__name__
    'altair'
    """
    return _loaded("altair")


def renderer() -> ModuleType:
    """The library that turns charts into pictures, and that holds what an offline page needs.

    Raises:
        MissingExtraError: it is not installed; the text says how to.

    >>> renderer().__name__
    'vl_convert'
    """
    return _loaded("vl_convert")


def _loaded(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as missing:
        raise MissingExtraError("plots", "plots") from missing

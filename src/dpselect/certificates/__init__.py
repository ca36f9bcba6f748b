"""Certificates: what an answer carries, the schema of its text, and the check of all that it claims."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpselect.certificates.checking import Checked, check
    from dpselect.certificates.release import Release

__all__ = ["Checked", "Release", "check"]

_LOADED_ON_USE = {"Checked": "checking", "check": "checking", "Release": "release"}
"""Loaded on use, because checking imports ledgers, which a question may not need."""


def __getattr__(name: str) -> object:
    if name in _LOADED_ON_USE:
        return getattr(import_module(f"{__name__}.{_LOADED_ON_USE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

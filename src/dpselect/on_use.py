"""Packages whose names are imported when they are first used (PEP 562): nobody waits for what they do not use."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def on_use(
    package: str, file: str, *optional: str
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """The ``__getattr__``, ``__dir__`` and ``__all__`` of a package, by its ``__name__`` and ``__file__``.

    Its names are read from the lines ``from module import name as name`` that it has under ``TYPE_CHECKING``. None may
    be the name of a module of the package, unless it is that module: importing the module would replace it. Modules
    that need an extra are `optional`: ``import *`` does not import them.
    """
    with open(file, encoding="utf-8") as source:
        words = [line.split() for line in source if line.startswith("    from ")]
    home = {name: module for _, module, _, name, *_ in words}
    public = sorted(home)
    home |= dict.fromkeys(optional, package)

    def find(name: str) -> object:
        if name not in home:
            said = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(said, name=name, obj=sys.modules[package])
        if home[name] == package:
            return import_module(f"{package}.{name}")
        found = getattr(import_module(home[name]), name)
        setattr(sys.modules[package], name, found)  # so that it is looked up once
        return found

    return find, lambda: sorted({*home, *public}), public


class ModuleOnUse:
    """In place of a module of another library, which is imported when something of it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._name), name)
        setattr(self, name, found)  # so that it is looked up once
        return found

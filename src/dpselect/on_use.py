"""Packages whose names are imported when they are first used (PEP 562): nobody waits for what they do not use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_use(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """What a package needs to have names without importing the modules that they come from.

    Type checkers do not see these names, so the package also imports them under ``TYPE_CHECKING``. None of them may be
    the name of a module of the package, unless it is that module: importing the module would replace it.

    Args:
        package: its ``__name__``.
        homes: the names, with blanks between, by the module that they are imported from. The package itself has the
            names of its modules.

    Returns:
        Its ``__getattr__``, ``__dir__`` and ``__all__``.

    >>> find, _, names = on_use("json", {"json.decoder": "JSONDecoder JSONDecodeError", "json": "tool"})
    >>> names, find("JSONDecodeError"), vars(find("tool"))["__name__"]
    (['JSONDecodeError', 'JSONDecoder', 'tool'], <class 'json.decoder.JSONDecodeError'>, 'json.tool')
    """
    home = {name: module for module, names in homes.items() for name in names.split()}
    public = sorted(home)

    def find(name: str) -> object:
        if name not in home:
            said = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(said, name=name, obj=sys.modules[package])
        if home[name] == package:
            return import_module(f"{package}.{name}")
        found = getattr(import_module(home[name]), name)
        setattr(sys.modules[package], name, found)  # so that it is looked up once
        return found

    return find, lambda: sorted(public), public


class ModuleOnUse:
    """In place of a module of another library, which is imported when something of it is used.

    >>> ModuleOnUse("json.decoder").JSONDecodeError
    <class 'json.decoder.JSONDecodeError'>
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._name), name)
        setattr(self, name, found)  # so that it is looked up once
        return found

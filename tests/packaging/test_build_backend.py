"""While pip compiles the core it shows nothing of it, so the build says on the terminal how long that takes."""

from __future__ import annotations

import builtins
import importlib.util
import io
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The build, whose wheels are made by nobody."""
    maturin = SimpleNamespace(build_wheel=lambda *given, **named: f"{given} {named}", build_sdist=lambda: "sources")
    monkeypatch.setitem(sys.modules, "maturin", maturin)
    specified = importlib.util.spec_from_file_location("build_backend", ROOT / "tools" / "build_backend.py")
    assert specified
    assert specified.loader
    module = importlib.util.module_from_spec(specified)
    specified.loader.exec_module(module)
    return module


class Terminal(io.StringIO):
    """What is written stays when it is closed."""

    written = ""

    def close(self) -> None:
        self.written = self.getvalue()
        super().close()


def opening(terminal: io.StringIO | OSError) -> Any:
    def open_(path: str, *how: str, **more: str) -> io.StringIO:
        assert path == "/dev/tty"
        if isinstance(terminal, OSError):
            raise terminal
        return terminal

    return open_


def test_a_terminal_is_told_how_long_it_takes(backend: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    with monkeypatch.context() as patch:
        patch.setattr(builtins, "open", opening(terminal))
        built = backend.build_wheel("dist", config_settings=None)
    assert terminal.written.splitlines() == [
        "", "Compiling the core: about 2 minutes on two cores. pip install -v shows each crate.",
    ]  # fmt: skip
    assert built == "('dist',) {'config_settings': None}"


def test_without_a_terminal_it_is_built_as_well(backend: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(builtins, "open", opening(OSError(6, "No such device or address")))
        assert backend.build_wheel("dist") == "('dist',) {}"


def test_all_else_is_that_of_maturin(backend: ModuleType) -> None:
    assert backend.build_sdist() == "sources"

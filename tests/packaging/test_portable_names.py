"""Nothing in the package needs Linux: what another system lacks is used only where a guard asked for it.

`tests/test_other_systems.py` runs the package without such names; here also the lines that no run reaches are read.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.packaging.portable_names import unguarded

ROOT = Path(__file__).parents[2]


def test_no_module_needs_what_another_system_lacks() -> None:
    modules = sorted((ROOT / "src").rglob("*.py"))
    assert len(modules) > 100
    found = {
        path.relative_to(ROOT).as_posix(): names
        for path in modules
        if (names := unguarded(path.read_text(encoding="utf-8")))
    }
    assert found == {}


UNGUARDED = {
    "an import": ("import fcntl", "fcntl"),
    "an import with another error": ("try:\n    import pwd\nexcept OSError:\n    pwd = None", "pwd"),
    "an import of a name": ("from os import fork", "os.fork"),
    "an import in a function": ("def f():\n    import resource", "resource"),
    "a call": ("import os\nos.register_at_fork(before=print)", "os.register_at_fork"),
    "a call under another name": ("import os as system\nsystem.fork()", "os.fork"),
    "an optional module": (
        "try:\n    import fcntl\nexcept ImportError:\n    fcntl = None\nfcntl.flock(1, 2)",
        "fcntl.flock",
    ),
    "a signal": ("import signal\nsend(signal.SIGKILL)", "signal.SIGKILL"),
    "a socket": ("import socket\nkinds = [socket.AF_UNIX]", "socket.AF_UNIX"),
    "processors": ("import os\nif hasattr(os, 'fork'):\n    os.sched_getaffinity(0)", "os.sched_getaffinity"),
    "processors on macOS": ("import os\nif os.name == 'posix':\n    os.sched_getaffinity(0)", "os.sched_getaffinity"),
    "the other branch": ("import os\nif hasattr(os, 'fork'):\n    pass\nelse:\n    os.fork()", "os.fork"),
    "the wrong system": ("import os, sys\nif sys.platform == 'win32':\n    os.fork()", "os.fork"),
    "a guard that goes on": ("import os\nif not hasattr(os, 'fork'):\n    print()\nos.fork()", "os.fork"),
    "a guard after the call": ("import os\nfit = os.getuid() == 0 and hasattr(os, 'getuid')", "os.getuid"),
    "a folder of the system": ("open('/proc/self/status')", "/proc/self/status"),
    "a folder of the system, put together": ("open(f'/sys/fs/{name}')", "/sys/fs/"),
    "a way to start processes": ("multiprocessing.get_context('fork')", '"fork"'),
}


@pytest.mark.parametrize("kind", UNGUARDED)
def test_a_name_without_a_guard_is_found(kind: str) -> None:
    text, name = UNGUARDED[kind]
    assert [found for _, found in unguarded(text)] == [name]


def test_the_line_is_told() -> None:
    assert unguarded("import os\n\n\nos.fork()\n") == [(4, "os.fork")]


GUARDED = {
    "an import": "try:\n    import fcntl\nexcept ImportError:\n    fcntl = None",
    "an import with several errors": "try:\n    import fcntl\nexcept (OSError, ModuleNotFoundError):\n    fcntl = None",
    "hasattr": "if hasattr(os, 'register_at_fork'):\n    os.register_at_fork(before=print)",
    "hasattr in an expression": "n = len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else 4",
    "hasattr beside another condition": "root = hasattr(os, 'geteuid') and os.geteuid() == 0",
    "a branch that returns": "def f():\n    if not hasattr(os, 'fork'):\n        return\n    os.fork()",
    "an optional module": "if fcntl is not None and full:\n    fcntl.flock(1, 2)",
    "a missing module": "def f():\n    if fcntl is None:\n        return\n    fcntl.flock(1, os.O_SYNC)",
    "Linux": "if sys.platform == 'linux':\n    open('/proc/self/status')",
    "Linux by its start": "if sys.platform.startswith('linux'):\n    os.sched_getaffinity(0)",
    "not Windows": "if sys.platform != 'win32':\n    os.fork()",
    "not Windows, by name": "if os.name == 'nt':\n    pass\nelse:\n    os.fork()",
    "an attribute that may be missing": "getattr(os, 'O_BINARY', 0); getattr(fcntl, 'F_FULLFSYNC', None)",
    "a docstring": '"""/proc/self tells."""\ndef f():\n    """/sys/fs"""',
    "the same name of something else": "self.fork(); process.wait(); '/processes/1'",
}


@pytest.mark.parametrize("kind", GUARDED)
def test_a_guarded_name_is_accepted(kind: str) -> None:
    assert unguarded(GUARDED[kind]) == []

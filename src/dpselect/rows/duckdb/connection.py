"""The embedded engine, in memory. It reads only what it is given, and spills rows to disk when memory is full."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection
else:
    Connection = Any  # DuckDB is imported when rows are read

try:
    import fcntl
except ImportError:  # on Windows there is no such lock, and a process removes only its own folders
    fcntl: Any = None

_PREFIX, _LOCK = "dpselect-", "lock"
_swept: set[str] = set()


@contextmanager
def spill_folder() -> Generator[str]:
    """An empty folder, removed at the end, with a file in it that is locked until then, and named only once locked.

    The first in a process also removes folders of dead processes.
    """
    if tempfile.gettempdir() not in _swept:
        _swept.add(tempfile.gettempdir())
        remove_abandoned(tempfile.gettempdir())
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder, ExitStack() as held:
        if fcntl is not None:
            with suppress(OSError):  # a file system without locks: only this process removes the folder
                unlocked = os.path.join(folder, "lock-not-yet")
                lock = os.open(unlocked, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
                held.callback(os.close, lock)
                fcntl.flock(lock, fcntl.LOCK_EX)
                os.rename(unlocked, os.path.join(folder, _LOCK))
        yield folder


def remove_abandoned(place: str) -> None:
    """Remove the folders of this user in `place` whose process has ended, but none without a lock, as just made."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(place) as found:  # a failed cleanup must not stop a question
        for each in found:
            if not each.name.startswith(_PREFIX) or not each.is_dir(follow_symlinks=False):
                continue
            with suppress(OSError), ExitStack() as held:
                folder = os.lstat(each.path)
                if folder.st_uid != os.geteuid() or folder.st_mode & 0o077:  # somebody else's, or writable by others
                    continue
                lock = os.open(os.path.join(each.path, _LOCK), os.O_RDWR | os.O_NOFOLLOW)
                held.callback(os.close, lock)
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(each.path)


SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "preserve_insertion_order": "false",
    # The candidates are the small side of the join; the planner cannot know this for a stream of rows.
    "disabled_optimizers": "join_order,build_side_probe_side",
}

_CLOSED = "SET python_enable_replacements = false; SET enable_external_access = false; SET lock_configuration = true"

_idle: dict[str, tuple[Connection, ExitStack]] = {}
"""An empty database without files, for the next question: to open and close one takes longer than most questions."""


@atexit.register
def end_idle() -> None:
    """Close it: at the end, and before the process forks, as a child has none of its threads."""
    if waiting := _idle.pop("plain", None):
        waiting[1].close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=end_idle)


@contextmanager
def connected(*, memory_limit: int | None = None, paths: Sequence[str] = ()) -> Generator[Connection]:
    """An empty database in memory, for one question at a time.

    It may use `memory_limit` bytes, or else four fifths of the machine's memory, before it spills to a folder that only
    this user can read, and which goes with the database or, after a kill, with the next process. It can reach no files
    but `paths`.
    """
    is_plain = memory_limit is None and not paths
    with ExitStack() as held:
        connection, opened = (_idle.pop("plain", None) if is_plain else None) or _opened(memory_limit, paths)
        held.enter_context(opened)
        yield connection
        if is_plain:
            try:
                for kind, name in connection.execute(_LEFT).fetchall():
                    connection.unregister(name)
                    connection.execute(f'DROP {kind} IF EXISTS "{name}"')
            except RuntimeError:  # Ctrl-C, as below
                raise KeyboardInterrupt from None
            held.pop_all()
            if _idle.setdefault("plain", (connection, opened))[1] is not opened:  # another thread's is there
                opened.close()


_LEFT = """SELECT 'VIEW', view_name FROM duckdb_views() WHERE temporary AND NOT internal
UNION ALL SELECT 'TABLE', table_name FROM duckdb_tables()"""


def _opened(memory_limit: int | None, paths: Sequence[str]) -> tuple[Connection, ExitStack]:
    import duckdb

    limit = {} if memory_limit is None else {"memory_limit": f"{memory_limit}B"}
    with ExitStack() as held:
        spill = held.enter_context(spill_folder())
        opening = duckdb.connect(":memory:", config={**SETTINGS, **limit, "temp_directory": spill})
        connection = held.enter_context(opening)
        try:
            with suppress(duckdb.InvalidInputException):  # in a notebook without ipywidgets no progress is known
                connection.execute("SET enable_progress_bar_print = false; SET enable_progress_bar = true")
            connection.execute(f"SET allowed_paths = [{', '.join(map(literal, paths))}]; {_CLOSED}")
        except RuntimeError:  # not one of the engine's own errors: it raises this for Ctrl-C while it is busy
            raise KeyboardInterrupt from None
        return connection, held.pop_all()


def literal(text: str) -> str:
    """`text` as SQL."""
    return "'" + text.replace("'", "''") + "'"


def quoted(name: str) -> str:
    """The name of a table or a column, in quotes."""
    return '"' + name.replace('"', '""') + '"'

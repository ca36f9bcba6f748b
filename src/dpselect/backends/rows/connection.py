"""The embedded engine, in memory. It reads only what it is given, and spills rows to disk when memory is full."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress

import duckdb

from dpselect.backends.rows.spilling import spill_folder

Connection = duckdb.DuckDBPyConnection

SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "preserve_insertion_order": "false",
    # The candidates are the small side of the join; the planner cannot know this for a stream of rows.
    "disabled_optimizers": "join_order,build_side_probe_side",
}

_PROGRESS = "SET enable_progress_bar_print = false; SET enable_progress_bar = true"
"""Needed to query its progress; nothing is printed. Where it is refused, no progress is known."""


@contextmanager
def connected(*, memory_limit: int | None = None, paths: Sequence[str] = ()) -> Generator[Connection]:
    """An empty database in memory.

    Args:
        memory_limit: bytes that it may use before it spills to a folder that only this user can read. The folder is
            removed at the end or, after a kill, by the next process. None: four fifths of the machine's memory.
        paths: files that it may read; it can reach no others.
    """
    with (
        spill_folder() as spill,
        duckdb.connect(":memory:") as connection,
    ):
        commands = [f"SET {name} = '{value}'" for name, value in SETTINGS.items()]
        commands.append(f"SET temp_directory = {literal(spill)}")
        if memory_limit is not None:
            commands.append(f"SET memory_limit = '{memory_limit}B'")
        commands.append(f"SET allowed_paths = [{', '.join(map(literal, paths))}]")
        commands += ["SET enable_external_access = false", "SET lock_configuration = true"]
        try:
            with suppress(duckdb.InvalidInputException):  # in a notebook, where ipywidgets is missing
                connection.execute(_PROGRESS)
            connection.execute(";".join(commands))
        except RuntimeError:  # not one of the engine's own errors: it raises this for Ctrl-C while it is busy
            raise KeyboardInterrupt from None
        yield connection


def literal(text: str) -> str:
    """`text` as SQL."""
    return "'" + text.replace("'", "''") + "'"

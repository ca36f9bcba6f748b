"""Reading and drawing, watched or in the way: every question reads rows through one method and is drawn through one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import pytest

from dpselect.questions.query import Query
from dpselect.rows import frame, postgres
from dpselect.rows.duckdb import SETTINGS
from dpselect.rows.scan import Scan
from dpselect.rows.statements import Lookup
from dpselect.rows.table import Rows

Act = Callable[[Callable[[], Any], Sequence[Any], Any], Any]
"""Is given what reads the rows, which it may call; the statements; and what is called with the progress."""


def around_reading(patch: pytest.MonkeyPatch, act: Act) -> None:
    """From here on `act` answers."""
    read = Rows.answers

    def answers(rows: Rows, asked: Sequence[Lookup]) -> Any:
        return act(lambda: read(rows, asked), asked, rows.progress)

    patch.setattr(Rows, "answers", answers)


def before_reading(patch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """From here on this happens before rows are read, or instead if it raises something."""

    def then(read: Callable[[], Any], *_: Any) -> Any:
        act()
        return read()

    around_reading(patch, then)


def forbid_reading(patch: pytest.MonkeyPatch) -> None:
    """From here on a test fails that reads rows."""
    before_reading(patch, lambda: pytest.fail("rows were read"))


def statements(patch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What each statement is asked with from here on."""
    seen = list[dict[str, Any]]()

    def watched(read: Callable[[], Any], asked: Sequence[Any], _: Any) -> Any:
        for each in asked:
            found = {field.name: getattr(each.scan, field.name) for field in fields(each.scan)}
            seen.append({field.name: getattr(each, field.name) for field in fields(each)} | found)
        return read()

    around_reading(patch, watched)
    return seen


def before_each_pass(patch: pytest.MonkeyPatch, act: Callable[[str], object]) -> None:
    """From here on this happens before each pass of DuckDB, which reads files by itself, or a stream."""
    begin = Scan.attach

    def attach(scan: Scan, connection: Any) -> None:
        act("files" if scan.paths else "stream")
        begin(scan, connection)

    patch.setattr(Scan, "attach", attach)


def before_drawing(patch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """From here on this happens before each answer is drawn."""
    released = Query.released

    def then(query: Query, found: Sequence[list[Any]], /) -> Any:
        act()
        return released(query, found)

    patch.setattr(Query, "released", then)


def forbid_drawing(patch: pytest.MonkeyPatch) -> None:
    """From here on a test fails that draws an answer."""
    before_drawing(patch, lambda: pytest.fail("something was drawn"))


def engine_settings(patch: pytest.MonkeyPatch, **settings: str) -> None:
    """From here on DuckDB has these settings."""
    for name, value in settings.items():
        patch.setitem(SETTINGS, name, value)


def between_look_and_reading(patch: pytest.MonkeyPatch, act: Callable[..., object]) -> None:
    """From here on this happens when a table was found to have the columns that it had, before its rows are read.

    Of a server it is given the connection.
    """
    first_of, unchanged = frame.first_of, postgres.check_unchanged

    def of_frame(*given: Any) -> Any:
        act()
        return first_of(*given)

    def of_server(connection: Any, *given: Any) -> None:
        unchanged(connection, *given)
        act(connection)

    patch.setattr(frame, "first_of", of_frame)
    patch.setattr(postgres, "check_unchanged", of_server)

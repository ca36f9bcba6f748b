"""A certificate says nothing of how long reading and drawing took: both depend on the rows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import dpselect as dps
from tests.rows import table_questions
from tests.rows.engines import PLACERS
from tests.test_certificates_keep_quiet import NOON, Clock, clock, dataset, folders, stated
from tests.watched import before_drawing, before_reading

__all__ = ["clock", "folders"]  # fixtures


def taking(monkeypatch: pytest.MonkeyPatch, *, reading: timedelta, drawing: timedelta, start: datetime = NOON) -> None:
    """From here on it is `start`, and each reading and each draw takes so long."""

    def wait(by: timedelta) -> None:
        Clock.shown += by

    monkeypatch.setattr(Clock, "shown", start)
    before_reading(monkeypatch, lambda: wait(reading))
    before_drawing(monkeypatch, lambda: wait(drawing))


@pytest.mark.parametrize(
    ("is_charged", "request_id"), [(False, None), (True, None), (True, "asked once")], ids=["free", "charged", "once"]
)
def test_the_same_however_long_it_took(
    is_charged: bool, request_id: str | None, folders: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within one day, which is told."""
    said: list[list[dict[str, Any]]] = []
    for reading, drawing in ((0.0, 0.0), (0.04, 0.0), (7000.0, 0.002), (3.0, 4000.0)):
        source = PLACERS["polars"](table_questions.ROWS, folders())
        people = dataset(source, folders()) if is_charged else source.asked("who")
        with monkeypatch.context() as patch:
            taking(patch, reading=timedelta(seconds=reading), drawing=timedelta(seconds=drawing))
            names = ("most_common", "best_by", "median", "quantile")
            said.append([asked_as(name, people, request_id) for name in names])
    assert all(each == said[0] for each in said)


@pytest.mark.parametrize("is_charged", [False, True], ids=["free", "charged"])
def test_the_day_is_that_before_a_row_is_read(
    is_charged: bool, folders: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten minutes to midnight: reading and drawing go on into the next day, or do not."""
    said: list[list[dict[str, Any]]] = []
    for reading, drawing in ((0, 0), (1, 0), (0, 1), (1, 1)):
        source = PLACERS["polars"](table_questions.ROWS, folders())
        for name in ("most_common", "best_by", "median", "quantile"):
            people = dataset(source, folders()) if is_charged else source.asked("who")
            with monkeypatch.context() as patch:
                start = NOON + timedelta(hours=11, minutes=50)
                taking(patch, reading=timedelta(hours=reading), drawing=timedelta(hours=drawing), start=start)
                said.append([stated(table_questions.QUESTIONS[name](people))])
    assert all(each == said[number % 4] for number, each in enumerate(said))


def test_another_day_is_told(folders: Callable[[], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Control: the clock that is moved is the one that is looked at."""
    source, said = PLACERS["polars"](table_questions.ROWS, folders()), list[dict[str, Any]]()
    for days in (0, 0, 1):
        monkeypatch.setattr(Clock, "shown", NOON + timedelta(days=days))
        said.append(stated(table_questions.QUESTIONS["most_common"](dataset(source, folders()))))
    assert said[0] == said[1] != said[2]
    assert said[0] | {"time": 0, "receipt": 0} == said[2] | {"time": 0, "receipt": 0}


def asked_as(name: str, people: dps.Dataset, request_id: str | None) -> dict[str, Any]:
    """What the certificate states; under a request id of its own, if there is one."""
    if request_id is None:
        return stated(table_questions.QUESTIONS[name](people))
    question = table_questions.QUESTIONS[name]
    return stated(question(_Requesting(people, f"{name}, {request_id}")))  # type: ignore[arg-type]


class _Requesting:
    """Adds the id to whatever is asked."""

    def __init__(self, people: dps.Dataset, request_id: str) -> None:
        self._people, self._request_id = people, request_id

    def __getattr__(self, name: str) -> Callable[..., dps.Release]:
        method = getattr(self._people, name)
        return lambda *arguments, **others: method(*arguments, request=self._request_id, **others)

"""Long scans: progress, stopping them before the charge, and what cannot be stopped any more."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import dpselect as dps
from dpselect.errors import AnswerLostError
from dpselect.web.pages import Pages, Work
from tests.web import filled_forms
from tests.web.visitor import MEDIAN, visit

ADULT = str(Path(__file__).parents[2] / "examples" / "data" / "adult.csv")
ENOUGH = 30.0
"""Seconds that nothing here takes."""


class Slow:
    """A scan that goes on until it is let go."""

    def __init__(self) -> None:
        self.half, self.go = threading.Event(), threading.Event()
        self.charged = False

    def scan(self, progress: Callable[[float], None]) -> str:
        progress(0.5)
        self.half.set()
        assert self.go.wait(ENOUGH)
        progress(1.0)
        self.charged = True
        return "answer"


@pytest.fixture
def slow() -> Iterator[Slow]:
    held = Slow()
    yield held
    held.go.set()


def test_a_scan_that_is_stopped_ends_before_the_charge(slow: Slow) -> None:
    work = Work()
    work.start(slow.scan)
    assert slow.half.wait(ENOUGH)
    assert (work.stage, work.fraction) == ("reading", 0.5)
    work.stop()
    slow.go.set()
    work.wait(ENOUGH)
    assert work.stage == "stopped"
    assert not slow.charged


def test_one_that_was_stopped_can_be_begun_again(slow: Slow) -> None:
    work = Work()
    work.start(slow.scan)
    work.stop()
    slow.go.set()
    work.wait(ENOUGH)
    work.start(slow.scan)
    work.wait(ENOUGH)
    assert (work.stage, work.result) == ("answered", "answer")


def test_work_is_begun_once(slow: Slow) -> None:
    begun: list[int] = []

    def scan(progress: Callable[[float], None]) -> Any:
        begun.append(1)
        return slow.scan(progress)

    work = Work()
    for _ in range(2):
        work.start(scan)
    slow.go.set()
    for _ in range(2):
        work.wait(ENOUGH)
        work.start(scan)
    assert (work.stage, begun) == ("answered", [1])


def test_an_answer_that_was_lost_is_not_asked_for_again() -> None:
    begun: list[int] = []

    def lose(progress: Callable[[float], None]) -> Any:
        begun.append(1)
        raise AnswerLostError("adult", 3, "The draw failed.")

    work = Work()
    for _ in range(2):
        work.start(lose)
        work.wait(ENOUGH)
    assert (work.stage, begun) == ("lost", [1])
    assert "the charge stands" in work.said


@pytest.fixture
def held_up(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    """Medians that first scan slowly."""
    median = dps.Dataset.median

    def wait(self: Any, *given: Any, **named: Any) -> Any:
        slow.scan(self._rows.progress)
        return median(self, *given, **named)

    monkeypatch.setattr(dps.Dataset, "median", wait)


@pytest.mark.usefixtures("held_up")
def test_the_page_shows_progress_and_stops(slow: Slow, tmp_path: Path) -> None:
    ledger = dps.Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.open_account("adult", epsilon=1.0, unit="person_id")
    visitor = visit(ADULT, "person_id", ledger=ledger, account="adult")
    address = visitor.confirm("median", **MEDIAN)
    visitor.post(address)
    assert slow.half.wait(ENOUGH)
    assert 'value="0.5"' in visitor.get(address).text
    assert 'value="0.5"' in visitor.get(f"{address}/progress").text
    asked = visitor.pages.asked[address.rpartition("/")[2]]
    asked.stop()
    slow.go.set()
    asked.wait(ENOUGH)
    assert "Nothing was charged" in visitor.get(address).words
    assert visitor.get(f"{address}/progress").headers["hx-redirect"] == address
    assert ledger.account("adult").spent == 0
    visitor.post(address)
    asked.wait(ENOUGH)
    assert "Charged to account adult as entry 1" in visitor.get(address).words
    assert ledger.account("adult").spent == 0.5


@pytest.mark.usefixtures("held_up")
def test_the_end_of_the_server_stops_scans(slow: Slow) -> None:
    visitor = visit(ADULT, "person_id")
    address = visitor.confirm("median", **MEDIAN)
    visitor.post(address)
    assert slow.half.wait(ENOUGH)
    visitor.pages.stop(0.0)
    slow.go.set()
    work = visitor.pages.asked[address.rpartition("/")[2]]
    work.wait(ENOUGH)
    assert work.stage == "stopped"


@pytest.mark.slow
def test_a_long_scan_of_a_file_is_stopped(tmp_path: Path) -> None:
    table = tmp_path / "long.csv"
    line = "".join(f"{place},{place % 90}\n" for place in range(100_000))
    table.write_text("person_id,age\n" + line * 100)
    visitor = visit(str(table), "person_id")
    address = visitor.confirm("median", **MEDIAN)
    visitor.post(address)
    visitor.post(f"{address}/stop")
    visitor.pages.asked[address.rpartition("/")[2]].wait(ENOUGH)
    assert "Stopped" in visitor.get(address).words


def test_what_was_looked_at_and_not_used_is_forgotten() -> None:
    about = filled_forms.site()
    pages = Pages(start=about, site=about)
    looked = [pages.look(lambda progress: "found") for _ in range(60)]
    for work in [*pages.looked.values()]:
        work.wait(ENOUGH)
    latest = pages.look(lambda progress: "found")
    assert looked[0] not in pages.looked
    assert {*looked[-50:], latest} <= {*pages.looked}


def test_a_confirmation_that_was_never_used_is_forgotten() -> None:
    form = filled_forms.filled("count", {"epsilon": "1"})
    pages = Pages(start=form.site, site=form.site)
    first, second = pages.confirm(form), pages.confirm(form)
    second.start(second.answer)
    second.wait(ENOUGH)
    for _ in range(1001):
        pages.confirm(form)
    assert first.id not in pages.asked
    assert pages.asked[second.id] is second

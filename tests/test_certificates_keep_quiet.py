"""A certificate says nothing of how its answer was read: not by what, and not in which order."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dpselect as dps
from tests.rows import table_questions
from tests.rows.engines import PLACERS, Source

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
"""Of the day on which everything happens here."""

ROUTES = ("polars", "csv-glob", "pandas")
NAMES = (*table_questions.PLAINLY, "most_common-by", "quantiles-halving")


class Clock(datetime):
    """What the product takes for `datetime`: it stands still."""

    shown = NOON

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Clock:
        """The time that is shown."""
        return cls.combine(cls.shown.date(), cls.shown.time(), tz)


@pytest.fixture(scope="module", autouse=True)
def clock() -> Iterator[None]:
    """Each module's own name for it."""
    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.startswith("dpselect") and getattr(module, "datetime", None) is datetime:
                patch.setattr(module, "datetime", Clock)
        yield


def dataset(source: Source, folder: Path) -> dps.Dataset:
    """The rows, paid for by a ledger of their own."""
    ledger = dps.Ledger(f"sqlite:///{folder}/ledger.db")
    ledger.open_account("people", epsilon=100.0, delta=0.03, set_aside=0.02)
    return source.asked("who", ledger=ledger, account="people")


def stated(release: dps.Release) -> dict[str, Any]:
    """All that a certificate says but what was drawn, what was opened, hashes that cover it, and which ledger paid."""
    said: dict[str, Any] = json.loads(release.to_json())
    assert said.pop("digest")
    assert said.pop("source")  # public, and another table in each test
    drawn = said.pop("value")
    if said.get("usable") is not None:
        assert said["usable"].pop("count") is not None
    if said.get("groups") is not None:
        said["groups asked"] = [group for group, _ in drawn]
    if said.get("receipt") is not None:
        assert said["receipt"].pop("hash")
        assert said["receipt"].pop("question") == release.question_hash()  # of the source, too
        assert said["receipt"].pop("ledger")
    return said


def shuffled(rows: pa.Table) -> pa.Table:
    """The same rows, those of a unit far from each other."""
    places = sorted(range(rows.num_rows), key=lambda place: place * 37 % 101)
    return rows.take(places)


def certificates(source: Source, folder: Path) -> list[dict[str, Any]]:
    """Of one question after the other."""
    people = dataset(source, folder)
    return [stated(table_questions.QUESTIONS[name](people)) for name in NAMES]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """A new folder, each time."""
    return lambda: tmp_path_factory.mktemp("route")


@pytest.fixture(scope="module")
def expected(clock: None, folders: Callable[[], Path]) -> list[dict[str, Any]]:
    return certificates(PLACERS["arrow"](table_questions.ROWS, folders()), folders())


def test_the_same_whatever_read_it(expected: list[dict[str, Any]], folders: Callable[[], Path]) -> None:
    for route in ROUTES:
        assert certificates(PLACERS[route](shuffled(table_questions.ROWS), folders()), folders()) == expected


def test_the_same_whatever_the_rows(expected: list[dict[str, Any]], folders: Callable[[], Path]) -> None:
    for rows in (
        table_questions.table([]),
        table_questions.ROWS.slice(0, 0),
        pa.concat_tables([table_questions.ROWS] * 3),
    ):
        assert certificates(PLACERS["polars"](rows, folders()), folders()) == expected


def test_another_question_is_told_apart(expected: list[dict[str, Any]], folders: Callable[[], Path]) -> None:
    """Control: what is compared does say what was asked."""
    assert len({json.dumps(each, sort_keys=True) for each in expected}) == len(NAMES)
    other = dataset(PLACERS["arrow"](table_questions.ROWS, folders()), folders())
    again = stated(other.most_common("page", candidates=range(6), epsilon=0.5))
    assert again not in expected

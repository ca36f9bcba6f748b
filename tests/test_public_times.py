"""What a release tells of the time: its day, or its hour, whatever else it holds and however long it took."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dpselect as dps
from dpselect import Release
from dpselect import verify as check
from dpselect.cli import main
from dpselect.errors import InvalidParameterError
from dpselect.ledger import requests, store
from dpselect.privacy import Times
from dpselect.session import answering
from dpselect.session.answering import public_time
from tests.ledger.hashes import canonical, digest
from tests.watched import before_reading

ROWS = pa.table({"person": [1, 2, 3, 4, 5, 6], "pet": ["cat"] * 3 + ["dog"] * 3})
PETS = ["cat", "dog", "emu"]
TIMES = re.compile(r"\d\d:\d\d(?::\d\d)?(?:\.\d+)?")


class Clock:
    """The time that a session and a ledger find."""

    def __init__(self, now: datetime) -> None:
        self.now_is = now

    def now(self, tz: object) -> datetime:
        assert tz is UTC
        return self.now_is


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock(datetime(2026, 11, 21, 13, 30, 5, 123_000, tzinfo=UTC))
    for module in (answering, requests, store):
        monkeypatch.setattr(module, "datetime", clock)
    return clock


@pytest.fixture
def ledger(tmp_path: Path) -> dps.Ledger:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("pets", epsilon=100, unit="person")
    return ledger


def ask(ledger: dps.Ledger | None, **options: Any) -> Release:
    charged = {} if ledger is None else {"ledger": ledger, "account": "pets"}
    request = options.pop("request", None)
    return dps.Dataset(ROWS, unit="person", **charged, **options).most_common(
        "pet", candidates=PETS, epsilon=0.5, request=request
    )


@pytest.mark.parametrize("request_id", [None, "november"])
@pytest.mark.parametrize("charged", [True, False])
@pytest.mark.parametrize(("times", "told"), [("day", "00:00:00"), ("hour", "13:00:00"), (Times.HOUR, "13:00:00")])
@pytest.mark.usefixtures("clock")
def test_a_release_tells_the_day_or_the_hour(
    ledger: dps.Ledger, times: str, told: str, charged: bool, request_id: str | None
) -> None:
    release = ask(ledger if charged else None, times=times, request=request_id if charged else None)
    text = release.to_json()
    assert release.time == datetime.fromisoformat(f"2026-11-21T{told}+00:00")
    assert set(TIMES.findall(text)) == {told, "00:00"}  # the latter of the time zone
    assert [json.loads(text)["time"], *([json.loads(text)["receipt"]["time"]] if charged else [])] == [
        f"2026-11-21T{told}+00:00"
    ] * (2 if charged else 1)
    for shown in (str(release), repr(release), release._repr_html_(), release.promise, release.accuracy):
        assert not TIMES.search(shown)
    assert dps.verify(text).release.to_json() == text
    assert check(text, ledger=ledger if charged else None).question is charged


@pytest.mark.parametrize("times", ["minute", "second", "", None, True, 1, ["day"], "Day"])
def test_nothing_finer_can_be_asked_for(times: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"times=.*: expected 'day' or 'hour'"):
        ask(None, times=times)


@pytest.mark.parametrize("times", ["day", "hour"])
def test_how_long_reading_took_changes_nothing(
    ledger: dps.Ledger, clock: Clock, monkeypatch: pytest.MonkeyPatch, times: str
) -> None:
    """Also across midnight: the time is that before anything was read."""

    def wait() -> None:
        clock.now_is += timedelta(seconds=1)

    before_reading(monkeypatch, wait)
    hour = "23" if times == "hour" else "00"
    for used in (ledger, None):
        clock.now_is = datetime(2026, 11, 21, 23, 59, 59, 999_000, tzinfo=UTC)
        assert ask(used, times=times).to_dict()["time"] == f"2026-11-21T{hour}:00:00+00:00"
        assert clock.now_is.day == 22
    _, entry = ledger.history("pets")
    assert entry.time == "2026-11-22T00:00:00.999+00:00"
    assert entry.receipt is not None
    assert entry.receipt.time == f"2026-11-21T{hour}:00:00+00:00"


def guesses(entry: Any, previous: str, moment: datetime) -> list[str]:
    """The milliseconds of a second that give the entry's hash, with everything else that the ledger's holder knows."""
    held = {name: value for name, value in entry.body.items() if name != "time"}
    tried = [(moment + timedelta(milliseconds=each)).isoformat(timespec="milliseconds") for each in range(1000)]
    return [time for time in tried if digest("entry", previous, canonical(held | {"time": time})) == entry.hash]


@pytest.mark.usefixtures("clock")
def test_a_receipts_hash_gives_no_milliseconds_back(ledger: dps.Ledger) -> None:
    """Who knows the nonce as well finds them, so the nonce it is that hides them; and no receipt tells it."""
    receipt = ask(ledger).receipt
    opening, entry = ledger.history("pets")
    second = datetime(2026, 11, 21, 13, 30, 5, tzinfo=UTC)
    assert guesses(entry, opening.hash, second) == [entry.time]
    without = {name: value for name, value in entry.body.items() if name != "nonce"}
    entry = entry.__class__(**{name: getattr(entry, name) for name in entry.__slots__} | {"body": without})
    assert guesses(entry, opening.hash, second) == []
    assert "nonce" not in receipt


def test_every_entry_has_a_nonce_of_its_own(ledger: dps.Ledger) -> None:
    for _ in range(3):
        ledger.charge("pets", dps.PermuteAndFlip(epsilon=0.5, sensitivity=1).event)
    ledger.set_limit("pets", epsilon=50)
    ledger.close("pets")
    nonces = [entry.body["nonce"] for entry in ledger.history("pets")]
    assert len(set(nonces)) == len(nonces) == 6
    assert all(re.fullmatch("[0-9a-f]{32}", nonce) for nonce in nonces)


def test_equal_charges_at_the_same_moment_have_different_hashes(tmp_path: Path, clock: Clock) -> None:
    hashes = set()
    for name in ("a", "b"):
        with dps.Ledger(tmp_path / f"{name}.db") as ledger:
            ledger.open_account("pets", epsilon=1)
            hashes.add(ledger.charge("pets", dps.PermuteAndFlip(epsilon=0.5, sensitivity=1).event).hash)
    assert len(hashes) == 2
    assert public_time(clock.now_is) < clock.now_is


def test_a_charge_by_hand_tells_the_day_or_what_it_is_told(ledger: dps.Ledger, clock: Clock) -> None:
    event = dps.PermuteAndFlip(epsilon=0.5, sensitivity=1).event
    assert ledger.charge("pets", event).time == "2026-11-21T00:00:00+00:00"
    hour = public_time(clock.now_is, Times.HOUR)
    assert ledger.charge("pets", event, time=hour).time == "2026-11-21T13:00:00+00:00"
    for wrong in ("2026-11-21", datetime(2026, 11, 21), 5):
        with pytest.raises(InvalidParameterError, match="a datetime with a time zone"):
            ledger.charge("pets", event, time=wrong)  # type: ignore[arg-type]
    for finer in (timedelta(minutes=1), timedelta(seconds=1), timedelta(microseconds=1)):
        with pytest.raises(InvalidParameterError, match=r"^time=<a time>: expected the start of an hour"):
            ledger.charge("pets", event, time=hour + finer)
    assert ledger.account("pets").entries == 3
    with pytest.raises(InvalidParameterError, match="a hash of 64"):
        ledger.charge("pets", event, certificate="x")


def test_the_command_line_tells_the_day_or_the_hour(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, url = tmp_path / "pets.csv", f"sqlite:///{tmp_path}/budget.db"
    table.write_text("person,pet\n1,cat\n2,cat\n3,dog\n")
    dps.Ledger(url).open_account("pets", epsilon=10)
    question = ["most-common", str(table), "pet", "--unit", "person", "--candidates", "cat,dog", "--epsilon", "0.5"]
    question += ["--ledger", url, "--account", "pets"]
    assert main(question) == 0
    assert not TIMES.search(capsys.readouterr().out)
    for options, told in (([], r"T00:00:00\+00:00"), (["--times", "hour"], r"T\d\d:00:00\+00:00")):
        assert main([*question, "--json", *options]) == 0
        held = json.loads(capsys.readouterr().out)
        assert re.search(told, held["time"])
        assert held["receipt"]["time"] == held["time"]
    assert main([*question, "--times", "minute"]) == 2
    assert capsys.readouterr().err.count("\n") == 1

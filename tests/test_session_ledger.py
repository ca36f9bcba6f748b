"""A data set with a ledger: charge first, then draw; and certificates that can be checked afterwards."""

from __future__ import annotations

import json
import pickle
import re
import traceback
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import dpselect as dps
from dpselect import Release
from dpselect import verify as check
from dpselect.errors import (
    AnswerLostError,
    ChargeRefusedError,
    InvalidAccountError,
    InvalidCertificateError,
    InvalidDataError,
    InvalidParameterError,
    LedgerReadOnlyError,
    RequestReusedError,
)
from dpselect.mechanisms import PermuteAndFlip
from tests.edited_certificates import canonical_json, digest, question_hash
from tests.rows.tables import write_csv
from tests.watched import forbid_reading

CLICKS = str(Path(__file__).parents[1] / "examples" / "data" / "clicks.parquet")
PAGES = range(1, 41271)

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def ledger(tmp_path: Path) -> dps.Ledger:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("clicks", epsilon=1, unit="session")
    return ledger


def test_a_request_is_the_same_from_another_folder(
    ledger: dps.Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(CLICKS).parent)
    spellings = [CLICKS, "clicks.parquet", "./clicks.parquet", f"../{Path(CLICKS).parent.name}/clicks.parquet"]
    answers = [
        dps.Dataset(source, unit="session", ledger=ledger, account="clicks").most_common(
            "page", candidates=PAGES, epsilon=0.75, request="november"
        )
        for source in spellings
    ]
    assert answers == [answers[0]] * len(spellings)
    assert ledger.remaining("clicks") == 0.25


@pytest.fixture
def visits(ledger: dps.Ledger) -> dps.Dataset:
    return dps.Dataset(CLICKS, unit="session", ledger=ledger, account="clicks")


def test_each_answer_is_charged_and_carries_its_receipt(visits: dps.Dataset, ledger: dps.Ledger) -> None:
    release = visits.most_common("page", candidates=PAGES, epsilon=0.5)
    (_, entry) = ledger.history("clicks")
    of_day = f"{entry.time[:10]}T00:00:00+00:00"
    asked = question_hash(release.to_dict())
    expected = {"account": "clicks", "sequence": 1, "hash": entry.hash, "time": of_day, "question": asked}
    expected["ledger"] = entry.body["ledger"]
    assert release.receipt == entry.receipt.to_dict() == expected
    assert (entry.what, entry.epsilon, entry.body["event"]) == (
        "PermuteAndFlip",
        0.5,
        '{"event":{"epsilon":"0.5","kind":"laplace_profile","version":1},"kind":"run","mechanism":"PermuteAndFlip",'
        '"neighbours":"add_remove","unit":"session","version":1}',
    )
    visits.top_k("page", 2, candidates=PAGES, epsilon=0.25)
    assert ledger.remaining("clicks") == 0.25


def test_a_refused_question_reads_and_draws_nothing(
    visits: dps.Dataset, ledger: dps.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    forbid_reading(monkeypatch)
    monkeypatch.setattr(PermuteAndFlip, "select", lambda *_: pytest.fail("something was drawn"))
    with pytest.raises(ChargeRefusedError, match=r"epsilon=1\.0 left of 1\.0; this would cost 2\.0"):
        visits.most_common("page", candidates=PAGES, epsilon=2.0)
    for column, error in (("nothing", InvalidDataError), ("session", InvalidDataError)):
        with pytest.raises(error):
            visits.most_common(column, candidates=PAGES, epsilon=0.5)
    with pytest.raises(InvalidParameterError):
        visits.most_common("page", candidates=PAGES, epsilon=-1)
    assert ledger.account("clicks").entries == 1


def test_what_cannot_be_charged_is_not_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ledger: object) -> None:
    reader = dps.Dataset(CLICKS, unit="session", ledger=f"sqlite:///{tmp_path}/budget.db?mode=ro", account="clicks")
    monkeypatch.setattr(PermuteAndFlip, "select", lambda *_: pytest.fail("something was drawn"))
    with pytest.raises(LedgerReadOnlyError):
        reader.most_common("page", candidates=PAGES, epsilon=0.5)


def test_the_charge_is_on_disk_when_the_draw_begins(
    visits: dps.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def select(*_: object) -> int:
        seen.append(dps.Ledger(tmp_path / "budget.db").remaining("clicks"))
        raise RuntimeError("crashed")

    monkeypatch.setattr(PermuteAndFlip, "select", select)
    with pytest.raises(AnswerLostError, match=r"charged as entry 1 of account 'clicks', .* RuntimeError") as lost:
        visits.most_common("page", candidates=PAGES, epsilon=0.75)
    assert seen == [0.25]
    assert "crashed" not in "".join(traceback.format_exception(lost.value))  # what a stranger says may quote a row


def test_the_same_request_gives_the_same_release(visits: dps.Dataset, ledger: dps.Ledger) -> None:
    def ask(**changes: Any) -> Release:
        asked = {"level": 0.5, "bounds": (0, 40), "continuous": True, "epsilon": 0.5, "request": "r"}
        return visits.quantile("page", **(asked | changes))

    first = ask()
    assert [ask().to_json() for _ in range(3)] == [first.to_json()] * 3
    assert ledger.remaining("clicks") == 0.5
    for changes in (
        {"level": 0.25},
        {"bounds": (0, 41)},
        {"epsilon": 0.25},
        {"continuous": False},
        {"max_rows_per_unit": 2},
    ):
        with pytest.raises(RequestReusedError):
            ask(**changes)
    with pytest.raises(RequestReusedError):
        visits.most_common("page", candidates=PAGES, epsilon=0.5, request="r")
    assert ledger.account("clicks").entries == 2


def test_other_candidates_are_another_question(visits: dps.Dataset) -> None:
    visits.most_common("page", candidates=[6, 3, 11], epsilon=0.5, request="r")
    visits.most_common("page", candidates=[6, 3, 11], epsilon=0.5, request="r")
    for candidates in ([6, 3, 12], [3, 6, 11], range(1, 12)):
        with pytest.raises(RequestReusedError):
            visits.most_common("page", candidates=candidates, epsilon=0.5, request="r")


def test_arguments_that_belong_together(tmp_path: Path, ledger: dps.Ledger) -> None:
    with pytest.raises(InvalidParameterError, match="account=None"):
        dps.Dataset(CLICKS, unit="session", ledger=ledger)
    with pytest.raises(InvalidParameterError, match="ledger=None"):
        dps.Dataset(CLICKS, unit="session", account="clicks")
    with pytest.raises(InvalidParameterError, match="request='r'"):
        dps.Dataset(CLICKS, unit="session").most_common("page", candidates=PAGES, epsilon=1, request="r")
    with pytest.raises(InvalidAccountError, match="unit='page'"):
        dps.Dataset(CLICKS, unit="page", ledger=ledger, account="clicks").most_common(
            "session", candidates=PAGES, epsilon=0.1
        )


def test_a_dataset_with_a_ledger_goes_to_other_processes(visits: dps.Dataset, ledger: dps.Ledger) -> None:
    copy = pickle.loads(pickle.dumps(visits))
    copy.most_common("page", candidates=PAGES, epsilon=0.5)
    assert ledger.remaining("clicks") == 0.5


def test_dates_come_back_from_a_stored_release_as_dates(tmp_path: Path, ledger: dps.Ledger) -> None:
    path = write_csv(tmp_path / "days.csv", [b"1,2026-01-02", b"2,2026-01-02"], header=b"session,day\n")
    days = dps.Dataset(path, unit="session", ledger=ledger, account="clicks")
    asked = {"candidates": [date(2026, 1, 1), date(2026, 1, 2)], "epsilon": 0.5, "request": "day"}
    first = days.most_common("day", **asked)
    again = days.most_common("day", **asked)
    assert again.value == first.value
    assert isinstance(again.value, date)


def certificates(visits: dps.Dataset) -> list[str]:
    return [
        visits.most_common("page", candidates=PAGES, epsilon=0.125, request="a").to_json(),
        visits.top_k("page", 3, candidates=PAGES, epsilon=0.125).to_json(),
        visits.top_k("page", 12, candidates=PAGES, epsilon=0.05, delta=1e-6).to_json(),
        visits.quantile("page", 0.5, bounds=(0, 100), step=1, epsilon=0.125).to_json(),
        visits.quantile("page", 0.5, bounds=(0, 100), continuous=True, epsilon=0.125).to_json(),
    ]


def test_certificates_are_recomputed(visits: dps.Dataset, ledger: dps.Ledger) -> None:
    ledger.set_limit("clicks", epsilon=2)
    found = [check(text, ledger=ledger) for text in certificates(visits)]
    assert all(checked.charged and checked.epsilon <= checked.release.epsilon for checked in found)
    assert [checked.error_bound for checked in found] == [True, True, True, True, False]


EDITS = [
    ({"value": 7}, "value"),
    ({"guarantee": {"epsilon": 0.1, "delta": 0.0, "neighbours": "add_remove", "unit": "session"}}, "guarantee.epsilon"),
    ({"guarantee": {"epsilon": 0.125, "delta": 0.0, "neighbours": "add_remove", "unit": "user"}}, "event"),
    ({"error_bound": {"within": 1.0, "confidence": 0.99}}, "error_bound.within"),
    ({"receipt": None}, "no receipt"),
    ({"receipt": {"account": "clicks", "sequence": 2, "hash": "0" * 64, "time": ""}}, "receipt.time"),
    ({"event": {"kind": "laplace_profile", "version": 1, "epsilon": "0.0625"}}, "event"),
    ({"event": {"kind": "pure", "version": 9, "epsilon": "0.125"}}, "event"),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("edit", "what"), EDITS)
def test_an_edited_certificate_is_refused(
    visits: dps.Dataset, ledger: dps.Ledger, edit: dict[str, Any], what: str
) -> None:
    text = visits.most_common("page", candidates=PAGES, epsilon=0.125, request="a").to_json()
    held = json.loads(text) | edit
    with pytest.raises(InvalidCertificateError):  # of the digest, if not of the field itself
        check(canonical_json(held))
    held["digest"] = digest(held)  # edited with care
    with pytest.raises(InvalidCertificateError, match=f"<{re.escape(what)}>"):
        check(canonical_json(held), ledger=ledger)
    assert check(text, ledger=ledger).charged


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "5", '{"value": 1}', "[" * 100_000])
def test_what_is_no_certificate_is_refused(text: str) -> None:
    with pytest.raises(InvalidCertificateError):
        check(text)


def test_a_best_price_under_the_same_request_is_that_of_the_same_prices(
    visits: dps.Dataset, ledger: dps.Ledger
) -> None:
    """Offers are clipped into the same numbers for all of these; only the prices tell the questions apart."""

    def ask(**changes: Any) -> Release:
        return visits.best_price("page", **({"prices": [1, 40], "epsilon": 0.5, "request": "r"} | changes))

    first = ask()
    assert [ask().to_json() for _ in range(3)] == [first.to_json()] * 3
    assert ledger.remaining("clicks") == 0.5
    for changes in ({"prices": [2, 40]}, {"prices": [1, 20, 40]}, {"epsilon": 0.25}, {"max_rows_per_unit": 2}):
        with pytest.raises(RequestReusedError):
            ask(**changes)
    assert ledger.account("clicks").entries == 2
    checked = check(first.to_json(), ledger=ledger)
    assert (checked.epsilon, checked.error_bound, checked.charged) == (0.5, True, True)


def test_a_certificate_of_an_unknown_question_is_none(visits: dps.Dataset) -> None:
    held = visits.quantile("page", 0.5, bounds=(0, 40), continuous=True, epsilon=0.5).to_dict()
    for ask in ("mode", None, ["quantile"]):
        edited = held | {"question": {**held["question"], "ask": ask}}
        with pytest.raises(InvalidCertificateError, match=r"certificate=<question\.ask>"):
            check(canonical_json(edited | {"digest": digest(edited)}))

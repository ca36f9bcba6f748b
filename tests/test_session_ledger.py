"""A data set with a ledger: charge first, then draw; and certificates that can be checked afterwards."""

from __future__ import annotations

import json
import pickle
import re
import traceback
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpselect as dps
from dpselect import Release
from dpselect import verify as check
from dpselect.cli import main
from dpselect.errors import (
    AnswerLostError,
    ChargeRefusedError,
    InvalidCertificateError,
    InvalidDataError,
    InvalidParameterError,
    LedgerReadOnlyError,
    RequestReusedError,
    WrongAccountError,
)
from dpselect.mechanisms import PermuteAndFlip
from dpselect.rows.table import Table
from tests.edited_certificates import canonical_json, digest, question_hash
from tests.rows.tables import write_csv

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
    monkeypatch.setattr(Table, "answers", lambda *_: pytest.fail("rows were read"))
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
    with pytest.raises(WrongAccountError, match="unit='page'"):
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


def told(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    status = main(list(arguments))
    return status, *capsys.readouterr()


def test_a_budget_runs_out_on_the_command_line(capsys: Captured, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    ask = ["most-common", CLICKS, "page", "--unit", "session", "--candidates", "1..41270", "--epsilon", "0.5"]
    ask += ["--ledger", url, "--account", "clicks"]
    status, out, _ = told(capsys, "ledger", "open", url, "clicks", "--epsilon", "0.9", "--unit", "session")
    assert status == 0
    assert out.splitlines()[1].split() == ["clicks", "session", "0.9", "0", "0.9", "0", "1"]
    status, out, _ = told(capsys, *ask, "--request", "november")
    assert (status, "Charged to account clicks, entry 1." in out) == (0, True)
    assert told(capsys, *ask, "--request", "november")[1] == out
    status, out, err = told(capsys, *ask)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "has epsilon=0.4 left of 0.9; this would cost 0.5. Nothing was charged or drawn." in err
    shown = json.loads(told(capsys, "ledger", "show", url, "--json")[1])
    assert (shown["account"], shown["spent"], shown["left"], shown["entries"]) == ("clicks", 0.5, 0.4, 2)
    lines = told(capsys, "ledger", "history", url, "clicks", "--json")[1].splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["open", "charge"]
    assert told(capsys, "ledger", "history", url, "clicks")[1].splitlines()[2].split()[3:6] == [
        "charge",
        "PermuteAndFlip",
        "0.5",
    ]
    head = json.loads(told(capsys, "ledger", "verify", url, "--json")[1])["head"]
    assert head == shown["head"]
    assert head in told(capsys, "ledger", "verify", url)[1]
    assert json.loads(lines[-1])["hash"] == head
    assert told(capsys, "ledger", "limit", url, "clicks", "--epsilon", "0.4")[0] == 2
    assert told(capsys, "ledger", "limit", url, "clicks", "--epsilon", "2")[0] == 0
    assert "3, closed" not in told(capsys, "ledger", "show", url, "clicks")[1]
    assert "4, closed" in told(capsys, "ledger", "close", url, "clicks")[1]


def test_a_delta_that_is_set_aside_is_shown_and_runs_out(capsys: Captured, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    options = ["--epsilon", "5", "--delta", "1e-5", "--set-aside", "0.000002", "--unit", "session"]
    status, out, _ = told(capsys, "ledger", "open", url, "clicks", *options)
    heads = ["account", "unit", "epsilon", "spent", "left", "delta", "set", "aside", "set", "aside", "left", "entries"]
    assert (status, out.splitlines()[0].split()) == (0, heads)
    ask = ["values", CLICKS, "page", "--unit", "session", "--epsilon", "0.5", "--delta", "1.5e-6"]
    ask += ["--ledger", url, "--account", "clicks"]
    assert told(capsys, *ask)[0] == 0
    status, out, err = told(capsys, *ask)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "Ask with a smaller delta. To set more aside, open another account" in err
    account = json.loads(told(capsys, "ledger", "show", url, "--json")[1])
    assert f"has {account['set_aside_left']!r} left of the delta of" in err
    assert account["set_aside_left"] <= 5e-7 < account["set_aside_left"] * (1 + 1e-9)
    assert told(capsys, *ask, "--dry-run")[0] == 2


@pytest.mark.parametrize(
    ("text", "exact"), [("0.1", Fraction(0.1)), ("1/10", Fraction(1, 10)), ("1e-1", Fraction(0.1)), ("2", Fraction(2))]
)
def test_a_limit_on_the_command_line_is_exact(capsys: Captured, tmp_path: Path, text: str, exact: Fraction) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    options = ["--delta", "1/1000000", "--set-aside", "1/2000000"]
    assert told(capsys, "ledger", "open", url, "clicks", "--epsilon", text, *options)[0] == 0
    with dps.Ledger(url) as ledger:
        account = ledger.account("clicks")
        assert (account.epsilon, account.delta, account.set_aside) == (
            exact,
            Fraction(1, 10**6),
            Fraction(1, 2 * 10**6),
        )
    assert told(capsys, "ledger", "limit", url, "clicks", "--epsilon", "7/3")[0] == 0
    with dps.Ledger(url) as ledger:
        assert ledger.account("clicks").epsilon == Fraction(7, 3)


@pytest.mark.parametrize(
    "text", ["1/0", "1/-3", "/3", "1/3/3", "0x1", "nan", "inf", "-1", "1_0", "one", "1" * 2000 + "/3"]
)
def test_no_number_on_the_command_line_is_a_limit(capsys: Captured, tmp_path: Path, text: str) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    status, out, err = told(capsys, "ledger", "open", url, "clicks", f"--epsilon={text}")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "epsilon" in err


def test_verify_on_the_command_line(capsys: Captured, tmp_path: Path, visits: dps.Dataset) -> None:
    path, url = tmp_path / "release.json", f"sqlite:///{tmp_path}/budget.db"
    path.write_text(visits.most_common("page", candidates=PAGES, epsilon=0.5).to_json())
    status, out, _ = told(capsys, "verify", str(path), "--ledger", url)
    assert (status, out.splitlines()[-2]) == (0, "Charged to account 'clicks', entry 1.")
    assert json.loads(told(capsys, "verify", str(path), "--json")[1])["epsilon"] == 0.5
    path.write_text(path.read_text().replace('"value": ', '"value": 7'))
    status, out, err = told(capsys, "verify", str(path))
    assert (status, out) == (2, "")
    assert err == "dpselect: CERTIFICATE=<digest>: expected that of its content. It was edited.\n"
    assert told(capsys, "verify", str(tmp_path / "nothing.json"))[0] == 2


@pytest.mark.parametrize(
    ("request_id", "with_ledger", "said"),
    [
        ("a", True, "The value is the one that the ledger stored for request 'a'."),
        (None, True, "The value itself is not certified: the ledger stored no release for it, only its charge."),
        ("a", False, "The value itself is not certified: only a ledger that stored it for a request id can show that."),
    ],
)
def test_verify_says_whether_the_value_itself_is_certified(
    capsys: Captured, tmp_path: Path, visits: dps.Dataset, request_id: str | None, with_ledger: bool, said: str
) -> None:
    path = tmp_path / "release.json"
    path.write_text(visits.most_common("page", candidates=PAGES, epsilon=0.5, request=request_id).to_json())
    asked = ["verify", str(path), *(["--ledger", f"sqlite:///{tmp_path}/budget.db"] if with_ledger else [])]
    assert told(capsys, *asked)[1].splitlines()[-1] == said
    certified = bool(request_id) and with_ledger
    assert json.loads(told(capsys, *asked, "--json")[1])["value"] is certified
    edited = json.loads(path.read_text())
    edited["value"] = edited["value"] % 41270 + 1
    path.write_text(canonical_json(edited | {"digest": digest(edited)}))  # with care
    assert told(capsys, *asked)[0] == (2 if certified else 0)


def test_the_help_of_verify_says_what_certifies_a_value(capsys: Captured) -> None:
    status, out, _ = told(capsys, "verify", "--help")
    assert (status, "What was drawn is certified only for a release with a request id" in " ".join(out.split())) == (
        0,
        True,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "sqlite:///nothing.db"],
        ["show", "nothing"],
        ["open", "sqlite:///x/y/z.db", "a", "--epsilon", "1"],
        ["open", "sqlite:///b.db", "a", "--epsilon", "many"],
        ["open", "sqlite:///b.db", "a"],
        ["history", "sqlite:///b.db"],
        ["spend"],
    ],
)
def test_bad_input_is_one_line(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = told(capsys, "ledger", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert list(tmp_path.iterdir()) == []


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

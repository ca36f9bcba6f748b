"""The ledger on the command line: opened, charged, shown, verified; and bad input."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

import dpselect as dps
from tests.cli.test_commands import CLICKS, Captured, run
from tests.edited_certificates import canonical_json, digest

PAGES = range(1, 41271)


@pytest.fixture
def visits(tmp_path: Path) -> dps.Dataset:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("clicks", epsilon=1, unit="session")
    return dps.Dataset(CLICKS, unit="session", ledger=ledger, account="clicks")


def test_a_budget_runs_out(capsys: Captured, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    ask = ["most-common", CLICKS, "page", "--unit", "session", "--candidates", "1..41270", "--epsilon", "0.5"]
    ask += ["--ledger", url, "--account", "clicks"]
    status, out, _ = run(capsys, "ledger", "open", url, "clicks", "--epsilon", "0.9", "--unit", "session")
    assert status == 0
    assert out.splitlines()[1].split() == ["clicks", "session", "0.9", "0", "0.9", "0", "1"]
    status, out, _ = run(capsys, *ask, "--request", "november")
    assert (status, "Charged to account clicks, entry 1." in out) == (0, True)
    now = "Answered before under this request; nothing was charged now. Charged then to account clicks, entry 1."
    assert run(capsys, *ask, "--request", "november")[1] == out.replace("Charged to account clicks, entry 1.", now)
    status, out, err = run(capsys, *ask)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "has epsilon=0.4 left of 0.9; this would cost 0.5. Nothing was charged or drawn." in err
    shown = json.loads(run(capsys, "ledger", "show", url, "--json")[1])
    assert (shown["account"], shown["spent"], shown["left"], shown["entries"]) == ("clicks", 0.5, 0.4, 2)
    lines = run(capsys, "ledger", "history", url, "clicks", "--json")[1].splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["open", "charge"]
    assert run(capsys, "ledger", "history", url, "clicks")[1].splitlines()[2].split()[3:6] == [
        "charge",
        "PermuteAndFlip",
        "0.5",
    ]
    head = json.loads(run(capsys, "ledger", "verify", url, "--json")[1])["head"]
    assert head == shown["head"]
    assert head in run(capsys, "ledger", "verify", url)[1]
    assert json.loads(lines[-1])["hash"] == head
    assert run(capsys, "ledger", "limit", url, "clicks", "--epsilon", "0.4")[0] == 2
    assert run(capsys, "ledger", "limit", url, "clicks", "--epsilon", "2")[0] == 0
    assert "3, closed" not in run(capsys, "ledger", "show", url, "clicks")[1]
    assert "4, closed" in run(capsys, "ledger", "close", url, "clicks")[1]


def test_a_delta_that_is_set_aside_is_shown_and_runs_out(capsys: Captured, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    options = ["--epsilon", "5", "--delta", "1e-5", "--set-aside", "0.000002", "--unit", "session"]
    status, out, _ = run(capsys, "ledger", "open", url, "clicks", *options)
    heads = ["account", "unit", "epsilon", "spent", "left", "delta", "set", "aside", "set", "aside", "left", "entries"]
    assert (status, out.splitlines()[0].split()) == (0, heads)
    ask = ["values", CLICKS, "page", "--unit", "session", "--epsilon", "0.5", "--delta", "1.5e-6"]
    ask += ["--ledger", url, "--account", "clicks"]
    assert run(capsys, *ask)[0] == 0
    status, out, err = run(capsys, *ask)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "Ask with a smaller delta. To set more aside, open another account" in err
    account = json.loads(run(capsys, "ledger", "show", url, "--json")[1])
    assert f"has {account['set_aside_left']!r} left of the delta of" in err
    assert account["set_aside_left"] <= 5e-7 < account["set_aside_left"] * (1 + 1e-9)
    assert run(capsys, *ask, "--dry-run")[0] == 2


@pytest.mark.parametrize(
    ("text", "exact"), [("0.1", Fraction(0.1)), ("1/10", Fraction(1, 10)), ("1e-1", Fraction(0.1)), ("2", Fraction(2))]
)
def test_a_limit_is_exact(capsys: Captured, tmp_path: Path, text: str, exact: Fraction) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    options = ["--delta", "1/1000000", "--set-aside", "1/2000000"]
    assert run(capsys, "ledger", "open", url, "clicks", "--epsilon", text, *options)[0] == 0
    with dps.Ledger(url) as ledger:
        account = ledger.account("clicks")
        assert (account.epsilon, account.delta, account.set_aside) == (
            exact,
            Fraction(1, 10**6),
            Fraction(1, 2 * 10**6),
        )
    assert run(capsys, "ledger", "limit", url, "clicks", "--epsilon", "7/3")[0] == 0
    with dps.Ledger(url) as ledger:
        assert ledger.account("clicks").epsilon == Fraction(7, 3)


@pytest.mark.parametrize(
    "text", ["1/0", "1/-3", "/3", "1/3/3", "0x1", "nan", "inf", "-1", "1_0", "one", "1" * 2000 + "/3"]
)
def test_what_is_no_number_is_no_limit(capsys: Captured, tmp_path: Path, text: str) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    status, out, err = run(capsys, "ledger", "open", url, "clicks", f"--epsilon={text}")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "epsilon" in err


def test_verify(capsys: Captured, tmp_path: Path, visits: dps.Dataset) -> None:
    path, url = tmp_path / "release.json", f"sqlite:///{tmp_path}/budget.db"
    path.write_text(visits.most_common("page", candidates=PAGES, epsilon=0.5).to_json())
    status, out, _ = run(capsys, "verify", str(path), "--ledger", url)
    assert (status, out.splitlines()[-2]) == (0, "Charged to account 'clicks', entry 1.")
    assert json.loads(run(capsys, "verify", str(path), "--json")[1])["epsilon"] == 0.5
    path.write_text(path.read_text().replace('"value": ', '"value": 7'))
    status, out, err = run(capsys, "verify", str(path))
    assert (status, out) == (2, "")
    assert err == "dpselect: CERTIFICATE=<digest>: expected that of its content. It was edited.\n"
    assert run(capsys, "verify", str(tmp_path / "nothing.json"))[0] == 2


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
    assert run(capsys, *asked)[1].splitlines()[-1] == said
    certified = bool(request_id) and with_ledger
    assert json.loads(run(capsys, *asked, "--json")[1])["value"] is certified
    edited = json.loads(path.read_text())
    edited["value"] = edited["value"] % 41270 + 1
    path.write_text(canonical_json(edited | {"digest": digest(edited)}))  # with care
    assert run(capsys, *asked)[0] == (2 if certified else 0)


def test_the_help_of_verify_says_what_certifies_a_value(capsys: Captured) -> None:
    status, out, _ = run(capsys, "verify", "--help")
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
    status, out, err = run(capsys, "ledger", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert list(tmp_path.iterdir()) == []

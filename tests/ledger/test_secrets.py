"""What a ledger's URL may hold and no message shows."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from dpselect.accounting import PureEvent
from dpselect.errors import InvalidParameterError, LedgerError
from dpselect.ledger import Ledger

NOBODY = "127.0.0.1:1"
HOLDING = [
    f"postgresql://u:SECRET@{NOBODY}/x",
    f"postgresql://u:a%40SECRET@{NOBODY}/x",
    f"postgresql://u@{NOBODY}/x?password=SECRET",
    f"postgresql://u@{NOBODY}/x?sslpassword=SECRET",
    f"postgresql://u@{NOBODY}/x?options=-cSECRET",
    f"postgresql://u@{NOBODY}/x?service=SECRET",
    f"postgresql://u@{NOBODY}/x?SECRET=1",
]
REFUSED = [
    "postgresql://u:p@SECRET@host/x",
    "postgresql://u@SECRET@host/x",
    "postgresql://u:p@SE/CRET@host/x",
    "postgresql://u:p@SE?CRET@host/x",
    "postgresql://u@host/x?password=p@SECRET",
    "postgresql://host:5432/x?password=p@SECRET",
    "postgresql+psycopg://u:p@SECRET@host/x",
    "postgresql://u:SECRET@host:port/x",
    "sqlite:///x.db?SECRET=1",
    "sqlite:///x.db?mode=SECRET",
    "u:SECRET@host/x",
    "host=127.0.0.1 password=SECRET",
    "dbname=x user=SECRET",
    "PGPASSWORD=SECRET",
    "sqlite:///postgresql://u:SECRET@host/x",
    "sqlite:///host=127.0.0.1 password=SECRET",
    "sqlite://u:SECRET@host/x",
    "mysql://u:SECRET@host/x",
    Path("postgresql://u:SECRET@host/x"),
    Path("u:SECRET@host"),
    Path("host=127.0.0.1 password=SECRET"),
]
MISPLACED = [
    "postgresql://u:SECRET@host/x",
    "postgresql://u:SE CRET@host/x",
    "mysql://u:SECRET@host/x",
    "host=127.0.0.1 password=SECRET",
    "host=127.0.0.1 password = 'SECRET x'",
    "postgresql://u@host/x?sslpassword=SECRET",
]


@pytest.mark.parametrize("url", HOLDING)
def test_no_message_shows_what_an_option_or_a_password_says(url: str) -> None:
    ledger = Ledger(url, wait=1)
    assert repr(ledger) == f"Ledger('postgresql://u@{NOBODY}/x')"
    with pytest.raises(LedgerError) as failed:
        ledger.charge("clicks", PureEvent(epsilon=1))
    assert "SECRET" not in f"{failed.value} {failed.value!r}"
    assert f"postgresql://u@{NOBODY}/x" in str(failed.value)


@pytest.mark.parametrize("url", REFUSED)
def test_a_url_that_can_be_read_in_two_ways_is_refused_unseen(
    url: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidParameterError) as failed:
        Ledger(url)
    shown = f"{failed.value} {failed.value!r}"
    assert not any(part in shown for part in ("SECRET", "CRET", "SE/", "p@"))
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("text", MISPLACED)
def test_a_server_s_address_is_no_account_and_no_request(text: str, tmp_path: Path) -> None:
    """It would be kept for good, and shown in receipts."""
    ledger = Ledger(tmp_path / "x.db")
    ledger.open_account("clicks", epsilon=1)
    event = PureEvent(epsilon=0.5)
    for act in (
        lambda: ledger.open_account(text, epsilon=1),
        lambda: ledger.open_account("more", epsilon=1, unit=text),
        lambda: ledger.account(text),
        lambda: ledger.charge(text, event),
        lambda: ledger.charge("clicks", event, request=text),
        lambda: ledger.charge("clicks", event, note=text),
    ):
        with pytest.raises(InvalidParameterError, match="may hold a password>: expected") as failed:
            act()
        assert "CRET" not in f"{failed.value} {failed.value!r} {failed.value.args} {failed.value.got}"
    assert ledger.account("clicks").entries == 1


@pytest.mark.parametrize(
    "text", ["ann@example.org", "2026-11-23T05:40 ann@db", "page=7", "https://example.org/a:b", "etl:daily@db/clicks"]
)
def test_what_only_looks_a_little_like_one_is_kept(text: str, tmp_path: Path) -> None:
    with Ledger(tmp_path / "x.db") as ledger:
        ledger.open_account(text, epsilon=1)
        assert ledger.charge(text, PureEvent(epsilon=0.5), request=text).request == text


def test_a_file_that_is_there_may_have_any_name(tmp_path: Path) -> None:
    for name in ("host=1.db", "05:40@db"):
        (tmp_path / name).touch()
        with Ledger(tmp_path / name) as ledger:
            assert ledger.open_account("clicks", epsilon=1).entries == 1


def test_a_new_file_may_lie_in_a_folder_of_any_name(tmp_path: Path) -> None:
    folder = tmp_path / "05:40@db"
    folder.mkdir()
    for given in (folder / "1.db", f"sqlite:///{folder}/2.db"):
        with Ledger(given) as ledger:
            assert ledger.open_account("clicks", epsilon=1).entries == 1


def test_a_copy_in_another_process_still_has_the_password() -> None:
    copy = pickle.loads(pickle.dumps(Ledger(HOLDING[2])))
    assert "SECRET" in copy._given
    assert "SECRET" not in repr(copy)


def test_a_file_is_shown_without_its_options(tmp_path: Path) -> None:
    assert repr(Ledger(f"sqlite:///{tmp_path}/x.db?mode=ro")) == f"Ledger('sqlite:///{tmp_path}/x.db')"

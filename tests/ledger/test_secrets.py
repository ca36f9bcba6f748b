"""What a ledger's URL may hold and no message shows."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from dpselect.accounting.events import PureEvent
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
def test_a_url_that_can_be_read_in_two_ways_is_refused_unseen(url: str) -> None:
    with pytest.raises(InvalidParameterError) as failed:
        Ledger(url)
    shown = f"{failed.value} {failed.value!r}"
    assert not any(part in shown for part in ("SECRET", "CRET", "SE/", "p@"))


def test_a_copy_in_another_process_still_has_the_password() -> None:
    copy = pickle.loads(pickle.dumps(Ledger(HOLDING[2])))
    assert "SECRET" in copy._database.address[0].render_as_string(hide_password=False)
    assert "SECRET" not in repr(copy)


def test_a_file_is_shown_without_its_options(tmp_path: Path) -> None:
    assert repr(Ledger(f"sqlite:///{tmp_path}/x.db?mode=ro")) == f"Ledger('sqlite:///{tmp_path}/x.db')"

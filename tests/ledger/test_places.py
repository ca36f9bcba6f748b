"""Where a ledger's file may lie: who may read it there, what SQLite can put beside it, how long its name may be."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from dpselect.accounting import PureEvent
from dpselect.errors import InvalidParameterError, LedgerDamagedError, LedgerError, LedgerUnavailableError
from dpselect.ledger import Ledger
from tests.forked import Forks
from tests.ledger.test_file import CUT_OFF

TENTH = PureEvent(epsilon=0.125)
NOBODY = 65534


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder whose parents everybody may enter; pytest's own are for this user alone."""
    folder = Path(tempfile.mkdtemp(prefix="dpselect-test-"))
    folder.chmod(0o755)
    yield folder
    for each in (folder, *folder.iterdir()):
        each.chmod(0o755)
    shutil.rmtree(folder)


def opened(path: Path, charges: int = 1) -> Path:
    with Ledger(path) as ledger:
        ledger.open_account("clicks", epsilon=10)
        for _ in range(charges):
            ledger.charge("clicks", TENTH)
    return path


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_a_new_ledger_is_its_owner_s_alone(mask: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        with Ledger(tmp_path / "a?b #1.db") as ledger:
            ledger.open_account("clicks", epsilon=1)
            ledger.charge("clicks", TENTH)
            modes = {each.name: each.stat().st_mode & 0o777 for each in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(["a?b #1.db", "a?b #1.db-journal"], 0o600)


def test_permissions_given_later_are_kept_and_inherited(tmp_path: Path) -> None:
    path = opened(tmp_path / "budget.db")
    path.chmod(0o660)
    with Ledger(path) as ledger:
        ledger.charge("clicks", TENTH)
        assert {each.stat().st_mode & 0o777 for each in tmp_path.iterdir()} == {0o660}


def audit(path: str) -> None:
    """What somebody finds who may write nothing in that folder; the superuser may, and becomes nobody first."""
    if os.geteuid() == 0:
        os.setuid(NOBODY)
    try:
        with Ledger(path) as ledger:
            print([each.entries for each in ledger.verify()], len(ledger.history("clicks")), ledger.remaining("clicks"))
            try:
                ledger.charge("clicks", TENTH)
            except LedgerError as error:
                print(type(error).__name__)
    except LedgerError as error:
        print(type(error).__name__, error.what)


def audited(path: Path, forks: Forks) -> list[str]:
    for each in path.parent.iterdir():
        each.chmod(0o444)
    path.parent.chmod(0o555)
    return forks.run(audit, str(path)).splitlines()


@pytest.mark.parametrize("beside", [(), ("-journal",)])
def test_read_only_media_can_be_audited(beside: tuple[str, ...], place: Path, forks: Forks) -> None:
    media = place / "media"
    media.mkdir()
    path = opened(media / "budget.db", charges=3)
    Path(f"{path}-journal").unlink()
    for ending in beside:
        Path(f"{path}{ending}").touch()
    assert audited(path, forks) == ["[4] 4 9.625", "LedgerReadOnlyError"]
    assert {each.name for each in media.iterdir()} == {f"budget.db{ending}" for ending in ("", *beside)}


def test_a_journal_on_read_only_media_is_refused_and_never_left_out(place: Path, tmp_path: Path, forks: Forks) -> None:
    media = place / "media"
    media.mkdir()
    live = opened(tmp_path / "budget.db", charges=0)
    subprocess.run([sys.executable, "-c", CUT_OFF, str(live)], check=True)
    for ending in ("", "-journal"):
        shutil.copy(f"{live}{ending}", media / f"budget.db{ending}")
    assert audited(media / "budget.db", forks)[0].startswith("LedgerUnavailableError a crash left a journal beside it")


@pytest.mark.parametrize("name", ["x" * 248, "x" * 300, "ż" * 124, "/".join(["y" * 99] * 5), "/".join(["y" * 99] * 50)])
def test_a_path_too_long_for_sqlite_cannot_be_opened(name: str, tmp_path: Path) -> None:
    for given in (str(tmp_path / name), tmp_path / name, f"sqlite:///{tmp_path / name}"):
        with pytest.raises(LedgerUnavailableError, match=r"cannot be opened: no such place.* Nothing was written"):
            Ledger(given).open_account("clicks", epsilon=1)


def test_a_path_of_no_letters_is_refused_or_works(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError, match="path that is no text"):
        Ledger(tmp_path / "\ud800.db")
    assert opened(tmp_path / "\udc80.db").exists()  # a byte that is no letter, as Python spells it


def test_the_longest_path_works(tmp_path: Path) -> None:
    name = opened(tmp_path / ("x" * 247))
    folder = tmp_path / ("y" * 200)
    folder.mkdir()
    path = opened(folder / ("z" * (504 - len(str(folder)) - 1)))
    for each in (name, path):
        with Ledger(each) as ledger:
            assert ledger.verify()


def test_a_schema_that_is_no_text_is_damage(tmp_path: Path) -> None:
    """SQLite quotes it in its message, and Python cannot read the message."""
    path = opened(tmp_path / "budget.db")
    content = path.read_bytes()
    for place, byte in enumerate(content[:4096]):
        if byte in b"'(_" or content[place : place + 5] == b"TABLE":
            path.write_bytes(content[:place] + b"\xba" + content[place + 1 :])
            for act in (Ledger.accounts, Ledger.verify, lambda ledger: ledger.charge("clicks", TENTH)):
                with Ledger(path) as ledger, suppress(LedgerDamagedError):
                    act(ledger)


def test_verifying_sees_an_index_that_finds_no_request(tmp_path: Path) -> None:
    """No entry is wrong then; but a request that is not found is charged again."""
    path = tmp_path / "budget.db"
    with Ledger(path) as ledger:
        ledger.open_account("clicks", epsilon=1)
        ledger.charge("clicks", TENTH, request="november")
        assert ledger.verify()
    connection = sqlite3.connect(path)
    (root,) = connection.execute(
        "SELECT rootpage FROM sqlite_master WHERE name = 'dpselect_entries_request'"
    ).fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    content = path.read_bytes()
    page = content[(root - 1) * size : root * size]
    path.write_bytes(content.replace(page, page.replace(b"november", b"december")))
    with Ledger(path) as ledger, pytest.raises(LedgerDamagedError, match="integrity_check"):
        ledger.verify()

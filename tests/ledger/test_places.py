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
from dpselect.errors import (
    InvalidParameterError,
    LedgerBusyError,
    LedgerDamagedError,
    LedgerError,
    LedgerReadOnlyError,
    LedgerUnavailableError,
)
from dpselect.ledger import Ledger
from tests.forked import Forks

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
    assert modes == dict.fromkeys(["a?b #1.db", "a?b #1.db-wal", "a?b #1.db-shm"], 0o600)


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
            print([each.entries for each in ledger.verify()], len(list(ledger.export())), ledger.remaining("clicks"))
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


@pytest.mark.parametrize("beside", [(), ("-wal",)])
def test_read_only_media_can_be_audited(beside: tuple[str, ...], place: Path, forks: Forks) -> None:
    """SQLite reads no file with a write-ahead log where it can put no index beside it."""
    media = place / "media"
    media.mkdir()
    path = opened(media / "budget.db", charges=3)
    for ending in beside:
        Path(f"{path}{ending}").touch()
    assert audited(path, forks) == ["[4] 4 9.625", "LedgerReadOnlyError"]
    assert {each.name for each in media.iterdir()} == {f"budget.db{ending}" for ending in ("", *beside)}


@pytest.mark.parametrize("index", [True, False])
def test_a_log_on_read_only_media_is_read_or_refused_but_never_left_out(
    index: bool, place: Path, tmp_path: Path, forks: Forks
) -> None:
    media = place / "media"
    media.mkdir()
    live = opened(tmp_path / "budget.db", charges=0)
    with Ledger(live) as ledger:
        ledger.charge("clicks", TENTH)
        for ending in ("", "-wal", "-shm") if index else ("", "-wal"):
            content = subprocess.run(["cat", f"{live}{ending}"], capture_output=True, check=True).stdout
            (media / f"budget.db{ending}").write_bytes(content)  # by another process, which keeps this one's locks
    found = audited(media / "budget.db", forks)
    if index:
        assert found == ["[2] 2 9.875", "LedgerReadOnlyError"]
    else:
        assert found[0].startswith("LedgerUnavailableError a log beside it has charges that are not in the file")


def frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process believe that it may write nowhere."""
    monkeypatch.setattr(os, "access", lambda path, mode, **_: mode != os.W_OK)


@pytest.mark.slow
def test_a_file_that_moves_while_it_is_read_as_one_that_does_not_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = opened(tmp_path / "budget.db")
    charge = "import sys; from dpselect import Ledger; from dpselect.accounting import PureEvent\n"
    charge += "with Ledger(sys.argv[1]) as ledger: ledger.charge('clicks', PureEvent(epsilon=0.125))"
    frozen(monkeypatch)
    with Ledger(path) as ledger:
        assert ledger.account("clicks").entries == 2
        subprocess.run([sys.executable, "-c", charge, str(path)], check=True, timeout=60)
        assert ledger.account("clicks").entries == 3  # nothing was kept of how it was before
        lines = ledger.export()
        next(lines)
        subprocess.run([sys.executable, "-c", charge, str(path)], check=True, timeout=60)
        with pytest.raises(LedgerBusyError, match="wrote to it while it was read"):
            list(lines)
        assert ledger.account("clicks").entries == 4
        with pytest.raises(LedgerReadOnlyError):
            ledger.charge("clicks", TENTH)


def test_a_journal_is_not_left_out_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = opened(tmp_path / "budget.db")
    Path(f"{path}-journal").write_bytes(b"half a transaction")
    frozen(monkeypatch)
    with pytest.raises(LedgerUnavailableError, match="a log beside it has charges"):
        Ledger(path).accounts()


@pytest.mark.parametrize("name", ["x" * 248, "x" * 300, "ż" * 124, "/".join(["y" * 99] * 5), "/".join(["y" * 99] * 50)])
def test_a_path_too_long_for_sqlite_is_refused_as_that(name: str, tmp_path: Path) -> None:
    for given in (str(tmp_path / name), tmp_path / name, f"sqlite:///{tmp_path / name}"):
        with pytest.raises(InvalidParameterError, match=r"<path of .* bytes>: expected a path of at most"):
            Ledger(given).open_account("clicks", epsilon=1)
    assert not any(tmp_path.iterdir())


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

"""One file, one name, and the same file for as long as it is open."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dpselect.accounting import PureEvent
from dpselect.errors import LedgerDamagedError, LedgerUnavailableError
from dpselect.ledger import Ledger
from tests.forked import Forks
from tests.ledger import children

TENTH = PureEvent(epsilon=0.125)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "budget.db"
    with Ledger(path) as ledger:
        ledger.open_account("clicks", epsilon=1)
    return path


def test_a_file_under_two_names_is_no_ledger(file: Path, tmp_path: Path) -> None:
    """With a write-ahead log each name would have charges of its own."""
    other = tmp_path / "other.db"
    with Ledger(file) as ledger:
        ledger.charge("clicks", TENTH)
        os.link(file, other)
        for used in (ledger, Ledger(file), Ledger(other)):
            for act in (lambda used=used: used.charge("clicks", TENTH), used.verify, used.accounts):
                with pytest.raises(LedgerUnavailableError, match="a second name"):
                    act()
        other.unlink()
        assert ledger.charge("clicks", TENTH).sequence == 2


def test_a_symbolic_link_is_the_file_itself(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(file)
    with Ledger(file) as ledger, Ledger(link) as linked:
        assert [ledger.charge("clicks", TENTH).sequence, linked.charge("clicks", TENTH).sequence] == [1, 2]
        assert ledger.account("clicks").entries == linked.account("clicks").entries == 3


def test_a_file_put_in_the_place_of_an_open_one_is_noticed(file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy(file, copy)
    with Ledger(file) as ledger:
        ledger.charge("clicks", TENTH)
        os.replace(copy, file)
        for act in (lambda: ledger.charge("clicks", TENTH), ledger.verify, lambda: ledger.remaining("clicks")):
            with pytest.raises(LedgerDamagedError, match="another file was put in its place"):
                act()


def test_a_file_replaced_during_a_charge_takes_none(file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy(file, copy)
    ledger = Ledger(file)
    with pytest.raises(LedgerDamagedError, match="in its place"), ledger._database.writing():
        os.replace(copy, file)
    ledger.disconnect()


def test_a_file_taken_away_under_an_open_ledger_is_said_to_be_gone(file: Path) -> None:
    with Ledger(file) as ledger:
        ledger.charge("clicks", TENTH)
        file.unlink()
        with pytest.raises(LedgerUnavailableError, match="no such file"):
            ledger.charge("clicks", TENTH)


@pytest.mark.parametrize("act", ["charge", "remaining"])
def test_a_log_that_was_removed_is_noticed(act: str, file: Path) -> None:
    """As another process does, once this one has dropped its locks by opening the file a second time."""
    with Ledger(file) as ledger:
        ledger.charge("clicks", TENTH)
        file.with_name(file.name + "-wal").unlink()
        with pytest.raises(LedgerDamagedError, match="its write-ahead log was removed"):
            ledger.charge("clicks", TENTH) if act == "charge" else ledger.remaining("clicks")


def test_a_lost_log_loses_no_account(file: Path, tmp_path: Path) -> None:
    """Else whoever comes next would be told to open the account, and get a new budget."""
    with Ledger(file) as ledger:
        ledger.open_account("pets", epsilon=1)
        ledger.charge("pets", TENTH)
        shutil.copy(file, tmp_path / "alone.db")
        assert ledger.account("pets").entries == 2
    with Ledger(tmp_path / "alone.db") as left:
        assert left.account("pets").entries == 1


@pytest.mark.slow
def test_a_copy_made_by_the_charging_process_costs_no_charge(file: Path, tmp_path: Path) -> None:
    """Closing any other descriptor of the file drops the locks of the whole process: POSIX has it so."""
    with Ledger(file) as ledger:
        ledger.charge("clicks", TENTH)
        shutil.copy(file, tmp_path / "copy.db")
        command = [sys.executable, "-m", "dpselect", "ledger", "show", f"sqlite:///{file}"]
        subprocess.run(command, check=True, capture_output=True)  # now the last to close it, as it believes
        returned = 1
        try:
            ledger.charge("clicks", TENTH)
            returned += 1
        except LedgerDamagedError:
            pass  # nothing was drawn for it
    shown = subprocess.run([*command, "--json"], check=True, capture_output=True, text=True).stdout
    account = json.loads(shown)
    assert account["entries"] >= 1 + returned  # one too many may be there, never one too few


@pytest.mark.parametrize("through_a_link", [False, True])
def test_a_process_that_lost_the_log_never_writes_over_what_others_charged(
    through_a_link: bool, file: Path, forks: Forks
) -> None:
    alias = file.with_name("alias.db")
    alias.symlink_to(file)
    ledger = Ledger(alias if through_a_link else file)
    ledger.charge("clicks", TENTH)
    for ending in ("-wal", "-shm"):
        file.with_name(file.name + ending).unlink()
    forks.run(children.charge, str(file), 3)
    for again in (ledger, ledger, Ledger(file)):  # not even anew: SQLite would mix two logs in one process
        with pytest.raises(LedgerDamagedError, match="end this process"):
            again.charge("clicks", TENTH)
        again.disconnect()
    account = json.loads(forks.run(children.show, f"sqlite:///{file}"))
    assert account["entries"] >= 1 + 3


LOSE_THE_LOG = """
import os, sys
from dpselect import Ledger
from dpselect.accounting import PureEvent

wait, now = os.pipe()
other = os.fork()  # before a ledger is open
if not other:
    os.read(wait, 1)
    for _ in range(3):
        Ledger(sys.argv[1]).charge("clicks", PureEvent(epsilon=0.125))
    sys.exit()
ledger = Ledger(sys.argv[1])
ledger.charge("clicks", PureEvent(epsilon=0.125))
for ending in ("-wal", "-shm"):
    os.unlink(sys.argv[1] + ending)
os.write(now, b".")
assert os.waitpid(other, 0)[1] == 0
"""


def test_a_process_that_ends_without_noticing_writes_nothing_over_what_others_charged(file: Path) -> None:
    """Nobody closes its connection: the interpreter does, when it ends."""
    subprocess.run([sys.executable, "-c", LOSE_THE_LOG, str(file)], check=True)
    with Ledger(file) as ledger:
        assert ledger.account("clicks").entries == 1 + 3
        assert ledger.verify()


CARRIED = """
import os, sys
from dpselect.accounting.events import PureEvent
from dpselect.ledger import Ledger
from dpselect.ledger.database import raw_of

path, event = sys.argv[1], PureEvent(epsilon=0.125)
ledger = Ledger(path)
with ledger._database.reading() as connection:
    child = os.fork()  # what Python closes before a fork is idle; this one is in use
    if not child:
        os.read(0, 1)  # the parent has ended, and another process died in the midst of charging
        raw_of(connection).close()
        os._exit(0)
ledger.disconnect()
print(child, flush=True)
"""


@pytest.mark.slow
def test_a_connection_that_a_fork_carried_along_deletes_no_log(file: Path) -> None:
    """Closed as the last one, as it believes, it would delete whatever log is there by then."""
    die = "import os, sys; from dpselect import Ledger; from dpselect.accounting import PureEvent\n"
    die += "print(Ledger(sys.argv[1]).charge('clicks', PureEvent(epsilon=0.125)).sequence, flush=True); os._exit(0)"
    forking = [sys.executable, "-c", CARRIED, str(file)]
    with subprocess.Popen(forking, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        assert parent.stdout.readline()
        died = subprocess.run([sys.executable, "-c", die, str(file)], check=True, capture_output=True, text=True)
        assert died.stdout == "1\n"
        parent.stdin.close()
        assert parent.stdout.read() == ""  # the child has it open, too: it has ended
    with Ledger(file) as ledger:
        assert ledger.account("clicks").entries == 2


@pytest.mark.parametrize("name", ["x?y.db", "%41.db", "q?mode=ro", "budget.db"])
def test_a_path_is_taken_as_it_is(name: str, tmp_path: Path) -> None:
    with Ledger(tmp_path / name) as ledger:
        ledger.open_account("clicks", epsilon=1)
        assert pickle.loads(pickle.dumps(ledger)).account("clicks").name == "clicks"
    assert (tmp_path / name).is_file()


def test_an_empty_file_becomes_a_ledger_with_a_log(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    path.touch()
    with Ledger(path) as ledger:
        ledger.open_account("clicks", epsilon=1)
        with ledger._database.reading() as connection:
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"

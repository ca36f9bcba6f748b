"""Many processes at one ledger, and processes that die in the midst of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from dpselect.accounting import PureEvent
from dpselect.errors import LedgerBusyError
from dpselect.ledger import Ledger
from tests.forked import Forks
from tests.ledger import children
from tests.slow import SLOW


def receipts_in(said: str) -> list[tuple[int, str]]:
    """Those that the processes had got."""
    return [(int(sequence), digest) for sequence, digest in map(str.split, said.splitlines())]


def test_of_processes_racing_for_the_last_epsilon_none_gets_too_much(ledger: Ledger, url: str, forks: Forks) -> None:
    ledger.open_account("clicks", epsilon=1)
    receipts = receipts_in(forks.run(children.race, url, 32 if SLOW else 12, 2.0**-6))
    assert sorted(sequence for sequence, _ in receipts) == list(range(1, 65))  # 64 times 1/64: none lost, none too many
    assert {(entry.sequence, entry.hash) for entry in ledger.history("clicks")} >= set(receipts)
    account = ledger.account("clicks")
    assert (account.spent, account.left, account.entries) == (1, 0.0, 65)
    assert ledger.verify()


def test_every_charge_that_returned_outlives_kill_9(ledger: Ledger, url: str, forks: Forks) -> None:
    ledger.open_account("clicks", epsilon=1)
    times = 100 if SLOW else 16
    receipts = receipts_in(forks.run(children.kill, url, times, 20261121))
    ledger.disconnect()
    with Ledger(url) as reopened:
        (verified,) = reopened.verify()
        kept = {(entry.sequence, entry.hash) for entry in reopened.history("clicks")}
    assert set(receipts) <= kept
    assert len(receipts) >= 0.75 * times  # three of four were killed at work, not before it
    assert verified.entries - 1 >= len(receipts)  # a charge may be on disk that nobody was told of, never the reverse


def test_a_forked_child_goes_on_charging_into_the_same_ledger(ledger: Ledger, url: str, forks: Forks) -> None:
    ledger.open_account("clicks", epsilon=1)
    ledger.disconnect()
    receipts = receipts_in(forks.run(children.fork, url, 5))
    with Ledger(url) as reopened:
        assert {(entry.sequence, entry.hash) for entry in reopened.history("clicks")} >= set(receipts)
        assert reopened.account("clicks").entries == 1 + 2 + 5
        assert reopened.verify()


def test_a_child_forked_from_the_midst_of_a_transaction_never_charges_unlocked(
    ledger: Ledger, url: str, forks: Forks
) -> None:
    ledger.open_account("clicks", epsilon=1)
    ledger.disconnect()
    said = forks.run(children.busy, url).splitlines()
    if url.startswith("sqlite"):
        assert len(said) == 2
        assert all("this process was forked from one that was using a ledger" in line for line in said)
    else:  # a server's locks belong to a connection, and the child has its own
        assert [line.startswith("charged") for line in said] == [True, True]


def test_of_forks_amid_charges_none_is_left_hanging_and_no_charge_is_lost(
    ledger: Ledger, url: str, forks: Forks
) -> None:
    ledger.open_account("clicks", epsilon=1)
    ledger.disconnect()
    receipts = receipts_in(forks.run(children.often, url, 200 if SLOW else 10))
    assert len({sequence for sequence, _ in receipts}) == len(receipts) > 0
    with Ledger(url) as reopened:
        assert {(entry.sequence, entry.hash) for entry in reopened.history("clicks")} >= set(receipts)
        assert reopened.verify()


def test_forty_threads_share_a_ledger(ledger: Ledger) -> None:
    ledger.open_account("clicks", epsilon=1)
    event = PureEvent(epsilon=2.0**-8)
    charges = 200 if SLOW else 80
    with ThreadPoolExecutor(40) as threads:
        receipts = list(threads.map(lambda _: ledger.charge("clicks", event), range(charges)))
    assert sorted(receipt.sequence for receipt in receipts) == list(range(1, charges + 1))
    assert ledger.verify()


def test_a_lock_that_another_process_holds_is_waited_for_and_then_named(ledger: Ledger, url: str, forks: Forks) -> None:
    ledger.open_account("clicks", epsilon=1)
    half = PureEvent(epsilon=0.5)
    with Ledger(url, wait=0.2) as hasty, Ledger(url, wait=30) as patient:
        hasty.charge("clicks", PureEvent(epsilon=0.25))
        holder = forks.start(children.hold, url)
        assert holder.stdout.readline() == b"held\n"
        with ThreadPoolExecutor(1) as threads:
            charged = threads.submit(patient.charge, "clicks", half)
            with pytest.raises(LedgerBusyError, match=r"another process holds its lock\. Nothing was written"):
                hasty.charge("clicks", half)
            assert hasty.remaining("clicks") == 0.75  # reading does not wait
            holder.result()
            charged.result()
    assert ledger.remaining("clicks") == 0.25

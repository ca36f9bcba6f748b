"""Charges and answers that may not be on disk yet. This process remembers them, so that a failure of the network or the
disk costs no budget and no answer.

A commit that fails may have taken effect all the same: the connection broke before the server's answer arrived. The
entry is then looked up, with its account locked, so that a commit still in progress is waited for. Its hash covers its
nonce, so an entry with this hash is this charge and no other. Nothing was drawn for it yet, because a draw begins only
after its charge has returned. So it may be used once, and by this process alone.

An answer that cannot be stored was charged, and may be shown. It is kept here until it can be stored. Another thread
that asks for it while it is being stored waits until this is done. Proof: ``proofs/ledger.md``.
"""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import sqlalchemy as sa

from dpselect.errors import (
    AnswerNotStoredWarning,
    LedgerBusyError,
    LedgerError,
    LedgerFullError,
    LedgerReadOnlyError,
    LedgerUnavailableError,
    LedgerVersionError,
    SelectionError,
)
from dpselect.ledger import store
from dpselect.ledger.charge_request import ChargeRequest
from dpselect.ledger.records import Receipt

PASSING = (LedgerBusyError, LedgerFullError, LedgerReadOnlyError, LedgerUnavailableError)
"""Errors that may pass, and that do not put earlier commits in doubt."""

NOT_STORED = (*PASSING, LedgerVersionError)
"""Errors that keep an answer from being stored although its charge is. After any other, the charge may be lost."""

_WHY: dict[type[LedgerError], str] = {
    LedgerBusyError: "another process holds its lock",
    LedgerFullError: "there is no room left on its disk",
    LedgerReadOnlyError: "it cannot be written to, only read",
    LedgerVersionError: "another dpselect wrote it meanwhile",
}
_BROKEN = "the disk or the connection failed"
_COMMITS = 3
_SHORTEST, _LONGEST = 0.02, 1.0


def place_of(address: sa.URL) -> sa.URL:
    """The ledger's identity in this process: the same for one file, however its path is written."""
    if address.get_backend_name() != "sqlite":
        return address
    return sa.URL.create("sqlite", database=os.path.realpath(str(address.database)))


class Patience:
    """A time limit for repeated attempts.

    Args:
        wait: seconds from now.
    """

    __slots__ = ("_end", "_pause")

    def __init__(self, wait: float) -> None:
        self._end, self._pause = time.monotonic() + wait, _SHORTEST

    def lasts(self) -> bool:
        """Whether there is time for another attempt. Pauses before it, longer each time."""
        left = self._end - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(left, self._pause))
        self._pause = min(2 * self._pause, _LONGEST)
        return True

    def until(self, done: threading.Event) -> bool:
        """Whether `done` is set in time. Waits for it."""
        return done.wait(max(0.0, self._end - time.monotonic()))


class ElsewhereError(Exception):
    """Somebody else is at work on the answer to this question: look again after a pause."""

    def is_over(self, patience: Patience) -> bool:
        """Whether to look again. Pauses before."""
        return patience.lasts()


class BeingStoredError(ElsewhereError):
    """Another thread of this process is storing the answer at this moment."""

    def __init__(self, done: threading.Event) -> None:
        super().__init__()
        self._done = done

    def is_over(self, patience: Patience) -> bool:
        """Whether that thread has stored it, or given up, in time."""
        return patience.until(self._done)


@dataclass(slots=True)
class Attempt:
    """A charge in progress.

    Attributes:
        ledger: identity of the ledger.
        charge: the requested charge.
        note: its note.
        receipt: receipt of the charge whose commit was started and not confirmed, or None.
        begun: number and hash of the entry that begins its draw, if it is this entry whose commit was started.
        process: id of the process that remembers it.
    """

    ledger: sa.URL
    charge: ChargeRequest
    note: str
    receipt: Receipt | None = None
    begun: tuple[int, str] | None = None
    process: int = 0
    _commits: int = 0
    _failed: LedgerError | None = None

    @classmethod
    def new(cls, ledger: sa.URL, charge: ChargeRequest, *, note: str, time: str | None) -> Attempt:
        """A new attempt. It takes over the remembered attempt at the same charge, if there is one.

        Args:
            ledger: identity of the ledger.
            charge: the requested charge.
            note: its note.
            time: the public time that the receipt has to have, or None for any.
        """
        for each in list(_charges):
            same = (each.ledger, each.charge, each.note) == (ledger, charge, note) and each.process == os.getpid()
            if same and each.receipt is not None and time in (None, each.receipt.time):
                try:
                    _charges.remove(each)
                except ValueError:  # another thread was faster
                    continue
                return cls(ledger, charge, note, each.receipt, each.begun)
        return cls(ledger, charge, note)

    def standing(self, connection: sa.Connection, row: store.AccountRow, *, ledger: str) -> Receipt | None:
        """The receipt of the entry whose commit failed, if it was recorded. The transaction has locked the account."""
        if self.receipt is None or self.is_in(connection, row, ledger=ledger):
            return self.receipt
        self.receipt = self.begun = None
        if self._commits >= _COMMITS and self._failed is not None:
            raise self._failed
        return None

    def is_in(self, connection: sa.Connection, row: store.AccountRow, *, ledger: str) -> bool:
        """Whether the entry whose commit was started is in the ledger."""
        assert self.receipt is not None
        sequence, digest = self.begun or (self.receipt.sequence, self.receipt.hash)
        return found_in(connection, row, sequence, digest, ledger=ledger)

    def settled(self, act: Callable[[], Receipt], *, wait: float, ledger: str) -> Receipt:
        """The result of `act`, which is repeated if its commit failed.

        Args:
            act: a transaction that calls `standing`, and sets `receipt` before it commits.
            wait: seconds to go on trying.
            ledger: the ledger's address in messages.

        Raises:
            LedgerUnavailableError: whether the entry was recorded cannot be determined. The error names the entry, and
                this process remembers it in case the same question is asked again.
        """
        patience = Patience(wait)
        try:
            while True:
                try:
                    return act()
                except PASSING as error:
                    if self.receipt is None:
                        raise
                    self._commits, self._failed = self._commits + 1, error
                    if not patience.lasts():
                        raise _unknown(self.receipt, ledger) from None
        except BaseException:
            if self.receipt is not None:
                self.process = os.getpid()
                _charges.append(self)
            raise


def _unknown(receipt: Receipt, ledger: str) -> LedgerUnavailableError:
    text = (
        f"it failed while entry {receipt.sequence} of account {receipt.account!r} was being recorded, and whether it"
        " was cannot be determined. Nothing was drawn. Ask the same again in this process: if it was recorded, it is"
        " used, and nothing more is charged."
    )
    return LedgerUnavailableError(ledger, text)


_charges: list[Attempt] = []
if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_charges.clear)  # otherwise both processes would draw for one charge


def found_in(connection: sa.Connection, row: store.AccountRow, sequence: int, digest: str, *, ledger: str) -> bool:
    """Whether the account has an entry of this number with this hash."""
    found = store.entry_at(connection, row.terms, sequence, ledger=ledger)
    return found is not None and found["hash"] == digest


def is_paid(
    connection: sa.Connection, row: store.AccountRow, charge: ChargeRequest, *, place: sa.URL, ledger: str
) -> bool:
    """Whether the charge would use a recorded entry that this process remembers."""
    for each in list(_charges):
        same = (each.ledger, replace(each.charge, certificate_hash=None)) == (
            place,
            replace(charge, certificate_hash=None),
        )
        if same and each.process == os.getpid() and each.receipt is not None:
            return each.is_in(connection, row, ledger=ledger)
    return False


Store = Callable[[Receipt, str], str]
"""Stores an answer for its charge, and returns the answer that is now stored for the request."""


@dataclass(frozen=True, slots=True)
class Unstored:
    """An answer that is not stored yet, with the receipt of its charge."""

    place: sa.URL
    receipt: Receipt
    release: str

    def given_out(self, keep: Store, *, wait: float, ledger: str) -> str:
        """The result of `keep`, tried for `wait` seconds; after that the answer itself, with a warning.

        A charge keeps its first answer, which is remembered until it is stored.
        """
        held = _answers.setdefault(self.receipt.hash, self)
        patience, done = Patience(wait), threading.Event()
        _storing[self.receipt.hash] = done
        try:
            while True:
                try:
                    return held.stored(keep)
                except NOT_STORED as error:
                    if not (isinstance(error, PASSING) and patience.lasts()):
                        warn_of(self.receipt, _WHY.get(type(error), _BROKEN), ledger=ledger)
                        return held.release
        finally:
            _storing.pop(self.receipt.hash, None)
            done.set()

    def stored(self, keep: Store) -> str:
        """The result of `keep`. The answer is forgotten once it is stored, or if its charge is missing."""
        try:
            answer = keep(self.receipt, self.release)
        except NOT_STORED:
            raise
        except Exception:
            _answers.pop(self.receipt.hash, None)
            raise
        _answers.pop(self.receipt.hash, None)
        return answer


_answers: dict[str, Unstored] = {}
"""By the hash of the charge's entry."""

_storing: dict[str, threading.Event] = {}
"""Of these a thread is storing the answer at this moment; the event is set when it has, or has given up."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_storing.clear)  # only the thread that forks goes on in the child


def store_remembered(place: sa.URL, keep: Store) -> None:
    """Store remembered answers, if that is possible now. A failure here does not stop the current question."""
    mine = [held for held in list(_answers.values()) if held.place == place and held.receipt.hash not in _storing]
    for each in mine:
        try:
            each.stored(keep)
        except NOT_STORED:
            return  # the next would fail too, and each would wait
        except SelectionError:
            continue  # its charge is lost, and `stored` has forgotten the answer


def answer_of(entry_hash: str) -> str | None:
    """The remembered answer of a charge, or None."""
    held = _answers.get(entry_hash)
    return None if held is None else held.release


def being_stored(entry_hash: str) -> BeingStoredError | None:
    """What to wait for, if a thread is storing the answer of this charge at this moment; otherwise None."""
    done = _storing.get(entry_hash)
    return None if done is None else BeingStoredError(done)


def warn_of(receipt: Receipt, why: str, *, ledger: str) -> None:
    """Warn that an answer is returned although it is not stored."""
    warnings.warn(AnswerNotStoredWarning(ledger, receipt.account, receipt.sequence, why), stacklevel=2)

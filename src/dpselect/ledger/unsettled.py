"""What this process remembers of charges and answers that may not be on disk, so that no failure of a network or a disk
costs budget or an answer.

A commit that fails may have taken effect all the same: the connection broke before the server's word came back. The
entry is then looked up, with its account locked, so that a commit still under way is waited for. Its hash covers its
nonce, so what is found is this charge and no other. Nothing was drawn for it yet: a draw begins when its charge has
returned. So it may be used, once, and by this process alone.

An answer that cannot be stored was charged, and may be shown. It is kept here until it can be. Proof:
``proofs/ledger.md``.
"""

from __future__ import annotations

import os
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
"""They may be over in a moment, and say nothing against what was committed before."""

NOT_STORED = (*PASSING, LedgerVersionError)
"""Why an answer may not be stored although its charge is; any other error says that the charge itself may be gone."""

_WHY: dict[type[LedgerError], str] = {
    LedgerBusyError: "another process holds its lock",
    LedgerFullError: "there is no room left on its disk",
    LedgerReadOnlyError: "it cannot be written to, only read",
    LedgerVersionError: "a later dpselect brought it up to date meanwhile",
}
_BROKEN = "the disk or the connection failed"
_COMMITS = 3
_SHORTEST, _LONGEST = 0.02, 1.0


def place_of(address: sa.URL) -> sa.URL:
    """Which ledger it is, for this process: the same for one file, however its path is written."""
    if address.get_backend_name() != "sqlite":
        return address
    return sa.URL.create("sqlite", database=os.path.realpath(str(address.database)))


class Patience:
    """Time to try again in.

    Args:
        wait: how many seconds, from now on.
    """

    __slots__ = ("_end", "_pause")

    def __init__(self, wait: float) -> None:
        self._end, self._pause = time.monotonic() + wait, _SHORTEST

    def lasts(self) -> bool:
        """Whether there is time for another try; pauses before it, for longer each time."""
        left = self._end - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(left, self._pause))
        self._pause = min(2 * self._pause, _LONGEST)
        return True


@dataclass(slots=True)
class Attempt:
    """A charge that is being made.

    Attributes:
        ledger: where.
        charge: what is charged.
        note: beside it.
        receipt: of the entry whose commit was begun and never confirmed, or None.
        process: that remembers it.
    """

    ledger: sa.URL
    charge: ChargeRequest
    note: str
    receipt: Receipt | None = None
    process: int = 0
    _commits: int = 0
    _failed: LedgerError | None = None

    @classmethod
    def new(cls, ledger: sa.URL, charge: ChargeRequest, *, note: str, time: str | None) -> Attempt:
        """The one that this process remembers of the same charge, if there is one; it does not any longer.

        Args:
            ledger: where.
            charge: what is charged.
            note: beside it.
            time: what the receipt has to say of when, or None.
        """
        for each in list(_charges):
            same = (each.ledger, each.charge, each.note) == (ledger, charge, note) and each.process == os.getpid()
            if same and each.receipt is not None and time in (None, each.receipt.time):
                try:
                    _charges.remove(each)
                except ValueError:  # another thread was faster
                    continue
                return cls(ledger, charge, note, each.receipt)
        return cls(ledger, charge, note)

    def standing(self, connection: sa.Connection, row: store.AccountRow, *, ledger: str) -> Receipt | None:
        """The entry whose commit failed, if it is there; within a transaction that has locked the account."""
        if self.receipt is None or found_in(connection, row, self.receipt, ledger=ledger):
            return self.receipt
        self.receipt = None
        if self._commits >= _COMMITS and self._failed is not None:
            raise self._failed
        return None

    def settled(self, act: Callable[[], Receipt], *, wait: float, ledger: str) -> Receipt:
        """What `act` returns, which is done again where it failed in its commit.

        Args:
            act: a transaction that asks for `standing`, and sets `receipt` before it commits.
            wait: for how many seconds.
            ledger: how messages speak of it.

        Raises:
            LedgerUnavailableError: whether the entry was recorded cannot be determined. It names the entry, and this
                process remembers it for when the same is asked again.
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
    os.register_at_fork(after_in_child=_charges.clear)  # both processes would draw for one charge


def found_in(connection: sa.Connection, row: store.AccountRow, receipt: Receipt, *, ledger: str) -> bool:
    """Whether the entry of `receipt` is in the ledger."""
    found = store.entry_at(connection, row.terms, receipt.sequence, ledger=ledger)
    return found is not None and found["hash"] == receipt.hash


def is_paid(
    connection: sa.Connection, row: store.AccountRow, charge: ChargeRequest, *, place: sa.URL, ledger: str
) -> bool:
    """Whether such a charge would use an entry that this process remembers."""
    for each in list(_charges):
        same = (each.ledger, replace(each.charge, certificate_hash=None)) == (
            place,
            replace(charge, certificate_hash=None),
        )
        if same and each.process == os.getpid() and each.receipt is not None:
            return found_in(connection, row, each.receipt, ledger=ledger)
    return False


Store = Callable[[Receipt, str], str]
"""Stores an answer for its charge, and returns the one that is now stored for the request."""


@dataclass(frozen=True, slots=True)
class Unstored:
    """An answer that is in no ledger yet, with the receipt of its charge."""

    place: sa.URL
    receipt: Receipt
    release: str

    def given_out(self, keep: Store, *, wait: float, ledger: str) -> str:
        """What `keep` returns, tried for `wait` seconds; then the answer itself, with a warning.

        The first answer of a charge is its answer, and is remembered until it is stored.
        """
        held = _answers.setdefault(self.receipt.hash, self)
        patience = Patience(wait)
        while True:
            try:
                return held.stored(keep)
            except NOT_STORED as error:
                if not (isinstance(error, PASSING) and patience.lasts()):
                    warn_of(self.receipt, _WHY.get(type(error), _BROKEN), ledger=ledger)
                    return held.release

    def stored(self, keep: Store) -> str:
        """What `keep` returns; the answer is remembered no longer if its charge is not there."""
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


def store_remembered(place: sa.URL, keep: Store) -> None:
    """Store what could not be stored before, if that can be done now. What is asked now does not fail for it."""
    for each in [held for held in list(_answers.values()) if held.place == place]:
        try:
            each.stored(keep)
        except NOT_STORED:
            return  # nor could the next one be, and each of them would wait
        except SelectionError:
            continue  # its charge is gone, and it was forgotten


def answer_of(entry_hash: str) -> str | None:
    """The answer of a charge that could not be stored, or None."""
    held = _answers.get(entry_hash)
    return None if held is None else held.release


def warn_of(receipt: Receipt, why: str, *, ledger: str) -> None:
    """Say that an answer is given out although it is not stored."""
    warnings.warn(AnswerNotStoredWarning(ledger, receipt.account, receipt.sequence, why), stacklevel=2)

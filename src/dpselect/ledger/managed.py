"""Management of a ledger: opening accounts, changing limits, closing and anchoring."""

from __future__ import annotations

import secrets
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import sqlalchemy as sa

from dpselect.accounting.rounding import fraction_up
from dpselect.errors import InvalidAccountError, InvalidLimitError, InvalidParameterError, Shown
from dpselect.ledger import store
from dpselect.ledger.accounts import AccountTerms, State, described
from dpselect.ledger.anchor import EXPECTED, anchor_of
from dpselect.ledger.arguments import exact_fraction, short_text
from dpselect.ledger.chain import FIRST, account_seal, canonical, entry_hash
from dpselect.ledger.database import Database
from dpselect.ledger.readable import ReadableLedger
from dpselect.ledger.records import Account, Head
from dpselect.ledger.schema import accounts, check_version, created, entries, lock_accounts
from dpselect.ledger.verification import refuse_behind, refuse_missing_accounts
from dpselect.privacy import Neighbours, neighbouring_relation


class ManagedLedger(ReadableLedger):
    """The part of `Ledger` that makes and changes promises. Arguments and errors are those of `Ledger`."""

    __slots__ = ()

    def open_account(
        self,
        name: str,
        *,
        epsilon: object,
        delta: object = 0.0,
        unit: str | None = None,
        neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
        set_aside: object = 0.0,
    ) -> Account:
        """Promise that all releases charged to the account together stay within `epsilon` and `delta`.

        Args:
            name: of the account.
            epsilon: the limit, > 0: the exact value of a float, a `Decimal`, a `Fraction`, or a decimal in text.
            delta: the probability with which `epsilon` may fail, from 0 to below 1; far below one over the number of
                units. If it is above 0, more charges fit, from about ten on.
            unit: who is protected, as in ``Dataset(unit=...)``. None: the unit of the first charge that names one.
            neighbours: which data sets the promise compares.
            set_aside: the part of `delta` reserved for mechanisms that have a delta of their own.

        Raises:
            InvalidAccountError: there is already an account of this name.
            InvalidParameterError: an argument is out of range.
            LedgerError: the ledger cannot be written to.
        """
        name = short_text(name, "account")
        unit = None if unit is None else short_text(unit, "unit")
        limit = exact_fraction(epsilon, "epsilon")
        whole = exact_fraction(delta, "delta", zero=True, below_one=True)
        own = exact_fraction(set_aside, "set_aside", zero=True, below_one=True)
        relation = neighbouring_relation(neighbours)
        if own > whole:
            raise InvalidParameterError("set_aside", float(own), "at most delta")
        self._id = created(self._database)
        with self._writing() as (connection, heads):
            lock_accounts(connection)
            names, noted = store.account_names(connection, ledger=self._database.shown), self._noted()
            if self._anchor is not None and names and not noted:
                raise self._anchor.unknown(names[0])
            if name in names:
                raise InvalidAccountError("account", Shown(repr(name)), "a name that no account of this ledger has")
            if name in noted:
                refuse_missing_accounts([], [name], ledger=self._database.shown)
            number = 1 + (connection.scalar(sa.select(sa.func.max(accounts.c.number))) or 0)
            terms = AccountTerms.new(number, name, neighbours=relation, epsilon=limit, delta=whole, set_aside=own)
            state = State.opened(terms, epsilon=limit, unit=unit)
            body = {"terms": terms.to_text(), "epsilon": str(limit), "unit": unit}
            text = canonical({**self._stamp("open"), **body, "account": name, "sequence": 0})
            head = entry_hash(FIRST, text)
            seal = account_seal(number, name, terms.to_text(), state.to_text(), head)
            row = {"number": number, "name": name, "terms": terms.to_text(), "state": state.to_text()}
            connection.execute(accounts.insert(), {**row, "head": head, "seal": seal})
            connection.execute(entries.insert(), {"account": number, "sequence": 0, "body": text, "hash": head})
            heads.append(store.head_of(terms, state, head))
        self._database.checkpoint()
        return described(terms, state, head)

    def set_limit(self, name: str, *, epsilon: object, reason: str = "") -> Account:
        """Raise or lower the limit, by an entry of its own.

        Raising it weakens a promise that people may rely on, so it needs their consent. Proof, also of what holds if
        the decision depended on answers: ``proofs/ledger.md``.

        Args:
            name: of the account.
            epsilon: the new limit, as in `open_account`; at least what is spent.
            reason: why, and who allowed it; stored in the entry, and shown by `history`.

        Raises:
            InvalidLimitError: more than `epsilon` is spent already.
            InvalidAccountError: no such account, or it is closed.
            LedgerReadOnlyError: this user of the server may not change limits.
        """
        name, limit = short_text(name, "account"), exact_fraction(epsilon, "epsilon")
        reason = short_text(reason, "reason", empty=True)
        with self._writing() as (connection, heads):
            row = self._locked(connection, name)
            self._refuse_closed(row)
            spent = row.terms.spent(row.state.total)
            if spent > limit:
                expected = f"at least {fraction_up(spent)!r}, what is spent"
                raise InvalidLimitError("epsilon", float(limit), expected, "Nothing was changed.")
            state = row.state.limited(limit)
            body = {**self._stamp("limit"), "epsilon": str(limit)} | ({"note": reason} if reason else {})
            heads.append(store.append(connection, row, state, body))
        return described(row.terms, state, heads[-1].hash)

    def close(self, name: str) -> Account:
        """Close the account for ever: no more charges. Its history stays.

        Raises:
            InvalidAccountError: no such account, or it is closed already.
        """
        with self._writing() as (connection, heads):
            row = self._locked(connection, short_text(name, "account"))
            self._refuse_closed(row)
            state = row.state.closed()
            heads.append(store.append(connection, row, state, self._stamp("close")))
        return described(row.terms, state, heads[-1].hash)

    def anchor(self, to: str | Path) -> list[Head]:
        """Note the latest entry of every account in an anchor, once. ``Ledger(anchor=)`` does so after each charge.

        Raises:
            LedgerRolledBackError: the anchor knows of entries that are missing here.
            LedgerForkedError: the anchor knows of other entries.
            AnchorError: the anchor cannot be written, is damaged, or belongs to another ledger.
        """
        anchor = anchor_of(to, wait=self._wait, ledger=self._place)
        if anchor is None:
            raise InvalidParameterError("to", to, EXPECTED)
        self._current()
        with self._reading() as connection:
            id_, shown, found = cast(str, self._id), self._database.shown, list[Head]()
            known, names = anchor.heads(id_), store.account_names(connection, ledger=shown)
            refuse_missing_accounts(names, known, ledger=shown)
            for name in names:
                row = store.account_row(connection, name, ledger=shown)
                refuse_behind(connection, row, known.get(name), ledger=shown)
                found.append(store.head_of(row.terms, row.state, row.head))
                if name not in known or known[name].sequence < found[-1].sequence:
                    anchor.note(id_, found[-1])
            return found

    def _current(self) -> Database:
        """The database, once its tables were seen to be those of a ledger."""
        if self._id is None:
            with self._reading():
                pass
        return self._database

    @contextmanager
    def _writing(self) -> Generator[tuple[sa.Connection, list[Head]]]:
        """A transaction, and a list for its new heads, which are noted in the anchor once the transaction is on disk.

        Not earlier: an anchor that is ahead of its ledger means that entries were lost. If the ledger is ahead, because
        of a crash in between, the last charge was never drawn.
        """
        heads: list[Head] = []
        with self._current().writing() as connection:
            yield connection, heads
        if self._anchor is not None:
            noted = [self._anchor.noted(cast(str, self._id), head) for head in heads]
            others = [now for now, head in zip(noted, heads, strict=True) if now != head]
            if others:  # someone else charged meanwhile: to this ledger, or to a copy of it
                with self._reading() as connection:
                    for now in others:
                        row = store.account_row(connection, now.account, ledger=self._database.shown)
                        refuse_behind(connection, row, now, ledger=self._database.shown)

    def _locked(self, connection: sa.Connection, name: str) -> store.AccountRow:
        row = store.account_row(connection, name, ledger=self._database.shown, lock=True)
        check_version(row.version, self._database.shown)
        noted = self._refuse_behind(connection, row)
        return row if noted is None else replace(row, noted=noted.sequence)

    def _stamp(self, kind: str, now: datetime | None = None) -> dict[str, str]:
        """The fields of every entry. The time is for the ledger's holder: nothing depends on the order of clocks.

        The nonce hides the time from anyone who sees the entry's hash in a receipt and tries all milliseconds of a day.
        """
        time = (now or datetime.now(UTC)).isoformat(timespec="milliseconds")
        stamp = {"kind": kind, "time": time, "nonce": secrets.token_hex(16)}
        return stamp | {"ledger": cast(str, self._id)}

    def _refuse_closed(self, row: store.AccountRow) -> None:
        if not row.state.is_open:
            raise InvalidAccountError("account", Shown(repr(row.terms.name)), "an open account; this one is closed")

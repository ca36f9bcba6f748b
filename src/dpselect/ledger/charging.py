"""A charge that is asked for: checked, found again if it was made ahead, and refused with what is left.

All questions of a plan are charged ahead, in one transaction, and each is drawn later. The entry of such a charge says
so. It may be drawn for once, by the process that commits an entry that begins this draw and costs nothing. So a charge
ahead without such an entry was never drawn for, and after a crash the next attempt uses it. One with such an entry may
have been drawn for, and a new attempt is charged again. Proof: ``proofs/ledger.md``.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import cast

from dpselect.accounting.codec import to_json
from dpselect.accounting.events import (
    ComposedEvent,
    Event,
    NonAdaptiveEvent,
    Run,
    SequenceEvent,
    has_direction,
)
from dpselect.accounting.filter import Cost
from dpselect.accounting.rounding import fraction_up
from dpselect.errors import ChargeRefusedError, InvalidParameterError, RequestReusedError, Shown, WrongAccountError
from dpselect.ledger.accounts import Account, as_written, question_digest
from dpselect.ledger.arguments import any_text, hash_text, short_text
from dpselect.ledger.records import Entry, Receipt, epsilon_left, with_few_digits
from dpselect.ledger.store import Book
from dpselect.privacy import Neighbours

_as_json = functools.lru_cache(maxsize=256)(to_json)  # the same events come again and again


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeRequest:
    """A requested charge.

    Attributes:
        account: name of the account.
        what: the event to charge, which is assumed to fit the account's unit and relation; or the run.
        text: the same as JSON.
        request: id of the request, or None.
        request_hash: hash of the question, to recognise it when it is repeated; None if neither is given.
        certificate_hash: hash of the certificate without its answer, or None.
        note: a public note, or "".
    """

    account: str
    what: Event | Run
    text: str
    request: str | None
    request_hash: str | None
    certificate_hash: str | None
    note: str

    @classmethod
    def of(
        cls,
        account: object,
        what: object,
        *,
        request: object,
        question: object,
        certificate: object = None,
        note: object = "",
    ) -> ChargeRequest:
        """The request from a caller's arguments."""
        name = short_text(account, "account")
        if not isinstance(what, (Event, Run)):
            raise InvalidParameterError("event", what, "an event or a Run of dpselect.accounting")
        text = _as_json(cast("Event | Run", what))
        words = any_text(question, "question")
        under = None if request is None else short_text(request, "request")
        return cls(
            account=name,
            what=cast("Event | Run", what),
            text=text,
            request=under,
            request_hash=question_digest(text, words) if words or under is not None else None,
            certificate_hash=None if certificate is None else hash_text(certificate, "certificate"),
            note=short_text(note, "note", empty=True),
        )

    @property
    def event(self) -> Event:
        """The event to charge."""
        return self.what.event if isinstance(self.what, Run) else self.what

    @property
    def unit(self) -> str | None:
        """The unit of a run; None for a bare event."""
        return self.what.unit if isinstance(self.what, Run) else None

    @property
    def entry_fields(self) -> dict[str, str]:
        """The fields of the charge's entry, except its cost and its public time."""
        optional = {"request": self.request, "asked": self.request_hash, "question": self.certificate_hash}
        optional["note"] = self.note or None
        return {"event": self.text} | {name: value for name, value in optional.items() if value is not None}

    def held(self, book: Book, account: Account) -> list[Entry]:
        """The entries under its request.

        Raises:
            RequestReusedError: they are of another question.
        """
        found = [] if self.request is None else book.under(account, self.request)
        if any(entry.body.get("asked") != self.request_hash for entry in found):
            shown, hint = Shown(repr(self.request)), "Nothing was charged. Use another id for another question."
            raise RequestReusedError("request", shown, "an id not used for another question", hint)
        return found

    def check_for(self, account: Account) -> None:
        """Refuse an account that protects another unit, or under another neighbouring relation."""
        name, relation = account.name, account.neighbours
        if isinstance(self.what, Run) and self.what.neighbours is not relation:
            given, expected = str(self.what.neighbours), f"{str(relation)!r}, which account {name!r} protects against"
            raise WrongAccountError("neighbours", Shown(repr(given)), expected, "Nothing was charged.")
        if relation is Neighbours.REPLACE_ONE and has_direction(self.event):
            expected = "one that also holds when a unit is replaced"
            hint = f"Account {name!r} protects against that. Nothing was charged."
            raise WrongAccountError("event", Shown("LossIntervalEvent"), expected, hint)
        if None not in (self.unit, account.unit) and self.unit != account.unit:
            expected = f"{account.unit!r}, whom account {name!r} protects"
            raise WrongAccountError("unit", Shown(repr(self.unit)), expected, "Nothing was charged.")


AHEAD, BEGINS = "ahead", "begins"
"""Fields of entries: of a charge that was made ahead, and of one that begins the draw for it, with its number."""


def charged_ahead(held: Sequence[Entry], certificate: str | None) -> tuple[list[Receipt], list[Receipt]]:
    """The receipts of charges ahead among the entries of a request: those not drawn for, and those begun.

    The hash of a certificate is not compared if it is None.
    """
    waiting: dict[int, Receipt] = {}
    begun: list[Receipt] = []
    for entry in held:
        if BEGINS in entry.body:
            found = waiting.pop(entry.body[BEGINS], None)
            begun += [] if found is None else [found]
        elif AHEAD in entry.body and entry.receipt and certificate in (None, entry.receipt.question):
            waiting[entry.sequence] = entry.receipt
    return list(waiting.values()), begun


_FEW = Context(prec=5, rounding=ROUND_CEILING)
"""For a sum of divergences, whose last digits mean nothing to a reader."""


def refusal(event: Event, cost: Cost, account: Account, *, ledger: str) -> ChargeRefusedError:
    """The error for `event`, which costs `cost` and does not fit."""
    limits, total = account.limits, account.total + cost
    if event.delta and total.delta > limits.set_aside:
        text = _no_delta(event.delta, account)
    else:
        left = epsilon_left(account.left, equals="=")
        text = f"account {account.name!r} has {left} left of {as_written(account.epsilon)!r}; "
        rounds = isinstance(event, (ComposedEvent, SequenceEvent, NonAdaptiveEvent))
        if limits.orders and rounds:
            text += f"with this, {_shown(limits.spent(total), _FEW)} would be spent"
        else:
            text += f"this would cost {_shown(cost.pure)}"
            text += f", the sum of its {'parts' if isinstance(event, SequenceEvent) else 'rounds'}" if rounds else ""
    return ChargeRefusedError(ledger, f"{text}. Nothing was charged or drawn.", account.left)


def _no_delta(delta: float, account: Account) -> str:
    """What is left of the delta that is set aside, and how to get more."""
    name, left = account.name, account.set_aside_left
    how = "an account is opened with a delta and a part of it set aside (set_aside, --set-aside)"
    if not account.set_aside:
        return f"account {name!r} has no delta set aside for questions that have one of their own: for them {how}"
    aside = f"{as_written(account.set_aside)!r} that it sets aside for questions that have a delta of their own"
    text = f"account {name!r} has {left!r} left of the delta of {aside}; this needs {delta!r}. "
    if left > 0:
        text += "Ask with a smaller delta. "
    return f"{text}To set more aside, open another account: {how}, and what both accounts spend adds up"


def _shown(spent: Fraction, rounding: Context | None = None) -> str:
    if rounding:
        price = float(rounding.divide(Decimal(spent.numerator), Decimal(spent.denominator)))
    else:
        price = fraction_up(spent)
    return repr(with_few_digits(price, up=True)) if math.isfinite(price) else f"more than {sys.float_info.max!r}"

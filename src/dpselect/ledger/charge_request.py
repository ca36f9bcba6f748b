"""A request for a charge, checked before the ledger is read."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import cast

from dpselect.accounting.events import Event, Run, to_json
from dpselect.accounting.events.kinds import has_direction
from dpselect.errors import InvalidParameterError, Shown, WrongAccountError
from dpselect.ledger.accounts import AccountTerms, State
from dpselect.ledger.arguments import any_text, hash_text, short_text
from dpselect.ledger.chain import question_digest
from dpselect.ledger.records import Receipt
from dpselect.privacy import Neighbours

_as_json = functools.lru_cache(maxsize=256)(to_json)  # the same events come again and again


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeRequest:
    """A requested charge.

    Attributes:
        account: name of the account.
        event: the event to charge.
        text: the event, or the whole run, as JSON.
        neighbours: neighbouring relation of a run; None for a bare event, which is assumed to fit the account.
        unit: unit of a run; None for a bare event.
        request: id of the request, or None.
        request_hash: hash of the question, to recognise it when it is repeated; None if neither is given.
        certificate_hash: hash of the certificate without its answer, or None.
    """

    account: str
    event: Event
    text: str
    neighbours: Neighbours | None
    unit: str | None
    request: str | None
    request_hash: str | None
    certificate_hash: str | None

    @classmethod
    def of(
        cls, account: object, what: object, *, request: object, question: object, certificate: object = None
    ) -> ChargeRequest:
        """The request from a caller's arguments.

        Raises:
            InvalidParameterError: an argument that has to be text is not, or `what` is not an event.
        """
        name = short_text(account, "account")
        if not isinstance(what, (Event, Run)):  # a union of classes: no type is narrowed by it
            raise InvalidParameterError("event", what, "an event or a Run of dpselect.accounting")
        run = what if isinstance(what, Run) else None
        text = _as_json(run if run else cast(Event, what))
        words = any_text(question, "question")
        under = None if request is None else short_text(request, "request")
        return cls(
            account=name,
            event=cast(Event, run.event if run else what),
            text=text,
            neighbours=run.neighbours if run else None,
            unit=run.unit if run else None,
            request=under,
            request_hash=question_digest(text, words) if words or under is not None else None,
            certificate_hash=None if certificate is None else hash_text(certificate, "certificate"),
        )

    @property
    def entry_fields(self) -> dict[str, str]:
        """The fields of the charge's entry, except its cost."""
        optional = {"request": self.request, "asked": self.request_hash, "question": self.certificate_hash}
        return {"event": self.text} | {name: value for name, value in optional.items() if value is not None}

    def receipt(self, sequence: int, head: str, time: str, *, ledger: str | None) -> Receipt:
        """The receipt of the entry that records the charge."""
        return Receipt(
            account=self.account,
            sequence=sequence,
            hash=head,
            time=time,
            request=self.request,
            question=self.certificate_hash,
            ledger=ledger,
        )

    def check_for(self, terms: AccountTerms, state: State) -> None:
        """Refuse an account that protects another unit, or under another neighbouring relation."""
        if self.neighbours is not None and self.neighbours is not terms.neighbours:
            expected = f"{str(terms.neighbours)!r}, which account {terms.name!r} protects against"
            raise WrongAccountError("neighbours", Shown(repr(str(self.neighbours))), expected, "Nothing was charged.")
        if terms.neighbours is Neighbours.REPLACE_ONE and has_direction(self.event):
            expected = "one that also holds when a unit is replaced"
            hint = f"Account {terms.name!r} protects against that. Nothing was charged."
            raise WrongAccountError("event", Shown("LossIntervalEvent"), expected, hint)
        if None not in (self.unit, state.unit) and self.unit != state.unit:
            expected = f"{state.unit!r}, whom account {terms.name!r} protects"
            raise WrongAccountError("unit", Shown(repr(self.unit)), expected, "Nothing was charged.")

"""What a ledger knows of a plan that was run before: stored answers with their days, and charges without an answer."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from dpselect.errors import ChargeRefusedError
from dpselect.ledger import Ledger, Receipt
from dpselect.session.paying import TableQuestion


@dataclass(frozen=True, slots=True)
class Before:
    """What was done for the questions of a plan before it is run.

    Attributes:
        stored: the day on which each question with a stored answer was asked, by its name.
        lost: the number of the latest charge of each question whose draw has begun, and that has no stored answer: the
            answer is lost, unless another run is still drawing.
        refused: why the account would refuse the plan, or empty.
    """

    stored: Mapping[str, str]
    lost: Mapping[str, int]
    refused: str = ""

    @property
    def stored_sentence(self) -> str:
        """From when the stored answers are, in one sentence; empty if there are none."""
        if not self.stored:
            return ""
        days: dict[str, list[str]] = {}
        for name, day in self.stored.items():
            days.setdefault(day, []).append(name)
        listed = "; ".join(f"{', '.join(names)} on {day}" for day, names in sorted(days.items()))
        return f"Answered before, and stored in the ledger: {listed}. The table is not compared with that of then."

    @property
    def begun_sentence(self) -> str:
        """Which draws another run has begun, and what follows, in one sentence; empty if there are none."""
        if not self.lost:
            return ""
        then = "its answer, it costs" if len(self.lost) == 1 else "their answers, they cost"
        begun = f"Charged before, and begun by another run, which may still be drawing: {self._listed}"
        return f"{begun}; unless it stores {then} again."

    @property
    def lost_sentence(self) -> str:
        """Which questions were charged again, after the run, in one sentence; empty if none was."""
        if not self.lost:
            return ""
        then = "it was" if len(self.lost) == 1 else "they were"
        return (
            f"Charged before, but the run that began the draw stored no answer: {self._listed}; {then} charged again."
        )

    @property
    def _listed(self) -> str:
        return ", ".join(f"{name} (entry {number})" for name, number in self.lost.items())

    def after(self, charged: Mapping[str, int]) -> Before:
        """The same after the run, whose answers were paid for by these entries: what another run stored is not lost."""
        return replace(self, lost={name: at for name, at in self.lost.items() if charged.get(name) != at})


NOTHING = Before({}, {})


def looked_up(
    ledger: Ledger, account: str, asked: Mapping[str, TableQuestion[Any]], requests: Mapping[str, str]
) -> Before:
    """What the ledger has under the requests of these questions, both by name; nothing is charged.

    Raises:
        InvalidAccountError, RequestReusedError, LedgerError: as `Ledger.look_at_all`, but no ChargeRefusedError.
    """
    known: Sequence[Receipt | None] = []
    refused = ""
    try:
        known = ledger.look_at_all(account, [(each.run, requests[name], each.text) for name, each in asked.items()])
    except ChargeRefusedError as refusal:
        refused = refusal.what
    stored: dict[str, str] = {}
    lost: dict[str, int] = {}
    for place, name in enumerate(asked):
        receipt = known[place] if known else None
        if receipt is not None:  # stored or kept by this process, or charged and not drawn for
            stored |= {} if receipt.release is None else {name: _day(receipt.release)}
            continue
        entries = ledger.under(account, requests[name])
        begun = {each.body["begins"] for each in entries if each.kind == "begin"}
        answers = [each.release for each in entries if each.release is not None]
        if answers:
            stored[name] = _day(answers[0])
            continue
        charges = [each for each in entries if each.kind == "charge"]
        drawn = [each.sequence for each in charges if "ahead" not in each.body or each.sequence in begun]
        if drawn and len(drawn) == len(charges):
            lost[name] = drawn[-1]
    return Before(stored, lost, refused)


def _day(release: str) -> str:
    return datetime.fromisoformat(json.loads(release)["time"]).astimezone(UTC).date().isoformat()


@contextmanager
def explained(before: Before) -> Generator[None]:
    """Say in a refusal which charges may have lost their answers, and what helps."""
    try:
        yield
    except ChargeRefusedError as error:
        said = with_lost(error.what, before)
        raise (error if said == error.what else ChargeRefusedError(error.ledger, said, error.left)) from None


def with_lost(refused: str, before: Before) -> str:
    """The text of a refusal, with the charges that may have lost their answers."""
    if not before.lost:
        return refused
    helps = "To ask again, raise the limit of the account (dpselect ledger limit), or start an account anew."
    return f"{refused} {before.begun_sentence} {helps}"

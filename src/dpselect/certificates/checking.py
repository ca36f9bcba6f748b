"""Checks of certificates: each statement against public arguments, the guarantee against its event, the charge."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpselect.accounting import Event, compose, planned_epsilon
from dpselect.accounting.codec import from_json
from dpselect.accounting.events import BoundedRangeEvent, LaplaceProfileEvent, PureEvent, Run
from dpselect.certificates.release import Release, digest, question_hash
from dpselect.errors import InvalidParameterError
from dpselect.questions.words import canonical_json, wrong

if TYPE_CHECKING:
    from dpselect.ledger import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What was verified about a certificate.

    Attributes:
        release: the release it certifies.
        epsilon: the guarantee, recomputed from the event at the certificate's delta; at most what is stated.
        error_bound: whether the error bound was recomputed from the event and public arguments, and agrees.
        charged: whether the charge was found in a ledger, on an account of this unit and relation; None if no ledger
            was given.
        question: whether the receipt holds a hash of the question, and this hash matches the certificate: every field
            except the value. With a ledger, the charge was found to hold the same hash. Without one, a careful editor
            can write a new hash. False for a certificate without a receipt, or
            attached to a charge made by hand.
        value: whether the value itself is certified: the ledger stored this release for its request id. Without a
            request id no ledger knows the value, and careful edits of it go unnoticed.
    """

    release: Release
    epsilon: float
    error_bound: bool
    charged: bool | None
    question: bool
    value: bool


def verify(text: str, *, ledger: Ledger | None = None, allow_seeded: bool = False) -> Checked:
    """Recompute what the certificate `text` claims, and whether its value is one that its candidates allow.

    A careful editor of a certificate can make its parts agree with each other, because none of its hashes needs a
    secret. Only a ledger shows that exactly this question was asked and charged. The value itself is certified only for
    a release with a request id, which the ledger stored.

    Args:
        text: what `Release.to_json` wrote.
        ledger: the ledger of its receipt, or None.
        allow_seeded: check also a release of `dpselect.testing.seeded`, which is not private; for tests of checks.

    Raises:
        InvalidCertificateError: it is seeded, and so not private; it was edited, is not a certificate, or does not
            match the ledger. Says which.
        LedgerError: the ledger cannot be read.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> certificate = people.median("age", bounds=(0, 120), step=1, epsilon=0.5).to_json()
    >>> checked = verify(certificate)
    >>> checked.epsilon, checked.error_bound, checked.charged, checked.question, checked.value
    (0.5, True, None, False, False)
    >>> verify(certificate.replace('"delta": 0.0, "epsilon": 0.5', '"delta": 0.0, "epsilon": 0.1'))
    Traceback (most recent call last):
    dpselect.errors.InvalidCertificateError: certificate=<guarantee.epsilon>: expected what its question gives.
    """
    release = Release.from_json(text)
    held: dict[str, Any] = json.loads(text)
    if held.get("digest") != digest(held):
        raise wrong("digest", "that of its content", "It was edited.")
    if text.strip() != canonical_json(held):
        raise wrong("text", "exactly the text that Release.to_json writes")
    if release.seeded and not allow_seeded:
        raise wrong("seeded", "an answer with the operating system's noise", "Seeded: not private. It is for tests.")
    epsilon = _cost(release.event, release.delta)
    if not epsilon <= release.epsilon:
        raise wrong("guarantee", f"at least epsilon={epsilon!r}, what its event costs")
    stored = ledger is not None and _stored(release, text, ledger)
    return Checked(
        release=release,
        epsilon=epsilon,
        error_bound=release.error_bound is not None,
        charged=None if ledger is None else True,
        question=_agrees_with_receipt(release, held),
        value=stored,
    )


def _agrees_with_receipt(release: Release, held: dict[str, Any]) -> bool:
    """Whether the receipt says what was asked; then it has to be what the certificate says."""
    receipt = release.receipt
    if receipt is None or "question" not in receipt:
        return False
    if receipt["time"] != held["time"]:
        raise wrong("receipt.time", "the time of the release")
    if receipt["question"] != question_hash(held):
        raise wrong("receipt.question", "the hash of everything in the certificate except the value", "It was edited.")
    return True


def _cost(event: Event, delta: float) -> float:
    """The smaller of what the general bounds give and what rounds are planned by; of one pure draw, its own."""
    if not delta and isinstance(event, PureEvent | BoundedRangeEvent | LaplaceProfileEvent):
        return event.epsilon
    planned = planned_epsilon(event, delta=delta)
    general = compose([event]).epsilon(delta)
    return general if planned is None else min(general, planned)


def _stored(release: Release, text: str, ledger: Ledger) -> bool:
    """Whether the ledger also stored the release whose charge it has to have."""
    receipt = release.receipt
    if receipt is None:
        raise wrong("no receipt", "the receipt of a charge to this ledger")
    try:
        account = ledger.account(receipt["account"])
        entry = ledger.find(receipt["account"], receipt["sequence"])
    except InvalidParameterError:  # no such account
        raise wrong("receipt", "that of a charge in this ledger") from None
    if entry is None or entry.receipt is None or entry.hash != receipt.get("hash"):
        raise wrong("receipt", "that of a charge in this ledger")
    expected_receipt = entry.receipt.to_dict()
    for name in sorted({*expected_receipt, *receipt} - {"request"}):  # what it was for is said below
        if receipt.get(name) != expected_receipt.get(name):
            raise wrong(f"receipt.{name}", "what the charge in this ledger says")
    charged = from_json(entry.body["event"])
    try:
        expected = Run(
            event=release.event,
            mechanism=release.mechanism,
            neighbours=release.neighbours,
            unit=release.unit,
        )
    except InvalidParameterError:  # no ledger takes so long a name
        raise wrong("event", "what was charged under its receipt") from None
    if charged not in (expected, release.event) or receipt.get("request") != entry.request:
        raise wrong("event", "what was charged under its receipt")
    # A charge by a bare event names neither: then it protects what the account does.
    if release.neighbours is not account.neighbours or account.unit not in (None, release.unit):
        raise wrong("guarantee", "the unit and the relation that the account protects")
    if entry.release is None:
        return False
    try:
        held: object = json.loads(entry.release)
    except (ValueError, RecursionError):  # whoever calls store_release may keep any text
        held = None
    if held != json.loads(text):
        raise wrong("value", "the release that the ledger stored for its request")
    return True

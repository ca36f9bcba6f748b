"""Checks of certificates: each statement against public arguments, the guarantee against its event, the charge."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from dpselect.accounting import ComposedEvent, Event, SequenceEvent, compose, planned_epsilon
from dpselect.accounting.events import Run, from_json
from dpselect.certificates.release import Release, canonical_json, digest, question_hash
from dpselect.errors import InvalidCertificateError, InvalidParameterError, SelectionError
from dpselect.privacy import Neighbours
from dpselect.questions import CONFIDENCE, QUESTIONS, Grouped, NoisyUnits, Terms, WithCounts, WithUsable
from dpselect.questions.fields import wrong
from dpselect.questions.question import PARTIAL_SELECTION, ROW_CONDITIONS, Priced
from dpselect.questions.stated import Stated
from dpselect.summaries import CandidateKind, PublicCandidates, PublicGroups

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
            can write a new hash. False for a certificate without a receipt, from before receipts had such a hash, or
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


def check(text: str, *, ledger: Ledger | None = None, allow_seeded: bool = False) -> Checked:
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
    >>> checked = check(certificate)
    >>> checked.epsilon, checked.error_bound, checked.charged, checked.question, checked.value
    (0.5, True, None, False, False)
    >>> check(certificate.replace('"epsilon": 0.5', '"epsilon": 0.1'))
    Traceback (most recent call last):
    dpselect.errors.InvalidCertificateError: certificate=<digest>: expected that of its content. It was edited.
    """
    release = Release.from_json(text)
    held: dict[str, Any] = json.loads(text)
    if held.get("digest") != digest(held):
        raise wrong("digest", "that of its content", "It was edited.")
    if release.seeded and not allow_seeded:
        raise wrong("seeded", "an answer with the operating system's noise", "Seeded: not private. It is for tests.")
    if release.event is None:
        raise wrong("no event", "an event to recompute the guarantee from")
    written = release.to_dict()
    for name, value in written.items():
        if held.get(name) != value:
            raise wrong(name, "as Release.to_json writes it")
    if text.strip() != canonical_json(written | {"digest": digest(written)}):
        raise wrong("text", "exactly the text that Release.to_json writes")
    epsilon = _cost(release.event, release.delta)
    if not epsilon <= release.epsilon:
        raise wrong("guarantee", f"at least epsilon={epsilon!r}, what its event costs")
    recomputed = check_claims(release)
    check_value(release)
    stored = ledger is not None and _stored(release, text, ledger)
    asked = _agrees_with_receipt(release, held)
    charged = None if ledger is None else True
    return Checked(
        release=release,
        epsilon=epsilon,
        error_bound=recomputed,
        charged=charged,
        question=asked,
        value=stored,
    )


verify = check
"""The same, as `dpselect.verify`."""


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
    """The smaller of what the general bounds give and what rounds are planned by."""
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
            event=cast(Event, release.event),
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


def check_claims(release: Release) -> bool:
    """Whether the error bound was recomputed, too; contradictions to the public arguments are refused.

    Raises:
        InvalidCertificateError: names the field.
    """
    try:
        question = _planned_anew(release)
        event, terms = question.event, question.terms
    except InvalidCertificateError:
        raise
    except SelectionError:
        raise wrong("arguments", "arguments that such a question can have") from None
    moved = terms.sensitivity
    can_move = _agree(release, release.sensitivity, moved.value) and release.monotonic is moved.monotonic
    promised = release.epsilon == terms.epsilon and release.neighbours is moved.neighbours
    for agrees, field, expected in (
        (release.event == event, "event", "that of the mechanism at the guarantee's epsilon"),
        (release.mechanism == terms.mechanism, "mechanism.name", "the mechanism of such a question"),
        (release.rounds == terms.rounds, "mechanism.rounds", "as many as such a question takes"),
        (can_move, "mechanism.sensitivity", "the sensitivity of such a question"),
        (promised, "guarantee", "the epsilon and the relation of such a question"),
        (release.delta == terms.delta, "guarantee.delta", "the delta of such a question, 0 for most"),
        (dict(release.arguments) == dict(terms.arguments), "arguments", "those of such a question"),
        (release.groups == terms.groups, "groups.epsilon", "the share of one group in the guarantee's epsilon"),
        (release.proofs in _proofs(release, terms), "proofs", "the pages that prove such an answer"),
        (release.confidence == CONFIDENCE, "error_bound.confidence", f"{CONFIDENCE}, that of every release"),
        (_is_bound(release, terms.error_bound), "error_bound", "the bound that its event and public arguments give"),
        (_is_usable(release.usable, terms.usable), "usable", "the bound and the cost of such a number of units"),
        (_is_described(release.counted, terms.counted), "counts", "the bound and the cost of such counts"),
    ):
        if not agrees:
            raise wrong(field, expected)
    return terms.error_bound is not None


def check_value(release: Release) -> None:
    """Refuse a value that the stated candidates do not allow, or its noisy numbers contradict, in any of the groups.

    Raises:
        InvalidCertificateError: names the value, or the candidates if their description is impossible.
    """
    stated, kind = _stated(release), QUESTIONS[release.task]
    answers: dict[Any, Any] = release.value if isinstance(release.value, dict) else {None: release.value}
    for group, answer in answers.items():
        values = cast("list[Any]", answer) if isinstance(answer, list) else [answer]
        if not kind.allows(values, stated):
            raise wrong("value", "one that the stated candidates allow")
        units, counts = _at_no_cost(release.usable, group), _at_no_cost(release.counted, group)
        if not kind.agrees(values, units, counts if isinstance(answer, list) else None, stated):
            raise wrong("value", "one that agrees with the number of units or the counts released with it")


def _at_no_cost(numbers: NoisyUnits | None, group: object) -> Any:
    """The numbers that came with the answer of the group at no cost; None if there are none."""
    if numbers is None or numbers.epsilon is not None:
        return None
    count = numbers.count
    return cast("dict[Any, Any]", count)[group] if isinstance(count, dict) else count


def _planned_anew(release: Release) -> Priced[Any]:
    """The question that would give the same certificate; with groups, for all of them together.

    Raises:
        InvalidCertificateError: there is no such question. The error names the field.
        SelectionError: there is no question with such arguments.
    """
    both, usable, counted = release.event, release.usable, release.counted
    first = both.events[0] if isinstance(both, SequenceEvent) else None
    if usable is not None and usable.epsilon is not None and usable.answer_epsilon is not None:
        answer = _planned_anew(replace(release, epsilon=usable.answer_epsilon, event=first, usable=None))
        return WithUsable[Any].planned(answer, usable_epsilon=usable.epsilon)
    if counted is not None and counted.epsilon is not None and counted.answer_epsilon is not None:
        answer = _planned_anew(replace(release, epsilon=counted.answer_epsilon, event=first, counted=None))
        return WithCounts[Any].planned(answer, epsilon=counted.epsilon)
    kind, stated = QUESTIONS[release.task], _stated(release)
    if release.groups is None:
        return kind.restated(stated)
    if not kind.can_be_grouped:
        raise wrong("groups", "none, because such a question is about all rows together")
    if release.neighbours is not Neighbours.ADD_REMOVE:
        raise wrong("guarantee.neighbours", "add_remove, for which the answers for groups are proved")
    about, event = release.groups, release.event
    members = PublicCandidates(CandidateKind(about["kind"]), tuple(cast("dict[Any, Any]", release.value)))
    groups = PublicGroups(about["column"], members, about["max_per_unit"])
    if groups.max_per_unit > 1:
        event = event.event if isinstance(event, ComposedEvent) else None
    price = {"epsilon": groups.share(release.epsilon), "delta": groups.share_of_delta(release.delta), "event": event}
    return Grouped[Any].planned(kind.restated(replace(stated, **price)), groups, epsilon=release.epsilon)


def _stated(release: Release) -> Stated:
    answer = next(iter(release.value.values())) if isinstance(release.value, dict) else release.value
    return Stated(
        public=release.candidates,
        arguments=release.arguments,
        epsilon=release.epsilon,
        delta=release.delta,
        event=release.event,
        neighbours=release.neighbours,
        mechanism=release.mechanism,
        rounds=release.rounds,
        sensitivity=release.sensitivity,
        monotonic=release.monotonic,
        selected=len(answer) if isinstance(answer, list) else 1,
    )


def _proofs(release: Release, terms: Terms) -> list[tuple[str, ...]]:
    """One page more where very many candidates are drawn from in place, which no public argument tells."""
    in_place = QUESTIONS[release.task].draws_in_place and release.groups is None
    listed = [terms.pages, *([(*terms.pages, PARTIAL_SELECTION)] if in_place else [])]
    return listed if release.where is None else [(*pages, ROW_CONDITIONS) for pages in listed]


def _is_bound(release: Release, derived: float | None) -> bool:
    if derived is None:  # the certificate does not hold all that it depends on
        return True
    return release.error_bound is not None and _agree(release, release.error_bound, derived)


def _is_described(held: NoisyUnits | None, expected: NoisyUnits | None) -> bool:
    if held is None or expected is None:
        return held is expected
    return held.description == expected.description


def _is_usable(held: NoisyUnits | None, expected: NoisyUnits | None) -> bool:
    """A number that comes at no cost may be missing: certificates of before did not state it."""
    if held is None or expected is None:
        return held is None and (expected is None or expected.epsilon is None)
    return _is_described(held, expected)


def _agree(release: Release, stated: float, derived: float) -> bool:
    room = QUESTIONS[release.task].tolerance(release.candidates)
    return math.isclose(stated, derived, rel_tol=room, abs_tol=sys.float_info.min)

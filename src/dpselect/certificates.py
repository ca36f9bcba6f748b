"""Certificates checked: does the event justify the guarantee, and is the charge in the ledger?"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from dpselect.accounting import ComposedEvent, Event, compose
from dpselect.accounting.events import Run, from_json
from dpselect.accounting.rounding import quotient_down
from dpselect.arguments import decimal_fraction
from dpselect.certificate_text import wrong
from dpselect.errors import InvalidParameterError, SelectionError
from dpselect.ledger import Ledger
from dpselect.mechanisms import ExponentialMechanism, MeanMechanism, PermuteAndFlip
from dpselect.mechanisms.top_k import plan_top_k
from dpselect.release import Release, digest
from dpselect.scores import sum_range
from dpselect.summaries import PublicClip


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a certificate was found to say truly.

    Attributes:
        release: what it certifies.
        epsilon: the guarantee, recomputed from the event at the certificate's delta; at most what is stated.
        error_bound: whether the bound on the error was recomputed from public arguments, and agrees.
        charged: whether the charge was found in a ledger; None if none was asked.
        value: whether the value itself is certified: the ledger stored this release for its request id. Without a
            request id no ledger knows the value, and whoever edits it with care is not found out.
    """

    release: Release
    epsilon: float
    error_bound: bool
    charged: bool | None
    value: bool


def check(text: str, *, ledger: Ledger | None = None) -> Checked:
    """Recompute what the certificate `text` claims.

    Whoever edits a certificate with care can make its parts agree with each other; only a ledger shows that what it
    certifies was charged. The value itself is certified only for a release with a request id, which the ledger stored.

    Args:
        text: what `Release.to_json` wrote.
        ledger: the ledger that its receipt is of, or None.

    Raises:
        InvalidCertificateError: it was edited, is no certificate, or does not match the ledger. Says what.
        LedgerError: the ledger cannot be read.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> certificate = people.median("age", bounds=(0, 120), step=1, epsilon=0.5).to_json()
    >>> checked = check(certificate)
    >>> checked.epsilon, checked.error_bound, checked.charged, checked.value
    (0.5, True, None, False)
    >>> check(certificate.replace('"epsilon": 0.5', '"epsilon": 0.1'))
    Traceback (most recent call last):
    dpselect.errors.InvalidCertificateError: certificate=<digest>: expected the digest of its own content. Edited.
    """
    release = Release.from_json(text)
    held: dict[str, Any] = json.loads(text)
    if held.get("digest") != digest(held):
        raise wrong("digest", "the digest of its own content", "Edited.")
    if release.event is None:
        raise wrong("no event", "an event to recompute the guarantee from")
    for name, written in release.to_dict().items():
        if held.get(name) != written:
            raise wrong(name, "as Release.to_json writes it")
    epsilon = compose([release.event]).epsilon(release.delta)
    if not epsilon <= release.epsilon:
        raise wrong("guarantee", f"at least epsilon={epsilon!r}, what its event costs")
    share = _of_one_group(release)
    try:
        bound = _error_bound(release, release.event, share)
    except SelectionError:
        raise wrong("arguments", "arguments that such a question can have") from None
    if bound is not None and not math.isclose(bound, cast(float, release.error_bound), rel_tol=1e-9):
        raise wrong("error_bound", "the bound that its public arguments give")
    stored = ledger is not None and _stored(release, text, ledger)
    charged = None if ledger is None else True
    return Checked(release=release, epsilon=epsilon, error_bound=bound is not None, charged=charged, value=stored)


def _error_bound(release: Release, event: Event, share: tuple[float, float]) -> float | None:
    """The bound on the error by public arguments alone; None where the certificate does not hold all of them."""
    if release.error_bound is None:
        return None
    count, confidence = cast(int, release.candidates.get("count")), release.confidence
    epsilon, delta = share
    arguments: dict[str, Any] = {
        "sensitivity": release.sensitivity,
        "monotonic": release.monotonic,
        "neighbours": release.neighbours,
    }
    match release.task:
        case "most_common" | "least_common" | "best_date":
            return PermuteAndFlip(epsilon=epsilon, **arguments).error_bound(count, confidence=confidence)
        case "quantile":
            return ExponentialMechanism(epsilon=epsilon, **arguments).error_bound(count, confidence=confidence)
        case "top_k" if isinstance(event, ComposedEvent):
            plan = plan_top_k(count, release.rounds, epsilon=epsilon, delta=delta, **arguments)
            return plan.error_bound(confidence=confidence)
        case "best_by":
            asked = release.arguments
            scale = decimal_fraction(asked["scale"], "scale", expected="a number")
            clip = PublicClip(asked["sum"], scale, asked["lower"], asked["upper"])
            moved = sum_range(clip, release.neighbours)
            mechanism = PermuteAndFlip(epsilon=epsilon, sensitivity=moved, monotonic=True)
            return clip.error_in_units(mechanism.error_bound(count, confidence=confidence))
        case "mean":
            lower, upper = (Fraction(release.candidates[end]) for end in ("lower", "upper"))
            units, step = release.arguments["units"], upper - lower  # the bound does not depend on the step
            mean = MeanMechanism(
                epsilon=epsilon, bounds=(lower, upper), step=step, count=units, neighbours=release.neighbours
            )
            return mean.error_bound(confidence=confidence)
        case _:
            return None


def _of_one_group(release: Release) -> tuple[float, float]:
    """Epsilon and delta of what is asked of one group, or of all rows."""
    if release.groups is None:
        return release.epsilon, release.delta
    epsilon, most = release.groups["epsilon"], release.groups["max_per_unit"]
    if not Fraction(epsilon) * most <= Fraction(release.epsilon):
        raise wrong("groups.epsilon", "the guarantee divided by max_per_unit")
    return epsilon, quotient_down(release.delta, most)


def _stored(release: Release, text: str, ledger: Ledger) -> bool:
    """Whether the ledger also stored the release whose charge it has to have."""
    receipt = release.receipt
    if receipt is None:
        raise wrong("no receipt", "the receipt of a charge to this ledger")
    try:
        entry = ledger.find(receipt["account"], receipt["sequence"])
    except InvalidParameterError:  # no such account
        entry = None
    if entry is None or entry.kind != "charge" or entry.hash != receipt.get("hash"):
        raise wrong("receipt", "that of a charge in this ledger")
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
    if entry.release is None:
        return False
    if json.loads(entry.release) != json.loads(text):
        raise wrong("value", "the release that the ledger stored for its request")
    return True

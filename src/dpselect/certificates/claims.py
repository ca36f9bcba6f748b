"""The statements of a certificate, compared with those of its question.

Every question of this library fixes the mechanism, its event, the sensitivity and the proof pages by the public
arguments alone. So a certificate that was edited in one of them contradicts itself.
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from typing import Any, cast

from dpselect.accounting import ComposedEvent, SequenceEvent
from dpselect.certificates.release import Release
from dpselect.errors import InvalidCertificateError, SelectionError
from dpselect.privacy import Neighbours
from dpselect.questions import CONFIDENCE, QUESTIONS, Grouped, NoisyUnits, Terms, WithCounts, WithUsable
from dpselect.questions.fields import wrong
from dpselect.questions.question import PARTIAL_SELECTION, Priced
from dpselect.questions.stated import Stated
from dpselect.summaries import CandidateKind, PublicCandidates, PublicGroups


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
        (_are_counted(release.counted, terms.counted), "counts", "the bound and the cost of such counts"),
    ):
        if not agrees:
            raise wrong(field, expected)
    return terms.error_bound is not None


def check_value(release: Release) -> None:
    """Refuse a value that the stated candidates do not allow, in any of the groups.

    Raises:
        InvalidCertificateError: names the value, or the candidates if their description is impossible.
    """
    stated, kind = _stated(release), QUESTIONS[release.task]
    for answer in release.value.values() if isinstance(release.value, dict) else [release.value]:
        if not kind.allows(answer if isinstance(answer, list) else [answer], stated):
            raise wrong("value", "one that the stated candidates allow")


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
    return [terms.pages, *([(*terms.pages, PARTIAL_SELECTION)] if in_place else [])]


def _is_bound(release: Release, derived: float | None) -> bool:
    if derived is None:  # the certificate does not hold all that it depends on
        return True
    return release.error_bound is not None and _agree(release, release.error_bound, derived)


def _are_counted(held: NoisyUnits | None, expected: NoisyUnits | None) -> bool:
    if held is None or expected is None:
        return held is expected
    return held.description == expected.description


def _is_usable(held: NoisyUnits | None, expected: NoisyUnits | None) -> bool:
    """A number that comes at no cost may be missing: certificates of before did not state it."""
    if held is None or expected is None:
        return held is None and (expected is None or expected.epsilon is None)
    return (held.within, held.epsilon) == (expected.within, expected.epsilon)


def _agree(release: Release, stated: float, derived: float) -> bool:
    room = QUESTIONS[release.task].tolerance(release.candidates)
    return math.isclose(stated, derived, rel_tol=room, abs_tol=sys.float_info.min)

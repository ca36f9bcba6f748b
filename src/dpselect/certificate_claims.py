"""The statements of a certificate besides its value, compared with those of its task.

Every task of this library fixes the mechanism, its event, the sensitivity and the proof pages by the public arguments
alone. So a certificate that was edited in one of them contradicts itself.
"""

from __future__ import annotations

import math
import sys

from dpselect.certificate_tasks import planned_anew
from dpselect.certificate_text import wrong
from dpselect.errors import InvalidCertificateError, SelectionError
from dpselect.release import CONFIDENCE, Release
from dpselect.tasks import Terms

_DRAWN_IN_PLACE = "proofs/partial_selection.md"
_ROUNDINGS = 2.0
"""Units in the last place of the larger bound: each is rounded to a double, and read as a decimal."""


def check_claims(release: Release) -> bool:
    """Whether the error bound was recomputed, too; contradictions to the public arguments are refused.

    Raises:
        InvalidCertificateError: names the field.
    """
    try:
        task = planned_anew(release)
        event, terms = task.event, task.terms
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
    ):
        if not agrees:
            raise wrong(field, expected)
    return terms.error_bound is not None


def _proofs(release: Release, terms: Terms) -> list[tuple[str, ...]]:
    """One page more where very many candidates are drawn from in place, which no public argument tells."""
    in_place = release.task in ("most_common", "top_k") and release.groups is None
    return [terms.pages, *([(*terms.pages, _DRAWN_IN_PLACE)] if in_place else [])]


def _is_bound(release: Release, derived: float | None) -> bool:
    if derived is None:  # the certificate does not hold all that it depends on
        return True
    return release.error_bound is not None and _agree(release, release.error_bound, derived)


def _agree(release: Release, stated: float, derived: float) -> bool:
    """Up to what another machine's logarithms may differ by, and what the rounding of bounds may make of a mean."""
    room = 1e-9
    if release.task == "mean":
        lower, upper = (float(release.candidates[end]) for end in ("lower", "upper"))
        room += _ROUNDINGS * math.ulp(max(abs(lower), abs(upper))) / (upper - lower)
    return math.isclose(stated, derived, rel_tol=room, abs_tol=sys.float_info.min)

"""Public weights of the candidates of a table, and what a certificate says of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from dpselect.errors import InvalidParameterError, Shown
from dpselect.mechanisms.weights import CandidateWeights
from dpselect.questions import fields

if TYPE_CHECKING:
    from dpselect.questions.question import Planned

WEIGHTED_PROOFS = ("proofs/exponential_mechanism.md", "proofs/weighted_candidates.md")

WEIGHTS: dict[str, fields.Check] = {"hash": fields.sha256, "log_odds": fields.or_null(fields.number)}


ROUND_WEIGHTS: dict[str, fields.Check] = WEIGHTS | {"with_weight": fields.count}

_MOST = 600.0
"""Of the logarithm of odds, so that these are doubles."""


@dataclass(frozen=True, slots=True)
class WeighedCandidates:
    """Weights, and their description in a certificate.

    Attributes:
        weights: one for each candidate.
        description: their hash, and the logarithm of the weight of all others over that of the lightest, from which the
            error bound follows; None if there is only one that is not left out.

    >>> checked_weights([1, 2, 5], 3).description["log_odds"] == math.log(7)
    True
    """

    weights: CandidateWeights
    description: Mapping[str, Any]


def matched_weights(weights: object, n_candidates: int) -> CandidateWeights:
    """One weight for each of so many candidates.

    Raises:
        InvalidParameterError: they are not weights, or not one for each candidate.
    """
    held = CandidateWeights.of(weights)
    if len(held) != n_candidates:
        raise InvalidParameterError(
            "weights", Shown(f"<{len(held)} weights>"), f"{n_candidates}, one for each candidate"
        )
    return held


def checked_weights(weights: object, n_candidates: int) -> WeighedCandidates:
    """The weights of so many candidates.

    Raises:
        InvalidParameterError: they are not weights, or not one for each candidate, or too far apart.
    """
    held = matched_weights(weights, n_candidates)
    found = held.logarithms[held.logarithms > -math.inf]
    log_odds = None
    if found.size > 1:
        lightest = found.min()
        others = np.delete(found, int(found.argmin())) - lightest
        log_odds = float(others.max() + math.log(float(np.exp(others - others.max()).sum())))
        if log_odds > _MOST:
            raise InvalidParameterError(
                "weights", Shown("<weights>"), "weights less than 10^250 times as large as others"
            )
    return WeighedCandidates(held, {"hash": held.hash(), "log_odds": log_odds})


def has_weights(held: fields.Fields) -> bool:
    """Whether a certificate that is being read states weights, whatever they are."""
    arguments = cast(object, held.get("arguments"))
    return isinstance(arguments, dict) and "weights" in arguments


def among(release: Planned) -> str:
    """Which candidates a sentence on the error is about: one without a weight may be far better than all others.

    >>> from types import SimpleNamespace
    >>> among(SimpleNamespace(arguments={"weights": {"hash": "0" * 64, "log_odds": 0.0}}))  # type: ignore[arg-type]
    ' that has a weight'
    """
    return " that has a weight" if "weights" in release.arguments else ""


def drawn_with(release: Planned) -> str:
    """What follows the mechanism where a release says how it was drawn."""
    return ", with public weights" if "weights" in release.arguments else ""


def refuse_beside_weights(*, with_gap: bool, max_values_per_unit: int | None) -> None:
    """Refuse what a draw with weights cannot have.

    Raises:
        InvalidParameterError: names the argument.
    """
    if with_gap or max_values_per_unit is not None:
        name = "with_gap" if with_gap else "max_values_per_unit"
        hint = "A draw with weights has no gap, and noise once on all counts has no weights."
        raise InvalidParameterError(name, with_gap or max_values_per_unit, "none with weights", hint)


def described_rounds(given: WeighedCandidates) -> dict[str, Any]:
    """The description for several winners: also how many candidates have a weight, on which the rounds depend.

    >>> described_rounds(checked_weights([1, 2, 0], 3))["with_weight"]
    2
    """
    return {**given.description, "with_weight": int(np.count_nonzero(given.weights.taking_part))}


def stand_in(description: Mapping[str, Any], n_candidates: int) -> WeighedCandidates:
    """Weights with the same error bound, for a certificate, which does not list them.

    Raises:
        InvalidCertificateError: there are no such weights.
    """
    log_odds = description["log_odds"]
    least = 1 if log_odds is None else 2
    if n_candidates < least or (log_odds is not None and not -1e-9 <= log_odds <= _MOST):
        raise fields.wrong("arguments.weights", "odds that so many candidates can have")
    weights = np.zeros(n_candidates)
    weights[:least] = [1.0, 1.0 if log_odds is None else max(1.0, math.exp(log_odds))][:least]
    return WeighedCandidates(CandidateWeights.of(weights), description)

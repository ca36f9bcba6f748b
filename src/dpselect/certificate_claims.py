"""What a certificate says besides its value, derived anew from its public arguments; and which values these allow.

Every task of this library fixes the mechanism, its event, the sensitivity and the proof pages by the public arguments
alone. So a certificate that was edited in one of them contradicts itself. Bounds and prices may have been given as
fractions that no double is: what is compared with them has room for their rounding, and for no more.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from dpselect.accounting import BoundedRangeEvent, ComposedEvent, Event
from dpselect.certificate_text import wrong
from dpselect.errors import InvalidCertificateError, SelectionError
from dpselect.mechanisms import ExponentialMechanism, PermuteAndFlip, PriceMechanism, QuantilesMechanism
from dpselect.mechanisms.top_k import TopKPlan
from dpselect.privacy import Neighbours
from dpselect.release import Release
from dpselect.scores import DISTINCT_UNITS, price_sensitivity, rank_sensitivity
from dpselect.summaries import PublicBins
from dpselect.tasks import Density

_EXACT_SAMPLING = "proofs/exact_sampling.md"
_SELECTIONS: dict[str, type[PermuteAndFlip | ExponentialMechanism]] = {
    "PermuteAndFlip": PermuteAndFlip,
    "ExponentialMechanism": ExponentialMechanism,
}
_SELECTION_PROOFS = {
    "PermuteAndFlip": "proofs/permute_and_flip.md",
    "ExponentialMechanism": "proofs/exponential_mechanism.md",
}
_ROUNDINGS = 2.0
"""Units in the last place of the larger bound: each bound and the answer are rounded by at most a half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a certificate has to say, given its public arguments.

    Attributes:
        mechanism: the names of those that may have drawn; `rounds` how often.
        event: what they cost.
        error_bound: at the certificate's confidence; None where the certificate does not hold all it depends on.
    """

    mechanism: tuple[str, ...]
    event: Event
    sensitivity: float
    monotonic: bool
    proofs: tuple[str, ...]
    rounds: int = 1
    error_bound: float | None = None


def check_claims(release: Release) -> bool:
    """Whether also the bound on the error was recomputed; what contradicts the public arguments is refused.

    Raises:
        InvalidCertificateError: names the field.
    """
    try:
        claim = _CLAIMS[release.task](release)
    except InvalidCertificateError:
        raise
    except SelectionError:
        raise wrong("arguments", "arguments that such a question can have") from None
    if release.event != claim.event:
        raise wrong("event", "that of the mechanism at the guarantee's epsilon")
    if release.mechanism not in claim.mechanism:
        raise wrong("mechanism.name", "the mechanism of such a question")
    if release.rounds != claim.rounds:
        raise wrong("mechanism.rounds", "as many as such a question takes")
    if not _agree(release.sensitivity, claim.sensitivity) or release.monotonic is not claim.monotonic:
        raise wrong("mechanism.sensitivity", "the sensitivity of such a question")
    if release.neighbours is not Neighbours.ADD_REMOVE:
        raise wrong("guarantee.neighbours", "add_remove, which all answers about tables are proved for")
    if release.proofs != claim.proofs:
        raise wrong("proofs", "the pages that prove such an answer")
    if claim.error_bound is not None and not _agree(cast(float, release.error_bound), claim.error_bound):
        raise wrong("error_bound", "the bound that its event and its public arguments give")
    return claim.error_bound is not None


def check_value(release: Release) -> None:
    """Refuse a value that none of the stated candidates is.

    Raises:
        InvalidCertificateError: names the value, or the candidates if there are none of that description.
    """
    public = release.candidates
    values = cast("list[Any]", release.value if isinstance(release.value, list) else [release.value])
    match release.task:
        case "most_common" | "top_k":
            possible = _among_listed(values, public)
        case "density":
            possible = _are_shares(values, release.arguments.get("sample_size"))
        case "best_price" if "count" in public:
            ends = public["lowest"], public["highest"]
            if not 0 < ends[0] <= ends[1] or (ends[0] == ends[1]) != (public["count"] == 1):
                raise wrong("candidates", "prices that there can be")
            price = float(values[0])
            possible = price in ends if public["count"] <= 2 else ends[0] <= price <= ends[1]
        case _:
            possible = all(public["lower"] <= value <= public["upper"] for value in values)
            possible = possible and (public["source"] == "bounds" or _on_grid(values, public))
            levels = cast("list[float]", release.arguments.get("levels", [0.0]))
            ordered = [value for _, value in sorted(zip(levels, values, strict=True))]
            possible = possible and ordered == sorted(ordered)
    if not possible:
        raise wrong("value", "one that the stated candidates allow")


def _most_common(release: Release) -> Claim:
    mechanism = PermuteAndFlip(
        epsilon=release.epsilon, sensitivity=DISTINCT_UNITS.value, monotonic=DISTINCT_UNITS.monotonic
    )
    return Claim(
        mechanism=("PermuteAndFlip",),
        event=mechanism.event,
        sensitivity=DISTINCT_UNITS.value,
        monotonic=DISTINCT_UNITS.monotonic,
        proofs=(DISTINCT_UNITS.proof, _SELECTION_PROOFS["PermuteAndFlip"], _EXACT_SAMPLING),
        error_bound=mechanism.error_bound(release.candidates["count"], confidence=release.confidence),
    )


def _top_k(release: Release) -> Claim:
    """At the epsilon of a round that the event states: another version may have planned another one."""
    rounds, event = len(cast("list[object]", release.value)), release.event
    if not isinstance(event, ComposedEvent):
        raise wrong("event", "that of several rounds")
    kind = _SELECTIONS.get(release.mechanism, PermuteAndFlip)
    mechanism = kind(epsilon=event.event.epsilon, sensitivity=DISTINCT_UNITS.value, monotonic=DISTINCT_UNITS.monotonic)
    if not release.delta and not math.isclose(event.epsilon, release.epsilon, rel_tol=1e-9, abs_tol=1e-300):
        raise wrong("guarantee.epsilon", "what its event costs")
    plan = TopKPlan(
        mechanism=mechanism,
        n_candidates=release.candidates["count"],
        k=rounds,
        epsilon=release.epsilon,
        delta=release.delta,
    )
    return Claim(
        mechanism=tuple(_SELECTIONS),
        event=plan.event,
        sensitivity=DISTINCT_UNITS.value,
        monotonic=DISTINCT_UNITS.monotonic,
        proofs=(DISTINCT_UNITS.proof, "proofs/top_k.md", _SELECTION_PROOFS[type(mechanism).__name__], _EXACT_SAMPLING),
        rounds=rounds,
        error_bound=plan.error_bound(confidence=release.confidence),
    )


def _quantile(release: Release) -> Claim:
    level, rows = release.arguments["level"], release.arguments["max_rows_per_unit"]
    sensitivity = rank_sensitivity(level, max_rows_per_unit=rows)
    bound = None
    if release.candidates["source"] == "grid":
        mechanism = ExponentialMechanism(epsilon=release.epsilon, sensitivity=sensitivity.value)
        bound = mechanism.error_bound(release.candidates["count"], confidence=release.confidence)
    return Claim(
        mechanism=("QuantileMechanism",),
        event=BoundedRangeEvent(epsilon=release.epsilon),
        sensitivity=sensitivity.value,
        monotonic=False,
        proofs=(sensitivity.proof, "proofs/quantiles.md", _EXACT_SAMPLING),
        error_bound=bound,
    )


def _quantiles(release: Release) -> Claim:
    arguments = release.arguments
    mechanism = QuantilesMechanism(
        epsilon=release.epsilon,
        levels=tuple(arguments["levels"]),
        bounds=(release.candidates["lower"], release.candidates["upper"]),
        method=arguments["method"],
        values_per_unit=arguments["max_rows_per_unit"],
    )
    is_joint = mechanism.method == "joint"
    return Claim(
        mechanism=("QuantilesMechanism",),
        event=mechanism.event,
        sensitivity=mechanism.sensitivity,
        monotonic=False,
        proofs=(
            "proofs/unit_values.md",
            "proofs/joint_quantiles.md" if is_joint else "proofs/quantiles.md",
            _EXACT_SAMPLING,
        ),
        rounds=1 if is_joint else len(mechanism.levels),
    )


def _best_price(release: Release) -> Claim:
    """The bound of a list depends on all of its prices, of which the certificate says two."""
    public, rows = release.candidates, release.arguments["max_rows_per_unit"]
    if "count" not in public:
        between = PriceMechanism(
            epsilon=release.epsilon, bounds=(public["lower"], public["upper"]), values_per_unit=rows
        )
        return Claim(
            mechanism=("PriceMechanism",),
            event=between.event,
            sensitivity=between.sensitivity,
            monotonic=True,
            proofs=("proofs/prices.md", "proofs/falling_scores.md", _EXACT_SAMPLING),
        )
    sensitivity = price_sensitivity(public["highest"], max_rows_per_unit=rows)
    return Claim(
        mechanism=("PriceListMechanism",),
        event=PermuteAndFlip(epsilon=release.epsilon, sensitivity=1, monotonic=True).event,
        sensitivity=sensitivity.value,
        monotonic=True,
        proofs=(sensitivity.proof, _SELECTION_PROOFS["PermuteAndFlip"], _EXACT_SAMPLING),
    )


def _density(release: Release) -> Claim:
    public, arguments = release.candidates, release.arguments
    lower, upper = Fraction(public["lower"]), Fraction(public["upper"])
    task = Density.planned(
        PublicBins(lower, upper, public["count"]),
        epsilon=release.epsilon,
        method=arguments["method"],
        units=arguments.get("units"),
        sample_size=arguments.get("sample_size"),
    )
    is_sample = arguments["method"] == "sample"
    return Claim(
        mechanism=(type(task.mechanism).__name__,),
        event=task.event,
        sensitivity=1.0,
        monotonic=not is_sample,
        proofs=("proofs/density.md" if is_sample else "proofs/noisy_histograms.md", _EXACT_SAMPLING),
        error_bound=task.error_bound_at(release.confidence),
    )


_CLAIMS = {
    "most_common": _most_common,
    "top_k": _top_k,
    "quantile": _quantile,
    "quantiles": _quantiles,
    "best_price": _best_price,
    "density": _density,
}


def _agree(stated: float, derived: float) -> bool:
    """Up to what another machine's logarithms may differ by."""
    return math.isclose(stated, derived, rel_tol=1e-9, abs_tol=sys.float_info.min)


def _among_listed(values: list[Any], public: Any) -> bool:
    if not len(values) <= public["count"] <= (2 if public["kind"] == "booleans" else math.inf):
        raise wrong("candidates.count", "at least as many as were selected, of such a kind")
    if "range" in public:
        first, last, step = (public["range"][name] for name in ("first", "last", "step"))
        listed = range(first, last + (1 if step > 0 else -1), step) if step else range(0)
        if public["kind"] != "whole numbers" or not listed or listed[-1] != last or _size(listed) != public["count"]:
            raise wrong("candidates.range", "a range of so many whole numbers")
        if not all(value in listed for value in values):
            return False
    return len(set(values)) == len(values)


def _size(listed: range) -> int:
    return (listed[-1] - listed[0]) // listed.step + 1  # len() refuses more than 2^63


def _on_grid(values: Iterable[float], public: Any) -> bool:
    """Whether each is a point of the grid, as far as doubles can say."""
    lower, upper, count = Fraction(public["lower"]), Fraction(public["upper"]), public["count"]
    room = Fraction(_ROUNDINGS * math.ulp(max(abs(public["lower"]), abs(public["upper"]))))
    steps = count - 1
    if not steps or abs(Fraction(public["step"]) * steps - (upper - lower)) > room + (upper - lower) / 2**52:
        raise wrong("candidates.step", "a step that leads from one bound to the other")
    step = (upper - lower) / steps
    return all(
        abs(lower + round((Fraction(value) - lower) / step) * step - Fraction(value)) <= room for value in values
    )


def _are_shares(values: list[float], sample_size: int | None) -> bool:
    """Shares of everybody; of a sample, whole numbers of its points, with those without a value left out."""
    total = math.fsum(values)
    if not all(0.0 <= value <= 1.0 for value in values) or total > 1.0 + 1e-9:
        return False
    if sample_size is None:
        return total > 1.0 - 1e-9
    return all(abs(value * sample_size - round(value * sample_size)) <= 1e-6 for value in values)

"""The task of a certificate, planned again from the public arguments that it states.

A certificate describes the candidates without listing them, and rounds bounds and prices to doubles. Where a plan needs
more than that, something stands in for it that makes no difference to the cost and to what is certified.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from dpselect.accounting import ComposedEvent, Event
from dpselect.arguments import decimal_fraction, finite_bounds
from dpselect.certificate_text import wrong
from dpselect.grids import Grid
from dpselect.mechanisms import ExponentialMechanism, PermuteAndFlip, PriceListMechanism
from dpselect.mechanisms.price_units import MOST_UNITS
from dpselect.mechanisms.top_k import TopKPlan
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.release import CONFIDENCE, Release
from dpselect.scores import count_sensitivity, rule_sensitivity
from dpselect.summaries import (
    HIGHEST_WEIGHT,
    MOST_CANDIDATES,
    MOST_CELLS,
    CandidateKind,
    PublicBins,
    PublicCandidates,
    PublicClip,
    PublicDomain,
    PublicFeatures,
    PublicGroups,
)
from dpselect.tasks import (
    BestBy,
    BestDate,
    BestFeatures,
    BestPrice,
    Density,
    Grouped,
    LeastCommon,
    Mean,
    MostCommon,
    Quantile,
    Quantiles,
    Task,
    Terms,
    TopK,
)

_SELECTIONS: dict[str, type[PermuteAndFlip | ExponentialMechanism]] = {
    "PermuteAndFlip": PermuteAndFlip,
    "ExponentialMechanism": ExponentialMechanism,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """The part of a certificate about one question; with groups, about one group.

    Attributes:
        release: all that it states.
        epsilon: what the question cost.
        delta: what it cost.
        event: the same for accounting; None where none is stated, or none that several groups can cost.
    """

    release: Release
    epsilon: float
    delta: float
    event: Event | None

    @property
    def public(self) -> Mapping[str, Any]:
        """The description of the candidates."""
        return self.release.candidates

    @property
    def arguments(self) -> Mapping[str, Any]:
        """Other arguments of the question."""
        return self.release.arguments

    @property
    def price(self) -> dict[str, Any]:
        """The arguments that most questions are planned with."""
        return {"epsilon": self.epsilon, "neighbours": self.release.neighbours}

    @property
    def ends(self) -> tuple[float, float]:
        """The public bounds."""
        return self.public["lower"], self.public["upper"]

    def candidates(self) -> PublicCandidates:
        """The same number, of the same kind; before a draw it does not matter which ones they are."""
        count = self.public["count"]
        if count > MOST_CANDIDATES:
            raise wrong("candidates.count", f"at most {MOST_CANDIDATES:,}")
        return PublicCandidates(CandidateKind(self.public["kind"]), np.broadcast_to(np.int64(0), count))

    def domain(self) -> PublicDomain:
        """Described by the same doubles; no mechanism is to be made of it, as its step need not lead to the end."""
        lower, upper = self.ends
        if self.public["source"] == "bounds":
            return PublicDomain(lower, upper)
        return PublicDomain(lower, upper, Grid(Fraction(lower), Fraction(self.public["step"]), self.public["count"]))

    @property
    def selected(self) -> int:
        """The number of candidates in the answer, or in the answer of each group."""
        value = self.release.value
        named = next(iter(value.values())) if isinstance(value, dict) else value
        return len(cast("list[Any]", named))

    def rounds(self, moved: Sensitivity) -> TopKPlan:
        """At the epsilon of a round that the event states, and with as many: another version may have planned others.

        Where all candidates are selected, the last of them once took a round of its own.
        """
        event = self.event
        if not isinstance(event, ComposedEvent):
            raise wrong("event", "that of several rounds")
        kind = _SELECTIONS.get(self.release.mechanism, PermuteAndFlip)
        delta = self.delta if kind is ExponentialMechanism else 0.0  # the other one never plans with any
        if not delta and not math.isclose(event.epsilon, self.epsilon, rel_tol=1e-9, abs_tol=1e-300):
            raise wrong("guarantee.epsilon", "what its event costs")
        mechanism = kind(
            epsilon=event.event.epsilon,
            sensitivity=moved.value,
            monotonic=moved.monotonic,
            neighbours=moved.neighbours,
        )
        return TopKPlan(
            mechanism=mechanism,
            n_candidates=len(self.candidates()),
            k=self.selected,
            rounds=self.release.rounds,
            epsilon=self.epsilon,
            delta=delta,
        )


def planned_anew(release: Release) -> Task[Any]:
    """The task that would certify the same, of all groups together if several were asked.

    Its error bound is None where a certificate does not hold all that it depends on.

    Raises:
        InvalidCertificateError: there is no such task. Names the field.
        SelectionError: there is none with such arguments.
    """
    plan = _PLANS[release.task]
    if release.groups is None:
        return plan(Stated(release=release, epsilon=release.epsilon, delta=release.delta, event=release.event))
    if release.task == BestFeatures.name:
        raise wrong("groups", "none, because such a question is about all rows together")
    if release.neighbours is not Neighbours.ADD_REMOVE:
        raise wrong("guarantee.neighbours", "add_remove, for which the answers for groups are proved")
    about, event = release.groups, release.event
    members = PublicCandidates(CandidateKind(about["kind"]), tuple(cast("dict[Any, Any]", release.value)))
    groups = PublicGroups(about["column"], members, about["max_per_unit"])
    if groups.max_per_unit > 1:
        event = event.event if isinstance(event, ComposedEvent) else None
    epsilon, delta = groups.share(release.epsilon), groups.share_of_delta(release.delta)
    task = plan(Stated(release=release, epsilon=epsilon, delta=delta, event=event))
    return Grouped[Any].planned(task, groups, epsilon=release.epsilon)


def _top_k(stated: Stated) -> TopK:
    return TopK(candidates=stated.candidates(), plan=stated.rounds(count_sensitivity(stated.release.neighbours)))


def _best_by(stated: Stated) -> BestBy:
    asked = stated.arguments
    scale = decimal_fraction(asked["scale"], "scale", expected="a number")
    clip = PublicClip(asked["sum"], scale, asked["lower"], asked["upper"])
    return BestBy.planned(stated.candidates(), clip, **stated.price)


def _best_features(stated: Stated) -> BestFeatures:
    """The bins do not matter, and of the weights only the highest does, which is the sensitivity."""
    classes, highest, neighbours = stated.arguments["classes"], stated.release.sensitivity, stated.release.neighbours
    if classes > MOST_CELLS // 2:
        raise wrong("arguments.classes", f"at most {MOST_CELLS // 2:,}")
    if not 1 <= highest <= HIGHEST_WEIGHT or highest != int(highest):
        raise wrong("mechanism.sensitivity", f"a whole number from 1 to {HIGHEST_WEIGHT:,}")
    weights = (int(highest),) * classes
    plan = stated.rounds(rule_sensitivity(max(weights), neighbours=neighbours))
    features = PublicFeatures(names=stated.candidates(), bins=(), weights=weights)
    return BestFeatures(features=features, neighbours=neighbours, plan=plan)


def _quantile(stated: Stated) -> Quantile:
    """Neither the cost nor the sensitivity depends on the step; only the error bound depends on their number."""
    level, rows = stated.arguments["level"], stated.arguments["max_rows_per_unit"]
    kind = Quantile if stated.release.monotonic else _QuantileTwoWays
    task = kind.planned(level, PublicDomain(*stated.ends), max_rows_per_unit=rows, **stated.price)
    return replace(task, domain=stated.domain())


def _quantiles(stated: Stated) -> Quantiles:
    asked = dict(stated.arguments)
    says_range = asked.pop("score_range", None) is not None
    kind = Quantiles if says_range else _QuantilesOneWay if stated.release.monotonic else _QuantilesTwoWays
    task = kind.planned(asked.pop("levels"), PublicDomain(*stated.ends), **asked, **stated.price)
    return replace(task, domain=stated.domain())


class _QuantileTwoWays(Quantile):
    """As all were once planned, also the extremes: as if scores could move both ways, with the noise for that."""

    @property
    def moved(self) -> Sensitivity:
        return replace(super().moved, monotonic=False)


class _QuantilesOneWay(Quantiles):
    """Certified without the range that the noise was made for."""

    @property
    def terms(self) -> Terms:
        terms = super().terms
        arguments = {name: value for name, value in terms.arguments.items() if name != "score_range"}
        return replace(terms, arguments=arguments)


class _QuantilesTwoWays(_QuantilesOneWay):
    """Several as all were once planned, also the extremes."""

    @property
    def terms(self) -> Terms:
        terms = super().terms
        return replace(terms, sensitivity=replace(terms.sensitivity, monotonic=False))


def _mean(stated: Stated) -> Mean:
    """The step does not matter, and is the distance between the bounds here."""
    lower, upper = finite_bounds(stated.ends)
    wide = PublicDomain.given((lower, upper), step=upper - lower)
    return replace(Mean.planned(wide, units=stated.arguments["units"], **stated.price), domain=stated.domain())


def _best_price(stated: Stated) -> BestPrice:
    """Of a list the two highest and the lowest price have the same cost and sensitivity, and the error bound of more.

    Certificates from before the unit was stated tell the highest price only, and not enough for the error bound.
    """
    rows, public = stated.arguments["max_rows_per_unit"], stated.public
    if "count" not in public:
        return BestPrice.planned(bounds=stated.ends, max_rows_per_unit=rows, **stated.price)
    if "common_unit" not in public:
        task = BestPrice.planned([public["highest"]], max_rows_per_unit=rows, **stated.price)
        return replace(task, candidates=public, error_bound=None)
    unit, count = Fraction(public["common_unit"]), public["count"]
    ends = [public["lowest"], *([public["second_highest"]] if count > 1 else []), public["highest"]]
    if not ends == sorted(ends) or len(set(ends)) != min(count, 3) or (count == 2 and ends[0] != ends[1]):
        raise wrong("candidates", "possible prices")
    prices = sorted({_in_units(price, unit) for price in ends})
    task = BestPrice.planned(prices, max_rows_per_unit=rows, **stated.price)
    listed = cast(PriceListMechanism, task.mechanism)
    bound = listed.bound_of(count, unit=unit, confidence=CONFIDENCE)
    return replace(task, candidates=public, error_bound=bound)


def _in_units(price: float, unit: Fraction) -> Fraction:
    """The whole multiple of `unit` that is the double `price`."""
    multiple = round(Fraction(price) / unit)
    if not 0 < multiple <= MOST_UNITS or float(multiple * unit) != price:
        raise wrong("candidates.common_unit", "a number that all prices are whole multiples of")
    return multiple * unit


def _density(stated: Stated) -> Density:
    asked, (lower, upper) = stated.arguments, stated.ends
    return Density.planned(
        PublicBins(Fraction(lower), Fraction(upper), stated.public["count"]),
        method=asked["method"],
        units=asked.get("units"),
        sample_size=asked.get("sample_size"),
        **stated.price,
    )


_PLANS: dict[str, Callable[[Stated], Task[Any]]] = {
    "most_common": lambda stated: MostCommon.planned(stated.candidates(), **stated.price),
    "least_common": lambda stated: LeastCommon.planned(stated.candidates(), **stated.price),
    "best_date": lambda stated: BestDate.planned(stated.candidates(), **stated.price),
    "top_k": _top_k,
    "best_by": _best_by,
    "best_features": _best_features,
    "quantile": _quantile,
    "quantiles": _quantiles,
    "mean": _mean,
    "best_price": _best_price,
    "density": _density,
}

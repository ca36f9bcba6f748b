"""The choice between noise once on all counts and a draw for each value, for the questions that can have either."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpselect.mechanisms import (
    NoisyOrder,
    order_noise,
)
from dpselect.mechanisms.noisy_order import EACH, GAUSSIAN_ONCE, ONCE, ORDER
from dpselect.mechanisms.top_k import TopKPlan
from dpselect.questions.count import check_useful
from dpselect.questions.question import CONFIDENCE, LARGEST_COUNT, Drawn, NoisyUnits, Terms, Value
from dpselect.questions.scores import noise_sensitivity

if TYPE_CHECKING:
    from dpselect.privacy import Neighbours
    from dpselect.summaries import CandidateCounts, DistantCandidates, PublicCandidates


def ruled_order(
    candidates: PublicCandidates | DistantCandidates,
    k: int,
    *,
    epsilon: float,
    delta: float = 0.0,
    max_values_per_unit: int | None,
    with_counts: bool,
    neighbours: Neighbours,
) -> NoisyOrder | None:
    """The plan with noise once on all counts, where `order_noise` prefers it; None: a draw for each value.

    Raises:
        InvalidParameterError: an argument is out of range, or `epsilon` too small for counts to be of use.
    """
    if max_values_per_unit is None and not with_counts:
        return None
    n = len(candidates)
    found = order_noise(
        n,
        k,
        epsilon=epsilon,
        delta=delta,
        max_values_per_unit=max_values_per_unit,
        with_counts=with_counts,
        neighbours=neighbours,
    )
    if not found.is_once:
        return None
    spent = delta if found.is_gaussian else 0.0
    return planned_order(candidates, k, epsilon, max_values_per_unit, neighbours, delta=spent)


def planned_order(
    candidates: PublicCandidates | DistantCandidates,
    k: int,
    epsilon: float,
    max_values_per_unit: int | None,
    neighbours: Neighbours,
    *,
    delta: float = 0.0,
) -> NoisyOrder:
    """Noise once on all counts: Gaussian noise if there is a delta.

    Raises:
        InvalidParameterError: an argument is out of range, or `epsilon` too small for counts to be of use.
    """
    n = len(candidates)
    most = n if max_values_per_unit is None else max_values_per_unit
    order = NoisyOrder.planned(n, k, epsilon=epsilon, delta=delta, max_values_per_unit=most, neighbours=neighbours)
    check_useful(order.noise, n)
    return order


def terms_once(
    order: NoisyOrder,
    *,
    task: str,
    candidates: PublicCandidates | DistantCandidates,
    arguments: dict[str, Any],
) -> Terms:
    """The certificate of noise once on all counts.

    Proof: ``proofs/counting.md``, claim 6, and ``proofs/noisy_order.md``.
    """
    page = "proofs/discrete_gaussian.md" if order.delta else "proofs/geometric_mechanism.md"
    return Terms(
        task=task,
        mechanism=type(order.noise).__name__,
        epsilon=order.epsilon,
        delta=order.delta,
        sensitivity=noise_sensitivity(order.noise),
        candidates=candidates.description(),
        error_bound=float(order.error_bound(CONFIDENCE)),
        proofs=(page, "proofs/noisy_order.md"),
        arguments=arguments,
        counted=NoisyUnits(within=order.count_bound(CONFIDENCE)),
    )


def drawn_once(
    order: NoisyOrder, summary: CandidateCounts, candidates: PublicCandidates, *, rarest: bool = False
) -> Drawn:
    """The selected candidates, best first, and their noisy counts; negative ones are released as 0."""
    ranked = order.select(summary.counts, rarest=rarest)
    counts = [min(max(0, count), LARGEST_COUNT) for count in ranked.counts]
    answer: list[Value] = [candidates[position] for position in ranked.positions]
    return Drawn(answer, counted=counts)


def ruled_arguments(
    order: object, max_values_per_unit: int | None, *, is_ruled: bool, k: int | None = None
) -> dict[str, Any]:
    """The arguments in a certificate that say how the order was decided; none if the caller left nothing to decide."""
    is_at_once = isinstance(order, TopKPlan) and order.is_at_once
    rule = (GAUSSIAN_ONCE if order.delta else ONCE) if isinstance(order, NoisyOrder) else ORDER if is_at_once else EACH
    return {
        **({"k": k} if rule != EACH and k is not None else {}),
        **({} if max_values_per_unit is None else {"max_values_per_unit": max_values_per_unit}),
        **({"rule": rule} if is_ruled else {}),
    }

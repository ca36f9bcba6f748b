"""Charts: error against epsilon for each mechanism, and how likely each candidate is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike

from dpselect.charts import Axis, Series, bars, lines
from dpselect.checks import probability
from dpselect.errors import InvalidParameterError, Shown
from dpselect.mechanisms import ExponentialMechanism, Mechanism, PermuteAndFlip, ReportNoisyMax
from dpselect.mechanisms.mechanism import explained
from dpselect.mechanisms.scores import ScoresLike, checked_candidates, native_scores, score_count
from dpselect.planning.curves import MechanismKind, checked_epsilons, error_curve

if TYPE_CHECKING:
    from altair import LayerChart

MECHANISMS: Mapping[str, MechanismKind] = {
    "permute-and-flip": PermuteAndFlip,
    "exponential mechanism": ExponentialMechanism,
    "noisy max (Laplace)": ReportNoisyMax,
}


@explained
def plot_error(
    scores: ScoresLike | None = None,
    *,
    n: int | None = None,
    epsilons: ArrayLike | None = None,
    sensitivity: float,
    monotonic: bool = False,
    confidence: float | None = None,
) -> LayerChart:
    """A chart of the error against epsilon, one line for each mechanism.

    That is permute-and-flip, the exponential mechanism, and noisy max with Laplace noise. Errors below a millionth of
    the largest are cut off, and the chart says so.

    Args:
        scores: shape ``(n,)``, *public or synthetic*, never the private ones: the chart depends on them.
        n: number of candidates, instead of scores; errors are then the worst over all scores.
        epsilons: shape ``(m,)``, at least two, each > 0. Default: 61 from 0.01 to 10, evenly spaced in the logarithm.
        confidence: None for the expected error; otherwise the chart shows the error bound at this confidence level.

    Returns:
        An Altair chart with its numbers inside; `dpselect.charts.save` writes it to a file.

    Raises:
        InvalidScoresError: as for `Mechanism.select`.
        MissingExtraError: the extra ``plots`` is not installed.

    >>> plot_error(n=1000, sensitivity=1).to_dict()["title"]["text"]
    ['Worst-case expected error of one selection among 1,000 candidates']
    """
    at = checked_epsilons(np.geomspace(0.01, 10.0, 61) if epsilons is None else epsilons)
    if len(set(at)) < 2:
        got = Shown(f"<{len(set(at))} different>")
        raise InvalidParameterError("epsilons", got, "at least two different values, for a line between them")
    made = PermuteAndFlip(epsilon=1.0, sensitivity=sensitivity, monotonic=monotonic)
    errors = {
        name: error_curve(
            kind, scores, n=n, epsilons=at, sensitivity=sensitivity, monotonic=monotonic, confidence=confidence
        )
        for name, kind in MECHANISMS.items()
    }
    y, said = _error_axis(np.concatenate([*errors.values()]), expected=confidence is None)
    # With Laplace noise it is proved only for errors at a confidence.
    worst = f"The worst over all scores{' (with Laplace noise, the worst known)' if confidence is None else ''}."
    conditions = [
        worst if scores is None else "On the scores given.",
        f"Sensitivity {repr(made.sensitivity).removesuffix('.0')}{', monotonic' if monotonic else ''}.",
    ]
    return lines(
        [Series(name=name, x=np.array(at), y=curve) for name, curve in errors.items()],
        x=Axis(title="epsilon of one selection", log=True),
        y=y,
        title=_title(scores, n, confidence),
        subtitle=" ".join([*conditions, *said]),
        steps=confidence is not None and scores is not None,  # one of the gaps between scores, hence in steps
    )


def _error_axis(errors: np.ndarray, *, expected: bool) -> tuple[Axis, list[str]]:
    """The axis of the errors, and a sentence about errors that have no place on it."""
    title = f"{'expected error' if expected else 'error'}, in the unit of the scores"
    if not errors.any():
        return Axis(title=title, lowest=0.0, highest=1.0), ["Every error is 0."]
    axis = Axis(title=title, log=True)
    positive = errors[axis.drawable(errors)]
    if not positive.size:
        return axis, []  # on which nothing can be drawn, as the caller will be told
    power = math.floor(math.log10(positive.max())) - 6  # smaller errors would only compress the others
    floor = float(f"1e{power}")
    if positive.min() >= floor:
        return axis, ["A line ends where the error is 0."] if (errors == 0).any() else []
    shown = f"{floor:,.{max(0, -power)}f}" if abs(power) <= 6 else f"1e{power}"
    return replace(axis, lowest=floor), [f"Errors below {shown} are not shown."]


def _title(scores: ScoresLike | None, n: int | None, confidence: float | None) -> str:
    count = n if scores is None else score_count(native_scores(scores))
    among = f"one selection among {count:,} candidates" if count != 1 else "a selection among one candidate"
    worst = "Worst-case expected error" if scores is None else "Expected error"
    if confidence is None:
        return f"{worst} of {among}"
    percent = (100 * Decimal(repr(probability(confidence, "confidence")))).normalize()
    return f"Error not exceeded with {percent:f} % confidence by {among}"


MOST_CANDIDATES, SHOWN_OF_MANY = 50, 20
"""Up to the first number each candidate has a bar; of more, the second: the most probable, in decreasing order."""


def plot_pmf(mechanism: Mechanism, scores: ScoresLike, candidates: object = None) -> LayerChart:
    """A bar chart of `Mechanism.pmf`. For public or synthetic scores only: it shows what depends on every score.

    Up to 50 candidates each have a bar, in the given order. With more, the 20 most probable have one each, and the
    subtitle says the sum of the others. `dpselect.charts.save` writes the chart to a file.

    Args:
        mechanism: whose law is shown.
        scores: as for `Mechanism.select`.
        candidates: as for `Mechanism.select`; their texts label the bars. Default: the indices.

    Raises:
        InvalidScoresError, InvalidCandidatesError: as for `Mechanism.select`.
        MissingExtraError: the extra ``plots`` is not installed.

    >>> mechanism = PermuteAndFlip(epsilon=1.0, sensitivity=1.0, monotonic=True)
    >>> plot_pmf(mechanism, [10.0, 12.0, 11.0], candidates=["red", "green", "blue"]).to_dict()["title"]["text"]
    ['Permute-and-flip, epsilon = 1: probability of each of 3 candidates']
    """
    if not isinstance(cast(object, mechanism), Mechanism):
        raise InvalidParameterError("mechanism", mechanism, "a selection mechanism, such as PermuteAndFlip(...)")
    probabilities = mechanism.pmf(scores)
    count = len(probabilities)
    label = checked_candidates(candidates, count=count)
    title = f"{_name(mechanism)}, epsilon = {mechanism.epsilon:g}"
    subtitle = f"Sensitivity {mechanism.sensitivity:g}{', monotonic' if mechanism.monotonic else ''}."
    shown = np.arange(count)
    if count > MOST_CANDIDATES:
        shown = np.argsort(-probabilities, kind="stable")[:SHOWN_OF_MANY]
        title += f": probability of the {SHOWN_OF_MANY} likeliest of {count:,} candidates"
        rest = float(np.delete(probabilities, shown).sum())
        subtitle += f" The other {count - SHOWN_OF_MANY:,} have a probability of {rest:.3g} together."
    else:
        title += f": probability of each of {count} candidates" if count > 1 else ": probability of the one candidate"
    labels = [str(label(int(index))) for index in shown]
    return bars(
        labels,
        probabilities[shown].tolist(),
        category="index" if candidates is None else "candidate",
        value="probability of being selected",
        title=title,
        subtitle=subtitle,
    )


def _name(mechanism: Mechanism) -> str:
    if isinstance(mechanism, ReportNoisyMax):
        noise = mechanism.noise.capitalize().replace("Exponential", "exponential")  # others are people
        return f"Report-noisy-max ({noise} noise)"
    if isinstance(mechanism, ExponentialMechanism):
        return "Exponential mechanism" + ("" if mechanism.weights is None else " with weights")
    return "Permute-and-flip"

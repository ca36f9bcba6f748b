"""The chart of a selection's law: how likely each candidate is."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from dpselect.charts import bars
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import ExponentialMechanism, Mechanism, ReportNoisyMax
from dpselect.mechanisms.candidates import checked_candidates
from dpselect.mechanisms.scores import ScoresLike

if TYPE_CHECKING:
    from altair import LayerChart

MOST_CANDIDATES = 50
"""Up to this number each candidate has a bar, in the order given."""

SHOWN_OF_MANY = 20
"""With more candidates, this many have one: the most probable, in decreasing order."""


def plot_pmf(mechanism: Mechanism, scores: ScoresLike, candidates: object = None) -> LayerChart:
    """A bar chart of `Mechanism.pmf`. For public or synthetic scores only: it shows what depends on every score.

    Up to 50 candidates each have a bar, in the given order. With more, the 20 most probable have one each, and one
    further bar shows the sum of the others. `dpselect.charts.save` writes the chart to a file.

    Args:
        mechanism: whose law is shown.
        scores: as for `Mechanism.select`.
        candidates: as for `Mechanism.select`; their texts label the bars. Default: the indices.

    Returns:
        An Altair chart with its numbers inside.

    Raises:
        InvalidScoresError: as for `Mechanism.select`.
        InvalidCandidatesError: as for `Mechanism.select`.
        InvalidParameterError: `mechanism` is none.
        MissingExtraError: the extra ``plots`` is not installed.

    >>> from dpselect import PermuteAndFlip
    >>> mechanism = PermuteAndFlip(epsilon=1.0, sensitivity=1.0, monotonic=True)
    >>> chart = plot_pmf(mechanism, [10.0, 12.0, 11.0], candidates=["red", "green", "blue"])
    >>> chart.to_dict()["title"]["text"]
    ['Permute-and-flip, epsilon = 1: probability of each of 3 candidates']
    """
    if not isinstance(cast(object, mechanism), Mechanism):
        raise InvalidParameterError("mechanism", mechanism, "a selection mechanism, such as PermuteAndFlip(...)")
    probabilities = mechanism.pmf(scores)
    count = len(probabilities)
    label = None if candidates is None else checked_candidates(candidates, count=count)
    title = f"{_name(mechanism)}, epsilon = {mechanism.epsilon:g}"
    subtitle = f"Sensitivity {mechanism.sensitivity:g}{', monotonic' if mechanism.monotonic else ''}."
    shown = np.arange(count)
    if count > MOST_CANDIDATES:
        shown = np.argsort(-probabilities, kind="stable")[:SHOWN_OF_MANY]
        title += f": probability of the {SHOWN_OF_MANY} likeliest of {count:,} candidates"
        subtitle += f" The last bar is the sum of the other {count - SHOWN_OF_MANY:,}."
    else:
        title += f": probability of each of {count} candidates" if count > 1 else ": probability of the one candidate"
    labels = [str(index if label is None else label(int(index))) for index in shown]
    others = None
    if count > len(shown):
        labels.append(f"the other {count - len(shown):,}")
        others = float(np.delete(probabilities, shown).sum())
    return bars(
        labels,
        probabilities[shown].tolist(),
        category="candidate" if label is not None else "index",
        value="probability of being selected",
        title=title,
        subtitle=subtitle,
        others=others,
    )


def _name(mechanism: Mechanism) -> str:
    if isinstance(mechanism, ReportNoisyMax):
        noise = (
            mechanism.noise if mechanism.noise == "exponential" else mechanism.noise.capitalize()
        )  # others are people
        return f"Report-noisy-max ({noise} noise)"
    if isinstance(mechanism, ExponentialMechanism):
        return "Exponential mechanism" + ("" if mechanism.weights is None else " with weights")
    return "Permute-and-flip"

"""The chart of error against epsilon for each mechanism."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike

from dpselect.charts import Axis, Series, lines, styles_of
from dpselect.charts.lines import MOST_SERIES
from dpselect.checks import boolean, probability
from dpselect.errors import InvalidParameterError, Shown
from dpselect.mechanisms import ExponentialMechanism, PermuteAndFlip, ReportNoisyMax
from dpselect.mechanisms.scores import ScoresLike, native_scores, score_count
from dpselect.planning.curves import MechanismKind, Setting, checked_epsilons, error_curve

if TYPE_CHECKING:
    from altair import LayerChart

MECHANISMS: Mapping[str, MechanismKind] = {
    "permute-and-flip": PermuteAndFlip,
    "exponential mechanism": ExponentialMechanism,
    "noisy max (Laplace)": ReportNoisyMax,
}

_MOST_DECADES = 6
"""Range of errors on a log axis; smaller errors are negligible and would only compress the others."""


def plot_error(
    scores: ScoresLike | None = None,
    *,
    n: int | None = None,
    epsilons: ArrayLike | None = None,
    sensitivity: float,
    monotonic: bool = False,
    confidence: float | None = None,
    mechanisms: Mapping[str, MechanismKind] | None = None,
    log: bool = True,
) -> LayerChart:
    """A chart of the error against epsilon, one line for each mechanism.

    Args:
        scores: shape ``(n,)``, *public or synthetic*, never the private ones: the chart depends on them.
        n: number of candidates, instead of scores; errors are then the worst over all scores.
        epsilons: shape ``(m,)``, at least two, each > 0. Default: 61 from 0.01 to 10, evenly spaced in the logarithm.
        sensitivity: of each score, > 0, in the unit of the scores.
        monotonic: as for `Mechanism`.
        confidence: None for the expected error; otherwise the chart shows the error bound at this confidence level.
        mechanisms: from the name of each line to a mechanism class, or ``functools.partial`` of one; at most 6.
            Default: permute-and-flip, the exponential mechanism, and noisy max with Laplace noise.
        log: logarithmic axes; errors below a millionth of the largest are then cut off, and the chart says so.

    Returns:
        An Altair chart with its numbers inside; `dpselect.charts.save` writes it to a file.

    Raises:
        InvalidParameterError: an argument is out of range, or not exactly one of `scores` and `n` is given.
        InvalidScoresError: as for `Mechanism.select`.
        MissingExtraError: the extra ``plots`` is not installed.

    >>> chart = plot_error(n=1000, sensitivity=1)
    >>> chart.to_dict()["title"]["text"]
    ['Worst-case expected error of one selection among 1,000 candidates']
    """
    boolean(log, "log")
    chosen = _checked(MECHANISMS if mechanisms is None else mechanisms)
    at = checked_epsilons(np.geomspace(0.01, 10.0, 61) if epsilons is None else epsilons)
    if len(set(at)) < 2:
        got = Shown(f"<{len(set(at))} different>")
        raise InvalidParameterError("epsilons", got, "at least two different values, for a line between them")
    settings = [Setting.checked(kind, sensitivity=sensitivity, monotonic=monotonic) for kind in chosen.values()]
    errors = {
        name: error_curve(
            kind, scores, n=n, epsilons=at, sensitivity=sensitivity, monotonic=monotonic, confidence=confidence
        )
        for name, kind in chosen.items()
    }
    y, said = _error_axis(np.concatenate([*errors.values()]), log=log, expected=confidence is None)
    conditions = [
        _scope(settings, expected=confidence is None) if scores is None else "On the scores given.",
        f"Sensitivity {repr(settings[0].sensitivity).removesuffix('.0')}{', monotonic' if monotonic else ''}.",
    ]
    return lines(
        [
            Series(name=name, x=np.array(at), y=curve, style=style)
            for (name, curve), style in zip(errors.items(), styles_of(list(errors)), strict=True)
        ],
        x=Axis(title="epsilon of one selection", log=log),
        y=y,
        title=_title(scores, n, confidence),
        subtitle=" ".join([*conditions, *said]),
        steps=confidence is not None and scores is not None,  # one of the gaps between scores, hence in steps
    )


def _checked(mechanisms: object) -> Mapping[str, MechanismKind]:
    """Names and kinds of mechanisms, at most as many as a chart can show; the kinds are checked where they are used."""
    expected = f"a mapping from 1 to {MOST_SERIES} names to mechanism classes"
    if not isinstance(mechanisms, Mapping):
        raise InvalidParameterError("mechanisms", mechanisms, expected)
    named = cast("Mapping[object, MechanismKind]", mechanisms)
    if not 1 <= len(named) <= MOST_SERIES or not all(isinstance(name, str) and name.strip() for name in named):
        raise InvalidParameterError("mechanisms", Shown(f"<{len(named)} entries>"), expected)
    return cast("Mapping[str, MechanismKind]", mechanisms)


def _scope(settings: Sequence[Setting], *, expected: bool) -> str:
    """The scores over which errors are the worst; with Laplace noise this is proved only for errors at a confidence."""
    has_laplace = any(each.at(1.0).law.name == "laplace" for each in settings)
    return f"The worst over all scores{' (with Laplace noise, the worst known)' if expected and has_laplace else ''}."


def _error_axis(errors: np.ndarray, *, log: bool, expected: bool) -> tuple[Axis, list[str]]:
    """The axis of the errors, and a sentence about errors that have no place on it."""
    title = f"{'expected error' if expected else 'error'}, in the unit of the scores"
    if not errors.any():
        return Axis(title=title, lowest=0.0, highest=1.0), ["Every error is 0."]
    if not log:
        return Axis(title=title, lowest=0.0), []
    axis = Axis(title=title, log=True)
    positive = errors[axis.drawable(errors)]
    if not positive.size:
        return axis, []  # on which nothing can be drawn, as the caller will be told
    power = math.floor(math.log10(positive.max())) - _MOST_DECADES
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

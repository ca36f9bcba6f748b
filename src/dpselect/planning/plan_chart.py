"""The chart of a plan: the expected error and the error bound against epsilon, with the wanted errors marked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect.charts import Axis, Mark, Series, lines, styles_of
from dpselect.charts.theme import HEIGHT
from dpselect.errors import InvalidParameterError, Shown
from dpselect.mechanisms.scores import ScoresLike, native_scores, score_count
from dpselect.planning.curves import checked_epsilons, error_curve
from dpselect.planning.setting import MechanismKind, Setting

if TYPE_CHECKING:
    from altair import LayerChart

_MOST_DECADES = 6
"""Range of errors on the axis; smaller errors are negligible and would only compress the others."""

_APART = 5.0
"""Pixels between two curves that can be told apart everywhere."""

_SOLID, _DASHED = 0, 2
"""Dashes of bounds, and of expected errors."""

FloatArray = NDArray[np.float64]
Curves = tuple[FloatArray, FloatArray]
"""Two arrays of one length: of a mechanism its expected errors, then its bounds."""


def plot_plan(
    scores: ScoresLike | None = None,
    *,
    n: int | None = None,
    epsilons: ArrayLike,
    sensitivity: float,
    monotonic: bool,
    confidence: float,
    mechanisms: Mapping[str, MechanismKind],
    marks: Sequence[Mark] = (),
) -> LayerChart:
    """A chart of the expected error and of the error bound of each mechanism against epsilon.

    A curve that would lie on that of the first mechanism is not drawn; the subtitle names it.

    Args:
        scores, n, epsilons, sensitivity, monotonic: as for `error_curve`; at least two different epsilons.
        confidence: of the bound.
        mechanisms: from the name of each mechanism to its class; one to three of them.
        marks: wanted errors, and the epsilon that reaches each with the first mechanism.

    Raises:
        InvalidParameterError: an argument is out of range.
        InvalidScoresError: as for `Mechanism.select`.
        MissingExtraError: the extra ``plots`` is not installed.

    >>> from dpselect import PermuteAndFlip
    >>> about = {"n": 1000, "sensitivity": 1, "monotonic": True, "confidence": 0.99}
    >>> chart = plot_plan(epsilons=[0.1, 1, 10], mechanisms={"permute-and-flip": PermuteAndFlip}, **about)
    >>> chart.to_dict()["title"]["text"]
    ['Error of one selection among 1,000 candidates']
    """
    at = np.array(sorted(set(checked_epsilons(epsilons))))
    if at.size < 2:
        raise InvalidParameterError("epsilons", Shown(f"<{at.size} different>"), "at least two different values")

    def errors(kind: MechanismKind) -> Curves:
        about: dict[str, Any] = {"n": n, "epsilons": at, "sensitivity": sensitivity, "monotonic": monotonic}
        return error_curve(kind, scores, **about), error_curve(kind, scores, **about, confidence=confidence)

    curves = {name: errors(kind) for name, kind in mechanisms.items()}
    x = Axis(title="epsilon of one selection", log=True, lowest=float(at[0]), highest=float(at[-1]))
    y, below = _error_axis(curves, marks)
    stepped = scores is not None
    bound = f"{(100 * Decimal(repr(confidence))).normalize():f} % bound"
    drawn, unseen = _distinct_curves(curves, y, bound, stepped=stepped)
    several = len({name for name, _ in drawn}) > 1
    styles = dict(zip(curves, styles_of(list(curves)), strict=True))
    series: list[Series] = []
    for name, is_bound in drawn:
        style = styles[name]
        across, up = at, curves[name][is_bound]
        if is_bound and stepped:
            across, up = _stairs(at, up, y.lowest)
        label = (f"{name}: " if several else "") + (bound if is_bound else "expected")
        series.append(Series(name=label, x=across, y=up, style=style, dash=_SOLID if is_bound else _DASHED))
    shown = list(dict.fromkeys(name for name, _ in drawn))
    settings = [Setting.checked(mechanisms[name], sensitivity=sensitivity, monotonic=monotonic) for name in shown]
    unproved = any(each.at(1.0).law.name == "laplace" for each in settings)
    worst = f"in the worst case over all scores{' (with Laplace noise, the worst known)' if unproved else ''}."
    conditions = [
        f"With {_and(list(map(_phrase, shown)))},",
        "on the scores given." if stepped else worst,
        f"Sensitivity {repr(float(sensitivity)).removesuffix('.0')}{', monotonic' if monotonic else ''}.",
    ]
    title = _title(n if scores is None else score_count(native_scores(scores)))
    return lines(series, x=x, y=y, title=title, subtitle=" ".join([*conditions, *below, *unseen]), marks=marks)


def _distinct_curves(
    curves: Mapping[str, Curves], y: Axis, bound: str, *, stepped: bool
) -> tuple[list[tuple[str, bool]], list[str]]:
    """The curves to draw, by mechanism and whether it is the bound, and a sentence about the others."""
    (first, of_first), *others = curves.items()
    drawn, unseen = [(first, False), (first, True)], list[str]()
    if y.highest == math.inf:
        return drawn, unseen  # nothing can be drawn at all
    for name, pair in others:
        away = [_log_distance(one, other, y) for one, other in zip(of_first, pair, strict=True)]
        # Stairs differ by much at a few places, and on the whole not.
        most = [float(np.median(each) if stepped and at else each.max()) for at, each in enumerate(away)]
        visible = [each * HEIGHT >= _APART * math.log10(y.highest / y.lowest) for each in most] if y.log else [False]
        if not any(visible):
            share = 0 if stepped else math.ceil(100 * (10.0 ** max(most) - 1.0))
            unseen.append(f"{_phrase(name)} (within {share} %)" if share else _phrase(name))
        elif stepped and not visible[1]:
            drawn.append((name, False))
            unseen.append(f"the {bound} of {_phrase(name)}")
        else:
            drawn += [(name, False), (name, True)]
    return drawn, [f"Not drawn, as nearly the same: {_and(unseen)}."] if unseen else []


def _log_distance(one: FloatArray, other: FloatArray, y: Axis) -> FloatArray:
    """How far two curves are apart on a logarithmic axis; 0 on another one, where every error is 0."""
    if not y.log:
        return np.zeros(one.size)
    low, high = (np.log10(np.clip(each, y.lowest, y.highest)) for each in (one, other))
    return np.abs(low - high)


def _stairs(at: FloatArray, bounds: FloatArray, lowest: float) -> Curves:
    """The curve of a bound on scores, which is one of the gaps between them: it keeps its height to the next epsilon.

    Where it falls to 0 it is drawn down to the axis.

    >>> x, y = _stairs(np.array([0.1, 1.0, 10.0]), np.array([8.0, 4.0, 0.0]), 0.5)
    >>> x.tolist(), y.tolist()
    ([0.1, 1.0, 1.0, 10.0, 10.0], [8.0, 8.0, 4.0, 4.0, 0.5])
    """
    across, up = np.repeat(at, 2)[1:], np.repeat(bounds, 2)[:-1]
    falls = (up[1:] == 0) & (up[:-1] > 0)
    up[1:][falls] = lowest
    return across, up


def _phrase(name: str) -> str:
    """The name of a mechanism within a sentence."""
    return f"the {name}" if name.endswith("mechanism") else name


def _and(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def _error_axis(curves: Mapping[str, Curves], marks: Sequence[Mark]) -> tuple[Axis, list[str]]:
    """The axis of the errors, and a sentence about errors that have no place on it."""
    title = "error, in the unit of the scores"
    errors = np.concatenate([each for pair in curves.values() for each in pair])
    axis = Axis(title=title, log=True)
    shown = errors[axis.drawable(errors)]
    if not errors.any():
        return Axis(title=title, lowest=0.0, highest=1.0), ["Every error is 0."]
    if not shown.size:
        return axis, []  # on which nothing can be drawn, as the caller will be told
    wanted = [mark.y for mark in marks]
    highest = max(shown.max(), *wanted) if wanted else shown.max()
    lowest = min(shown.min(), *wanted) if wanted else shown.min()
    floor = 10.0 ** (math.floor(math.log10(highest)) - _MOST_DECADES)
    said = ["A line ends where the error is 0."] if (errors == 0).any() else []
    if lowest < floor and not any(each < floor for each in wanted):
        lowest, said = floor, [f"Errors below {floor:g} are not shown."]
    if lowest == highest:
        lowest, highest = lowest / 10.0, highest * 10.0
    return Axis(title=title, log=True, lowest=float(lowest), highest=float(highest)), said


def _title(n: int | None) -> str:
    return f"Error of one selection among {n:,} candidates" if n != 1 else "Error of a selection among one candidate"

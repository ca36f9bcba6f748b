"""``dpselect plan``: how good an answer will be, from public arguments alone.

A plan is one object: ``--json`` prints it, and the sentences and the table for people are made from it.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from cyclopts import Parameter

from dpselect import __version__
from dpselect.accounting import calibrate_laplace_profile, calibrate_rounds, laplace_profile_epsilon, rounds_epsilon
from dpselect.charts import altair, save
from dpselect.charts.files import SUFFIXES, renderer
from dpselect.checks import delta_below_one, positive_count, positive_epsilon, positive_sensitivity, probability
from dpselect.cli.options import Flag, Json, Number, Whole, in_one_piece
from dpselect.cli.scores import public_scores
from dpselect.cli.streams import printable
from dpselect.errors import InvalidParameterError, Shown
from dpselect.mechanisms import ExponentialMechanism, Mechanism, PermuteAndFlip, ReportNoisyMax
from dpselect.planning import epsilon_for, error_curve, plot_error, recommendation
from dpselect.planning.recommended import Recommendation
from dpselect.questions.question import as_text

_WIDEST = 100
"""Width of a paragraph, however wide the window is."""

_EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
_EVEN = 1.0 + 1e-9
"""Up to this factor both mechanisms may spend the same."""

_DIGITS = 3
_PLAIN = range(-3, 9)
"""Powers of ten that are written out."""

_POINTS = 41
"""Number of points of each line of a chart; a million scores are read once for each point."""

_LOWEST, _HIGHEST = 1e-290, 1e290
"""Epsilons that can be drawn."""


class Choice(NamedTuple):
    """A mechanism that can be chosen, and how its selections share a budget."""

    name: str
    phrase: str
    """Its name within a sentence."""
    kind: Callable[..., Mechanism]
    share: Callable[..., float]
    """Takes a total and returns the epsilon of each selection."""
    total: Callable[..., float]
    """The way back, rounded up."""


_LAPLACE = calibrate_laplace_profile, laplace_profile_epsilon
_ROUNDS = calibrate_rounds, rounds_epsilon
CHOICES: dict[str, Choice] = {
    "PermuteAndFlip": Choice("permute-and-flip", "permute-and-flip", PermuteAndFlip, *_LAPLACE),
    "ExponentialMechanism": Choice(
        "exponential mechanism", "the exponential mechanism", ExponentialMechanism, *_ROUNDS
    ),
    "ReportNoisyMax": Choice("Laplace noisy max", "Laplace noisy max", ReportNoisyMax, *_LAPLACE),
}
"""Keys are the names under which `dpselect` exports them."""


@in_one_piece
def plan(
    *,
    candidates_count: Whole | None = None,
    scores: str | None = None,
    sensitivity: Number = 1.0,
    monotonic: Flag = False,
    epsilon: Annotated[list[float], Parameter(allow_leading_hyphen=True, negative="")] | None = None,
    confidence: Number = 0.99,
    selections: Whole = 1,
    delta: Number = 0.0,
    expected_error: Number | None = None,
    within: Number | None = None,
    plot: str | None = None,
    as_json: Json = False,
) -> None:
    """Compute how accurate an answer will be at each epsilon, before any epsilon is spent.

    dpselect plan --candidates-count 41270 --monotonic \\
        --within 20

    Never plan with private scores: the plan, epsilon and the mechanism would depend
    on them, and reveal them without any noise. So no option takes a table. Plan
    with the number of candidates, which covers all scores, or with numbers that
    are already public, such as last year's published counts.

    Args:
        candidates_count: Number of candidates; the errors then hold for any scores.
        scores: File of public scores instead: text, one number per line.
        sensitivity: Largest change of any score by one unit. With the default, errors are in multiples of this change.
        monotonic: One unit changes all scores in the same direction, as for counts when a unit is added or removed.
            Halves the epsilon needed for a given error.
        epsilon: Privacy loss to plan for; repeat the option for several. Default: 0.01 0.03 0.1 0.3 1 3 10.
        confidence: Confidence level of the error bound.
        selections: Number of selections that share epsilon; each error is that of a single selection.
        delta: Probability with which the guarantee of all selections may fail.
        expected_error: Find the epsilon that brings the expected error down to this.
        within: Find the epsilon that keeps the error within this, at the confidence level.
        plot: Plot the error bound of each mechanism against epsilon to this file: .svg, .png, .html or .json.
    """
    if plot is not None:
        if selections != 1 or delta != 0:
            hint = "The chart shows the epsilon of one selection; the table would show the total."
            raise InvalidParameterError("plot", Shown(repr(plot)), "no --selections or --delta together with it", hint)
        _check_chart_file(plot)
    if candidates_count is None and scores is None:
        expected = "the number of candidates, or --scores with a file of public scores instead"
        raise InvalidParameterError("candidates-count", None, expected)
    if candidates_count is not None and scores is not None:
        raise InvalidParameterError("scores", Shown(repr(scores)), "--candidates-count or --scores, not both")
    n = None
    if candidates_count is not None:
        n = positive_count(candidates_count, "candidates-count", at_most=sys.maxsize)
    setting: dict[str, Any] = {"sensitivity": positive_sensitivity(sensitivity), "monotonic": monotonic}
    epsilons = sorted({positive_epsilon(each) for each in epsilon or _EPSILONS})
    asked: dict[str, Any] = {
        "confidence": probability(confidence, "confidence"),
        "selections": positive_count(selections, "selections", at_most=sys.maxsize),
        "delta": delta_below_one(delta),
    }
    vector = None if scores is None else public_scores(scores)  # last, because that takes longest
    about = {"candidates_count": n if vector is None else vector.size, "scores": scores}
    setting |= {"scores": vector, "n": n}
    targets = {"expected_error": expected_error}, {"within": within, "confidence": asked["confidence"]}
    wanted = [each for each in targets if None not in each.values()]
    found = worked_out(setting, asked, about, epsilons, wanted)
    if plot is not None:
        _draw(setting, asked["confidence"], epsilons, plot)
    if as_json:
        print(json.dumps(found, sort_keys=True, allow_nan=False, ensure_ascii=False))
        return
    for sentence in introduction(found):
        print(_wrapped(sentence))
    print("", *_table(found), "", sep="\n")
    for sentence in conclusions(found):
        print(_wrapped(sentence))


def worked_out(
    setting: Mapping[str, Any],
    asked: Mapping[str, Any],
    about: Mapping[str, Any],
    epsilons: Sequence[float],
    wanted: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """The plan as plain values for JSON; an error that no double can hold is null.

    Args:
        setting: arguments of the functions of `dpselect.planning`: scores or their number, sensitivity, monotonic.
        asked: confidence, selections and delta.
        about: the number of candidates, and the file of their scores.
        epsilons: of the table; totals.
        wanted: errors, each with its confidence level if it is a bound.
    """
    count, delta, n = asked["selections"], asked["delta"], about["candidates_count"]
    targets = [
        {**each, "epsilon": {key: _price(choice, setting, each, count, delta) for key, choice in CHOICES.items()}}
        for each in wanted
    ]
    columns: dict[str, list[dict[str, float | None]]] = {}
    advised = [
        (epsilon, recommendation(count, delta, epsilon=epsilon, n=n, confidence=asked["confidence"]))
        for epsilon in (epsilons if n > 1 else ())  # with one candidate there is nothing to choose from
    ]
    for key, choice in CHOICES.items():
        shares = [choice.share(epsilon=total, delta=delta, count=count) for total in epsilons]
        curves = (
            error_curve(choice.kind, **setting, epsilons=shares, confidence=confidence).tolist()
            for confidence in (None, asked["confidence"])
        )
        names = "epsilon_of_each_selection", "expected_error", "error_bound"
        rows = zip(shares, *curves, strict=True)
        columns[key] = [
            {name: value if math.isfinite(value) else None for name, value in zip(names, row, strict=True)}
            for row in rows
        ]
    grouped = [[*group] for _, group in groupby(advised, key=lambda pair: pair[1].mechanism)]
    return {
        **about,
        **asked,
        "sensitivity": setting["sensitivity"],
        "monotonic": setting["monotonic"],
        "table": [
            {"epsilon": epsilon} | {key: rows[at] for key, rows in columns.items()}
            for at, epsilon in enumerate(epsilons)
        ],
        "recommendations": [
            {
                "epsilons": [epsilon for epsilon, _ in group],
                "mechanism": group[0][1].mechanism.__name__,
                "reason": _reason([each for _, each in group], asked),
            }
            for group in grouped
        ],
        "targets": targets,
        "version": __version__,
    }


def _price(choice: Choice, setting: Mapping[str, Any], wanted: Mapping[str, Any], count: int, delta: float) -> float:
    """The total epsilon that reaches a wanted error."""
    return choice.total(epsilon_for(choice.kind, **setting, **wanted), count=count, delta=delta)


def _reason(found: Sequence[Recommendation], asked: Mapping[str, Any]) -> str:
    """Why the mechanism is better at each of the epsilons that `found` was computed for; at least one."""
    count, confidence = asked["selections"], percent(asked["confidence"])
    factors = [each.advantage for each in found]
    if max(factors) < _EVEN:
        start = "At"
        if count > 1:
            start = f"Each of {count:,} selections may spend as much epsilon as with the exponential mechanism, and at"
        return f"{start} the same epsilon it never errs more than the exponential mechanism, whatever the scores."
    even = found[0].break_even
    if even == math.inf:
        return f"A blind guess is already right with {confidence} confidence: neither mechanism is better."
    each = f"each of {count:,} selections" if count > 1 else "the selection"
    low, high = f"{min(factors):.2f}", f"{max(factors):.2f}"
    return (
        f"With delta = {as_text(asked['delta'])}, {each} may spend {low if low == high else f'{low} to {high}'} times"
        " as much epsilon with the exponential mechanism, whose privacy loss has a bounded range, as with"
        f" permute-and-flip. It needs {even:.2f} times as much for the same {confidence} bound."
    )


def introduction(plan: Mapping[str, Any]) -> Iterator[str]:
    """What is planned, and what the figures mean."""
    n, count, delta = plan["candidates_count"], plan["selections"], as_text(plan["delta"])
    where = f"among {n:,} candidate{'s' if n != 1 else ''}, "
    source = plan["scores"]
    where += "in the worst case over all scores" if source is None else f"on the public scores of {printable(source)}"
    if not _is_shared(plan):
        yield f"One selection {where}."
    elif count == 1:
        yield f"One selection {where}; epsilon holds together with delta = {delta}."
    else:
        yield (
            f"{count:,} selections {where}. They share the total epsilon and delta = {delta}; "
            "each error is that of a single one of them."
        )
    alike = ", all in the same direction (monotonic)" if plan["monotonic"] else ""
    yield (
        "An error is how far the selected score is below the best. One unit (a person, a session) changes each score "
        f"by at most {as_text(plan['sensitivity'])}{alike}."
    )


def _is_shared(plan: Mapping[str, Any]) -> bool:
    """Whether epsilon is a total that differs from the epsilon of one selection."""
    return plan["selections"] > 1 or plan["delta"] > 0


def _table(plan: Mapping[str, Any]) -> Iterator[str]:
    """Epsilon, and for each mechanism its expected error and bound side by side, in lines."""
    heads = "expected", f"{percent(plan['confidence'])} bound"
    columns = [["total" if _is_shared(plan) else "", "epsilon", *(as_text(row["epsilon"]) for row in plan["table"])]]
    columns[0] = [cell.rjust(max(map(len, columns[0]))) for cell in columns[0]]
    for key, choice in CHOICES.items():
        errors = [heads[0], *(figure(row[key]["expected_error"]) for row in plan["table"])]
        bounds = [heads[1], *(figure(row[key]["error_bound"], up=True) for row in plan["table"])]
        widths = [max(map(len, each)) for each in (errors, bounds)]
        pairs = [f"{one.rjust(widths[0])}  {other.rjust(widths[1])}" for one, other in zip(errors, bounds, strict=True)]
        columns.append([choice.name.ljust(len(pairs[0])), *(pair.ljust(len(choice.name)) for pair in pairs)])
    return ("   ".join(line).rstrip() for line in zip(*columns, strict=True))


def conclusions(plan: Mapping[str, Any]) -> Iterator[str]:
    """The advice, the epsilons of target errors, and notes on the table."""
    advice, count = plan["recommendations"], plan["selections"]
    better: dict[str, list[float]] = {}
    for each in advice:
        name = CHOICES[each["mechanism"]].phrase
        use = f"In the table use {name} at epsilon = {_listed(each['epsilons'])}"
        yield f"{use if len(advice) > 1 else f'Use {name}'}. {each['reason']}"
        for row in (row for row in plan["table"] if row["epsilon"] in each["epsilons"]):
            found = {key: row[key]["expected_error"] for key in CHOICES}
            expected = {key: math.inf if error is None else error for key, error in found.items()}
            best = min(expected, key=lambda key: expected[key])
            if expected[best] < expected[each["mechanism"]] * (1.0 - 1e-9):
                better.setdefault(best, []).append(row["epsilon"])
    if not advice:
        yield "With one candidate no mechanism can err."
    for key, epsilons in better.items():
        yield (
            f"This advice minimises the error bound in the worst case. The expected error in the table is lower with "
            f"{CHOICES[key].phrase} at epsilon = {_listed(epsilons)}."
        )
    for target in plan["targets"]:
        if "within" in target:
            confidence = percent(target["confidence"])
            wanted = f"Staying within {as_text(target['within'])} of the best with {confidence} confidence"
        else:
            wanted = f"An expected error of at most {as_text(target['expected_error'])}"
        each = " in each selection" if count > 1 else ""
        prices = [
            f"{figure(price, up=True) if price > 0 else '0 (delta alone covers it)'} with {CHOICES[key].phrase}"
            for key, price in target["epsilon"].items()
        ]
        yield f"{wanted}{each} takes {'the total ' if _is_shared(plan) else ''}epsilon = {', '.join(prices)}."
    if plan["scores"] is None and plan["candidates_count"] > 1:
        yield "For Laplace noise the expected errors are the worst known, but not proved to be the worst."
    yield "Planned from public arguments only; nothing was spent."


def _listed(epsilons: Sequence[float]) -> str:
    return ", ".join(map(as_text, epsilons))


def _wrapped(sentence: str) -> str:
    width = min(shutil.get_terminal_size((_WIDEST, 24)).columns, _WIDEST)
    kept_together = sentence.replace(" = ", "\xa0=\xa0").replace(" %", "\xa0%")
    lines = textwrap.fill(kept_together, max(width, 20), break_long_words=False, break_on_hyphens=False)
    return lines.replace("\xa0", " ")


def figure(value: float | None, *, up: bool = False) -> str:
    """A number >= 0 with three significant digits, and never fewer than those before the point; None is infinite.

    Args:
        value: what to show.
        up: never round down: for bounds, and for what has to be enough.

    >>> [figure(value) for value in (0.0, 4.2653, 99.96, 1521.7, 4, 1.23456e-7, 12345678900.0, None)]
    ['0', '4.27', '100.0', '1,522', '4', '1.23e-07', '1.23e+10', 'inf']
    >>> figure(4.261, up=True), figure(0.1, up=True), figure(9.999e-5, up=True)
    ('4.27', '0.100', '1.00e-04')
    """
    if value is None or not math.isfinite(value):
        return "inf"
    exact = Decimal(repr(float(value)))  # the number as people write it: 0.1 is not rounded up for its last bits
    power = exact.adjusted() if exact else 0
    if power in _PLAIN and exact == exact.to_integral_value():
        return f"{exact.to_integral_value():,f}"
    rounding = ROUND_CEILING if up else ROUND_HALF_EVEN
    if power in _PLAIN:
        return f"{exact.quantize(Decimal(1).scaleb(-max(0, _DIGITS - 1 - power)), rounding=rounding):,f}"
    scaled = exact.scaleb(-power).quantize(Decimal(1).scaleb(1 - _DIGITS), rounding=rounding)
    if scaled == 10:
        scaled, power = Decimal("1.00"), power + 1
    return f"{scaled:f}e{power:+03d}"


def percent(share: float) -> str:
    """A share as percentage, all its digits: 0.9999999 is not 100 %.

    >>> percent(0.99), percent(0.9999999), percent(0.5)
    ('99 %', '99.99999 %', '50 %')
    """
    return f"{(Decimal(repr(share)) * 100).normalize():f} %"


def _check_chart_file(path: str) -> None:
    """Refuse early what `_draw` would refuse after all the work."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise InvalidParameterError("plot", Shown(repr(path)), f"a file name that ends in one of {' '.join(SUFFIXES)}")
    if not os.path.isdir(target.parent) or os.path.isdir(target):  # unlike Path's methods, neither raises
        raise InvalidParameterError("plot", Shown(repr(path)), "a file in an existing folder")
    altair()
    if target.suffix.lower() != ".json":
        renderer()


def _draw(setting: Mapping[str, Any], confidence: float, epsilons: Sequence[float], path: str) -> None:
    """The error bounds over the epsilons of the table (around it, if there is only one), as a file."""
    low, high = (min(max(end, _LOWEST), _HIGHEST) for end in (epsilons[0], epsilons[-1]))
    if low == high:
        low, high = low / 10.0, high * 10.0
    mechanisms = {choice.name: choice.kind for choice in CHOICES.values()}
    drawn = np.geomspace(low, high, _POINTS)
    chart = plot_error(**setting, epsilons=drawn, confidence=confidence, mechanisms=mechanisms)
    try:
        save(chart, path)
    except InvalidParameterError as refused:  # with the name of the option
        raise InvalidParameterError("plot", refused.got, refused.expected, refused.hint) from None

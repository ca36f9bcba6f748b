"""``dpselect plan``: how good an answer will be, from the number of candidates alone; all is made from one object."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any

from dpselect import __version__
from dpselect.arguments import Argument
from dpselect.checks import positive_count, positive_epsilon, positive_sensitivity, probability
from dpselect.cli.process import table
from dpselect.mechanisms import ExponentialMechanism, PermuteAndFlip, ReportNoisyMax
from dpselect.planning import epsilon_for, error_curve
from dpselect.questions.wording import rounded_up
from dpselect.questions.words import as_text, counted

_EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)

_CHOICES = {
    "permute-and-flip": PermuteAndFlip,
    "exponential mechanism": ExponentialMechanism,
    "Laplace noisy max": ReportNoisyMax,
}
"""In JSON, each has the name under which `dpselect` exports it."""


def plan(
    *,
    candidates_count: int,
    sensitivity: float = 1.0,
    monotonic: bool = False,
    epsilon: Annotated[list[float] | None, Argument("levels", "")] = None,
    confidence: float = 0.99,
    expected_error: float | None = None,
    within: float | None = None,
    as_json: bool = False,
) -> None:
    """Compute how accurate an answer will be at each epsilon, before any epsilon is spent.

    dpselect plan --candidates-count 41270 --monotonic \\
        --within 20

    Never plan with private scores: the plan, epsilon and the mechanism would depend
    on them, and reveal them without any noise. So no option takes a table, and the
    errors hold for any scores. With numbers that are already public, such as last
    year's published counts, plan in Python: dpselect.planning.

    Args:
        candidates_count: Number of candidates.
        sensitivity: Largest change of any score by one unit. With the default, errors are in multiples of this change.
        monotonic: One unit changes all scores in the same direction, as for counts when a unit is added or removed.
            Halves the epsilon needed for a given error.
        epsilon: Privacy loss to plan for, or several: 0.1,0.3,1. Default: 0.01,0.03,0.1,0.3,1,3,10.
        confidence: Confidence level of the error bound.
        expected_error: Find the epsilon that brings the expected error down to this.
        within: Find the epsilon that keeps the error within this, at the confidence level.
    """
    setting: dict[str, Any] = {
        "n": positive_count(candidates_count, "candidates_count", at_most=sys.maxsize),
        "sensitivity": positive_sensitivity(sensitivity),
        "monotonic": monotonic,
    }
    epsilons = sorted({positive_epsilon(each) for each in (_EPSILONS if epsilon is None else epsilon)})
    confidence = probability(confidence, "confidence")
    targets: list[Any] = [{"expected_error": expected_error}, {"within": within, "confidence": confidence}]
    found: dict[str, Any] = {"candidates_count": setting["n"], "sensitivity": setting["sensitivity"]}
    found |= {"monotonic": monotonic, "confidence": confidence, "version": __version__}
    found["table"] = _rows(setting, confidence, epsilons)
    found["targets"] = [
        {**each, "epsilon": {kind.__name__: epsilon_for(kind, **setting, **each) for kind in _CHOICES.values()}}
        for each in targets
        if None not in each.values()
    ]
    if as_json:
        print(json.dumps(found, sort_keys=True, allow_nan=False, ensure_ascii=False))
        return
    alike = ", all in the same direction (monotonic)" if monotonic else ""
    sure = f"{(Decimal(repr(confidence)) * 100).normalize():f} %"  # with all digits: 0.9999999 is not 100 %
    print(f"One selection among {counted(setting['n'], 'candidate')}, in the worst case over all scores.")
    print("An error is how far the selected score is below the best. One unit (a person, a session) changes each score")
    print(f"by at most {as_text(setting['sensitivity'])}{alike}.\n")
    lines = [
        (as_text(row["epsilon"]), _shown(errors["expected_error"]), _shown(errors["error_bound"]), name)
        for row in found["table"]
        for name, errors in ((name, row[kind.__name__]) for name, kind in _CHOICES.items())
    ]
    print(table(["epsilon", "expected", f"{sure} bound", "mechanism"], lines, right={0, 1, 2}))
    print("", *_conclusions(found, sure), sep="\n")


def _rows(setting: Mapping[str, Any], confidence: float, epsilons: list[float]) -> list[dict[str, Any]]:
    """For each epsilon the errors of each mechanism; one that no double can hold is None."""
    rows: list[dict[str, Any]] = [{"epsilon": epsilon} for epsilon in epsilons]
    for kind in _CHOICES.values():
        for name, level in (("expected_error", None), ("error_bound", confidence)):
            curve = error_curve(kind, **setting, epsilons=epsilons, confidence=level).tolist()
            for row, error in zip(rows, curve, strict=True):
                row.setdefault(kind.__name__, {})[name] = error if math.isfinite(error) else None
    return rows


def _conclusions(plan: Mapping[str, Any], sure: str) -> Iterator[str]:
    """What to choose, the epsilons of wanted errors, and what the table does not say."""
    compared = "permute-and-flip never errs more than the exponential mechanism, whatever the scores"
    is_one = plan["candidates_count"] == 1
    yield "With one candidate no mechanism can err." if is_one else f"At the same epsilon {compared}."
    for target in plan["targets"]:
        wanted = f"An expected error of at most {as_text(target.get('expected_error'))}"
        if "within" in target:
            wanted = f"Staying within {as_text(target['within'])} of the best with {sure} confidence"
        prices = (f"{_shown(target['epsilon'][kind.__name__])} ({name})" for name, kind in _CHOICES.items())
        yield f"{wanted} takes epsilon = {', '.join(prices)}."
    if not is_one:
        yield "For Laplace noise the expected errors are the worst known, but not proved to be the worst."
    yield "Planned from public arguments only; nothing was spent."


def _shown(number: float | None) -> str:
    return "inf" if number is None else rounded_up(number)

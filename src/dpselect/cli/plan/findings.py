"""The figures of a plan, each from the library, and the plan as a JSON object."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from dpselect import __version__
from dpselect.cli.plan.figures import exact, percent
from dpselect.cli.plan.setup import CHOICES, Setup
from dpselect.planning import epsilon_for, error_curve, recommendation
from dpselect.planning.recommended import Recommendation

_EVEN = 1.0 + 1e-9
"""Up to this factor both mechanisms may spend the same."""


def reason(found: Sequence[Recommendation], setup: Setup) -> str:
    """Why the mechanism is better at each of the epsilons that `found` was computed for; at least one."""
    several = setup.selections > 1
    factors = [each.advantage for each in found]
    if max(factors) < _EVEN:
        same = f"Each of {setup.selections:,} selections may spend" if several else "It may spend"
        start = f"{same} as much epsilon as with the exponential mechanism, and at" if several else "At"
        return f"{start} the same epsilon it never errs more than the exponential mechanism, whatever the scores."
    even = found[0].break_even
    if even == math.inf:
        return (
            f"A blind guess is already right with {percent(setup.confidence)} confidence: neither mechanism is better."
        )
    each = f"each of {setup.selections:,} selections" if several else "the selection"
    return (
        f"With delta = {exact(setup.delta)}, {each} may spend {_range(factors)} times as much epsilon with the "
        "exponential mechanism, whose privacy loss has a bounded range, as with permute-and-flip. It needs "
        f"{even:.2f} times as much for the same {percent(setup.confidence)} bound."
    )


def _range(factors: Sequence[float]) -> str:
    """One factor, or the lowest and the highest.

    >>> _range([1.531, 1.534]), _range([1.53, 1.64, 1.6])
    ('1.53', '1.53 to 1.64')
    """
    low, high = f"{min(factors):.2f}", f"{max(factors):.2f}"
    return low if low == high else f"{low} to {high}"


@dataclass(frozen=True, slots=True)
class Errors:
    """The errors of one mechanism at one total epsilon."""

    epsilon_each: float
    expected: float
    bound: float


@dataclass(frozen=True, slots=True)
class Advice:
    """Which mechanism to use at a range of neighbouring epsilons, and why at all of them."""

    epsilons: tuple[float, ...]
    mechanism: str
    reason: str


@dataclass(frozen=True, slots=True)
class Target:
    """A target error, and the total epsilon that reaches it with each mechanism."""

    wanted: Mapping[str, float]
    epsilon: Mapping[str, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class Findings:
    """Everything that is printed; computed on first use, each figure once."""

    setup: Setup
    expected_error: float | None = None
    within: float | None = None

    @cached_property
    def table(self) -> dict[str, list[Errors]]:
        """By mechanism, one entry for each epsilon."""
        setup, table = self.setup, dict[str, list[Errors]]()
        for key, choice in CHOICES.items():
            shares = [
                choice.share(epsilon=total, delta=setup.delta, count=setup.selections) for total in setup.epsilons
            ]
            expected, bounds = (
                error_curve(
                    choice.kind,
                    setup.scores,
                    n=setup.count,
                    epsilons=shares,
                    sensitivity=setup.sensitivity,
                    monotonic=setup.monotonic,
                    confidence=confidence,
                ).tolist()
                for confidence in (None, setup.confidence)
            )
            table[key] = [Errors(*figures) for figures in zip(shares, expected, bounds, strict=True)]
        return table

    @cached_property
    def advice(self) -> list[Advice]:
        """None if there is nothing to choose from."""
        setup = self.setup
        if setup.n == 1:
            return []
        found = [
            recommendation(setup.selections, setup.delta, epsilon=epsilon, n=setup.n, confidence=setup.confidence)
            for epsilon in setup.epsilons
        ]
        pairs = zip(setup.epsilons, found, strict=True)
        grouped = (list(group) for _, group in groupby(pairs, key=lambda pair: pair[1].mechanism))
        return [
            Advice(
                tuple(epsilon for epsilon, _ in group),
                group[0][1].mechanism.__name__,
                reason([found for _, found in group], setup),
            )
            for group in grouped
        ]

    @cached_property
    def better_on_average(self) -> dict[str, list[float]]:
        """Where the advised mechanism, which has the lower bound, does not have the lower expected error."""
        found: dict[str, list[float]] = {}
        for advice in self.advice:
            for epsilon in advice.epsilons:
                at = self.setup.epsilons.index(epsilon)
                best = min(self.table, key=lambda key: self.table[key][at].expected)
                if self.table[best][at].expected < self.table[advice.mechanism][at].expected * (1.0 - 1e-9):
                    found.setdefault(best, []).append(epsilon)
        return found

    @cached_property
    def targets(self) -> list[Target]:
        """The epsilon of each target error; a total over all selections."""
        wanted: list[dict[str, float]] = []
        if self.expected_error is not None:
            wanted.append({"expected_error": self.expected_error})
        if self.within is not None:
            wanted.append({"within": self.within, "confidence": self.setup.confidence})
        return [Target(each, {key: self._price(key, each) for key in CHOICES}) for each in wanted]

    def _price(self, key: str, wanted: Mapping[str, float]) -> float:
        setup, choice = self.setup, CHOICES[key]
        each = epsilon_for(
            choice.kind,
            setup.scores,
            n=setup.count,
            sensitivity=setup.sensitivity,
            monotonic=setup.monotonic,
            expected_error=wanted.get("expected_error"),
            within=wanted.get("within"),
            confidence=wanted.get("confidence"),
        )
        return choice.total(each, count=setup.selections, delta=setup.delta)

    def work_out(self) -> None:
        """Compute everything now, so that mistakes show before anything is written."""
        _ = self.targets, self.advice, self.table, self.better_on_average

    def to_dict(self) -> dict[str, object]:
        """Inputs and figures as plain values; null if no double can hold an error."""
        setup = self.setup
        return {
            "candidates_count": setup.n,
            "scores": setup.source,
            "sensitivity": setup.sensitivity,
            "monotonic": setup.monotonic,
            "confidence": setup.confidence,
            "selections": setup.selections,
            "delta": setup.delta,
            "table": [
                {"epsilon": epsilon} | {key: _plain(rows[at]) for key, rows in self.table.items()}
                for at, epsilon in enumerate(setup.epsilons)
            ],
            "recommendations": [
                {"epsilons": list(each.epsilons), "mechanism": each.mechanism, "reason": each.reason}
                for each in self.advice
            ],
            "targets": [{**each.wanted, "epsilon": dict(each.epsilon)} for each in self.targets],
            "version": __version__,
        }


def _plain(errors: Errors) -> dict[str, float | None]:
    return {
        "epsilon_of_each_selection": errors.epsilon_each,
        "expected_error": _finite(errors.expected),
        "error_bound": _finite(errors.bound),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None

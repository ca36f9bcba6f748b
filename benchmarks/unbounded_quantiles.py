"""Quantiles without bounds against quantiles between bounds that are too wide.

``python benchmarks/unbounded_quantiles.py | python docs/blocks.py docs/tasks/quantiles.md unbounded`` prints mean rank
errors of 1000 values of a lognormal distribution into the document, over ten draws from each of 200 sets of values.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from dpselect.mechanisms import QuantileMechanism, UnboundedQuantileMechanism

SIZE, TABLES = 1000, 200
CASES = ((0.5, 0.1), (0.5, 1.0), (0.9, 0.1), (0.9, 1.0), (0.99, 1.0))
WIDE = 1e6

Draw = Callable[[np.ndarray], float]


def ways(level: float, epsilon: float, largest: float) -> dict[str, Draw]:
    """The four ways, at one cost."""
    ten_times, wide = float(np.ceil(10.0 * largest)), WIDE

    def between(upper: float, share: float = 1.0) -> Draw:
        return QuantileMechanism(epsilon=share * epsilon, level=level, bounds=(0, upper)).draw

    def below_a_bound(values: np.ndarray) -> float:
        upper = UnboundedQuantileMechanism(epsilon=epsilon / 4, level=1, step=0.01).draw(values)
        return between(upper, 3 / 4)(values)

    return {
        "tested in order": UnboundedQuantileMechanism(epsilon=epsilon, level=level, step=0.01).draw,
        "upper bound first": below_a_bound,
        "bounds ten times too wide": between(ten_times),
        "bounds to a million": between(wide),
    }


def rank_error(values: np.ndarray, answer: float, level: float) -> float:
    """How far the rank of the answer is from the wanted one."""
    return abs(int((values <= answer).sum()) - level * SIZE)


def _rounded(mean: float) -> str:
    return f"{mean:.0f}" if mean >= 10.0 else f"{mean:.1f}"


def mean_errors(level: float, epsilon: float, *, draws: int) -> dict[str, float]:
    """The mean rank error of each way, over so many draws from each of `TABLES` sets of values."""
    rng = np.random.default_rng(2023)
    errors: dict[str, list[float]] = {}
    for _ in range(TABLES):
        values = rng.lognormal(3.0, 1.0, SIZE)
        for name, draw in ways(level, epsilon, float(values.max())).items():
            errors.setdefault(name, []).extend(rank_error(values, draw(values), level) for _ in range(draws))
    return {name: float(np.mean(each)) for name, each in errors.items()}


def table(draws: int) -> str:
    """The figures as Markdown."""
    found = {case: mean_errors(*case, draws=draws) for case in CASES}
    names = list(found[CASES[0]])
    rows = ["| level | epsilon | " + " | ".join(names) + " |", "|---:|---:|" + "---:|" * len(names)]
    for (level, epsilon), errors in found.items():
        rows.append(f"| {level:g} | {epsilon:g} | " + " | ".join(_rounded(errors[name]) for name in names) + " |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table(int(sys.argv[1]) if len(sys.argv) > 1 else 10))

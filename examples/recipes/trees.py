"""Figures 1 and 2: accuracy of private decision trees, by the scale of the noise and by the mechanism."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from examples.figures.charts import line_panels
from examples.figures.figure import Figure, Finding
from examples.figures.table import Table
from examples.paper.mechanisms import EXPONENTIAL, PERMUTE_AND_FLIP
from examples.recipes.data import TRAINING, income

from dpselect.charts import Axis, Series
from dpselect.recipes import DecisionTree
from dpselect.testing import seeded

CRITERIA = ("max", "gini", "entropy")
EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0)
SEEDS = 50
DEPTH = 4
MONOTONE, PUBLISHED = "monotone scale (ours)", "published scale"
LEAVES = 0.2


def tree(criterion: str, epsilon: float, *, selection: str = "auto", splits: float = 1.0) -> DecisionTree:
    """A tree whose splits spend `splits` times their share, and whose leaves always spend the same."""
    for_splits, for_leaves = epsilon * (1.0 - LEAVES) * splits, epsilon * LEAVES
    chosen: Any = {"criterion": criterion, "selection": selection}
    total = for_splits + for_leaves
    return DecisionTree(
        epsilon=total,
        leaf_share=for_leaves / total,
        bins=income()[1],
        classes=2,
        depth=DEPTH,
        most_rows=40_000,
        **chosen,
    )


def accuracies(planned: DecisionTree, seeds: int = SEEDS) -> np.ndarray:
    """On the rows that were not used, one for each seed."""
    codes, _, labels = income()
    found = np.empty(seeds)
    for seed in range(seeds):
        with seeded(seed):
            grown = planned.grow(codes[:TRAINING], labels[:TRAINING])
        found[seed] = (grown.predict(codes[TRAINING:]) == labels[TRAINING:]).mean()
    return found


def _row(values: np.ndarray) -> dict[str, float]:
    """The mean, and half of its 95 % interval."""
    return {
        "accuracy": float(values.mean()),
        "half_interval": float(1.96 * values.std(ddof=1) / math.sqrt(len(values))),
    }


def scale_row(criterion: str, epsilon: float) -> dict[str, str | float]:
    """Both scales at one epsilon. The published scale is twice ours: that of splits at half their epsilon."""
    ours, theirs = (accuracies(tree(criterion, epsilon, splits=splits)) for splits in (1.0, 0.5))
    gained = _row(ours - theirs)
    return {
        "criterion": criterion,
        "epsilon": epsilon,
        **{f"monotone_{name}": value for name, value in _row(ours).items()},
        **{f"published_{name}": value for name, value in _row(theirs).items()},
        "gained": gained["accuracy"],
        "gained_half_interval": gained["half_interval"],
    }


def mechanism_row(epsilon: float) -> dict[str, str | float]:
    """Both mechanisms with the entropy, and the exponential mechanism with twice the epsilon for splits."""
    flip = accuracies(tree("entropy", epsilon, selection="permute_and_flip"))
    exponential = accuracies(tree("entropy", epsilon, selection="exponential"))
    twice = accuracies(tree("entropy", epsilon, selection="exponential", splits=2.0))
    found: dict[str, str | float] = {"epsilon": epsilon}
    for name, values in (("permute_and_flip", flip), ("exponential", exponential), ("exponential_twice", twice)):
        found |= {f"{name}_{each}": value for each, value in _row(values).items()}
    return found


def _table(rows: list[dict[str, str | float]]) -> Table:
    return Table({name: [each[name] for each in rows] for name in rows[0]})  # type: ignore[arg-type]


def scale_findings(table: Table) -> tuple[Finding, ...]:
    """What half the noise is worth."""
    found = []
    for criterion in reversed(CRITERIA):
        part = table.where("criterion", criterion)
        gained, half = part["gained"], part["gained_half_interval"]
        best = int(gained.argmax())
        at_one = int(np.flatnonzero(part["epsilon"] == 1.0)[0])
        found.append(
            Finding(
                claim=f"with {criterion} the monotone scale gives more accurate trees at epsilon = 1 (95 % interval, "
                f"{SEEDS} seeds)",
                found=f"{gained[at_one]:+.4f} ± {half[at_one]:.4f} at epsilon = 1; the most, {gained[best]:+.4f} ± "
                f"{half[best]:.4f}, at epsilon = {part['epsilon'][best]:g}",
                holds=bool(gained[at_one] > half[at_one]),
            )
        )
    best_of = {
        criterion: float(table.where("criterion", criterion)["monotone_accuracy"].mean()) for criterion in CRITERIA
    }
    winner = max(best_of, key=lambda each: best_of[each])
    found.append(
        Finding(
            claim="Gini is the criterion to choose",
            found="mean accuracy over all epsilons: "
            + ", ".join(f"{value:.3f} ({name})" for name, value in best_of.items()),
            holds=winner == "gini",
        )
    )
    return tuple(found)


def mechanism_findings(table: Table) -> tuple[Finding, ...]:
    """Permute-and-flip against the exponential mechanism."""
    flip, equal, twice = (
        table[f"{name}_accuracy"] for name in ("permute_and_flip", "exponential", "exponential_twice")
    )
    half = {name: table[f"{name}_half_interval"] for name in ("permute_and_flip", "exponential", "exponential_twice")}

    def mean(better: np.ndarray, worse: np.ndarray, other: str) -> tuple[float, float]:
        """Of the differences at all epsilons, with half of its 95 % interval."""
        spread = np.hypot(half["permute_and_flip"], half[other])
        return float((better - worse).mean()), float(np.sqrt((spread**2).sum()) / len(spread))

    gained, doubled = mean(flip, equal, "exponential"), mean(twice, flip, "exponential_twice")
    return (
        Finding(
            claim="at equal epsilon permute-and-flip does not give less accurate trees, on average",
            found=f"{gained[0]:+.4f} ± {gained[1]:.4f} over all epsilons ({_signed(flip - equal)})",
            holds=gained[0] >= -gained[1],
        ),
        Finding(
            claim="with twice the epsilon for splits the exponential mechanism gives more accurate trees, on average",
            found=f"{doubled[0]:+.4f} ± {doubled[1]:.4f} ({_signed(twice - flip)})",
            holds=doubled[0] > doubled[1],
        ),
    )


def _signed(values: np.ndarray) -> str:
    return f"{values.min():+.4f} to {values.max():+.4f}"


def _curve(name: str, part: Table, column: str, style: int) -> Series:
    return Series(name=name, x=part["epsilon"], y=part[column], style=style)


def figure_1() -> Figure:
    """The two scales, for each criterion."""
    numbers = _table([scale_row(criterion, epsilon) for criterion in CRITERIA for epsilon in EPSILONS])
    title = "Accuracy of a private decision tree, by the scale of the noise"

    def draw() -> Any:
        panels = {}
        for criterion in CRITERIA:
            part = numbers.where("criterion", criterion)
            panels[criterion] = [
                _curve(MONOTONE, part, "monotone_accuracy", 0),
                _curve(PUBLISHED, part, "published_accuracy", 1),
            ]
        return line_panels(
            panels,
            x=Axis(title="epsilon of the tree", log=True),
            y=Axis(title="accuracy on unseen rows"),
            title=title,
            subtitle=f"UCI Adult, {TRAINING:,} rows, depth {DEPTH}; means of {SEEDS} trees.",
            width=320,
        )

    return Figure(
        name="1",
        title=title,
        setting=f"Depth {DEPTH}; a fifth of epsilon for the counts in the leaves. The published scale is twice the "
        "monotone one.",
        table=numbers,
        findings=scale_findings(numbers),
        draw=draw,
        beyond="Someone who always answers with the more frequent class is right about "
        f"{1 - income()[2][TRAINING:].mean():.3f} of the rows.",
    )


def figure_2() -> Figure:
    """The two mechanisms."""
    numbers = _table([mechanism_row(epsilon) for epsilon in EPSILONS])
    title = "Accuracy of a private decision tree, by the mechanism that selects its splits"

    def draw() -> Any:
        curves = [
            _curve(PERMUTE_AND_FLIP, numbers, "permute_and_flip_accuracy", 0),
            _curve(EXPONENTIAL, numbers, "exponential_accuracy", 1),
            _curve(f"{EXPONENTIAL}, twice the epsilon", numbers, "exponential_twice_accuracy", 2),
        ]
        return line_panels(
            {"entropy": curves},
            x=Axis(title="epsilon of the tree", log=True),
            y=Axis(title="accuracy on unseen rows"),
            title=title,
            subtitle=f"UCI Adult, {TRAINING:,} rows, depth {DEPTH}, monotone scale; means of {SEEDS} trees.",
            width=420,
            height=240,
        )

    return Figure(
        name="2",
        title=title,
        setting="The entropy, whose noise is the largest of the three, so that the mechanism matters most.",
        table=numbers,
        findings=mechanism_findings(numbers),
        draw=draw,
    )

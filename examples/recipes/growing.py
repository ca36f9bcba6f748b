"""Private decision trees on UCI Adult at both scales of the noise, and how accurate they are on unseen rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from examples.figures.figure import FloatArray
from examples.recipes.data import TRAINING, income

from dpselect.recipes import DecisionTree
from dpselect.testing import seeded

CRITERIA = ("gini", "max", "entropy")
NAMES = {"gini": "Gini", "max": "most frequent class", "entropy": "entropy"}
EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0)
SEEDS = 50
DEPTH = 4
LEAVES = 0.2
SHAPES = {
    "depth 4": (4, LEAVES),
    "depth 6": (6, LEAVES),
    "depth 8": (8, LEAVES),
    "depth 10": (10, LEAVES),
    "as published": (5, 7 / 12),
}
"""Depths, and the share of epsilon for the leaves. As published: of d + 1 equal parts for levels and leaves, levels use
half for their selections, so that 5/12 is for selections at depth 5."""


def tree(
    criterion: str,
    epsilon: float,
    *,
    selection: str = "auto",
    splits: float = 1.0,
    depth: int = DEPTH,
    leaves: float = LEAVES,
) -> DecisionTree:
    """A tree whose splits spend `splits` times their share, and whose leaves always spend the same."""
    for_splits, for_leaves = epsilon * (1.0 - leaves) * splits, epsilon * leaves
    chosen: Any = {"criterion": criterion, "selection": selection}
    total = for_splits + for_leaves
    return DecisionTree(
        epsilon=total,
        leaf_share=for_leaves / total,
        bins=income()[1],
        classes=2,
        depth=depth,
        most_rows=40_000,
        **chosen,
    )


def accuracies(planned: DecisionTree, seeds: int = SEEDS) -> FloatArray:
    """On the rows that were not used, one for each seed."""
    codes, _, labels = income()
    found = np.empty(seeds)
    for seed in range(seeds):
        with seeded(seed):
            grown = planned.grow(codes[:TRAINING], labels[:TRAINING])
        found[seed] = (grown.predict(codes[TRAINING:]) == labels[TRAINING:]).mean()
    return found


def both_scales(criterion: str, epsilon: float, **shape: Any) -> dict[str, FloatArray]:
    """The published scale is twice ours: that of splits at half their epsilon."""
    return {
        name: accuracies(tree(criterion, epsilon, splits=splits, **shape))
        for name, splits in (("monotone", 1.0), ("published", 0.5))
    }

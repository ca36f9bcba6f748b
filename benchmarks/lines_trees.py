"""What half the noise is worth in a private decision tree: accuracy at epsilon 1, by pairs of trees."""

from __future__ import annotations

from collections.abc import Iterator

from examples.recipes.data import TRAINING
from examples.recipes.growing import CRITERIA, DEPTH, LEAVES, NAMES, SEEDS, SHAPES, both_scales
from examples.recipes.paired import mean_and_half

from benchmarks.line import Line

EPSILON = 1.0


def lines() -> Iterator[Line]:
    """The gain of the monotone scale over the published one, in halves of its 95 % interval: from 1 on it is better."""
    trees = [(criterion, f"depth {DEPTH}", DEPTH, LEAVES) for criterion in CRITERIA]
    trees += [("gini", name, *SHAPES[name]) for name in ("depth 8", "as published")]
    for criterion, name, depth, leaves in trees:
        both = both_scales(criterion, EPSILON, depth=depth, leaves=leaves)
        gain, half = mean_and_half(both["monotone"] - both["published"])
        yield Line(
            what="private tree, accuracy gained by the monotone scale / half its 95 % interval",
            case=f"{NAMES[criterion]}, {name}: {gain:+z.4f} ± {half:.4f} over {SEEDS} seeds",
            n=TRAINING,
            dtype=f"ε = {EPSILON:g}",
            value=gain / half,
            unit="x",
            at_least=1.0,
        )

"""Figures 3, 4 and 5: synthetic histograms and tables, and the structure of a network, by mechanism and epsilon."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from examples.figures.charts import line_panels
from examples.figures.figure import Figure, Finding
from examples.figures.table import Table
from examples.paper.dpbench import NAMES, load
from examples.paper.mechanisms import EXPONENTIAL, PERMUTE_AND_FLIP
from examples.recipes.data import attributes

from dpselect.charts import Axis, Series
from dpselect.recipes import MWEM, AdaptiveMarginals, ParentChoice
from dpselect.testing import seeded

EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0)
SEEDS = 20
ROUNDS = 10
QUERIES = 300
WAYS: dict[str, dict[str, Any]] = {
    "permute_and_flip": {"selection": "permute_and_flip"},
    "exponential": {"selection": "exponential"},
    "exponential_delta": {"selection": "exponential", "delta": 1e-6},
}
SHOWN = {
    "permute_and_flip": PERMUTE_AND_FLIP,
    "exponential": EXPONENTIAL,
    "exponential_delta": f"{EXPONENTIAL}, delta = 1e-6",
}


def ranges(cells: int) -> np.ndarray:
    """Intervals of cells of all lengths, spread evenly."""
    turns = np.arange(1, QUERIES + 1)[:, np.newaxis] * np.array([0.754877666, 0.569840291]) % 1.0
    ends = np.sort((turns * (cells + 1)).astype(int), axis=1)
    places = np.arange(cells)
    return (places >= ends[:, :1]) & (places < np.maximum(ends[:, 1:], ends[:, :1] + 1))


def means(error: Callable[[dict[str, Any], int], float]) -> dict[str, float]:
    """The mean error of each way, over the seeds, with half of its 95 % interval."""
    found = {}
    for name, way in WAYS.items():
        values = np.array([error(way, seed) for seed in range(SEEDS)])
        found[f"{name}_error"] = float(values.mean())
        found[f"{name}_half_interval"] = float(1.96 * values.std(ddof=1) / np.sqrt(SEEDS))
    return found


def histogram_row(name: str, epsilon: float) -> dict[str, str | float]:
    """MWEM: the mean error of the queries, as a share of the records."""
    counts = load(name)
    asked = ranges(len(counts)).astype(float)
    truth = asked @ counts

    def error(way: dict[str, Any], seed: int) -> float:
        with seeded(seed):
            made = MWEM(epsilon=epsilon, rounds=ROUNDS, **way).fit(counts, asked > 0)
        return float(np.abs(asked @ made - truth).mean() / counts.sum())

    return {"data": name, "epsilon": epsilon, **means(error)}


def pairs() -> tuple[tuple[int, ...], ...]:
    """All two-way marginals of the attributes."""
    return tuple(itertools.combinations(range(len(attributes()[1])), 2))


def marginals_row(epsilon: float) -> dict[str, str | float]:
    """The loop over marginals: the mean l1 error of all two-way marginals, as a share of the records."""
    codes, sizes, _ = attributes()
    truth = np.zeros(sizes)
    np.add.at(truth, tuple(codes.T), 1.0)

    def error(way: dict[str, Any], seed: int) -> float:
        with seeded(seed):
            made = AdaptiveMarginals(epsilon=epsilon, sizes=sizes, marginals=pairs(), rounds=ROUNDS, **way).fit(codes)
        off = [np.abs((made - truth).sum(axis=tuple(set(range(len(sizes))) - set(pair)))).sum() for pair in pairs()]
        return float(np.mean(off) / len(codes))

    return {"epsilon": epsilon, **means(error)}


def told(chosen: list[tuple[int, tuple[int, ...]]]) -> float:
    """The mutual information, in bits, of all attributes with their parents."""
    codes, sizes, _ = attributes()
    total = 0.0
    for child, above in chosen:
        if above:
            joint = np.ravel_multi_index(tuple(codes[:, list(above)].T), [sizes[each] for each in above])
            table = np.histogram2d(codes[:, child], joint, bins=(sizes[child], int(joint.max()) + 1))[0] / len(codes)
            expected = np.outer(table.sum(axis=1), table.sum(axis=0))
            total += float((table[table > 0] * np.log2(table[table > 0] / expected[table > 0])).sum())
    return total


def parents_row(score: str, epsilon: float) -> dict[str, str | float]:
    """A network of degree 2: the bits that its parents tell about their children."""
    codes, sizes, _ = attributes()

    def bits(way: dict[str, Any], seed: int) -> float:
        with seeded(seed):
            chosen: Any = {"score": score, **way}
            return told(ParentChoice(epsilon=epsilon, sizes=sizes, rows=len(codes), degree=2, **chosen).choose(codes))

    return {"score": score, "epsilon": epsilon, **means(bits)}


def _table(rows: list[dict[str, str | float]]) -> Table:
    return Table({name: [each[name] for each in rows] for name in rows[0]})  # type: ignore[arg-type]


def _finding(table: Table, *, sign: float, what: str) -> tuple[Finding, Finding]:
    """At equal epsilon, and with a delta; `sign` is 1 where less is better."""
    flip, equal, delta = (table[f"{name}_error"] for name in WAYS)
    slack = np.hypot(table["permute_and_flip_half_interval"], table["exponential_half_interval"])
    behind, ahead = sign * (equal / flip - 1.0), sign * (1.0 - delta / flip)
    return (
        Finding(
            claim="without delta permute-and-flip is at least as good as the exponential mechanism",
            found=f"{what} of the exponential mechanism: {_percent(behind)} worse (mean {behind.mean():+.1%})",
            holds=bool((sign * (equal - flip) >= -slack).all()),
        ),
        Finding(
            claim=f"with delta = 1e-6 the exponential mechanism is better on average, at {ROUNDS} rounds or fewer",
            found=f"{what}: {_percent(ahead)} better (mean {ahead.mean():+.1%})",
            holds=bool(ahead.mean() > 0.0),
        ),
    )


def _percent(values: np.ndarray) -> str:
    return f"{values.min():+.1%} to {values.max():+.1%}"


def _panels(table: Table, column: str, names: tuple[str, ...]) -> dict[str, list[Series]]:
    panels = {}
    for name in names:
        part = table.where(column, name) if column else table
        panels[name] = [
            Series(name=SHOWN[way], x=part["epsilon"], y=part[f"{way}_error"], style=style)
            for style, way in enumerate(WAYS)
        ]
    return panels


def _figure(name: str, title: str, table: Table, panels: dict[str, list[Series]], **words: Any) -> Figure:
    def draw() -> Any:
        return line_panels(
            panels,
            x=Axis(title="epsilon", log=True),
            y=Axis(title=words["axis"], log=words["log"]),
            title=title,
            subtitle=f"Means of {SEEDS} runs.",
            width=320,
        )

    return Figure(name=name, title=title, setting=words["setting"], table=table, findings=words["findings"], draw=draw)


def figure_3() -> Figure:
    """MWEM on five histograms."""
    table = _table([histogram_row(name, epsilon) for name in NAMES for epsilon in EPSILONS])
    return _figure(
        "3",
        "Error of MWEM, by the mechanism that selects queries",
        table,
        _panels(table, "data", NAMES),
        axis="mean error of a query, share of records",
        log=True,
        setting=f"{QUERIES} intervals of 1024 bins, {ROUNDS} rounds, half of epsilon for the selections.",
        findings=_finding(table, sign=1.0, what="error"),
    )


def figure_4() -> Figure:
    """Synthetic tables."""
    table = _table([marginals_row(epsilon) for epsilon in EPSILONS])
    return _figure(
        "4",
        "Error of a synthetic table, by the mechanism that selects marginals",
        table,
        _panels(table, "", ("UCI Adult",)),
        axis="mean l1 error, share of records",
        log=True,
        setting=f"Seven attributes, all {len(pairs())} two-way marginals, {ROUNDS} rounds, half of epsilon for the "
        "selections.",
        findings=_finding(table, sign=1.0, what="error"),
    )


def figure_5() -> Figure:
    """Networks, by score."""
    scores = ("R", "mutual_information")
    table = _table([parents_row(score, epsilon) for score in scores for epsilon in EPSILONS])
    best = {score: table.where("score", score)["permute_and_flip_error"] for score in scores}
    rank = Finding(
        claim="R finds parents that tell more than those found by the mutual information itself, which has more noise",
        found=", ".join(
            f"{ours:.2f} against {theirs:.2f} bits at epsilon = {epsilon:g}"
            for epsilon, ours, theirs in zip(EPSILONS, best["R"], best["mutual_information"], strict=True)
        ),
        holds=bool((best["R"] >= best["mutual_information"]).all()),
    )
    return _figure(
        "5",
        "What the parents in a network tell, by score and mechanism",
        table,
        _panels(table, "score", scores),
        axis="bits told by all parents",
        log=False,
        setting="Seven attributes of UCI Adult, up to two parents each, the number of rows public. More is better.",
        findings=(rank, *_finding(table, sign=-1.0, what="bits")),
    )

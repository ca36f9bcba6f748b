"""Figures 4 to 6: synthetic histograms and tables, and the structure of a network, by mechanism and epsilon."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from examples.figures.charts import Panel, alike, interval_panels
from examples.figures.figure import Figure, Finding, FloatArray
from examples.figures.table import Table
from examples.paper.dpbench import NAMES, load
from examples.paper.mechanisms import EXPONENTIAL, PERMUTE_AND_FLIP
from examples.recipes.data import attributes
from examples.recipes.paired import BETTER, WORSE, average, by_setting, counted, row, shown, table_of, verdict

from dpselect.charts import Axis, Series
from dpselect.recipes import MWEM, AdaptiveMarginals, ParentChoice
from dpselect.testing import seeded

EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0)
SEEDS, FEWER_SEEDS = 50, 20
"""Runs of each way; fewer of the loop over marginals, which takes longest."""

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
OTHERS = ("exponential", "exponential_delta")
MINUS = {f"{name}_minus": (name, "permute_and_flip") for name in OTHERS}
SCORES = {"R": "R", "mutual_information": "mutual information"}
"""Scores of parents, and what they are called in the picture."""


def ranges(cells: int) -> np.ndarray:
    """Intervals of cells of all lengths, spread evenly."""
    turns = np.arange(1, QUERIES + 1)[:, np.newaxis] * np.array([0.754877666, 0.569840291]) % 1.0
    ends = np.sort((turns * (cells + 1)).astype(int), axis=1)
    places = np.arange(cells)
    return (places >= ends[:, :1]) & (places < np.maximum(ends[:, 1:], ends[:, :1] + 1))


def runs(measured: Callable[[dict[str, Any], int], float], seeds: int = SEEDS) -> dict[str, FloatArray]:
    """What is measured of each way, one number for each seed."""
    return {name: np.array([measured(way, seed) for seed in range(seeds)]) for name, way in WAYS.items()}


def histogram_rows(name: str) -> list[dict[str, str | float]]:
    """MWEM over epsilon: the mean error of the queries, as a share of the records.

    ``change``: of permute-and-flip, from the epsilon before.
    """
    counts = load(name)
    asked = ranges(len(counts))
    truth = asked @ counts
    found: list[dict[str, str | float]] = []
    before: FloatArray | None = None
    for epsilon in EPSILONS:

        def error(way: dict[str, Any], seed: int, epsilon: float = epsilon) -> float:
            with seeded(seed):
                made = MWEM(epsilon=epsilon, rounds=ROUNDS, **way).fit(counts, asked)
            return float(np.abs(asked @ made - truth).mean() / counts.sum())

        each = runs(error)
        now = each["permute_and_flip"]
        changes = {"change": ("permute_and_flip", "before"), **MINUS}
        columns = row({**each, "before": now if before is None else before}, changes)
        del columns["before"], columns["before_half_interval"]
        found.append({"data": name, "epsilon": epsilon, **columns})
        before = now
    return found


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

    return {"epsilon": epsilon, **row(runs(error, FEWER_SEEDS), MINUS)}


@cache
def bits(child: int, parents: tuple[int, ...]) -> float:
    """The mutual information, in bits, of an attribute with its parents."""
    codes, sizes, _ = attributes()
    joint = np.ravel_multi_index(tuple(codes[:, list(parents)].T), [sizes[each] for each in parents])
    table = np.histogram2d(codes[:, child], joint, bins=(sizes[child], int(joint.max()) + 1))[0] / len(codes)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    return float((table[table > 0] * np.log2(table[table > 0] / expected[table > 0])).sum())


def parents_rows(epsilon: float) -> list[dict[str, str | float]]:
    """A network of degree 2, by each score: the bits that its parents tell about their children."""
    codes, sizes, _ = attributes()
    found = {}
    for score in SCORES:

        def told(way: dict[str, Any], seed: int, score: str = score) -> float:
            chosen: Any = {"score": score, **way}
            with seeded(seed):
                network = ParentChoice(epsilon=epsilon, sizes=sizes, rows=len(codes), degree=2, **chosen).choose(codes)
            return sum(bits(child, above) for child, above in network if above)

        found[score] = runs(told)
    other = {"R": "mutual_information", "mutual_information": "R"}
    rows: list[dict[str, str | float]] = []
    for score, each in found.items():
        columns = row(
            {**each, "other": found[other[score]]["permute_and_flip"]},
            {**MINUS, "minus_other": ("permute_and_flip", "other")},
        )
        del columns["other"], columns["other_half_interval"]
        rows.append({"score": score, "epsilon": epsilon, **columns})
    return rows


def relative(table: Table, column: str) -> tuple[FloatArray, FloatArray]:
    """A difference to permute-and-flip and half of its interval, as shares of the mean of permute-and-flip."""
    means = table["permute_and_flip"]
    return table[column] / means, table[f"{column}_half_interval"] / means


def comparison(table: Table, *, sign: float, what: str) -> tuple[Finding, Finding]:
    """At equal epsilon, and with a delta; `sign` is 1 where less is better."""
    behind, ahead = relative(table, "exponential_minus"), relative(table, "exponential_delta_minus")
    equal, delta = average(*behind), average(*ahead)
    flip = verdict(*equal, sign=sign)
    return (
        Finding(
            claim="without delta permute-and-flip is not worse than the exponential mechanism, on average",
            found=f"{what} of the exponential mechanism: {shown(*equal, '+.1%')}; permute-and-flip: {flip}. One by "
            f"one: permute-and-flip {counted(*behind, sign=sign)}",
            holds=flip != WORSE,
        ),
        Finding(
            claim="with delta = 1e-6 the exponential mechanism is better than permute-and-flip, on average",
            found=f"its {what}: {shown(*delta, '+.1%')}: {verdict(*delta, sign=-sign)}. One by one: "
            f"{counted(*ahead, sign=-sign)}",
            holds=verdict(*delta, sign=-sign) == BETTER,
        ),
    )


def falling(table: Table) -> Finding:
    """Whether a larger epsilon ever gives a larger error."""
    grows = []
    for name in NAMES:
        part = table.where("data", name)
        for place in range(1, len(part)):
            change, half = part["change"][place], part["change_half_interval"][place]
            if verdict(change, half, sign=-1.0) == WORSE:
                start, end = part["epsilon"][place - 1], part["epsilon"][place]
                grows.append(f"{name} from epsilon = {start:g} to {end:g} ({shown(change, half, '+.5f')})")
    return Finding(
        claim="a larger epsilon never gives a larger error (permute-and-flip)",
        found=f"it does on {'; '.join(grows)}" if grows else "no growth is found on any of the five data sets",
        holds=not grows,
    )


def scores_compared(table: Table) -> Finding:
    """R against the mutual information, at each epsilon."""
    part = table.where("score", "R")
    values, halves = part["minus_other"], part["minus_other_half_interval"]
    mean = average(values, halves)
    at = [f"{epsilon:g}" for epsilon in part["epsilon"]]
    return Finding(
        claim="R finds parents that tell more than those found by the mutual information itself, which has more noise",
        found=f"{shown(*mean, '+.3f')} bits on average over all epsilons: {verdict(*mean)}. By epsilon: "
        f"{by_setting(at, values, halves)}",
        holds=verdict(*mean) == BETTER,
    )


def _halves(part: Table, columns: list[str]) -> list[FloatArray]:
    return [part[f"{column}_half_interval"] for column in columns]


def _side_by_side(parts: dict[str, Table], y: Axis) -> list[Panel]:
    """For each part its values, and beside them what the other ways add to permute-and-flip, in percent."""
    panels = []
    for name, part in parts.items():
        curves = [Series(name=SHOWN[way], x=part["epsilon"], y=part[way], style=s) for s, way in enumerate(WAYS)]
        panels.append(Panel(name=name, curves=curves, halves=_halves(part, list(WAYS)), y=y))
        added = [relative(part, f"{way}_minus") for way in OTHERS]
        panels.append(
            Panel(
                name=f"{name}: beside permute-and-flip (0)",
                curves=[
                    Series(name=SHOWN[way], x=part["epsilon"], y=100.0 * each[0], style=style)
                    for style, (way, each) in enumerate(zip(OTHERS, added, strict=True), start=1)
                ],
                halves=[100.0 * half for _, half in added],
                y=Axis(title="difference, %"),
                zero=True,
            )
        )
    return panels


def _figure(name: str, title: str, table: Table, panels: list[Panel], **words: Any) -> Figure:
    def draw() -> Any:
        return interval_panels(
            panels,
            x=Axis(title="epsilon", log=True),
            title=title,
            subtitle=f"Means of {words.get('seeds', SEEDS)} runs with 95 % intervals.",
            width=320,
        )

    return Figure(
        name=name,
        title=title,
        setting=words["setting"],
        table=table,
        findings=words["findings"],
        draw=draw,
        beyond=words.get("beyond", ""),
    )


def figure_4() -> Figure:
    """MWEM on five histograms."""
    table = table_of([each for name in NAMES for each in histogram_rows(name)])
    return _figure(
        "4",
        "Error of MWEM, by the mechanism that selects queries",
        table,
        _side_by_side(
            {name: table.where("data", name) for name in NAMES}, Axis(title="mean error, share of records", log=True)
        ),
        setting=f"{QUERIES} intervals of 1024 bins, {ROUNDS} rounds, half of epsilon for the selections. Left: the "
        "mean error of a query, less is better; each data set has its own range. Right: by how much the error of the "
        "other two differs from that of permute-and-flip.",
        findings=(*comparison(table, sign=1.0, what="error"), falling(table)),
        beyond="**Where the error no longer falls.** Ten rounds measure ten of the 300 queries. Once the noise is "
        "small these rounds are what limits the histogram, not epsilon. A selection with little noise then takes the "
        "query with the largest error each time. That is the best choice for the next round, not for all ten "
        "together: a bit of noise may by chance lead to queries that together describe the histogram better. So the "
        "error can even grow a little. More rounds would help there, and a larger epsilon pays for them.",
    )


def figure_5() -> Figure:
    """Synthetic tables."""
    table = table_of([marginals_row(epsilon) for epsilon in EPSILONS])
    return _figure(
        "5",
        "Error of a synthetic table, by the mechanism that selects marginals",
        table,
        _side_by_side({"UCI Adult": table}, Axis(title="mean l1 error, share of records", log=True)),
        setting=f"Seven columns, all {len(pairs())} marginals of two columns, {ROUNDS} rounds, half of epsilon for the "
        "selections. The l1 error of a marginal is the sum of the differences of all its counts, without signs; less "
        "is better. The three curves on the left nearly coincide; the right shows how they differ.",
        findings=comparison(table, sign=1.0, what="error"),
        seeds=FEWER_SEEDS,
    )


def figure_6() -> Figure:
    """Networks, by score."""
    table = table_of([each for epsilon in EPSILONS for each in parents_rows(epsilon)])
    panels = _side_by_side(
        {shown: table.where("score", score) for score, shown in SCORES.items()}, Axis(title="bits told by all parents")
    )
    left, right = alike(panels[::2]), alike(panels[1::2])
    return _figure(
        "6",
        "What the parents in a network tell, by score and mechanism",
        table,
        [left[0], right[0], left[1], right[1]],
        setting="Seven columns of UCI Adult, up to two parents each; the number of rows is no secret here. The sum of "
        "what the parents tell about their columns, in bits: more is better.",
        findings=(scores_compared(table), *comparison(table, sign=-1.0, what="bits")),
    )

"""Compute every figure and write the page beside this file: ``python -m examples.not_built``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from examples.not_built import computed, names
from examples.not_built.simulated import (
    DRAWS,
    SHAPES,
    Floats,
    N,
    exponential_once,
    gumbel_once,
    joint,
    mean_loss,
    uniform_noise,
)

import dpselect as dps

EPSILON, DELTA = 1.0, 1e-6

INTRODUCTION = f"""\
# What is not built

Papers propose more ways to select than this library has. Each of these loses to one that it has, in the figures below,
or is for another task; one that does not lose is at [the end](#names-without-a-list). `python -m examples.not_built`
computes the figures and writes this page.

## Top-k on counts

How far the selected candidates are below the best k, in counts and per candidate: the mean of {DRAWS} draws among
{N:,} candidates; less is better. Counts are monotone. Without a delta `dpselect.top_k` adds exponential noise once.
With delta = {DELTA:g}, as in the last column, it draws rounds of the exponential mechanism, which is the same as adding
Gumbel noise once.
"""


def top_k_table() -> str:
    """The four shapes."""
    rows = [
        "| counts | exponential noise once | joint (sequences) | uniform noise "
        "| rounds of the exponential mechanism, with delta |",
        "|---|---|---|---|---|",
    ]
    for shape, (_, k, epsilon) in SHAPES.items():
        ways = {
            "once": exponential_once,
            "joint": joint(shape),
            "uniform": uniform_noise,
            "gumbel": gumbel_once(computed.gumbel_scale(k, epsilon, DELTA)),
        }
        found = [f"{mean_loss(name, draw, shape):.3g}" for name, draw in ways.items()]
        rows.append(f"| {' | '.join([shape, *found])} |")
    return "\n".join(rows)


def table() -> str:
    """All of them, with the figure that decides."""
    laplace, gumbel = computed.one_shot_laplace_scale(100, N, 0.2, DELTA), computed.gumbel_scale(100, 0.2, DELTA)
    sigmas = [computed.gaussian_max_deviation(n, EPSILON, DELTA) for n in (10, 10**3, 10**6)]
    flip = dps.PermuteAndFlip(epsilon=EPSILON, sensitivity=1.0).scale
    margin = computed.large_margin(EPSILON, DELTA)
    dampened, plain = computed.dampened_errors()
    part, _, whole = computed.subsampled_loss(0.5, _zipf(), EPSILON)
    rows = [
        (
            "the joint exponential mechanism (Gillenwater and others 2022)",
            "the table above",
            "never better than exponential noise once, beyond the noise of the figures",
        ),
        (
            "one Laplace draw for the top k (Qiao, Su and Zhang 2021)",
            f"scale {laplace:,.0f} for k = 100, ε = 0.2, δ = 1e-6; rounds of the exponential mechanism: {gumbel:.0f}",
            f"{laplace / gumbel:.0f} times the noise, with the published constant",
        ),
        (
            "uniform (K-norm, Gamma) noise (Steinke and Ullman 2017)",
            "the table above",
            "its scale grows with the number of candidates, not with k",
        ),
        (
            "large margin (Chaudhuri, Hsu and Song 2014)",
            f"needs a lead of {margin:.0f} counts at ε = 1, δ = 1e-6; with that lead permute-and-flip is right "
            f"nine times in ten up to 10^{computed.log_candidates_at(margin, EPSILON) / np.log(10):.0f} candidates",
            "no list of candidates is that long; without a list, `values` and `top_k(candidates=None)`",
        ),
        (
            "local dampening (Farias and others 2020)",
            f"expected error {dampened:.2g} counts for a lead of 10 over 99 others; the exponential mechanism: "
            f"{plain:.2g}",
            "for counts it is the same mechanism at twice the noise; it helps only scores whose local sensitivity is "
            "far below the global one",
        ),
        (
            "a random part of the candidates (Lantz and others 2015)",
            f"expected error {part:,.0f} with half of {N:,} candidates, 20000/i; with all of them: {whole:.2g}",
            "it loses the best candidate half of the time, and a draw takes no longer than `argmax`",
        ),
        (
            "Gaussian noise and the largest (Zhu and Wang 2022)",
            f"deviation {sigmas[0]:.1f}, {sigmas[1]:.1f}, {sigmas[2]:.1f} for 10, 10^3, 10^6 candidates at ε = 1, "
            f"δ = 1e-6; permute-and-flip: scale {flip:g}, without δ",
            "more noise, and it grows with the number of candidates",
        ),
        (
            "weighted counts (Gopi and others 2020), DP-SIPS (Swanberg and others 2023), MAD (Chen and others 2025)",
            "[the table of names](#names-without-a-list)",
            "they name more values where units have several; what it would take is written down there",
        ),
    ]
    head = ["| what | figures | why not |", "|---|---|---|"]
    return "\n".join([*head, *(f"| {' | '.join(row)} |" for row in rows)])


NAMES = f"""\
## Names without a list

`values` and `top_k(candidates=None)` name values that nobody listed before. How many of them are named, on
clicks.parquet, by each way at the same budget: epsilon = {names.EPSILON:g} and delta = {names.DELTA:g} for everything
that one session changes in all names together. A session counts for at most so many of its pages, chosen at random;
with a higher limit more visits count, and each needs more noise. Means of five runs."""


def names_table() -> str:
    """How many names each way releases, by the limit, and the sentence about the best of them."""
    ways = {
        "`PartitionSelection`": names.optimal,
        "`GaussianThresholdCounts`, with counts": names.ours,
        "weighted counts": names.weighted,
        "DP-SIPS": names.sips,
        "MAD": names.mad,
    }
    found = {name: [way(most) for most in names.LIMITS] for name, way in ways.items()}
    rows = [f"| at most | {' | '.join(ways)} |", "|---" * (1 + len(ways)) + "|"]
    rows += [
        f"| {most} | {' | '.join(f'{each[place]:.0f}' for each in found.values())} |"
        for place, most in enumerate(names.LIMITS)
    ]
    best = {name: (max(each), names.LIMITS[int(np.argmax(each))]) for name, each in found.items()}
    (built, at), (weighted, limit) = max(list(best.values())[:2]), best["weighted counts"]
    sentence = (
        "**Here something that is not built is better.** At the best limit of each, the first two, which are built, "
        f"name up to {built:.0f} pages (at most {at} a session), weighted counts {weighted:.0f} (at most {limit}): "
        f"{weighted / built - 1.0:.0%} more. A session that has few pages gives each of them more weight, so a high "
        "limit costs those with few nothing. Three rounds (DP-SIPS) name fewer than one, and rerouted weight (MAD) "
        f"names {best['MAD'][0] / weighted - 1.0:.0%} more than one round."
    )
    return "\n".join([*rows, "", sentence])


WHY = """\
Why weighted counts are not there yet: nothing about them is less private, but sums of 1/√t are not whole numbers of
units. What engines return, what is drawn exactly, and what an answer says (a count, and an error in persons) are
all whole numbers of units. [Decision 29](../../docs/decisions/0029-weighted-counts-of-values.md) says what it would
take, and how exactness would be kept. Until then: if units have few values, `max_values_per_unit=1` names most; if they
have many, try the limit on public data of the same kind."""


def _zipf() -> Floats:
    return np.round(20_000 / np.arange(1.0, N + 1))


def page() -> str:
    """The text of the page."""
    note = (
        "The constants of the large margin mechanism and of the one Laplace draw are those of their authors' text or "
        "code. Weighted counts have the proved threshold of Gopi and others: half of delta for the noise, half for "
        "names that one session alone has. The rounds of DP-SIPS are ours: a tenth, a quarter and the rest of epsilon "
        "and delta. The discount of MAD is ours, too, as its authors' text was not at hand: the largest that keeps the "
        "change by one session within 1 (`names.py`)."
    )
    parts = [INTRODUCTION.rstrip(), top_k_table(), "## All of them", table(), NAMES, names_table(), WHY, note]
    return "\n\n".join(parts).replace("1e-06", "1e-6") + "\n"


if __name__ == "__main__":
    target = Path(__file__).parent / "README.md"
    target.write_text(page(), encoding="utf-8", newline="\n")
    print(f"written: {target.name}")

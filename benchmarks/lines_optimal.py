"""The best mechanism on a lattice: how long its linear program takes, and how near permute-and-flip comes."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import dpselect as dps
from benchmarks.line import Line
from dpselect.planning.optimal import lattice_of, lower_bound, program_size, solve, upper_bound

PAPER = [(3, 4), (4, 4), (5, 4), (6, 4), (4, 2), (4, 6), (4, 8)]
BEYOND = [(10, 4), (4, 16), (7, 7), (8, 8)]
EPSILON = 0.5
THRESHOLD = math.log((3 + math.sqrt(5)) / 2)


def lines() -> Iterator[Line]:
    """The sizes of the paper's figure 2, larger ones, and permute-and-flip's ratio."""
    for where, sizes in (("in the paper", PAPER), ("beyond the paper", BEYOND)):
        for n, levels in sizes:
            case = f"{levels} steps, {program_size(n, levels)[1]:,} variables, {where}"
            described = {"case": case, "n": n, "dtype": f"ε = {EPSILON:g}"}
            started = time.perf_counter()
            lattice, p = lattice_of(n, levels), math.exp(-EPSILON)
            scaled, *multipliers = solve(lattice, p)
            lower = lower_bound(lattice, p, *multipliers)
            upper = upper_bound(lattice, p, scaled)
            taken = time.perf_counter() - started
            yield Line(what="the best mechanism's error, from nothing", value=taken, unit="s", **described)
            gap = upper / lower - 1.0
            yield Line(what="the best mechanism's error, gap of its bounds", value=gap, unit="", **described)
    for epsilon in (0.1, EPSILON, THRESHOLD, 10.0):
        yield Line(
            what="error of PF / least possible error",
            case="8 steps",
            n=4,
            dtype=f"ε = {epsilon:.4g}",
            value=dps.planning.optimal_ratio(dps.PermuteAndFlip, n=4, levels=8, epsilon=epsilon),
            unit="x",
        )

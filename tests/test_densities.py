"""The study of released distributions: laws against enumeration, numbers against a run, claims that can be refuted."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from examples.densities import __main__ as run
from examples.densities import bins, errors, methods, noisy_histogram, sizes
from examples.densities import findings as said
from examples.densities.data import NAMES, histogram
from examples.densities.distance_law import expected_distance
from examples.densities.page import DENSITIES
from examples.figures.figure import Finding
from examples.figures.page import PAGE
from examples.figures.table import Table, read

import dpselect as dps
from tests.slow import crossed

FOLDER = Path(run.__file__).parent
COMMITTED = {name: read(FOLDER / f"figure_{name}.csv") for name in ("1", "2", "3", "4")}
README = (FOLDER / PAGE).read_text(encoding="utf-8")
FINDINGS: dict[str, Callable[[Table], tuple[Finding, ...]]] = {
    "1": lambda table: said.findings(table, 1.0),
    "2": lambda table: said.findings(table, 0.1),
    "3": bins.findings,
    "4": sizes.findings,
}


def _samples(k: int, m: int) -> Iterator[tuple[int, ...]]:
    if m == 1:
        yield (k,)
        return
    for first in range(k + 1):
        for rest in _samples(k - first, m - 1):
            yield (first, *rest)


def _enumerated(counts: list[int], k: int, rate: float, chances: list[float] | None) -> float:
    n, total, mean = sum(counts), 0.0, 0.0
    for sample in _samples(k, len(counts)):
        distance = np.abs(n * np.cumsum(sample) - k * np.cumsum(counts)).max()
        base = 1.0
        if chances is not None:
            base = math.prod(p**c / math.factorial(c) for p, c in zip(chances, sample, strict=True))
        total += base * math.exp(-rate * distance)
        mean += base * math.exp(-rate * distance) * distance
    return mean / total / (n * k)


CASES = [
    ([3, 1, 0, 4], 5, 0.05, None),
    ([3, 1, 0, 4], 8, 0.4, [0.25, 0.25, 0.25, 0.25]),
    ([0, 0, 7], 6, 0.1, [0.2, 0.1, 0.7]),
    ([2, 5, 1, 1], 7, 0.0, [0.3, 0.1, 0.5, 0.1]),
    ([8], 3, 0.1, None),
]


@pytest.mark.parametrize(("counts", "k", "rate", "chances"), CASES)
def test_the_expected_distance_is_that_of_all_samples(
    counts: list[int], k: int, rate: float, chances: list[float] | None
) -> None:
    weights = None if chances is None else np.array(chances)
    found = expected_distance(np.array(counts), k, rate=rate, chances=weights)
    truth = _enumerated(counts, k, rate, chances)
    assert found.low <= truth * (1 + 1e-9) + 1e-9
    assert found.high >= truth * (1 - 1e-9) - 1e-9
    assert found.estimate == pytest.approx(truth, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("most_cuts", "rate"), crossed([8, 64], [0.0, 0.5 / 37]))
def test_bounds_enclose_the_mean_where_distances_are_too_many(most_cuts: int, rate: float) -> None:
    counts = histogram("HEPTH", 512)
    chances = np.full(64, 1 / 64) if rate == 0 else None
    exact = expected_distance(counts, 37, rate=rate, chances=chances, most_cuts=10**6)
    wide = expected_distance(counts, 37, rate=rate, chances=chances, most_cuts=most_cuts)
    assert wide.low < exact.estimate < wide.high
    assert exact.high - exact.low < 1e-8 < wide.high - wide.low


SIZE, DRAWS = 16, 400


def _mean_of_draws(base: str, epsilon: float) -> float:
    """How many standard errors the mean distance of real samples is off the computed one, at epsilon 1."""
    counts = histogram("HEPTH", 256)
    mechanism = dps.mechanisms.DensityMechanism(epsilon=epsilon, k=SIZE, base=base)  # type: ignore[arg-type]
    shares = np.cumsum(mechanism.draw_many(counts, DRAWS), axis=1) / SIZE
    distances = np.abs(shares - np.cumsum(counts) / 256).max(axis=1)
    law = methods.kolmogorov_smirnov if base == "histograms" else methods.kolmogorov_smirnov_of_points
    expected = law("HEPTH", 256, 64, 1.0, SIZE).estimate
    return float((distances.mean() - expected) / (distances.std() / math.sqrt(DRAWS)))


@pytest.mark.parametrize("base", ["histograms", "points"])
def test_the_real_mechanism_errs_as_computed(base: str) -> None:
    assert abs(_mean_of_draws(base, 1.0)) < 6.5  # p < 1e-9, also with the spread estimated from 400 draws


def test_another_epsilon_would_be_noticed() -> None:
    assert abs(_mean_of_draws("histograms", 0.5)) > 6.5


def test_the_smoothed_histogram_errs_as_computed() -> None:
    counts = histogram("ADULT", 4096)
    drawn = np.random.default_rng(5).multinomial(32, methods.smoothed(counts, 1.0, 32), size=DRAWS)
    shares = np.cumsum(drawn, axis=1) / 32
    distances = np.abs(shares - np.cumsum(counts) / 4096).max(axis=1)
    expected = methods.smoothed_histogram("ADULT", 4096, 64, 1.0, 32)
    assert expected.low < expected.estimate < expected.high < 1.02 * expected.low
    assert abs(distances.mean() - expected.estimate) < 6.5 * distances.std() / math.sqrt(DRAWS)


def test_the_simulated_noise_is_that_of_the_mechanism() -> None:
    counts = histogram("HEPTH", 256)
    mechanism = dps.GeometricMechanism(epsilon=1.0, sensitivity=noisy_histogram.L1_SENSITIVITY)
    noisy = np.array([mechanism.draw_many(counts) for _ in range(DRAWS)])
    truth = np.cumsum(counts) / 256
    made = (noisy_histogram.cut_off, noisy_histogram.made_monotone)
    for method, simulated in zip(made, noisy_histogram.errors(counts, 1.0), strict=True):
        distances = np.abs(method(noisy, 256) - truth).max(axis=1)
        spread = distances.std() * math.sqrt(1 / DRAWS + 1 / noisy_histogram.REPETITIONS)
        assert abs(distances.mean() - simulated) < 6.5 * spread
        assert abs(distances.mean() - 1.5 * simulated) > 6.5 * spread


def test_the_run_makes_these_figures() -> None:
    assert [make.__name__ for make in run.FIGURES] == [f"figure_{name}" for name in COMMITTED]


def _agrees(table: Table, row: int, fresh: dict[str, str | float]) -> bool:
    assert list(table.columns) == list(fresh)
    return all(
        table.columns[name][row] == value
        if isinstance(value, str)
        else math.isclose(table[name][row], value, rel_tol=1e-6)
        for name, value in fresh.items()
    )


@pytest.mark.slow
@pytest.mark.parametrize(("setting", "n"), crossed([("1", 1.0), ("2", 0.1)], [256, 4096]), ids=str)
def test_the_committed_errors_are_those_of_a_run(setting: tuple[str, float], n: int) -> None:
    name, epsilon = setting
    row = len(errors.RECORDS) + errors.RECORDS.index(n)
    fresh = errors.row("ADULT", n, epsilon)
    assert _agrees(COMMITTED[name], row, fresh)
    assert not _agrees(COMMITTED[name], row, {**fresh, "ks_best_error": fresh["ks_best_error"] * 1.00001})  # type: ignore[operator]


def test_the_committed_errors_by_bins_and_sizes_are_those_of_a_run() -> None:
    assert _agrees(COMMITTED["3"], 0, bins.row(1.0, bins.BINS[0]))
    assert _agrees(COMMITTED["4"], 2, sizes.row("HEPTH", sizes.SIZES[2]))


NOT_AS_STATED = {
    "1": ["is the best of the three", "of the order n^(-1/3)", "the base of points gives a smaller"],
    "2": ["is the best of the three", "of the order n^(-1/3)", "k = n^(2/3) is the size"],
    "3": ["grows in proportion to the number of bins", "is better than noise"],
    "4": ["the size hardly matters"],
}


@pytest.mark.parametrize("name", COMMITTED)
def test_what_was_found(name: str) -> None:
    refuted = [each.claim for each in FINDINGS[name](COMMITTED[name]) if not each.holds]
    assert len(refuted) == len(NOT_AS_STATED[name])
    assert all(part in claim for part, claim in zip(NOT_AS_STATED[name], refuted, strict=True))


def _changed(change: Callable[[np.ndarray], np.ndarray], words: str) -> Callable[[Table], Table]:
    """Every column of errors whose name has one of `words` in it, changed."""

    def spoil(table: Table) -> Table:
        chosen = {name for name in table.columns if re.search(words, name) and "sampling" not in name}
        return Table(
            {name: list(change(table[name])) if name in chosen else column for name, column in table.columns.items()}
        )

    return spoil


def _flatter(column: np.ndarray) -> np.ndarray:
    return column**0.5


SPOILS = (
    _changed(lambda column: column * 0.01, "^ks"),
    _changed(lambda column: column * 3, "^ks_(rule|source)|^points"),
    _changed(lambda column: column * 0.3, "^ks_(rule|source)|^points"),
    _changed(_flatter, "^ks"),
    _changed(lambda column: column * np.geomspace(1, 30, len(column)), "^ks"),
    _changed(_flatter, "^noisy"),
    _changed(lambda column: column**2, "noisy|histograms"),
    _changed(lambda column: column * 0.01, "smoothed"),
    _changed(lambda column: column[::-1], "error"),
    _changed(lambda column: np.full_like(column, 0.02), "^(points|histograms)_error"),
)
"""Ways in which the numbers could come out otherwise."""


@pytest.mark.parametrize("name", COMMITTED)
def test_each_finding_could_be_otherwise(name: str) -> None:
    before = [each.holds for each in FINDINGS[name](COMMITTED[name])]
    with np.errstate(all="ignore"):
        after = [[each.holds for each in FINDINGS[name](spoil(COMMITTED[name]))] for spoil in SPOILS]
    assert [any(row[i] != holds for row in after) for i, holds in enumerate(before)] == [True] * len(before)


def test_the_page_says_what_a_run_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "table", lambda epsilon: COMMITTED["1" if epsilon == 1.0 else "2"])
    monkeypatch.setattr(bins, "table", lambda: COMMITTED["3"])
    monkeypatch.setattr(bins, "many_bins_note", lambda: "")
    monkeypatch.setattr(sizes, "table", lambda: COMMITTED["4"])
    for make in run.FIGURES:
        figure = replace(make(), beyond="")
        assert DENSITIES.section(figure) in README
        assert (FOLDER / figure.picture_name).is_file()


def test_the_page_quotes_the_power_of_tests() -> None:
    for epsilon in (1.0, 0.1):
        power = dps.DryRun(unit="person").count(epsilon=epsilon).guarantee.power(0.05)
        assert f"{power:.1%}".replace("%", " %") in README


def test_every_link_of_the_page_leads_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(targets) > 8
    assert all((FOLDER / target).is_file() for target in targets)


def test_histograms_of_every_size_keep_their_shape() -> None:
    for name in NAMES:
        full, few = histogram(name, 65536), histogram(name, 64)
        assert int(few.sum()) == 64
        assert np.abs(full / 65536 - few / 64).max() < 1 / 64

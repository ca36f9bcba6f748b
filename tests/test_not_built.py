"""The page on what is not built: its figures against enumeration and against the mechanisms, and the page itself."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from examples.not_built import __main__ as run
from examples.not_built import computed, names, simulated

import dpselect as dps
from tests.laws.goodness_of_fit import p_value

README = (Path(run.__file__).parent / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> str:
    shape = "tiny"
    monkeypatch.setattr(simulated, "SHAPES", {shape: (np.array([3.0, 2.0, 2.0, 0.0, 1.0]), 2, 1.0)})
    return shape


def test_the_joint_mechanism_has_its_law(tiny: str) -> None:
    counts, k, epsilon = simulated.SHAPES[tiny]
    ordered = np.sort(counts)[::-1]
    weights = Counter[tuple[int, ...]]()
    for sequence in itertools.permutations(range(len(counts)), k):
        off = max(ordered[r] - counts[place] for r, place in enumerate(sequence))
        weights[tuple(sorted(sequence))] += math.exp(-off * epsilon / 2.0)  # type: ignore[assignment]
    sets = sorted(weights)
    law = np.array([weights[each] for each in sets]) / weights.total()
    rng, draw = simulated.generator("law"), simulated.joint(tiny)
    drawn = Counter(tuple(sorted(draw(rng, counts, k, epsilon).tolist())) for _ in range(4000))
    found = np.array([drawn[each] for each in sets])
    assert p_value(found, law) > 1e-9
    assert p_value(found, law**2 / (law**2).sum()) < 1e-9
    simulated._sequences.cache_clear()


def test_exponential_noise_once_errs_as_permute_and_flip_for_one() -> None:
    counts = np.array([5.0, 4.0, 4.0, 0.0])
    rng = simulated.generator("one")
    found = np.mean([simulated.loss(counts, simulated.exponential_once(rng, counts, 1, 1.0), 1) for _ in range(4000)])
    exact = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0, monotonic=True).expected_error(counts)
    assert found == pytest.approx(exact, abs=0.1)


def test_the_figures_of_the_page_are_those_of_a_run() -> None:
    assert f"{computed.large_margin(1.0, 1e-6):.0f} counts" in README
    assert f"scale {computed.one_shot_laplace_scale(100, 1000, 0.2, 1e-6):,.0f} for k = 100" in README
    assert all(f"{computed.gaussian_max_deviation(n, 1.0, 1e-6):.1f}" in README for n in (10, 1000, 10**6))
    below, above, _ = computed.subsampled_loss(0.5, run._zipf(), run.EPSILON)
    assert f"expected error {below:,.0f} with half of 1,000 candidates" in README
    assert above - below < 1e-6  # permute-and-flip itself loses nothing in a part
    shape = "20 at 60, the rest 0; k = 10, ε = 1"
    assert f"| {shape} | {simulated.mean_loss('once', simulated.exponential_once, shape):.3g} |" in README
    assert README.startswith(run.INTRODUCTION.replace("1e-06", "1e-6").rstrip())


def test_each_loses_to_what_is_built() -> None:
    assert computed.one_shot_laplace_scale(100, 1000, 0.2, 1e-6) > 10 * computed.gumbel_scale(100, 0.2, 1e-6)
    assert computed.gaussian_max_deviation(10, 1.0, 1e-6) > 4 * dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0).scale
    dampened, plain = computed.dampened_errors()
    assert dampened > plain
    part, _, whole = computed.subsampled_loss(0.5, np.array([9.0, 5.0, 1.0, 0.0]), 5.0)
    assert part > whole


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("epsilon", [0.5, 5.0])
def test_the_error_of_a_random_part_is_that_of_all_parts(size: int, epsilon: float) -> None:
    counts = np.array([1.0, 9.0, 0.0, 5.0])
    mechanism = dps.PermuteAndFlip(epsilon=epsilon, sensitivity=1.0, monotonic=True)
    of_parts = [9.0 - max(part) + mechanism.expected_error([*part]) for part in itertools.combinations(counts, size)]
    below, above, whole = computed.subsampled_loss(size / 4, counts, epsilon)
    assert below - 1e-12 <= np.mean(of_parts) <= above + 1e-12
    assert above - below < 0.4 * (epsilon < 1.0) + 1e-3
    assert whole == mechanism.expected_error(counts)


def _spread(monkeypatch: pytest.MonkeyPatch, rows: list[set[int]], enough: float) -> np.ndarray:
    units = np.array([unit for unit, held in enumerate(rows) for _ in held])
    held = np.array([name for each in rows for name in sorted(each)])
    monkeypatch.setattr(names, "visits", lambda _: (units, held, 4))
    return names.weighted_counts(4, np.ones(4, bool), enough=enough)


def _farthest(monkeypatch: pytest.MonkeyPatch, enough: float) -> float:
    """The largest l2 distance that the last unit moves all weights by, over many small tables."""
    rng, found = simulated.generator("units"), 0.0
    for _ in range(400):
        rows = [set(rng.choice(4, rng.integers(1, 5), replace=False).tolist()) for _ in range(rng.integers(2, 9))]
        change = _spread(monkeypatch, rows, enough) - _spread(monkeypatch, rows[:-1], enough)
        assert (change >= -1e-12).all()
        found = max(found, float(np.linalg.norm(change)))
    return found


def test_one_unit_moves_weights_by_at_most_1(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _farthest(monkeypatch, math.inf) == pytest.approx(1.0)
    assert _farthest(monkeypatch, 0.4) <= 1.0 + 1e-12
    rows = [*({0, 1} for _ in range(50)), {0, 2}]  # what name 0 has too much goes to name 1
    monkeypatch.setattr(names, "discount", lambda _: 4.0)
    change = _spread(monkeypatch, rows, 0.4) - _spread(monkeypatch, rows[:-1], 0.4)
    assert np.linalg.norm(change) > 1.0


def test_weighted_counts_name_more_and_the_page_says_so() -> None:
    found = [way(10) for way in (names.optimal, names.ours, names.weighted, names.sips, names.mad)]
    assert f"| 10 | {' | '.join(f'{each:.0f}' for each in found)} |" in README
    _, ours, weighted, sips, mad = found
    assert max(ours, names.optimal(1)) < sips < weighted < mad
    assert "**Here something that is not built is better.**" in README

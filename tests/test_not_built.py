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
    assert f"{names.weighted():.0f}; with counts" in README
    shape = "20 at 60, the rest 0; k = 10, ε = 1"
    assert f"| {shape} | {simulated.mean_loss('once', simulated.exponential_once, shape):.3g} |" in README
    assert README.startswith(run.INTRODUCTION.replace("1e-06", "1e-6").rstrip())


def test_each_loses_to_what_is_built() -> None:
    assert computed.one_shot_laplace_scale(100, 1000, 0.2, 1e-6) > 10 * computed.gumbel_scale(100, 0.2, 1e-6)
    assert computed.gaussian_max_deviation(10, 1.0, 1e-6) > 4 * dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0).scale
    dampened, plain = computed.dampened_errors()
    assert dampened > plain
    part, whole = computed.subsampled_loss(0.5, np.array([9.0, 5.0, 1.0, 0.0]), 5.0)
    assert part > whole

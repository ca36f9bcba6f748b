"""Laws of the probabilities themselves: what may not matter does not, and what is better is never less likely."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from tests.laws.subjects import epsilons, every_kind, score_vectors

Kind = Callable[..., Any]


@every_kind
@given(scores=score_vectors(), epsilon=epsilons)
def test_probabilities_sum_to_one_and_none_is_zero(kind: Kind, scores: np.ndarray, epsilon: float) -> None:
    pmf = kind(epsilon=epsilon, sensitivity=1.0).pmf(scores)
    assert pmf.dtype == np.float64
    assert pmf.shape == scores.shape
    assert abs(pmf.sum() - 1.0) <= 1e-12
    assert np.all(pmf > 0.0)


@every_kind
@given(scores=score_vectors(), epsilon=epsilons, shift=st.integers(-(2**30), 2**30))
def test_shifting_all_scores_changes_nothing(kind: Kind, scores: np.ndarray, epsilon: float, shift: int) -> None:
    mechanism = kind(epsilon=epsilon, sensitivity=1.0)
    scores = np.round(scores * 2**10) / 2**10  # so that adding the shift is exact
    np.testing.assert_array_equal(mechanism.pmf(scores), mechanism.pmf(scores + shift))


@every_kind
@given(scores=score_vectors(min_size=2), epsilon=epsilons, data=st.data())
def test_reordering_candidates_reorders_probabilities(
    kind: Kind, scores: np.ndarray, epsilon: float, data: st.DataObject
) -> None:
    mechanism = kind(epsilon=epsilon, sensitivity=1.0)
    order = np.array(data.draw(st.permutations(range(scores.size))))
    np.testing.assert_allclose(mechanism.pmf(scores[order]), mechanism.pmf(scores)[order], rtol=1e-13)


@every_kind
@given(scores=score_vectors(), epsilon=epsilons, power=st.integers(-300, 300))
def test_only_the_ratio_of_scores_and_scale_matters(kind: Kind, scores: np.ndarray, epsilon: float, power: int) -> None:
    np.testing.assert_array_equal(
        kind(epsilon=epsilon, sensitivity=2.0**power).pmf(scores * 2.0**power),
        kind(epsilon=epsilon, sensitivity=1.0).pmf(scores),
    )


@every_kind
@given(scores=score_vectors(min_size=2), epsilon=epsilons, raised_by=st.floats(0.0, 20.0), data=st.data())
def test_raising_a_score_never_lowers_its_probability(
    kind: Kind, scores: np.ndarray, epsilon: float, raised_by: float, data: st.DataObject
) -> None:
    mechanism = kind(epsilon=epsilon, sensitivity=1.0)
    which = data.draw(st.integers(0, scores.size - 1))
    raised = scores.copy()
    raised[which] += raised_by
    before, after = mechanism.pmf(scores), mechanism.pmf(raised)
    assert after[which] >= before[which] * (1 - 1e-12)
    others = np.arange(scores.size) != which
    assert np.all(after[others] <= before[others] * (1 + 1e-12))


@every_kind
@given(scores=score_vectors(), epsilon=epsilons)
def test_equal_scores_are_equally_likely_and_better_ones_more(kind: Kind, scores: np.ndarray, epsilon: float) -> None:
    pmf = kind(epsilon=epsilon, sensitivity=1.0).pmf(scores)
    for i, score in enumerate(scores):
        assert np.all(pmf[scores == score] == pmf[i])
        assert np.all(pmf[scores > score] >= pmf[i] * (1 - 1e-12))


@every_kind
def test_monotonic_is_twice_the_epsilon(kind: Kind) -> None:
    scores = np.array([3.0, 1.0, 4.0, 1.0, 5.0])
    monotonic, general = (kind(epsilon=e, sensitivity=1.0, monotonic=e == 0.5) for e in (0.5, 1.0))
    np.testing.assert_array_equal(monotonic.pmf(scores), general.pmf(scores))
    assert monotonic.scale == general.scale == 2.0


def test_the_laws_above_can_fail() -> None:
    """They notice scores that count, and an epsilon that does not stay."""
    mechanism = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0)
    scores = np.array([1.0, 2.0, 4.0])
    assert not np.allclose(mechanism.pmf(scores), mechanism.pmf(scores * 2), rtol=1e-3)
    assert not np.allclose(mechanism.pmf(scores), mechanism.pmf(scores[::-1]), rtol=1e-3)
    assert not np.allclose(
        mechanism.pmf(scores), dps.PermuteAndFlip(epsilon=1.01, sensitivity=1.0).pmf(scores), rtol=1e-3
    )

"""Selection that stops asking for scores: the law of permute-and-flip, fewer calls, and what it refuses."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect.errors import InvalidCandidatesError, InvalidParameterError, InvalidScoresError
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.slow import SLOW

SCORES = [7.0, 5.5, 6.0, 2.0, 6.0]
DRAWS = 10_000 if SLOW else 2500
CHOICE: dict[str, Any] = {"epsilon": 1.0, "sensitivity": 1.0, "ceiling": 8}


def law(scores: list[float], **changed: Any) -> np.ndarray:
    return dps.PermuteAndFlip(**{"epsilon": 1.0, "sensitivity": 1.0, **changed}).pmf(scores)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("ceiling", [7.0, 8.5, 1000])
def test_the_law_is_that_of_permute_and_flip(ceiling: float, monotonic: bool) -> None:
    chosen = [
        dps.select_lazily(SCORES.__getitem__, range(5), **{**CHOICE, "ceiling": ceiling, "monotonic": monotonic})
        for _ in range(DRAWS)
    ]
    tally = np.bincount(chosen, minlength=5)
    assert p_value(tally, law(SCORES, monotonic=monotonic)) > NEVER
    assert p_value(tally, law(SCORES, monotonic=not monotonic)) < NEVER


def test_scores_are_asked_for_once_and_fewer_where_the_ceiling_is_near() -> None:
    """Of 200 equal candidates; the expected number is that of the proof page."""
    for ceiling, scale in ((0.0, 20.0), (60.0, 20.0), (1e9, 20.0)):
        counts: list[int] = []
        for _ in range(100):
            asked: Counter[int] = Counter()

            def score(item: int, asked: Counter[int] = asked) -> float:
                asked[item] += 1
                return 0.0

            dps.select_lazily(score, range(200), ceiling=ceiling, epsilon=0.1, sensitivity=1)
            assert set(asked.values()) == {1}
            counts.append(sum(asked.values()))
        q = 200 * math.exp(-ceiling / scale)
        expected = 200 * (-math.expm1(-q) / q if q > 1e-9 else 1.0)
        assert expected / 2.2 <= np.mean(counts) <= 2.0 * expected + 1


def test_candidates_come_back_as_they_were_given() -> None:
    configurations = [{"depth": 1}, {"depth": 2}]
    chosen = dps.select_lazily(lambda c: Fraction(c["depth"]), configurations, ceiling=2, epsilon=1e6, sensitivity=1)
    assert chosen is configurations[1]
    assert dps.select_lazily(lambda _: 1, np.array(["a"]), ceiling=1, epsilon=1, sensitivity=1) == "a"


@pytest.mark.parametrize(
    ("score", "expected"), [(8.000001, "ceiling"), (math.nan, "finite"), (None, "finite"), (True, "finite")]
)
def test_a_score_beyond_the_rules_has_no_answer_and_is_not_shown(score: Any, expected: str) -> None:
    with pytest.raises(InvalidScoresError, match=expected) as refused:
        dps.select_lazily(lambda _: score, [1, 2, 3], **CHOICE)
    assert "8.0" not in str(refused.value)
    assert "the charge stands" in str(refused.value)


def test_errors_of_a_score_are_the_callers_own() -> None:
    with pytest.raises(ZeroDivisionError):
        dps.select_lazily(lambda _: 1 / 0, [1, 2], **CHOICE)


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({"ceiling": math.inf}, InvalidParameterError),
        ({"epsilon": 0}, InvalidParameterError),
        ({"sensitivity": math.nan}, InvalidParameterError),
        ({"monotonic": 1}, InvalidParameterError),
        ({"monotonic": True, "neighbours": "replace_one"}, InvalidParameterError),
        ({"neighbours": "replaced"}, InvalidParameterError),
        ({"candidates": []}, InvalidCandidatesError),
        ({"candidates": [1, 1]}, InvalidCandidatesError),
        ({"candidates": {1, 2}}, InvalidCandidatesError),
        ({"candidates": 3}, InvalidCandidatesError),
        ({"score": 0.5}, InvalidParameterError),
    ],
)
def test_bad_arguments_ask_for_nothing(changed: dict[str, Any], kind: type[Exception]) -> None:
    asked: list[int] = []
    arguments = {"score": asked.append, "candidates": [1, 2], **CHOICE, **changed}
    with pytest.raises(kind):
        dps.select_lazily(**arguments)
    assert asked == []

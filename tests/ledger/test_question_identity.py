"""The same question is the same, however its candidates are spelt; another one is another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpselect.ledger.question_identity import QuestionIdentity
from dpselect.summaries import PublicCandidates


def text_of(candidates: Any) -> str:
    return QuestionIdentity(
        "most_common", "a.csv", "unit", "page", {"candidates": PublicCandidates.given(candidates).values}
    ).text


SAME: list[list[Any]] = [
    [range(1, 10), list(range(1, 10)), np.arange(1, 10, dtype=np.int32), np.arange(1, 10, dtype=np.uint64)],
    [range(1, 10, 2), range(1, 11, 2), [1, 3, 5, 7, 9], (1, 3, 5, 7, 9)],
    [range(9, 0, -3), [9, 6, 3], range(9, 1, -3)],
    [range(5, 6), range(5, 100, 1000), [5], np.array([5])],
    [range(-(2**63), 2**63, 2**63 - 1), [-(2**63), -1, 2**63 - 2]],
    [range(-(2**63), 2**63, 2**64 - 1), [-(2**63), 2**63 - 1]],
    [[3, 1, 2], np.array([3, 1, 2])],
    [["a", "b"], ("a", "b"), np.array(["a", "b"])],
]


@pytest.mark.parametrize("spellings", SAME)
def test_another_spelling_is_the_same_question(spellings: list[Any]) -> None:
    assert len({text_of(each) for each in spellings}) == 1


def test_other_candidates_or_another_order_are_another_question() -> None:
    others: list[Any] = [group[0] for group in SAME]
    others += [range(1, 11), range(9), [1, 2, 3, 4, 5, 6, 7, 9, 8], range(9, 0, -1), [1, 2, 4], [6], [1.0, 2.0], [1, 2]]
    assert len({text_of(each) for each in others}) == len(others)


@pytest.mark.slow
def test_a_long_list_is_compared_to_its_end() -> None:
    listed, text = np.arange(2**20 + 5), text_of(range(2**20 + 5))
    assert text_of(listed) == text
    listed[-2:] = listed[-2:][::-1].copy()
    assert text_of(listed) != text
    listed[-1], listed[-3] = 2**20 + 4, 2**20 + 9
    listed[-2] = 2**20 + 3
    assert text_of(listed) != text

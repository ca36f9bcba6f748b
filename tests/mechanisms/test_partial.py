"""Selections drawn in parts: the law of the whole, one use of each, and nothing of them shown."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect import PartialSelection
from dpselect.errors import InvalidDataError, InvalidParameterError, InvalidScoresError
from dpselect.mechanisms import Winner
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.slow import crossed

Kind = Callable[..., Any]
KINDS: dict[str, Kind] = {
    "exponential mechanism": dps.ExponentialMechanism,
    "permute-and-flip": dps.PermuteAndFlip,
    "exponential noise": partial(dps.ReportNoisyMax, noise="exponential"),
    "Gumbel noise": partial(dps.ReportNoisyMax, noise="gumbel"),
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
DRAWS = 4000
RNG = np.random.default_rng(9)
SHAPES = {
    "seven": np.array([3.0, -2.0, 0.5, 3.0, 1.0, -9.0, 2.25]),
    "ties": RNG.integers(0, 8, 900),
    "equal": np.zeros(64, dtype=np.uint8),
    "spike": np.r_[np.zeros(300), 9.0, np.zeros(400)],
}


def merge(selections: Sequence[PartialSelection]) -> PartialSelection:
    return reduce(PartialSelection.merged, selections)


def in_pairs(selections: Sequence[PartialSelection]) -> PartialSelection:
    """A balanced tree, through bytes at every level, the later one first."""
    level = list(selections)
    while len(level) > 1:
        sent = [PartialSelection.from_bytes(each._mechanism, each.to_bytes()) for each in level]
        merged = [later.merged(earlier) for earlier, later in zip(sent[::2], sent[1::2], strict=False)]
        level = merged + (sent[-1:] if len(sent) % 2 else [])
    return level[0]


def index_of(winner: Winner) -> int:
    return winner.partition + winner.index


def counts_in_parts(
    mechanism: Any, scores: np.ndarray, cuts: list[int], merge: Callable[..., PartialSelection] = merge
) -> np.ndarray:
    ends = [0, *cuts, scores.size]
    draws = [
        index_of(
            merge(
                [PartialSelection.of(mechanism, scores[start:end], partition=start) for start, end in pairwise(ends)]
            ).winner()
        )
        for _ in range(DRAWS)
    ]
    return np.bincount(draws, minlength=scores.size)


@pytest.mark.parametrize(("law", "name"), crossed([*KINDS], [*SHAPES]))
def test_the_law_of_all_scores_together(law: str, name: str) -> None:
    kind, scores = KINDS[law], SHAPES[name]
    mechanism = kind(epsilon=1.0, sensitivity=1.0)
    counts = counts_in_parts(mechanism, scores, [scores.size // 3, scores.size // 2])
    assert p_value(counts, mechanism.pmf(scores)) >= NEVER
    if name != "equal":
        assert p_value(counts, kind(epsilon=2.0, sensitivity=1.0).pmf(scores)) < NEVER


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("name", "cuts"), crossed([*KINDS], [[], [0, 7], [1, 2, 3, 4, 5, 6], [3, 3, 4]]), ids=str)
def test_any_cuts_and_any_order_of_merging(name: str, cuts: list[int]) -> None:
    kind = KINDS[name]
    scores = SHAPES["seven"]
    mechanism = kind(epsilon=1.0, sensitivity=1.0)
    counts = counts_in_parts(mechanism, scores, cuts, in_pairs)
    assert p_value(counts, mechanism.pmf(scores)) >= NEVER
    assert p_value(counts, kind(epsilon=1.0, sensitivity=1.0, monotonic=True).pmf(scores)) < NEVER


def test_taking_the_best_of_the_parts_winners_would_have_another_law() -> None:
    mechanism = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0)
    scores = SHAPES["seven"]
    parts = [(0, scores[:3]), (3, scores[3:])]
    draws = [
        max((start + mechanism.select(part) for start, part in parts), key=lambda index: scores[index])
        for _ in range(DRAWS)
    ]
    assert p_value(np.bincount(draws, minlength=scores.size), mechanism.pmf(scores)) < NEVER


def test_parts_of_different_types() -> None:
    mechanism, wrong = (dps.PermuteAndFlip(epsilon=epsilon, sensitivity=1.0) for epsilon in (1.0, 2.0))
    parts = [np.array([4, 9], "u1"), [0.5], pa.array([7.25, 9.0], pa.float32()), np.array([8, -3, 1], "i8")[::-1]]
    scores = [4, 9, 0.5, 7.25, 9.0, 1, -3, 8]
    starts = [0, 2, 3, 5]
    draws = [
        index_of(
            merge(
                [PartialSelection.of(mechanism, part, partition=at) for at, part in zip(starts, parts, strict=True)]
            ).winner()
        )
        for _ in range(DRAWS)
    ]
    counts = np.bincount(draws, minlength=8)
    assert p_value(counts, mechanism.pmf(scores)) >= NEVER
    assert p_value(counts, wrong.pmf(scores)) < NEVER


@every_kind
def test_no_scores_change_nothing(kind: Kind) -> None:
    mechanism = kind(epsilon=1.0, sensitivity=1.0)
    none = np.array([], dtype=np.int64)
    for part in (none, [], pa.array([], pa.float64())):
        empty = PartialSelection.of(mechanism, part, partition=1)
        assert len(empty.to_bytes()) < 40
        empty, one = PartialSelection.of(mechanism, part), PartialSelection.of(mechanism, [5.0], partition=2)
        assert empty.merged(one).winner() == Winner(2, 0)
    with pytest.raises(InvalidScoresError, match="at least one score"):
        PartialSelection.of(mechanism, none).merged(PartialSelection.of(mechanism, none)).winner()


def test_bytes_are_few_whatever_the_scores() -> None:
    mechanism = dps.ExponentialMechanism(epsilon=1e-3, sensitivity=1.0)
    for scores in (np.zeros(200_000), np.array([1e300, -1e300]), np.array([2**63 - 1, 0], dtype=np.uint64)):
        assert len(PartialSelection.of(mechanism, scores, partition=2**63 - 1).to_bytes()) < 130


@every_kind
def test_each_is_used_once(kind: Kind) -> None:
    mechanism = kind(epsilon=1.0, sensitivity=1.0)
    uses: list[Callable[[PartialSelection], object]] = [
        PartialSelection.to_bytes,
        PartialSelection.winner,
        lambda used: used.merged(PartialSelection.of(mechanism, [1.0])),
        lambda used: PartialSelection.of(mechanism, [1.0]).merged(used),
    ]
    for first in uses:
        for second in uses:
            used = PartialSelection.of(mechanism, [1.0, 2.0])
            first(used)
            with pytest.raises(InvalidParameterError, match="used before"):
                second(used)


@every_kind
def test_a_merge_with_one_that_is_used_leaves_the_other_as_it_was(kind: Kind) -> None:
    mechanism = kind(epsilon=1.0, sensitivity=1.0)
    merges: list[Callable[[PartialSelection, PartialSelection], object]] = [
        PartialSelection.merged,
        lambda fresh, used: used.merged(fresh),
        lambda fresh, used: fresh._row.merged(used._row),
        lambda fresh, _: fresh._row.merged(fresh._row),
    ]
    for refused in merges:
        fresh, used = (PartialSelection.of(mechanism, [1.0, 2.0]) for _ in range(2))
        used.winner()
        with pytest.raises(InvalidParameterError, match="used before"):
            refused(fresh, used)
        assert fresh.winner() is not None


def test_nothing_is_used_up_by_a_refused_merge() -> None:
    one, other = (
        PartialSelection.of(dps.PermuteAndFlip(epsilon=epsilon, sensitivity=1.0), [1.0]) for epsilon in (1.0, 2.0)
    )
    with pytest.raises(InvalidParameterError, match=r"epsilon=2\.0"):
        one.merged(other)
    with pytest.raises(InvalidParameterError, match="the same for all parts"):
        one._row.merged(other._row)
    with pytest.raises(InvalidParameterError, match="the same one"):
        one.merged(one)
    with pytest.raises(InvalidParameterError, match="PartialSelection"):
        one.merged("one")  # type: ignore[arg-type]
    assert one.winner() == other.winner() == Winner(0, 0)


def test_other_mechanisms_refuse_the_bytes() -> None:
    drawn_by = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0)
    data = PartialSelection.of(drawn_by, [3.0, 4.0]).to_bytes()
    for other in (
        dps.PermuteAndFlip(epsilon=1.5, sensitivity=1.0),
        dps.PermuteAndFlip(epsilon=1.0, sensitivity=2.0),
        dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0, monotonic=True),
        dps.ExponentialMechanism(epsilon=1.0, sensitivity=1.0),
    ):
        with pytest.raises(InvalidDataError, match="another mechanism"):
            PartialSelection.from_bytes(other, data)
    for damaged in (b"", data[:-1], data + b"\0", b"x" + data[1:], data[:4] + b"\x02" + data[5:], data[:30]):
        with pytest.raises(InvalidDataError, match="other bytes"):
            PartialSelection.from_bytes(drawn_by, damaged)
    with pytest.raises(InvalidParameterError, match="bytes"):
        PartialSelection.from_bytes(drawn_by, "text")  # type: ignore[arg-type]
    assert PartialSelection.from_bytes(drawn_by, data).winner().partition == 0


def test_what_cannot_be_merged_is_refused() -> None:
    laplace = dps.ReportNoisyMax(epsilon=1.0, sensitivity=1.0, noise="laplace")
    for bad in (laplace, "permute-and-flip", None):
        with pytest.raises(InvalidParameterError, match="PermuteAndFlip"):
            PartialSelection.of(bad, [1.0])  # type: ignore[arg-type]
    mechanism = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0)
    for number in (-1, 2**63, 1.0, True, "0"):
        with pytest.raises(InvalidParameterError, match="partition"):
            PartialSelection.of(mechanism, [1.0], partition=number)  # type: ignore[arg-type]
    for bad_scores in ([float("nan")], [[1.0]], "7919", np.array([np.inf])):
        with pytest.raises(InvalidScoresError):
            PartialSelection.of(mechanism, bad_scores)


def test_nothing_of_it_is_shown_copied_or_pickled() -> None:
    mechanism = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0)
    selection = PartialSelection.of(mechanism, [7919.0, 1.0], partition=5)
    assert repr(selection) == f"<PartialSelection by {mechanism!r}: private>"
    for copies in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="used once"):
            copies(selection)
    with pytest.raises(TypeError, match="missing 2 required"):
        PartialSelection()
    assert selection.winner().partition == 5

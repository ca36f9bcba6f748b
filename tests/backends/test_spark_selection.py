"""Selections that Spark's tasks draw: the law of the mechanism, every candidate, nothing lost or drawn twice."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpselect as dps
from dpselect.backends.lazy import spark_frame as spark_frames
from dpselect.backends.lazy.spark_selection import (
    PersistedScores,
    drawn,
    drawn_at_once,
    merged,
    merged_at_once,
    scored,
    selected,
    whole_numbers,
)
from tests.backends.engines import spark, spark_frame
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference.precision import flip_probabilities
from tests.reference.top_k import exponential_noise_once
from tests.slow import SLOW

SCORES = [3, 0, 1, 4, 0, 2, 4]
DRAWS = 2500 if SLOW else 1000
SHARP = dps.PermuteAndFlip(epsilon=50.0, sensitivity=1.0)


def batch(names: list[Any], scores: list[int]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(names), pa.array(scores, pa.int64())], ["what", "number"])


def frame_of(scores: dict[Any, int], *, parts: int) -> Any:
    table = pa.table({"what": list(scores), "number": pa.array(scores.values(), pa.int64())})
    return spark().createDataFrame(table).repartition(parts)


def held() -> int:
    """How many frames Spark keeps."""
    return spark().sparkContext._jsc.getPersistentRDDs().size()


@pytest.mark.parametrize("kind", [dps.PermuteAndFlip, dps.ExponentialMechanism])
def test_what_tasks_send_has_the_law_of_all_scores_when_merged(kind: Any) -> None:
    mechanism, wrong = kind(epsilon=1.0, sensitivity=1.0), kind(epsilon=2.5, sensitivity=1.0)
    tasks = [
        [batch([0, 1], SCORES[:2]), batch([2], SCORES[2:3])],
        [batch([], [])],
        [],
        [batch([3, 4, 5], SCORES[3:6]), batch([], []), batch([6], SCORES[6:])],
    ]

    def once() -> int:
        sent = [row for part, batches in enumerate(tasks) for row in drawn(iter(batches), part, mechanism)]
        assert len(sent) == 2
        return merged(pa.Table.from_batches(sent), mechanism).winner()

    counts = np.bincount([once() for _ in range(DRAWS)], minlength=len(SCORES))
    assert p_value(counts, mechanism.pmf(SCORES)) >= NEVER
    assert p_value(counts, wrong.pmf(SCORES)) < NEVER


@pytest.mark.parametrize("kind", [dps.PermuteAndFlip, dps.ExponentialMechanism])
def test_without_earlier_winners_it_is_the_law_of_what_is_left(kind: Any) -> None:
    mechanism = kind(epsilon=1.0, sensitivity=1.0)
    days = [date(1, 1, 1 + number) for number in range(len(SCORES))]
    tasks = [[batch(days[:2], SCORES[:2])], [batch(days[2:3], SCORES[2:3])], [batch(days[3:], SCORES[3:])]]
    taken = [days[2], days[6]]  # all that the second task has

    def once() -> int:
        sent = [row for part, batches in enumerate(tasks) for row in drawn(iter(batches), part, mechanism, taken)]
        assert len(sent) == 2
        return days.index(merged(pa.Table.from_batches(sent), mechanism).winner())

    counts = np.bincount([once() for _ in range(DRAWS)], minlength=len(SCORES))
    left = [0, 1, 3, 4, 5]
    assert counts[2] == counts[6] == 0
    assert p_value(counts[left], mechanism.pmf([SCORES[each] for each in left])) >= NEVER
    assert p_value(counts[left], kind(epsilon=2.5, sensitivity=1.0).pmf([SCORES[each] for each in left])) < NEVER


def test_all_winners_of_one_job_have_the_law_of_noise_once() -> None:
    mechanism, wrong = (dps.ExponentialNoiseTopK(epsilon=e, sensitivity=1.0, k=2) for e in (1.0, 2.0))
    scores = [0.0, 3.0, 3.0, -1.0, 4.5]
    names = list("abcde")
    tasks = [[batch(names[:2], scores[:2]), batch(names[2:3], scores[2:3])], [], [batch(names[3:], scores[3:])]]

    def law(mechanism: dps.ExponentialNoiseTopK) -> dict[tuple[int, ...], Fraction]:
        return exponential_noise_once(flip_probabilities(scores, scale=Fraction(mechanism.scale)), k=2)

    def once() -> tuple[int, ...]:
        sent = [row for part, batches in enumerate(tasks) for row in drawn_at_once(iter(batches), part, mechanism, 2)]
        assert [row.num_rows for row in sent] == [2, 2]
        return tuple(names.index(name) for name in merged_at_once(pa.Table.from_batches(sent), mechanism, 2))

    drawn_pairs = Counter(once() for _ in range(DRAWS))
    for each, is_its_own in ((mechanism, True), (wrong, False)):
        counts, chances = zip(
            *((drawn_pairs[order], float(chance)) for order, chance in law(each).items()), strict=True
        )
        assert (p_value(np.array(counts), np.array(chances)) >= NEVER) is is_its_own


def test_one_job_ranks_all_candidates() -> None:
    scores = frame_of({"third": 40, "first": 120, "last": 0, "second": 80}, parts=3)
    kept = PersistedScores(scores, "<frame>")
    sharp = dps.ExponentialNoiseTopK(epsilon=100.0, sensitivity=1.0, monotonic=True, k=3)
    assert list(kept.drawn(sharp, 4)) == ["first", "second", "third", "last"]
    assert list(kept.drawn(sharp, 3)) == ["first", "second", "third"]
    kept.close()


@pytest.mark.slow
def test_rounds_take_all_and_leave_nothing_behind() -> None:
    scores = frame_of({"third": 40, "first": 120, "last": 0, "second": 80}, parts=3)
    before = held()
    kept = PersistedScores(scores, "<frame>")
    assert held() == before + 1
    assert list(kept.drawn(SHARP, 4)) == ["first", "second", "third", "last"]
    assert list(kept.drawn(SHARP, 1)) == ["first"]
    kept.close()
    assert held() == before
    kept.close()


@pytest.mark.slow
def test_who_keeps_the_same_scores_keeps_them_longer(tmp_path: Path) -> None:
    """A session's own frame, two questions: whoever ends takes nothing of the others."""
    pq.write_table(pa.table({"what": [1, 2, 3], "number": [0, 60, 0]}), tmp_path / "scores.parquet")

    def scores() -> Any:
        return spark().read.parquet(str(tmp_path))

    before = held()
    theirs, first, second = (
        scores().persist(),
        PersistedScores(scores(), "<frame>"),
        PersistedScores(scores(), "<frame>"),
    )
    assert theirs.count() == 3
    (tmp_path / "scores.parquet").unlink()
    first.close()
    assert list(second.drawn(SHARP, 1)) == [2]
    second.close()
    assert theirs.storageLevel.useMemory
    assert theirs.collect()[0].what == 1
    theirs.unpersist()
    assert held() == before


def test_names_of_parts_that_lost_are_not_looked_at() -> None:
    """Python has no such days, Spark has: whether there is an answer depends on the winner alone."""
    days = pa.array([-719_163, 20_000, 2_932_897], pa.int32()).cast(pa.date32())
    tasks = [
        pa.RecordBatch.from_arrays([days[i : i + 1], pa.array([60 * (i == 1)])], ["what", "number"]) for i in range(3)
    ]

    def sent(chosen: list[int]) -> pa.Table:
        return pa.Table.from_batches([row for i in chosen for row in drawn(iter([tasks[i]]), i, SHARP)])

    assert merged(sent([0, 1, 2]), SHARP).winner() == date(2024, 10, 4)
    with pytest.raises((OverflowError, ValueError)):
        merged(sent([0]), SHARP).winner()


def test_a_winner_that_python_does_not_have_is_refused_in_our_own_words() -> None:
    scores = spark().sql("SELECT date_from_unix_date(2932897) AS what, 1L AS number")
    kept = PersistedScores(scores, "<frame>")
    with pytest.raises(dps.errors.InvalidDataError, match="If it was charged, it stays charged") as caught:
        list(kept.drawn(SHARP, 1))
    kept.close()
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


def test_scores_that_cannot_be_made_are_not_kept() -> None:
    def dies(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        raise RuntimeError("a machine went away, and with it secret rows")

    scores = frame_of({0: 0, 1: 60}, parts=2).mapInArrow(dies, "what bigint, number bigint")
    before = held()
    with pytest.raises(dps.errors.InvalidDataError) as caught:
        PersistedScores(scores, "<frame>")
    assert "secret" not in str(caught.value)
    assert held() == before


def test_the_name_that_is_sent_is_that_of_the_winner() -> None:
    scores = {f"page {number}": 0 for number in range(50)} | {"best": 100}
    drawn_there = selected(frame_of(scores, parts=3), SHARP)
    assert repr(drawn_there) == "CandidateSelection(<3 private winners>)"
    with pytest.raises(TypeError, match="private"):
        pickle.dumps(drawn_there)
    assert drawn_there.winner() == "best"


def test_candidates_that_do_not_occur_score_zero() -> None:
    counted = frame_of({0: 5, 2: 7}, parts=1)
    listed = whole_numbers(spark(), range(3, -2, -1))
    found = {row["what"]: row["number"] for row in scored(counted, listed).collect()}
    assert found == {-1: 0, 0: 5, 1: 0, 2: 7, 3: 0}
    for too_wide in (range(2**63 - 3, 2**63), range(-(2**63), 2**63 - 1, 2**62)):
        assert whole_numbers(spark(), too_wide) is None
    ends = [row["what"] for row in whole_numbers(spark(), range(2**61, -(2**61) - 1, -(2**61))).collect()]
    assert ends == [-(2**61), 0, 2**61]


@pytest.mark.slow
def test_a_task_that_dies_is_drawn_again() -> None:
    def dies_once(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        if context.attemptNumber() == 0:
            raise RuntimeError("a machine went away")
        yield from batches

    frame = frame_of({0: 0, 1: 60, 2: 0}, parts=2).mapInArrow(dies_once, "what bigint, number bigint")
    assert selected(frame, SHARP).winner() == 1


def test_a_question_with_very_many_candidates_stays_in_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pa.table({"who": list(range(40)), "page": [7] * 30 + [11] * 10})
    visits = dps.Dataset(spark_frame(rows), unit="who")
    fetched = visits.most_common("page", candidates=range(20), epsilon=4.0)
    monkeypatch.setattr(spark_frames, "MOST_ON_THE_DRIVER", 19)

    def not_fetched(*_: object) -> None:
        raise AssertionError("counts were fetched")

    monkeypatch.setattr(spark_frames.SparkFrame, "fetched", not_fetched)
    stayed = visits.most_common("page", candidates=range(20), epsilon=4.0)
    assert stayed.value == fetched.value == 7
    assert stayed.epsilon == fetched.epsilon
    assert stayed.error_bound == fetched.error_bound
    assert stayed.proofs[:2] == fetched.proofs[:2]
    assert stayed.proofs == (*fetched.proofs, "proofs/partial_selection.md")
    assert visits.most_common("page", candidates=[*range(0, 60, 2), 7], epsilon=4.0).value == 7
    told: list[float] = []
    watched = dps.Dataset(spark_frame(rows), unit="who", progress=told.append)
    deltas = (0.0, 1e-6) if SLOW else (1e-6,)
    for delta in deltas:
        several = watched.top_k("page", 2, candidates=range(20), epsilon=30.0, delta=delta)
        assert several.value == [7, 11]
        assert several.proofs[-1] == "proofs/partial_selection.md"
    assert told == [0.5, 1.0] * len(deltas)

"""Attack: learn which values occur from what can be answered at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dpselect as dps
from tests.attacks import naive
from tests.drawn_answers import planned
from tests.rows.tables import count, write_csv, write_parquet

COMMON = ["flu"] * 6 + ["cold"] * 5
RARE = [*COMMON, "rare"]


def test_a_naive_answer_out_of_what_occurs_proves_that_somebody_has_it() -> None:
    """At epsilon 0.1 the answers are nearly uniform. One of them is impossible without one person, and not rare."""
    rng = np.random.default_rng(9)
    without, present = ([naive.most_common(values, 0.1, rng) for _ in range(500)] for values in (COMMON, RARE))
    assert without.count("rare") == 0
    assert present.count("rare") > 100


@pytest.mark.parametrize("candidates", [["flu", "cold"], ["flu", "cold", "rare"]])
def test_here_what_occurs_changes_no_probability_by_more_than_epsilon(tmp_path: Path, candidates: list[str]) -> None:
    """Whether the rare value is a public candidate or not: it is possible with and without, or never."""
    task = planned("most_common", candidates=candidates, epsilon=0.1)
    laws = []
    for name, values in (("without", COMMON), ("with", RARE)):
        lines = [f"{unit},{value}".encode() for unit, value in enumerate(values)]
        laws.append(task.mechanism.pmf(np.array(count(write_csv(tmp_path / f"{name}.csv", lines), candidates))))
    assert laws[0].min() > 0.0
    assert np.abs(np.log(laws[1] / laws[0])).max() <= 0.1 + 1e-9


def test_a_list_that_was_read_from_the_column_cannot_be_told_from_a_public_one(tmp_path: Path) -> None:
    """What no program can see, and why the pages on candidates warn of ``unique()`` and ``value_counts()``."""
    for values, possible in ((COMMON, False), (RARE, True)):
        path = write_csv(tmp_path / "t.csv", [f"{unit},{value}".encode() for unit, value in enumerate(values)])
        leaked = sorted(set(values))  # the private column's own values
        assert dps.Dataset(path, unit="unit").most_common("value", candidates=leaked, epsilon=0.1).value in leaked
        task = planned("most_common", candidates=leaked, epsilon=0.1)
        law = dict(zip(leaked, task.mechanism.pmf(np.array(count(path, leaked))), strict=True))
        assert bool(law.get("rare", 0.0) > 0.2) is possible  # at no epsilon may this go from nothing to a fifth


def test_the_data_is_never_asked_for_candidates(tmp_path: Path) -> None:
    data = dps.Dataset(write_csv(tmp_path / "t.csv", [b"1,rare"]), unit="unit")
    for ask in (
        lambda: data.most_common("value", epsilon=1.0),
        lambda: data.top_k("value", 1, epsilon=1.0),
        lambda: data.most_common("value", candidates=[], epsilon=1.0),
    ):
        with pytest.raises(dps.errors.InvalidCandidatesError):
            ask()


def test_naive_bounds_out_of_the_column_prove_that_somebody_is_beyond() -> None:
    """The least and the largest value as bounds: an answer beyond 9 is impossible without one person, else likely."""
    rng = np.random.default_rng(10)
    people = list(range(1, 10))
    for values, possible in ((people, False), ([*people, 1000], True)):
        answers = [naive.median(values, min(values), max(values), 0.1, rng) for _ in range(100)]
        assert any(answer > 9 for answer in answers) is possible


def test_a_value_outside_the_candidates_is_never_released(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "t.parquet", [(i, "rare") for i in range(1000)])
    release = dps.Dataset(path, unit="unit").top_k("value", 2, candidates=["a", "b"], epsilon=1e6)
    assert sorted(release.value) == ["a", "b"]


def test_candidates_that_nobody_has_are_answers_too(tmp_path: Path) -> None:
    """With and without any rows, the same candidates are possible: absence is not told apart from bad luck."""
    empty = dps.Dataset(write_csv(tmp_path / "empty.csv", []), unit="unit")
    winners = set[object]()
    for _ in range(60):  # one of the two is missed with probability 2^-59
        winners.add(empty.most_common("value", candidates=["a", "b"], epsilon=1.0).value)
        if len(winners) == 2:
            break
    assert winners == {"a", "b"}


def nobody_and_many(folder: Path, value: str) -> tuple[Path, Path]:
    """Two files of the same name, which certificates contain."""
    for name in ("nobody", "many"):
        (folder / name).mkdir()
    full = [f"{i},{value}".encode() for i in range(1000)]
    return write_csv(folder / "nobody" / "t.csv", []), write_csv(folder / "many" / "t.csv", full)


def test_the_certificate_of_an_empty_table_is_that_of_a_full_one(tmp_path: Path) -> None:
    empty, full = nobody_and_many(tmp_path, "a")
    certificates = []
    for path in (empty, full):
        certificate = dps.Dataset(path, unit="unit").most_common("value", candidates=["a", "b"], epsilon=1.0).to_dict()
        del certificate["time"], certificate["value"]
        certificates.append(certificate)
    assert certificates[0] == certificates[1]


@pytest.mark.parametrize("step", [None, 1])
def test_the_quantile_of_nobody_is_certified_like_that_of_many(tmp_path: Path, step: float | None) -> None:
    empty, full = nobody_and_many(tmp_path, "5")
    certificates = []
    for path in (empty, full):
        certificate = (
            dps.Dataset(path, unit="unit")
            .median("value", bounds=(0, 9), step=step, continuous=step is None, epsilon=1.0)
            .to_dict()
        )
        assert 0 <= certificate.pop("value") <= 9
        del certificate["time"]
        certificates.append(certificate)
    assert certificates[0] == certificates[1]


def test_bounds_are_never_taken_from_the_column(tmp_path: Path) -> None:
    data = dps.Dataset(write_csv(tmp_path / "t.csv", [b"1,5"]), unit="unit")
    with pytest.raises(TypeError, match="bounds"):
        data.quantiles("value", [0.5], epsilon=1.0)  # type: ignore[call-arg]
    # Without bounds one is found with noise among public numbers: with hardly any epsilon it is as good as any of them.
    found = {data.upper_bound("value", step=1, epsilon=1e-9).value for _ in range(20)}
    assert len(found) > 1
    # Everybody is beyond the bounds: the answer is within them all the same.
    value = data.median("value", bounds=(-2, -1), continuous=True, epsilon=1e6).value
    assert isinstance(value, float)
    assert -2 <= value <= -1


def test_the_best_price_for_nobody_is_certified_like_that_for_many(tmp_path: Path) -> None:
    empty, full = nobody_and_many(tmp_path, "5")
    certificates = []
    for path in (empty, full):
        data = dps.Dataset(path, unit="unit")
        certificate = data.best_price("value", prices=[3, 4], epsilon=1.0).to_dict()
        assert certificate.pop("value") in (3, 4)
        del certificate["time"]
        certificates.append(certificate)
    assert certificates[0] == certificates[1]


def test_a_price_outside_the_list_is_never_released(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "t.parquet", [(i, 1000) for i in range(1000)])
    assert dps.Dataset(path, unit="unit").best_price("value", prices=[3, 4], epsilon=1e6).value == 4

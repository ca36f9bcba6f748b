"""The k most common values as a set, and with weights: the laws, the bounds, the certificates, and what is refused."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect.accounting import BoundedRangeEvent
from dpselect.certificates import check
from dpselect.certificates.release import canonical_json, digest
from dpselect.cli import main
from dpselect.errors import InvalidCandidatesError, InvalidCertificateError, InvalidParameterError
from dpselect.questions import TopK, TopSet
from dpselect.summaries import CandidateCounts, PublicCandidates
from tests.backends.table_questions import BY_CITY, NAMES, ROWS
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference.precision import exponential
from tests.reference.weighted_sets import law

PEOPLE = dps.Dataset(ROWS, unit="who")
ASKED: dict[str, Any] = {"candidates": NAMES, "epsilon": 1.0}
AS_SET: dict[str, Any] = {**ASKED, "method": "set"}
WEIGHTS = [1, 2, 3, 0]
COUNTS = CandidateCounts(np.array([5, 4, 9, 6]))
PUBLIC = PublicCandidates.given(["a", "b", "c", "d"])
DRAWS = 500


@pytest.mark.parametrize("weights", [None, [1, Fraction(5, 2), 1, 4]])
def test_sets_have_the_law_of_the_mechanism(weights: Any) -> None:
    task = TopSet.planned(PUBLIC, 2, epsilon=1.0, weights=weights)
    exact = law(COUNTS.counts.tolist(), [Fraction(each) for each in weights or [1] * 4], 2, exponential(Fraction(1, 2)))
    found = Counter("".join(map(str, task.draw(COUNTS))) for _ in range(DRAWS))
    drawn = np.array([found["".join("abcd"[place] for place in members)] for members in exact])
    assert drawn.sum() == DRAWS  # in the order of the candidates
    assert p_value(drawn, np.array([*map(float, exact.values())])) >= NEVER
    other = law(COUNTS.counts.tolist(), [Fraction(1)] * 4, 2, exponential(Fraction(3, 2)))
    assert p_value(drawn, np.array([*map(float, other.values())])) < NEVER  # control
    assert task.event == BoundedRangeEvent(epsilon=1.0)


@pytest.mark.slow
def test_rounds_with_weights_have_the_law_of_the_mechanism() -> None:
    weights = [1, Fraction(5, 2), 1, 0]
    task = TopK.planned(PUBLIC, 2, epsilon=2.0, weights=weights)
    each, odds = np.exp(COUNTS.counts - 9.0), np.array([float(weight) for weight in weights])
    found = Counter("".join(map(str, task.draw(COUNTS))) for _ in range(4 * DRAWS))
    orders = list(permutations(range(3), 2))

    def chances(shares: np.ndarray) -> np.ndarray:
        total = shares.sum()
        return np.array([shares[one] / total * shares[two] / (total - shares[one]) for one, two in orders])

    drawn = np.array([found["".join("abcd"[place] for place in order)] for order in orders])
    assert drawn.sum() == 4 * DRAWS  # the last one has no weight
    assert p_value(drawn, chances((each * odds)[:3])) >= NEVER
    assert p_value(drawn, chances(each[:3])) < NEVER  # control: without weights


MORE: list[dict[str, Any]] = [
    {"method": "set"},
    {"method": "set", "weights": WEIGHTS},
    {"method": "set", "with_counts": True, **BY_CITY},
    {"method": "set", "weights": [1e-200, 1, Fraction(1, 3), 4], "usable_epsilon": 0.1},
    {"weights": WEIGHTS},
    {"weights": [5, 0, 1, 0]},
    {"weights": [1, 2, 3, 4], "delta": 1e-3, "with_counts": True},
    {"weights": [1, 2, 3, 4], **BY_CITY},
]


@pytest.mark.parametrize("more", MORE)
def test_certificates_are_recomputed_and_read_back(more: dict[str, Any]) -> None:
    release: Any = PEOPLE.top_k("name", 2, **ASKED, **more)
    assert check(release.to_json()).error_bound
    assert dps.Release.from_json(release.to_json()) == release
    forecast = dps.DryRun(unit="who").top_k("name", 2, **ASKED, **more)
    assert forecast.error_bound == release.error_bound
    assert ("with public weights" in str(forecast)) == ("weights" in more)


@pytest.mark.slow
def test_the_release_says_that_it_is_a_set() -> None:
    release = PEOPLE.top_k("name", 2, **AS_SET)
    assert release.task == "top_k_set"
    assert "drawn as one set: their order is that of the candidates" in str(release)
    assert "each selected count is within 12 of the best one left out" in str(release)
    assert release.mechanism == "TopKSet"


def test_the_bound_is_that_of_the_mechanism() -> None:
    mechanism = dps.TopKSet(k=2, epsilon=1.0, sensitivity=1.0, monotonic=True)
    assert PEOPLE.top_k("name", 2, **AS_SET).error_bound == pytest.approx(mechanism.error_bound(4))
    weighted = dps.TopKSet(k=2, epsilon=1.0, sensitivity=1.0, monotonic=True, weights=WEIGHTS)
    release = PEOPLE.top_k("name", 2, **AS_SET, weights=WEIGHTS)
    assert release.error_bound == pytest.approx(weighted.error_bound(4))
    assert release.error_bound != pytest.approx(mechanism.error_bound(4))
    rounds = dps.ExponentialMechanism(epsilon=0.5, sensitivity=1.0, monotonic=True, weights=WEIGHTS)
    in_order = PEOPLE.top_k("name", 2, **ASKED, weights=WEIGHTS)
    assert in_order.error_bound == pytest.approx(rounds.error_bound(4, math.sqrt(0.99)), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "change"),
    [
        ({"method": "set"}, {"k": 3}),
        ({"method": "set"}, {"rule": "by heart"}),
        ({"method": "set", "weights": WEIGHTS}, {"weights": {"hash": "0" * 64, "log_odds": -1.0}}),
        ({"method": "set", "weights": WEIGHTS}, {"weights": {"hash": "0" * 64, "log_odds": 3.0}}),
        ({"method": "set", "weights": WEIGHTS}, {"weights": None}),
        ({"weights": WEIGHTS}, {"k": 3}),
        ({"weights": WEIGHTS}, {"weights": {"hash": "0" * 64, "log_odds": math.log(5), "with_weight": 2}}),
        ({"weights": WEIGHTS}, {"weights": {"hash": "0" * 64, "log_odds": math.log(5), "with_weight": 5}}),
        ({"weights": WEIGHTS}, {"weights": {"hash": "0" * 64, "log_odds": math.log(6), "with_weight": 3}}),
        ({"weights": WEIGHTS}, {"weights": {"hash": "0" * 64, "log_odds": math.log(5)}}),
    ],
)
def test_a_certificate_with_other_arguments_is_refused(more: dict[str, Any], change: dict[str, Any]) -> None:
    held = json.loads(PEOPLE.top_k("name", 2, **ASKED, **more).to_json())
    held["arguments"] |= change
    del held["digest"]
    with pytest.raises(InvalidCertificateError):
        check(canonical_json(held | {"digest": digest(held)}))


@pytest.mark.slow
def test_a_set_in_another_order_is_refused() -> None:
    data = dps.Dataset("examples/data/clicks.parquet", unit="session")
    held = json.loads(data.top_k("page", 3, candidates=range(1, 100), epsilon=1e6, method="set").to_json())
    assert held.pop("value") == [3, 6, 11]
    del held["digest"]
    for value, fits in (([3, 6, 11], True), ([6, 3, 11], False), ([3, 3, 11], False)):
        edited = held | {"value": value}
        text = canonical_json(edited | {"digest": digest(edited)})
        if fits:
            assert check(text).error_bound
        else:
            with pytest.raises(InvalidCertificateError, match="value"):
                check(text)


@pytest.mark.slow
def test_another_method_or_other_weights_are_another_question(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("a", epsilon=9, unit="who")
    data = dps.Dataset(ROWS, unit="who", ledger=ledger, account="a")
    for more in ({}, {"weights": WEIGHTS}, {"weights": [4, 3, 2, 1]}, AS_SET, AS_SET | {"weights": WEIGHTS}, AS_SET):
        data.top_k("name", 2, **ASKED | more)
    _, *asked, again = (entry.body.get("asked") for entry in ledger.history("a"))
    assert len(set(asked)) == 5
    assert again == asked[3]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({"method": "set", "delta": 1e-6}, "delta"),
        ({"method": "set", "with_gap": True}, "with_gap"),
        ({"method": "set", "max_values_per_unit": 1}, "max_values_per_unit"),
        ({"method": "sets"}, "method"),
        ({"method": 1}, "method"),
        ({"method": "set", "weights": [1, 2]}, "weights"),
        ({"method": "set", "weights": [0, 0, 1, 1]}, "k"),
        ({"weights": [1, 2, 3, 4], "with_gap": True}, "with_gap"),
        ({"weights": [1, 2, 3, 4], "max_values_per_unit": 1}, "max_values_per_unit"),
        ({"weights": [0, 0, 0, 1]}, "k"),
        ({"weights": [1, 2, 3]}, "weights"),
    ],
)
def test_what_does_not_go_together_is_refused(more: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidParameterError, match=f"^{name}="):
        PEOPLE.top_k("name", 2, **ASKED, **more)


@pytest.mark.slow
def test_all_candidates_are_no_set_and_a_list_is_needed() -> None:
    with pytest.raises(InvalidParameterError, match=r"^k=4"):
        PEOPLE.top_k("name", 4, **AS_SET)
    for more in ({"method": "set"}, {"weights": [1, 2]}):
        with pytest.raises(InvalidCandidatesError, match="public list"):
            PEOPLE.top_k("name", 2, epsilon=1.0, **more)


@pytest.mark.slow
def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["top-k", "examples/data/adult.csv", "education_num", "2", "--unit", "person_id", "--epsilon", "100"]
    asked += ["--candidates", "8,9,10,13"]
    assert main([*asked, "--method", "set"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("member  education_num")
    assert "drawn as one set" in shown
    for more, mechanism in ((["--method", "set"], "TopKSet"), ([], "ExponentialMechanism")):
        assert main([*asked, *more, "--weights", "1,2.5,0,1", "--json"]) == 0
        release = check(capsys.readouterr().out).release
        assert release.mechanism == mechanism
        assert sorted(release.value) == [9, 13]
    assert main([*asked, "--method", "set", "--delta", "1e-6"]) == 2
    assert "delta" in capsys.readouterr().err

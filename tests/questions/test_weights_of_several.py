"""The k most common values with weights: the law, the bound, the certificates, and what is refused."""

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
from dpselect.certificates import check
from dpselect.certificates.release import canonical_json, digest
from dpselect.cli import main
from dpselect.errors import InvalidCandidatesError, InvalidCertificateError, InvalidParameterError
from dpselect.questions import TopK
from dpselect.summaries import CandidateCounts, PublicCandidates
from tests.backends.table_questions import BY_CITY, NAMES, ROWS
from tests.laws.goodness_of_fit import NEVER, p_value

PEOPLE = dps.Dataset(ROWS, unit="who")
ASKED: dict[str, Any] = {"candidates": NAMES, "epsilon": 1.0}
WEIGHTS = [1, 2, 3, 0]
COUNTS = CandidateCounts(np.array([5, 4, 9, 6]))
PUBLIC = PublicCandidates.given(["a", "b", "c", "d"])
DRAWS = 500


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
    assert "with public weights" in str(forecast)


def test_the_bound_is_that_of_the_mechanism() -> None:
    rounds = dps.ExponentialMechanism(epsilon=0.5, sensitivity=1.0, monotonic=True, weights=WEIGHTS)
    in_order = PEOPLE.top_k("name", 2, **ASKED, weights=WEIGHTS)
    assert in_order.error_bound == pytest.approx(rounds.error_bound(4, math.sqrt(0.99)), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"k": 3},
        {"weights": {"hash": "0" * 64, "log_odds": math.log(5), "with_weight": 2}},
        {"weights": {"hash": "0" * 64, "log_odds": math.log(5), "with_weight": 5}},
        {"weights": {"hash": "0" * 64, "log_odds": math.log(6), "with_weight": 3}},
        {"weights": {"hash": "0" * 64, "log_odds": math.log(5)}},
    ],
)
def test_a_certificate_with_other_arguments_is_refused(change: dict[str, Any]) -> None:
    held = json.loads(PEOPLE.top_k("name", 2, **ASKED, weights=WEIGHTS).to_json())
    held["arguments"] |= change
    del held["digest"]
    with pytest.raises(InvalidCertificateError):
        check(canonical_json(held | {"digest": digest(held)}))


@pytest.mark.slow
def test_other_weights_are_another_question(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("a", epsilon=9, unit="who")
    data = dps.Dataset(ROWS, unit="who", ledger=ledger, account="a")
    for more in ({}, {"weights": WEIGHTS}, {"weights": [4, 3, 2, 1]}, {"weights": WEIGHTS}):
        data.top_k("name", 2, **ASKED | more)
    _, *asked, again = (entry.body.get("asked") for entry in ledger.history("a"))
    assert len(set(asked)) == 3
    assert again == asked[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "name"),
    [
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
def test_a_list_is_needed() -> None:
    with pytest.raises(InvalidCandidatesError, match="public list"):
        PEOPLE.top_k("name", 2, epsilon=1.0, weights=[1, 2])


@pytest.mark.slow
def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["top-k", "examples/data/adult.csv", "education_num", "2", "--unit", "person_id", "--epsilon", "100"]
    asked += ["--candidates", "8,9,10,13"]
    assert main([*asked, "--weights", "1,2.5,0,1", "--json"]) == 0
    release = check(capsys.readouterr().out).release
    assert release.mechanism == "ExponentialMechanism"
    assert sorted(release.value) == [9, 13]

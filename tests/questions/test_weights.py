"""Public weights of the candidates of a table: the law, the bound, the certificate, and what is refused."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import dpselect as dps
from dpselect.accounting import BoundedRangeEvent
from dpselect.certificates import check
from dpselect.certificates.release import canonical_json, digest
from dpselect.cli import main
from dpselect.cli.asking import numbers_read
from dpselect.errors import InvalidCertificateError, InvalidParameterError
from dpselect.questions import MostCommon
from dpselect.summaries import CandidateCounts, PublicCandidates
from tests.backends.table_questions import BY_CITY, NAMES, ROWS
from tests.laws.goodness_of_fit import NEVER, p_value

DATA = Path(__file__).parents[2] / "examples" / "data"
PEOPLE = dps.Dataset(ROWS, unit="who")


def test_answers_have_the_law_of_the_weighted_mechanism() -> None:
    task = MostCommon.planned(PublicCandidates.given(["a", "b", "c"]), epsilon=1.0, weights=[1, Fraction(5, 2), 0])
    counts = CandidateCounts(np.array([5, 4, 9]))
    found = [task.draw(counts) for _ in range(4000)]
    odds = np.array([math.e, 2.5, 0.0])
    drawn = np.array([found.count(name) for name in "abc"])
    assert p_value(drawn[:2], odds[:2] / odds.sum()) >= NEVER
    assert p_value(drawn[:2], np.array([math.e, 1.0]) / (math.e + 1)) < NEVER  # control: without weights
    assert drawn[2] == 0
    assert task.event == BoundedRangeEvent(epsilon=1.0)


@pytest.mark.slow
def test_the_bound_is_that_of_the_lightest_and_recomputed() -> None:
    for weights in ([1, 1, 1, 1], [90, 5, 5, 2.5], [0, 0, 1, 0], np.array([1e-200, 1.0, 1.0, 2.0])):
        release: Any = PEOPLE.most_common("name", candidates=NAMES, epsilon=1.0, weights=weights)
        mechanism = dps.ExponentialMechanism(epsilon=1.0, sensitivity=1.0, monotonic=True, weights=weights)
        assert release.error_bound == pytest.approx(mechanism.error_bound(4))
        assert check(release.to_json()).error_bound
        assert dps.Release.from_json(release.to_json()) == release
    assert "with public weights" in str(dps.DryRun(unit="who").most_common("name", **ASKED, weights=[1, 2, 3, 4]))


ASKED: dict[str, Any] = {"candidates": NAMES, "epsilon": 1.0}


@pytest.mark.slow
def test_groups_counts_and_the_rarest() -> None:
    for release in (
        PEOPLE.most_common("name", **ASKED, weights=[1, 2, 3, 4], with_counts=True),
        PEOPLE.most_common("name", **ASKED, weights=[1, 2, 3, 4], **BY_CITY),
        PEOPLE.least_common("name", **ASKED, weights=[1, 2, 3, 4]),
    ):
        assert check(release.to_json()).error_bound
    assert PEOPLE.least_common("name", **ASKED, weights=[0, 0, 1, 0]).value == NAMES[2]


def test_a_certificate_is_bound_to_its_weights() -> None:
    release = PEOPLE.most_common("name", **ASKED, weights=[1, 2, 3, 4])
    for change in ({"log_odds": 1.0}, {"log_odds": -5.0}, {"log_odds": None}, {"hash": "x"}):
        held = json.loads(release.to_json())
        held["arguments"]["weights"] |= change
        del held["digest"]
        with pytest.raises(InvalidCertificateError):
            check(canonical_json(held | {"digest": digest(held)}))
    held = json.loads(release.to_json())
    del held["arguments"], held["digest"]
    with pytest.raises(InvalidCertificateError, match="proofs"):
        check(canonical_json(held | {"digest": digest(held)}))


@pytest.mark.slow
def test_other_weights_are_another_question(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("a", epsilon=9, unit="who")
    data = dps.Dataset(ROWS, unit="who", ledger=ledger, account="a")
    for weights in ([1, 2, 3, 4], [1.0, 2.0, 3.0, 4.0], [4, 3, 2, 1]):
        data.most_common("name", **ASKED, weights=weights)
    _, first, same, other = (entry.body.get("asked") for entry in ledger.history("a"))
    assert first == same != other


@pytest.mark.parametrize(
    "weights", [[1, 2], [1, 2, 3, -1], [0, 0, 0, 0], "abcd", [1, 2, 3, math.nan], [1e-300, 1, 1, 1]]
)
def test_bad_weights_are_refused(weights: Any) -> None:
    with pytest.raises(InvalidParameterError, match="weights"):
        PEOPLE.most_common("name", **ASKED, weights=weights)


@pytest.mark.slow
def test_what_has_no_weights_says_so() -> None:
    for more in ({"with_gap": True}, {"max_values_per_unit": 1}):
        with pytest.raises(InvalidParameterError, match="none with weights"):
            PEOPLE.most_common("name", **ASKED, weights=[1, 2, 3, 4], **more)


@pytest.mark.slow
def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["examples/data/adult.csv", "education_num", "--unit", "person_id", "--epsilon", "1", "--json"]
    codes = tmp_path / "codes.csv"
    codes.write_text("code,weight\n9,1\n10,2.5\n13,0\n")
    listed = ["--candidates", f"@{codes}:code", "--weights", f"@{codes}:weight"]
    for weights in (["--candidates", "9,10,13", "--weights", "1,2.5,0"], listed):
        assert main(["most-common", *asked, *weights]) == 0
        checked = check(capsys.readouterr().out)
        assert checked.release.mechanism == "ExponentialMechanism"
    assert main(["most-common", *asked, "--candidates", "9,10", "--weights", "1,x"]) == 2
    assert "weights" in capsys.readouterr().err


SAME = [Fraction(1), 2.0, 3, 0.25]


@pytest.mark.slow
@pytest.mark.parametrize(
    "ask",
    [
        lambda weights: PEOPLE.most_common("name", **ASKED, weights=weights),
        lambda weights: PEOPLE.least_common("name", **ASKED, weights=weights, with_counts=True, **BY_CITY),
        lambda weights: PEOPLE.top_k("name", 2, **ASKED, weights=weights),
    ],
)
def test_a_check_compares_weights_that_it_is_given(ask: Any) -> None:
    text = ask(SAME).to_json()
    assert check(text).weights is False
    assert check(text, weights=[1, 2, 3, Fraction(1, 4)]).weights is True
    for other in ([1, 2, 3, 0.5], [2, 1, 3, 0.25]):  # the second has the same odds
        with pytest.raises(InvalidCertificateError, match=r"arguments\.weights\.(hash|log_odds)"):
            check(text, weights=other)
    with pytest.raises(InvalidParameterError, match="weights"):
        check(text, weights=[1, 2, 3])
    held = json.loads(text)
    held["arguments"]["weights"]["hash"] = "0" * 64
    del held["digest"]
    edited = canonical_json(held | {"digest": digest(held)})
    assert check(edited).weights is False  # it says that it did not look
    with pytest.raises(InvalidCertificateError, match="hash"):
        check(edited, weights=SAME)


@pytest.mark.slow
@pytest.mark.parametrize("candidates", [range(9, 13), range(12, 8, -1)])
@pytest.mark.parametrize(
    ("value", "ask"),
    [
        (10, lambda schools, **asked: schools.most_common("education_num", **asked)),
        ([9, 10], lambda schools, **asked: schools.top_k("education_num", 2, **asked)),
    ],
)
def test_a_value_of_weight_zero_is_none_that_was_drawn(value: Any, ask: Any, candidates: range) -> None:
    schools = dps.Dataset(str(DATA / "adult.csv"), unit="person_id")
    weights = [0 if each == 10 else 2 for each in candidates]
    text = ask(schools, candidates=candidates, epsilon=1.0, weights=weights).to_json()
    assert check(text, weights=weights).weights is True
    ordered = sorted(value, key=candidates.index) if isinstance(value, list) else value
    held = json.loads(text) | {"value": ordered}
    del held["digest"]
    edited = canonical_json(held | {"digest": digest(held)})
    assert check(edited).weights is False
    with pytest.raises(InvalidCertificateError, match="a weight above 0"):
        check(edited, weights=weights)


@pytest.mark.slow
def test_a_certificate_without_weights_is_none_with_them() -> None:
    text = PEOPLE.most_common("name", **ASKED).to_json()
    assert check(text).weights is None
    with pytest.raises(InvalidCertificateError, match=r"arguments\.weights"):
        check(text, weights=SAME)


@pytest.mark.slow
def test_verify_compares_them_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "release.json"
    kept.write_text(PEOPLE.top_k("name", 2, **ASKED, weights=[1, 2.5, 0, 3]).to_json())
    (tmp_path / "codes.csv").write_text("code,share\na,1\nb,2.5\nc,0\nd,3\n")
    for given in ("1,2.5,0,3", f"@{tmp_path}/codes.csv:share"):
        assert main(["verify", str(kept), "--weights", given]) == 0
        assert "The candidates' weights are those given." in capsys.readouterr().out
    assert main(["verify", str(kept)]) == 0
    assert "were not compared with their hash" in capsys.readouterr().out
    assert main(["verify", str(kept), "--json", "--weights", "1,2.5,0,3"]) == 0
    assert json.loads(capsys.readouterr().out)["weights"] is True
    assert main(["verify", str(kept), "--weights", "1,2,0,3"]) != 0
    assert "arguments.weights" in capsys.readouterr().err


@pytest.mark.slow
def test_the_sentence_is_about_candidates_that_have_a_weight() -> None:
    """The most common one may have none: then nothing drawn is near it."""
    rows = {"who": list(range(300)), "what": ["a"] * 280 + ["b"] * 15 + ["c"] * 5}
    people = dps.Dataset(rows, unit="who")
    asked: dict[str, Any] = {"candidates": ["a", "b", "c"], "weights": [0, 1, 1], "epsilon": 20.0}
    assert people.most_common("what", **asked).value == "b"
    assert "of the best one that has a weight" in people.most_common("what", **asked).accuracy
    assert "of the lowest one that has a weight" in people.least_common("what", **asked).accuracy
    assert "best one left that has a weight when" in people.top_k("what", 2, **asked).accuracy
    assert "weight" not in people.most_common("what", candidates=["a", "b", "c"], epsilon=20.0).accuracy  # the control


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_equal_weights_of_a_file_are_all_read(ending: str, tmp_path: Path) -> None:
    rows = pa.table({"code": ["a", "b", "c", "d"], "share": [7, 7, 1, 7]})
    file = tmp_path / f"codes.{ending}"
    (csv.write_csv if ending == "csv" else pq.write_table)(rows, file)
    assert numbers_read(f"@{file}:share", "weights", "") == [7, 7, 1, 7]
    assert list(numbers_read(f"@{file}:share", "levels", "")) == [7, 1]  # the control: of others each once

"""The mechanism that a caller chooses for a selection: the law, the certificate, the question, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent
from dpselect.certificates import check
from dpselect.certificates.release import canonical_json, digest
from dpselect.cli import main
from dpselect.errors import InvalidCertificateError, InvalidParameterError
from dpselect.questions import BestBy, LeastCommon, MostCommon
from dpselect.summaries import CandidateCounts, CandidateTotals, PublicCandidates, PublicClip
from tests.backends.table_questions import BY_CITY, NAMES, ROWS
from tests.laws.goodness_of_fit import NEVER, p_value

PEOPLE = dps.Dataset(ROWS, unit="who")
ASKED: dict[str, Any] = {"candidates": NAMES, "epsilon": 1.0}
PAIR = PublicCandidates.given(["a", "b"])


def test_answers_have_the_law_of_the_mechanism() -> None:
    """Of scores 2 and 1 below the best: permute-and-flip picks the worse one half as often as its coin says."""
    by_sum: dict[str, Any] = {"epsilon": 1.0, "clip": PublicClip.given("paid", (0, 3))}
    for method, event, worse in (
        ("permute-and-flip", LaplaceProfileEvent, math.exp(-1) / 2),
        ("exponential", BoundedRangeEvent, 1 / (1 + math.e)),
    ):
        drawn = {
            "most": (MostCommon.planned(PAIR, epsilon=1.0, method=method), CandidateCounts(np.array([5, 4]))),
            "least": (LeastCommon.planned(PAIR, epsilon=1.0, method=method), CandidateCounts(np.array([4, 5]))),
            "sum": (BestBy.planned(PAIR, **by_sum, method=method), CandidateTotals(np.array([9, 6]))),
        }
        for task, summary in drawn.values():
            found = [task.draw(summary) for _ in range(8000)]  # pyright: ignore
            counts = np.array([found.count("a"), found.count("b")])
            assert p_value(counts, np.array([1 - worse, worse])) >= NEVER
            other = 1 / (1 + math.e) if method == "permute-and-flip" else math.exp(-1) / 2
            assert p_value(counts, np.array([1 - other, other])) < NEVER  # control: the other mechanism
            assert isinstance(task.event, event)


def asked_with(method: str | None) -> list[dps.Release[Any]]:
    return [
        PEOPLE.most_common("name", **ASKED, method=method),  # pyright: ignore
        PEOPLE.most_common("name", **ASKED, **BY_CITY, method=method),  # pyright: ignore
        PEOPLE.least_common("name", **ASKED, usable_epsilon=0.5, method=method),  # pyright: ignore
        PEOPLE.best_by("name", **ASKED, sum="age", clip=(-1, 2), with_counts=True, method=method),  # pyright: ignore
    ]


@pytest.mark.slow
def test_certificates_name_the_mechanism_and_agree_with_it() -> None:
    for release in asked_with("exponential"):
        checked = check(release.to_json())
        assert (release.mechanism, checked.error_bound) == ("ExponentialMechanism", True)
        assert "proofs/exponential_mechanism.md" in release.proofs
        assert dps.Release.from_json(release.to_json()) == release
    for plain, flips in zip(asked_with(None), asked_with("permute-and-flip"), strict=True):
        assert plain.mechanism == flips.mechanism == "PermuteAndFlip"
        assert (plain.event, plain.proofs, plain.error_bound) == (flips.event, flips.proofs, flips.error_bound)


@pytest.mark.slow
def test_a_certificate_cannot_be_edited_to_name_the_other_mechanism() -> None:
    for method, other in (("exponential", "PermuteAndFlip"), (None, "ExponentialMechanism")):
        held = json.loads(asked_with(method)[0].to_json())
        held["mechanism"]["name"] = other
        del held["digest"]
        with pytest.raises(InvalidCertificateError, match="event"):
            check(canonical_json(held | {"digest": digest(held)}))
    held = json.loads(PEOPLE.most_common("name", **ASKED, with_gap=True).to_json())
    held["mechanism"]["name"] = "ExponentialMechanism"
    held["event"] = json.loads(asked_with("exponential")[0].to_json())["event"]
    del held["digest"]
    with pytest.raises(InvalidCertificateError, match="gap"):
        check(canonical_json(held | {"digest": digest(held)}))


@pytest.mark.slow
def test_another_method_is_another_question(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("a", epsilon=9, unit="who")
    data = dps.Dataset(ROWS, unit="who", ledger=ledger, account="a")
    for method in (None, "permute-and-flip", "exponential"):
        data.most_common("name", **ASKED, method=method)  # pyright: ignore
        data.best_by("name", **ASKED, sum="age", clip=(-1, 2), method=method)  # pyright: ignore
    _, *charged = (entry.body.get("asked") for entry in ledger.history("a"))
    assert charged[0] == charged[2] != charged[4]
    assert charged[1] == charged[3] != charged[5]


@pytest.mark.parametrize("method", ["gumbel", "", 1, ["exponential"], True])
def test_other_methods_are_refused(method: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"method=.*'permute-and-flip', 'exponential' or None"):
        PEOPLE.most_common("name", **ASKED, method=method)
    with pytest.raises(InvalidParameterError, match="method"):
        PEOPLE.best_by("name", **ASKED, sum="age", clip=(-1, 2), method=method)


@pytest.mark.slow
@pytest.mark.parametrize("more", [{"with_gap": True}, {"with_counts": True}, {"max_values_per_unit": 1}])
def test_a_method_where_another_argument_decides_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError, match=f"method='exponential': expected None with `{next(iter(more))}`"):
        PEOPLE.most_common("name", **ASKED, **more, method="exponential")


@pytest.mark.slow
def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["examples/data/adult.csv", "education_num", "--unit", "person_id", "--epsilon", "1", "--json"]
    asked += ["--candidates", "1..16", "--method"]
    assert main(["most-common", *asked, "exponential"]) == 0
    assert check(capsys.readouterr().out).release.mechanism == "ExponentialMechanism"
    assert main(["most-common", *asked, "flip"]) == 2
    assert "--method" in capsys.readouterr().err

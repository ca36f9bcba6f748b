"""A sum whose clip is found first."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import dpselect as dps
from dpselect.certificates import check
from dpselect.errors import InvalidCertificateError, InvalidParameterError
from dpselect.mechanisms import clipping_bound
from dpselect.questions import PrivateClipSum
from dpselect.summaries import PublicClip, UnitTotals

ROWS = pl.DataFrame(
    {
        "who": [*(f"p{place}" for place in range(300)), "p0", "p1", None],
        "paid": [*[7.0] * 299, 1e12, 3.0, None, 50.0],
        "city": ["north", "south"] * 151 + ["south"],
    }
)


@pytest.fixture
def data() -> dps.Dataset:
    return dps.Dataset(ROWS, unit="who")


def test_with_hardly_any_noise(data: dps.Dataset) -> None:
    """One unit is far above the others: with so small a margin the clip follows it."""
    release = data.sum("paid", clip="private", epsilon=1e4)
    assert release.bound is not None
    assert (release.bound.value, release.bound.above) == (2.0**31, 0)


@pytest.mark.slow
def test_few_units_are_left_above(data: dps.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipping_bound, "one_sided", lambda sampler: 0)
    release = data.sum("paid", clip="private", epsilon=4.0)
    assert release.bound is not None
    assert release.bound.value == 8.0
    assert release.value == pytest.approx(298 * 7 + 8 + 8, abs=8 * 15)  # 298 have 7, one 3 + 7, one far more


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("lower", [0, -3])
def test_the_plan(neighbours: Any, lower: int) -> None:
    question = PrivateClipSum.planned(PublicClip.below("paid", lower=lower), epsilon=0.6, neighbours=neighbours)
    assert question.event == dps.accounting.PureEvent(epsilon=0.6)
    first = question.first
    assert Fraction(first.bound.epsilon) + Fraction(first.left) <= Fraction(0.6)
    assert first.bound.neighbours == neighbours
    for place in (1, 5):
        noise, upper = question.mechanism(place), question.cuts[place]
        moved = max(upper, -lower) if neighbours == "add_remove" else max(upper, 0) - min(lower, 0)
        assert (noise.sensitivity, noise.epsilon, noise.neighbours) == (moved, first.left, neighbours)
    assert question.cuts[0] == lower
    assert question.cuts[-1] == 2**31
    assert [*question.cuts] == sorted(set(question.cuts))


def test_what_is_above_the_clip_counts_as_the_clip() -> None:
    question = PrivateClipSum.planned(PublicClip.below("paid"), epsilon=1.0)
    amounts = np.array([0, 1, 1, 3, 4, 5, 900, 2**31])
    band = np.searchsorted(question.cuts, amounts)
    counts = np.bincount(band, minlength=len(question.cuts))
    totals = np.bincount(band, amounts, minlength=len(question.cuts)).astype(np.int64)
    summary = UnitTotals(counts, totals, cuts=question.cuts)
    assert summary.above() == [int((amounts > cut).sum()) for cut in question.cuts]
    for place, cut in enumerate(question.cuts):
        assert summary.clipped_to(place) == int(np.minimum(amounts, cut).sum())


@pytest.mark.slow
def test_the_error_bound_holds_as_often_as_it_says(data: dps.Dataset) -> None:
    drawn = [data.sum("paid", clip="private", epsilon=2.0) for _ in range(300)]
    missed = 0
    for release in drawn:
        assert release.bound is not None
        clip = float(release.bound.value)  # type: ignore[arg-type]
        truth = 297 * min(7, clip) + min(10, clip) + min(7, clip) + clip
        within = PrivateClipSum.value_bound(release, None)
        assert within is not None
        missed += abs(release.value - truth) > within
    assert missed <= 15  # 3 expected at most
    assert sum(abs(release.value - 300 * 7) <= 1.0 for release in drawn) < 150  # control: there is noise


@pytest.mark.slow
def test_the_sentences(data: dps.Dataset) -> None:
    asked: dict[str, Any] = {"clip": "private", "lower": -1.5, "scale": 2, "epsilon": 1.0}
    release = data.sum("paid", **asked)
    assert release.bound is not None
    bound = str(release.bound.value).removesuffix(".0")
    assert f"counting from -1.5 to {bound} of each who." in release.accuracy
    assert f"Values above {bound} count as this bound. It was found for epsilon = 0.5 of it" in str(release)
    planned = str(dps.DryRun(unit="who").sum("paid", **asked))
    assert "times the distance from -1.5 to the bound" in planned
    assert "An upper bound would be found for epsilon = 0.5 of it; with 99% confidence at most 25 units" in planned
    by_city = data.sum("paid", by="city", groups=["north", "south", "west"], clip="private", epsilon=4.0)
    assert by_city.bound is not None
    assert list(by_city.bound.value) == list(by_city.value)  # type: ignore[arg-type]
    assert "Values above the bound of a group (north: " in str(by_city)


@pytest.mark.slow
def test_of_the_last_possible_bound_nothing_is_claimed() -> None:
    rich = pl.DataFrame({"who": range(400), "paid": [1e10] * 200 + [1.0] * 200})
    release = dps.Dataset(rich, unit="who").sum("paid", clip="private", epsilon=10.0)
    assert "it is the last possible one, so any number of units may be above it" in release.bound_accuracy
    grouped = dps.Dataset(rich.with_columns(city=pl.lit("x")), unit="who")
    shown = grouped.sum("paid", by="city", groups=["x", "y"], clip="private", epsilon=10.0).bound_accuracy
    assert "not so in these groups, whose bound is the last possible one: x)" in shown


@pytest.mark.parametrize("by", [{}, {"by": "city", "groups": ["south", "north"]}])
def test_a_certificate_is_checked(by: dict[str, Any], data: dps.Dataset, tmp_path: Path) -> None:
    with dps.Ledger(f"sqlite:///{tmp_path}/b.db") as ledger:
        ledger.open_account("a", epsilon=3.0, unit="who")
        paying = dps.Dataset(ROWS, unit="who", ledger=ledger, account="a")
        text = paying.sum(
            "paid", clip="private", scale=10, epsilon=1.0, usable_epsilon=0.5, request="r", **by
        ).to_json()
        checked = check(text, ledger=ledger)
    assert (checked.epsilon, checked.error_bound, checked.charged, checked.value) == (1.5, True, True, True)
    assert dps.Release.from_json(text).to_json() == text
    assert checked.release.bound is not None
    assert checked.release.bound.answer_epsilon == 0.5


def edited(text: str, path: str, value: Any) -> str:
    from dpselect.certificates.release import canonical_json, digest

    held = json.loads(text)
    *names, last = path.split(".")
    part = held
    for name in names:
        part = part[name]
    if value is None:
        del part[last]
    else:
        part[last] = value
    return canonical_json(held | {"digest": digest(held)})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("bound", None, "bound"),
        ("bound.value", 7.0, "bound.value"),
        ("bound.value", 0.0, "bound.value"),
        ("bound.above", 1, "bound"),
        ("bound.epsilon", 0.25, "bound"),
        ("bound.answer_epsilon", 0.75, "bound"),
        ("bound.confidence", 0.5, "bound"),
        ("error_bound.within", 1.0, "error_bound"),
        ("arguments.lower", -1, "candidates"),
        ("arguments.upper", 2**30, "candidates"),
        ("candidates.count", 12, "candidates"),
        ("mechanism.rounds", 1, "mechanism.rounds"),
        ("mechanism.sensitivity", 2.0, "mechanism.sensitivity"),
        ("value", 1.5, "value"),
    ],
)
def test_what_contradicts_itself_is_refused(path: str, value: Any, named: str, data: dps.Dataset) -> None:
    text = data.sum("paid", clip="private", epsilon=1.0).to_json()
    check(text)
    with pytest.raises(InvalidCertificateError, match=named):
        check(edited(text, path, value))


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"clip": "private", "epsilon": 1e-9}, "epsilon"),
        ({"clip": "private", "epsilon": 0.0}, "epsilon"),
        ({"clip": "private", "lower": 0.5, "epsilon": 1.0}, "lower"),
        ({"clip": "private", "lower": 2**31, "epsilon": 1.0}, "lower"),
        ({"clip": "private", "lower": "low", "epsilon": 1.0}, "lower"),
        ({"clip": (0, 5), "lower": 0, "epsilon": 1.0}, "lower"),
        ({"clip": "public", "epsilon": 1.0}, "clip"),
        ({"clip": (5, 5), "epsilon": 1.0}, "clip"),
        ({"clip": np.array([0, 5]), "epsilon": 1.0}, "clip"),
        ({"clip": (0, 0), "epsilon": 1.0}, "clip"),
        ({"clip": (0, 2.0**63), "epsilon": 1.0}, "clip"),
        ({"clip": "private", "scale": 0, "epsilon": 1.0}, "scale"),
    ],
)
def test_bad_input_is_one_line_and_costs_nothing(arguments: dict[str, Any], named: str, tmp_path: Path) -> None:
    with dps.Ledger(f"sqlite:///{tmp_path}/b.db") as ledger:
        ledger.open_account("a", epsilon=3.0)
        paying = dps.Dataset(ROWS, unit="who", ledger=ledger, account="a")
        with pytest.raises(InvalidParameterError, match=f"^{named}=") as refused:
            paying.sum("paid", **arguments)
        assert "\n" not in str(refused.value)
        assert ledger.remaining("a") == 3.0

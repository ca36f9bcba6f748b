"""Means and variances whose upper bound is found first."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import dpselect as dps
from dpselect.certificates import check
from dpselect.certificates.tables import columns
from dpselect.errors import InvalidCertificateError, InvalidParameterError
from dpselect.mechanisms import GeometricMechanism, clipping_bound
from dpselect.questions import PrivateBoundsMean, PrivateBoundsVariance
from dpselect.questions.private_moments import PrivateBoundsMoments
from dpselect.summaries import UnitValues
from tests.questions.test_private_sum import edited
from tests.reference import moments

AGES = np.arange(400) % 7 + 1.0
ROWS = pl.DataFrame(
    {
        "who": [*(f"p{place}" for place in range(400)), "q", None],
        "age": [*AGES, None, 50.0],
        "city": [*["north", "south"] * 200, "south", "north"],
    }
)
KINDS = [PrivateBoundsMean, PrivateBoundsVariance]


@pytest.fixture
def data() -> dps.Dataset:
    return dps.Dataset(ROWS, unit="who")


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_plan(kind: type[PrivateBoundsMoments], neighbours: Any) -> None:
    question = kind.planned(lower=-3, step=0.5, epsilon=0.6, neighbours=neighbours)
    assert question.event == dps.accounting.PureEvent(epsilon=0.6)
    first = question.first
    assert Fraction(first.bound.epsilon) + Fraction(first.left) <= Fraction(0.6)
    assert question.cuts[:5] == (-3.0, -2.5, -2.0, -1.0, 1.0)
    for place in (1, 4, len(question.cuts) - 1):
        sums = question.below(place)
        assert (sums.grid.lower, sums.grid.upper) == (-3, Fraction(question.cuts[place]))
        assert sums.mechanism.sensitivity == 2 ** (26 * kind.degree) * (1 if neighbours == "add_remove" else 2)
        assert sums.mechanism.epsilon == first.left
        assert sums.mechanism.neighbours == first.bound.neighbours == neighbours
        # What the error bound is stated in: distances between the bounds.
        exact = Fraction(question.terms.error_bound or 0) * sums.width**kind.degree
        assert float(exact) == pytest.approx(sums.error_bound, rel=1e-12)
        assert sums.units_within == question.sums.units_within


def test_what_is_above_the_bound_counts_as_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without noise, by the formulas of the model; few values are above, and none of them counts with more."""
    monkeypatch.setattr(clipping_bound, "one_sided", lambda sampler: 0)
    monkeypatch.setattr(GeometricMechanism, "draw", lambda mechanism, exact: exact)
    values = np.array([*[3.0] * 60, *[7.5] * 40, -4.0, 900.0, 1e12])
    cut = np.clip(values, 0.0, 8.0)
    for kind, exact in ((PrivateBoundsMean, cut.mean()), (PrivateBoundsVariance, cut.var())):
        question = kind.planned(step=1, epsilon=4.0)
        drawn = question.released(
            UnitValues(np.clip(values, *_ends(question)), domain=question.domain, max_rows_per_unit=1)
        )
        assert (drawn.bounds, drawn.usable) == ([8.0], [103])
        assert drawn.answer == pytest.approx(exact, rel=1e-12)
        places = [round(value * 2**23) for value in cut]
        of_shares = moments.sums(places, last=2**26, degree=kind.degree)
        share = moments.mean(of_shares) * 8 if kind.degree == 1 else moments.variance(of_shares) * 64
        assert drawn.answer == float(share)


def _ends(question: PrivateBoundsMoments) -> tuple[float, float]:
    return question.domain.lower, question.domain.upper


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_values_of_another_question_are_refused(kind: type[PrivateBoundsMoments]) -> None:
    other = kind.planned(step=2, epsilon=4.0)
    with pytest.raises(InvalidParameterError, match=r"^values="):
        kind.planned(step=1, epsilon=4.0).released(UnitValues(AGES, domain=other.domain, max_rows_per_unit=1))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", KINDS)
def test_the_error_bound_holds_as_often_as_it_says(kind: type[PrivateBoundsMoments], data: dps.Dataset) -> None:
    planned = getattr(data, "mean" if kind.degree == 1 else "variance")("age", bounds="private", step=1, epsilon=4.0)
    question = kind.planned(step=1, epsilon=4.0)
    values = UnitValues(AGES, domain=question.domain, max_rows_per_unit=1)
    missed = very_near = 0
    for _ in range(400):
        drawn = question.released(values)
        assert drawn.bounds is not None
        assert drawn.usable is not None
        cut = np.minimum(AGES, drawn.bounds[0])
        truth = cut.mean() if kind.degree == 1 else cut.var()
        release = replace(planned, bound=replace(planned.bound, value=drawn.bounds[0]))
        bound = kind.value_bound(release, drawn.usable[0])
        assert bound is not None
        missed += abs(drawn.answer - truth) > bound
        very_near += abs(drawn.answer - truth) <= bound / 50
        assert abs(drawn.usable[0] - AGES.size) <= 3 * planned.usable.within
    assert missed <= 20  # 4 expected at most
    assert very_near < 200  # control: there is noise, of this size


@pytest.mark.slow
def test_the_sentences(data: dps.Dataset) -> None:
    asked: dict[str, Any] = {"bounds": "private", "lower": -1.5, "epsilon": 1.0}
    release = data.mean("age", **asked)
    assert release.bound is not None
    bound = str(release.bound.value).removesuffix(".0")
    assert "With 99% confidence the released mean is within " in release.accuracy
    assert f"Values above {bound} count as this bound. It was found for epsilon = 0.5 of it" in str(release)
    planned = str(dps.DryRun(unit="who").mean("age", **asked))
    assert "within 9.22 w / n of the true one, w the distance from -1.5 to the bound" in planned
    assert "at no cost" in planned
    assert all("those below -1.5 counted as -1.5, counting at most 1 row" in said for said in (planned, str(release)))
    assert "2 rounds, out of all numbers from -1.5 to the released bound, from at most 1 row of each who" in planned
    spread = str(dps.DryRun(unit="who").variance("age", bounds="private", epsilon=1.0))
    assert " w^2 / n + (17.2 w / n)^2 of the true one, w the bound, n the released number of units" in spread
    by_city = data.mean("age", by="city", groups=["north", "south", "west"], bounds="private", epsilon=4.0)
    assert by_city.bound is not None
    assert list(by_city.bound.value) == list(by_city.value)  # type: ignore[arg-type]
    assert "Values above the bound of a group (north: " in str(by_city)
    assert "9.22" not in by_city.accuracy
    assert " w / n of the true one" in by_city.accuracy


@pytest.mark.slow
def test_the_interval_of_a_value_is_between_the_bounds(data: dps.Dataset) -> None:
    release = data.mean("age", bounds="private", step=1, epsilon=0.05)
    table = columns(release)
    assert release.bound is not None
    assert 0.0 <= table["lower"][0] <= table["released"][0] <= table["upper"][0] <= release.bound.value
    spread = data.variance("age", bounds="private", lower=-2, step=1, epsilon=0.05)
    table = columns(spread)
    assert spread.bound is not None
    most = (float(spread.bound.value) + 2) ** 2 / 4  # type: ignore[arg-type]
    assert 0.0 <= table["lower"][0] <= table["upper"][0] <= most * (1 + 1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(("lower", "step"), [(0, 1), (0.1, 0.1), (-7, 0.25), (1125899906842624.1, 1)])
def test_the_distance_between_the_bounds_is_exact(lower: float, step: float, data: dps.Dataset) -> None:
    """Where doubles are far apart, a bound is not exactly what it stands for."""
    release = data.mean("age", bounds="private", lower=lower, step=step, epsilon=1.0)
    question = PrivateBoundsMean.planned(lower=lower, step=step, epsilon=1.0)
    for place, bound in enumerate(question.cuts[1:], start=1):
        shown = replace(release, bound=replace(release.bound, value=bound))
        assert PrivateBoundsMean.width(shown) == float(question.below(place).width)


@pytest.mark.slow
def test_where_the_possible_bounds_begin() -> None:
    whole = pl.DataFrame({"who": [1, 2], "age": [3, 4], "paid": [3.5, 4.5]})
    asked: dict[str, Any] = {"bounds": "private", "epsilon": 1.0}
    dataset = dps.Dataset(whole, unit="who")
    assert dataset.mean("age", **asked).candidates["step"] == 1.0
    assert dataset.mean("age", lower=0.5, **asked).candidates["step"] == 1.0 / 1024
    assert dataset.variance("paid", **asked).candidates["step"] == 1.0 / 1024
    assert dataset.variance("age", step=0.5, **asked).candidates["step"] == 0.5


@pytest.mark.slow
def test_of_nobody_there_is_an_answer() -> None:
    nobody = dps.Dataset(ROWS.filter(pl.col("who") == "q"), unit="who")
    release = nobody.mean("age", bounds="private", step=1, epsilon=100.0)
    assert release.bound is not None
    assert (release.bound.value, release.usable.count) == (1.0, 0)  # type: ignore[union-attr]
    assert 0.0 <= release.value <= 1.0


@pytest.mark.parametrize("by", [{}, {"by": "city", "groups": ["south", "north"]}])
@pytest.mark.parametrize("name", ["mean", "variance"])
@pytest.mark.parametrize("lower", [0, 0.1])
def test_a_certificate_is_checked(
    name: str, by: dict[str, Any], lower: float, data: dps.Dataset, tmp_path: Path
) -> None:
    with dps.Ledger(f"sqlite:///{tmp_path}/b.db") as ledger:
        ledger.open_account("a", epsilon=3.0, unit="who")
        paying = dps.Dataset(ROWS, unit="who", ledger=ledger, account="a")
        asked = {"bounds": "private", "lower": lower, "step": 0.1, "epsilon": 1.0, "request": "r", **by}
        text = getattr(paying, name)("age", **asked).to_json()
        checked = check(text, ledger=ledger)
        assert getattr(paying, name)("age", **asked).to_json() == text  # answered before
        for other in ({"lower": lower - 1}, {"step": 0.2}):
            with pytest.raises(dps.errors.RequestReusedError):
                getattr(paying, name)("age", **(asked | other))
        assert ledger.remaining("a") == 2.0
    assert (checked.epsilon, checked.error_bound, checked.charged, checked.value) == (1.0, True, True, True)
    assert dps.Release.from_json(text).to_json() == text
    assert checked.release.bound is not None
    assert checked.release.bound.answer_epsilon == 0.5


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_certificates_of_both_relations(neighbours: Any) -> None:
    release = dps.Dataset(ROWS, unit="who", neighbours=neighbours).mean("age", bounds="private", epsilon=1.0)
    other = {"add_remove": "replace_one", "replace_one": "add_remove"}[neighbours]
    check(release.to_json())
    with pytest.raises(InvalidCertificateError):
        check(edited(release.to_json(), "guarantee.neighbours", other))


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
        ("usable.within", 1, "usable"),
        ("error_bound.within", 1.0, "error_bound"),
        ("error_bound.unit", "sum", "error_bound"),
        ("arguments.max_rows_per_unit", 2, "max_rows_per_unit"),
        ("candidates.count", 12, "candidates"),
        ("candidates.step", 2.0, "candidates"),
        ("candidates.lower", -1.0, "candidates"),
        ("mechanism.rounds", 1, "mechanism.rounds"),
        ("mechanism.sensitivity", 2.0, "mechanism.sensitivity"),
        ("value", -0.5, "value"),
        ("value", 1e9, "value"),
        ("task", "median", "task"),
    ],
)
@pytest.mark.parametrize("name", ["mean", "variance"])
def test_what_contradicts_itself_is_refused(name: str, path: str, value: Any, named: str, data: dps.Dataset) -> None:
    text = getattr(data, name)("age", bounds="private", step=1, epsilon=1.0).to_json()
    check(text)
    with pytest.raises(InvalidCertificateError, match=named):
        check(edited(text, path, value))


@pytest.mark.slow
def test_an_answer_above_its_bound_is_refused(data: dps.Dataset) -> None:
    by = data.mean("age", bounds="private", step=1, epsilon=8.0, by="city", groups=["north", "south"])
    one = data.mean("age", bounds="private", step=1, epsilon=8.0)
    for release, value in ((one, 1000.0), (by, [["north", 4.0], ["south", 1000.0]])):
        with pytest.raises(InvalidCertificateError, match="released bound"):
            check(edited(release.to_json(), "value", value))
    check(edited(by.to_json(), "value", [["north", 4.0], ["south", 3.0]]))  # control


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"bounds": "private", "epsilon": 1e-15}, "epsilon"),
        ({"bounds": "private", "epsilon": -1}, "epsilon"),
        ({"bounds": "private", "epsilon": 0.0}, "epsilon"),
        ({"bounds": "private", "epsilon": float("nan")}, "epsilon"),
        ({"bounds": "private", "lower": "low", "epsilon": 1.0}, "lower"),
        ({"bounds": "private", "lower": float("inf"), "epsilon": 1.0}, "lower"),
        ({"bounds": "private", "lower": 1e200, "step": 1e200, "epsilon": 1.0}, "lower"),
        ({"bounds": "private", "lower": 1e20, "step": 1, "epsilon": 1.0}, "step"),
        ({"bounds": "private", "step": 0, "epsilon": 1.0}, "step"),
        ({"bounds": "private", "step": -1, "epsilon": 1.0}, "step"),
        ({"bounds": "private", "step": 1e-160, "epsilon": 1.0}, "step"),
        ({"bounds": "private", "step": 1e140, "epsilon": 1.0}, "step"),
        ({"bounds": "private", "step": Fraction(1, 3), "epsilon": 1.0}, "step"),
        ({"bounds": "private", "usable_epsilon": 0.1, "epsilon": 1.0}, "usable_epsilon"),
        ({"bounds": (0, 5), "lower": 0, "epsilon": 1.0}, "lower"),
        ({"bounds": "public", "epsilon": 1.0}, "bounds"),
        ({"bounds": None, "epsilon": 1.0}, "bounds"),
    ],
)
@pytest.mark.parametrize("name", ["mean", "variance"])
def test_bad_input_is_one_line_and_costs_nothing(
    name: str, arguments: dict[str, Any], named: str, tmp_path: Path
) -> None:
    with dps.Ledger(f"sqlite:///{tmp_path}/b.db") as ledger:
        ledger.open_account("a", epsilon=3.0)
        paying = dps.Dataset(ROWS, unit="who", ledger=ledger, account="a")
        with pytest.raises(InvalidParameterError, match=f"^{named}=") as refused:
            getattr(paying, name)("age", **arguments)
        assert "\n" not in str(refused.value)
        assert ledger.remaining("a") == 3.0


@pytest.mark.slow
def test_a_public_number_of_units_needs_public_bounds(data: dps.Dataset) -> None:
    with pytest.raises(InvalidParameterError, match=r"^units=400: expected None, because the bounds are private"):
        data.mean("age", bounds="private", units=400, epsilon=1.0)
    for ask in (data.mean, data.variance):
        with pytest.raises(InvalidParameterError, match=r"^bounds=<ndarray>: expected two finite numbers"):
            ask("age", bounds=np.array([0, 8]), epsilon=1.0)

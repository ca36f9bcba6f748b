"""A noisy number of usable units beside each answer: exact without noise, paid for, certified, and told in words."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect import verify as check
from dpselect.accounting import ComposedEvent, PureEvent, SequenceEvent
from dpselect.errors import ChargeRefusedError, InvalidCertificateError, InvalidParameterError
from dpselect.mechanisms import GeometricMechanism
from tests.drawn_answers import handed, query
from tests.edited_certificates import canonical_json, digest, edited
from tests.rows import model, table_questions
from tests.rows.table_questions import AGES, BY_CITY, BY_PAGE, NAMES, PAGES, ROWS
from tests.views import ask

SURE = 1000.0
"""An epsilon at which the noise is 0 but with a probability below 1e-400."""

PEOPLE = dps.Dataset(ROWS, unit="who")
ROW_LIST = ROWS.to_pylist()
CITIES: dict[str, Any] = {"group": "city", "groups": ["south", "north"]}
OF_PAGES: dict[str, Any] = {"group": "page", "groups": [1, 2, 3]}

EXACT: dict[str, Any] = {
    "most_common": model.usable_units(ROW_LIST, "who", matched=("page", list(PAGES))),
    "most_common-list": model.usable_units(ROW_LIST, "who", matched=("page", [4, 9, 2])),
    "most_common-by": model.usable_units(ROW_LIST, "who", matched=("name", NAMES), **CITIES),
    "least_common": model.usable_units(ROW_LIST, "who", matched=("name", NAMES)),
    "least_common-by": model.usable_units(ROW_LIST, "who", matched=("name", NAMES), **OF_PAGES),
    "best_date": model.usable_units(ROW_LIST, "who", matched=("free", table_questions.DAYS[:4])),
    "top_k-by": model.usable_units(ROW_LIST, "who", matched=("name", NAMES), **OF_PAGES),
    "top_k-delta": model.usable_units(ROW_LIST, "who", matched=("page", list(PAGES))),
    "best_by": model.usable_units(ROW_LIST, "who", matched=("name", NAMES), number="paid"),
    "best_by-by": model.usable_units(ROW_LIST, "who", matched=("page", list(PAGES)), number="paid", **CITIES),
    "median": model.usable_units(ROW_LIST, "who", number="age"),
    "quantile": model.usable_units(ROW_LIST, "who", number="paid"),
    "quantile-by": model.usable_units(ROW_LIST, "who", number="age", **CITIES),
    "quantiles": model.usable_units(ROW_LIST, "who", number="age"),
    "best_price": model.usable_units(ROW_LIST, "who", number="age"),
    "best_price-rows": model.usable_units(ROW_LIST, "who", number="paid"),
    "quantile-unbounded": model.usable_units(ROW_LIST, "who", number="age"),
    "median-unbounded": model.usable_units(ROW_LIST, "who", number="paid"),
    "upper_bound": model.usable_units(ROW_LIST, "who", number="age"),
    "upper_bound-by": model.usable_units(ROW_LIST, "who", number="paid", **CITIES),
    "count-between": model.usable_units(ROW_LIST, "who", number="paid"),
    "histogram": model.usable_units(ROW_LIST, "who", matched=("name", NAMES)),
    "sum": model.usable_units(ROW_LIST, "who", number="paid"),
    "sum-by": model.usable_units(ROW_LIST, "who", number="age", **OF_PAGES),
}


class Counting:
    """The questions of a data set, each with a number of units."""

    def __init__(self, data: Any, usable_epsilon: float) -> None:
        self._data, self._more = data, {"usable_epsilon": usable_epsilon}

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._data, name)
        if name == "by":
            return lambda *given, **view: Counting(method(*given, **view), **self._more)
        return lambda *given, **named: method(*given, **named, **self._more)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", EXACT)
def test_the_number_is_that_of_the_units_with_a_usable_row(name: str) -> None:
    release: dps.Release = table_questions.QUESTIONS[name](Counting(PEOPLE, SURE))
    assert release.usable is not None
    count = release.usable.count
    assert ([*count.values()] if isinstance(count, dict) else [count]) == EXACT[name]
    assert release.usable.within == 0
    if isinstance(count, dict):
        assert list(count) == list(release.value)  # type: ignore[arg-type]
    assert check(release.to_json()).error_bound == (release.error_bound is not None)
    assert dps.verify(release.to_json()).release == release


def test_every_question_is_counted() -> None:
    # A count has one with a condition between numbers only, values with one value per unit only.
    free = {"density", "mean", "variance", "std", "count", "values"}
    assert {name.split("-")[0] for name in EXACT} >= set(table_questions.PLAINLY) - free


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["median", "most_common", "best_by-by", "top_k-by", "top_k-delta"])
def test_both_are_charged_at_once(name: str, tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    account = ledger.open_account("people", epsilon=10, delta=1e-3, unit="who")
    data = dps.Dataset(ROWS, unit="who", ledger=ledger, account=account.name)
    release = table_questions.QUESTIONS[name](Counting(data, 0.125))
    alone = table_questions.QUESTIONS[name](dps.Dataset(ROWS, unit="who"))
    assert release.event == SequenceEvent(events=(alone.event, PureEvent(epsilon=0.125)))
    assert release.epsilon == 0.625
    assert len([*ledger.entries(account.name)]) == 2  # the account is opened by the first
    assert check(release.to_json(), ledger=ledger).charged
    assert ledger.remaining(account.name) == pytest.approx(10 - 0.625, abs=1e-6)


def test_what_an_account_does_not_have_is_refused_and_draws_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=0.5, unit="who")
    data = dps.Dataset(ROWS, unit="who", ledger=ledger, account="people")

    def drawn(*_: object) -> None:
        raise AssertionError("drawn")

    monkeypatch.setattr(GeometricMechanism, "draw_many", drawn)
    with pytest.raises(ChargeRefusedError):
        data.median("age", bounds=AGES, step=1, epsilon=0.5, usable_epsilon=0.01)
    assert ledger.remaining("people") == 0.5


def test_a_request_stands_for_the_number_too(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=10, unit="who")
    data = dps.Dataset(ROWS, unit="who", ledger=ledger, account="people")
    asked: dict[str, Any] = {"bounds": AGES, "step": 1, "epsilon": 0.5, "request": "november"}
    first = data.median("age", usable_epsilon=0.25, **asked)
    assert data.median("age", usable_epsilon=0.25, **asked).to_json() == first.to_json()
    for other in (None, 0.5):
        with pytest.raises(InvalidParameterError, match="request"):
            data.median("age", usable_epsilon=other, **asked)
    assert ledger.remaining("people") == 9.25


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "0.1", True, 1e-30])
def test_a_bad_epsilon_is_refused_by_its_name(bad: Any, tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=1, unit="who")
    data = dps.Dataset(ROWS, unit="who", ledger=ledger, account="people")
    with pytest.raises(InvalidParameterError, match=r"^usable_epsilon="):
        data.median("age", bounds=AGES, step=1, epsilon=0.5, usable_epsilon=bad)
    assert ledger.remaining("people") == 1.0


def test_a_density_counts_its_units_at_no_cost() -> None:
    release = PEOPLE.density("age", bounds=AGES, bins=4, epsilon=SURE)
    assert release.usable is not None
    assert (release.usable.count, release.usable.within) == (EXACT["median"][0], 0)
    assert (release.usable.epsilon, release.usable.answer_epsilon) == (None, None)
    assert (release.epsilon, release.event) == (SURE, PureEvent(epsilon=SURE))
    in_cities = PEOPLE.by(**BY_CITY).density("age", bounds=AGES, bins=4, epsilon=SURE)
    assert in_cities.usable is not None
    assert in_cities.usable.count == dict(zip(["south", "north"], EXACT["quantile-by"], strict=True))
    with pytest.raises(InvalidParameterError, match=r"^usable_epsilon=0\.1: expected nothing.*at no cost"):
        PEOPLE.density("age", bounds=AGES, bins=4, epsilon=0.5, usable_epsilon=0.1)


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("within", 91, "usable.within"),
        ("within", -1, "usable.within"),
        ("epsilon", 0.1, "usable.epsilon"),
        ("answer_epsilon", 0.4, "usable.answer_epsilon"),
        ("epsilon", None, "usable.epsilon"),
        ("count", 1.5, "usable.count"),
        ("count", -1, "usable.count"),
        ("count", 2**63 - 1, "usable.count"),  # which nobody can release
        ("count", [["south", 3]], "usable.count"),
        ("confidence", 0.9, "usable.confidence"),
        ("other", 1, "usable"),
    ],
)
def test_what_a_certificate_says_of_the_number_is_checked(field: str, value: Any, named: str) -> None:
    text = PEOPLE.median("age", bounds=AGES, step=1, epsilon=0.5, usable_epsilon=0.05).to_json()
    assert check(text).release.usable is not None  # as it is
    with pytest.raises(InvalidCertificateError, match=f"<{named}>"):
        check(edited(text, **{f"usable__{field}": value}))


def test_without_the_number_a_certificate_contradicts_its_event() -> None:
    held = json.loads(PEOPLE.median("age", bounds=AGES, step=1, epsilon=0.5, usable_epsilon=0.05).to_json())
    del held["usable"]
    with pytest.raises(InvalidCertificateError, match="<usable>"):
        check(canonical_json(held | {"digest": digest(held)}))


def test_the_noise_is_that_of_the_number_of_groups() -> None:
    """The scale is groups per unit / epsilon: the mean distance from the truth, by 400 draws, tells it from half."""
    question = query("most_common", candidates=["x"], epsilon=1.0, usable_epsilon=0.1)
    assert question.usable is not None
    assert (question.usable.sensitivity, question.usable.epsilon) == (1, 0.1)
    release = PEOPLE.by(**BY_PAGE).least_common("name", candidates=NAMES, epsilon=0.5, usable_epsilon=0.1)
    assert release.usable is not None
    assert release.usable.within == GeometricMechanism(epsilon=0.1, sensitivity=3).error_bound(0.99)
    assert isinstance(release.event, SequenceEvent)
    assert isinstance(release.event.events[0], ComposedEvent)
    assert release.event.events[1] == PureEvent(epsilon=0.1)
    found = [[handed(question.alone, [500])], [500]]
    away = [abs(question.released(found).usable - 500) for _ in range(400)]
    assert 7 < np.mean(away) < 13.5  # 10 in truth, with a standard deviation of .5


def test_what_cannot_be_told_from_nobody_is_said_aloud() -> None:
    nobody = PEOPLE.most_common("name", candidates=["X ", "W"], epsilon=1.0, usable_epsilon=SURE)
    assert str(nobody).endswith("WARNING: at most about 0 units (who) counted: this answer is mostly noise.")
    many = pa.table({"who": range(3000), "age": [40] * 3000})
    release = dps.Dataset(many, unit="who").median("age", bounds=(0, 120), step=1, epsilon=1.0, usable_epsilon=1.0)
    assert release.basis.startswith(("About 2,9", "About 3,0"))
    assert release.basis.endswith(" units (who) counted, within 4 with 99% confidence.")
    assert release.basis in release._repr_html_()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", table_questions.QUESTIONS)
def test_an_answer_without_a_number_of_units_says_how_to_have_one(name: str) -> None:
    ask = table_questions.QUESTIONS[name]
    release: dps.Release = ask(PEOPLE)
    planned: dps.Forecast = ask(dps.DryRun(unit="who"))
    said = "How many units (who) had usable rows was not released: usable_epsilon=0.05 would tell."
    if said in str(release):
        assert said.replace("was not", "would not be") in str(planned)
        assert said in release._repr_html_()
        assert repr(release).endswith(", usable=None)")
        assert "would tell" not in release.to_json()
        counting = Counting(PEOPLE, 0.05)  # what it says can be done
        number = ask(counting).usable.count
        assert repr(ask(Counting(PEOPLE, SURE))).endswith(f", usable={ask(Counting(PEOPLE, SURE)).usable.count})")
        assert number is not None
        assert "would tell" not in str(ask(counting))
        return
    assert "would tell" not in str(release) + str(planned)
    shown = "units (who)"  # there is a number, in the answer or beside it; or as many values for each unit
    assert shown in release.basis + release.count_accuracy + str(release.table()[0]) or (
        release.task in ("count", "histogram", "values", "top_unknown")
    )
    if release.task == "values":
        assert release.arguments["max_values_per_unit"] > 1


def told(count: Any, *, within: int = 92, bound: float | None = 10.0, **changes: Any) -> str:
    """The sentence of a release of so many units."""
    from dataclasses import replace

    release = ask(PEOPLE, "most_common", "page", candidates=PAGES, epsilon=0.5, usable_epsilon=0.05, **changes)
    usable = replace(release.usable, count=count, within=within)
    return replace(release, error_bound=bound, usable=usable).basis


def test_sentences() -> None:
    assert told(1990) == "About 1,990 units (who) counted, within 92 with 99% confidence."
    assert told(93) == "About 93 units (who) counted, within 92 with 99% confidence."
    assert told(92) == "WARNING: at most about 184 units (who) counted: this answer may be mostly noise."
    assert told(0, bound=92.0) == "WARNING: at most about 92 units (who) counted: this answer is mostly noise."
    assert told(300, bound=300.0) == "WARNING: at most about 392 units (who) counted: this answer may be mostly noise."
    assert told(300, bound=None).startswith("About 300 ")
    cities = {"south": 1500, "north": 20}
    assert told(cities, **BY_CITY) == (
        "In each city about 20 to 1,500 units (who) counted, each within 92 with 99% confidence. WARNING: these answers"
        " may be mostly noise, because too few units were counted: north."
    )


def test_the_epsilon_of_both_is_rounded_up() -> None:
    from fractions import Fraction

    release = PEOPLE.median("age", bounds=AGES, step=1, epsilon=0.1, usable_epsilon=0.2)
    exact = Fraction(0.1) + Fraction(0.2)
    assert Fraction(math.nextafter(release.epsilon, 0.0)) < exact <= Fraction(release.epsilon)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("bins", [1, 2, 12, 300])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 30.0])
def test_a_sum_of_noisy_counts_is_within_its_bound(bins: int, epsilon: float) -> None:
    """Against the exact distribution of the sum, by convolution."""
    mechanism = GeometricMechanism(epsilon=epsilon, sensitivity=1)
    bound = mechanism.total_error_bound(bins)
    reach = 40 + int(np.ceil(60 / epsilon)) if bins < 300 or epsilon < 1 else 60
    single = GeometricMechanism(epsilon=epsilon, sensitivity=1).pmf(0, np.arange(-reach, reach + 1))
    size = 1 << int(np.ceil(np.log2(bins * (2 * reach) + 1)))
    spectrum = np.fft.rfft(single, size) ** bins
    law = np.clip(np.fft.irfft(spectrum, size), 0, None)
    distance = np.abs(np.arange(size) - bins * reach)
    assert law[distance > bound].sum() <= 0.01 + 1e-9
    if bins > 1 and epsilon < 30:
        assert law[distance > bound / 2].sum() > 0.01  # not far from the best there can be


@pytest.mark.parametrize("epsilon", [1e-3, 1e-6, 1e-12, 1e-14, 1e-15, 1e-17])
def test_a_bound_on_a_sum_of_noise_holds_at_any_epsilon(epsilon: float) -> None:
    """Times epsilon it is nearly the same: that of Laplace noise."""
    bound = GeometricMechanism(epsilon=epsilon, sensitivity=1).total_error_bound(1000)
    assert 145.0 < bound * epsilon < 147.0

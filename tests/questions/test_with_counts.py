"""How many units have each selected candidate: exact, charged with the answer, checked, shown where answers are."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect import Neighbours
from dpselect import verify as check
from dpselect.accounting import LaplaceProfileEvent, PureEvent, SequenceEvent
from dpselect.cli import main
from dpselect.errors import InvalidDataError, InvalidParameterError
from dpselect.mechanisms import GeometricMechanism, NoisyOrder, TopKPlan
from dpselect.planning import order_noise
from tests.drawn_answers import alone, handed, planned, query
from tests.rows import model
from tests.rows.table_questions import BY_CITY, NAMES, PAGES, ROWS
from tests.rows.tables import opened
from tests.watched import statements

ONCE = "noise is added once to all counts, which takes less noise than a draw for each value"
EACH = "each value is drawn by itself, which takes less noise than adding noise once to all counts"
ORDER = "noise is added once for the order of the counts alone, which takes less noise than for the counts themselves"
"""As certificates state the rule: the words are part of their format."""

SURE = 4000.0
"""An epsilon at which the noise is 0 but with a probability below 1e-400."""

PEOPLE = dps.Dataset(ROWS, unit="who")
ROW_LIST = ROWS.to_pylist()
OF_NAMES = dict(zip(NAMES, model.counts(ROW_LIST, "who", "name", NAMES)[0], strict=True))
OF_PAGES = dict(enumerate(model.counts(ROW_LIST, "who", "page", list(PAGES))[0]))
OF_DAYS = model.counts(ROW_LIST, "who", "free", ROWS["free"].unique().to_pylist())[0]
IN_CITIES = {
    city: dict(zip(NAMES, counts, strict=True))
    for city, counts in zip(
        ["south", "north"],
        model.counts(ROW_LIST, "who", "name", NAMES, group="city", groups=["south", "north"]),
        strict=True,
    )
}

Ask = Callable[[Any], Any]
ALWAYS: dict[str, Any] = {"epsilon": SURE, "with_counts": True}
ASKED: dict[str, tuple[Ask, dict[Any, int]]] = {
    "most_common": (lambda asked: asked.most_common("page", candidates=PAGES, **ALWAYS), OF_PAGES),
    "most_common once": (
        lambda asked: asked.most_common("page", candidates=PAGES, max_values_per_unit=4, **ALWAYS),
        OF_PAGES,
    ),
    "least_common": (lambda asked: asked.least_common("name", candidates=NAMES, **ALWAYS), OF_NAMES),
    "top_k": (lambda asked: asked.top_k("name", 2, candidates=NAMES, **ALWAYS), OF_NAMES),
    "top_k once": (lambda asked: asked.top_k("name", 4, candidates=NAMES, max_values_per_unit=4, **ALWAYS), OF_NAMES),
    "top_k with a delta": (
        lambda asked: asked.top_k("page", 3, candidates=range(-500, 500), delta=1e-6, **ALWAYS),
        OF_PAGES,
    ),
    "best_by": (lambda asked: asked.best_by("name", sum="paid", clip=(0, 4), candidates=NAMES, **ALWAYS), OF_NAMES),
}


@pytest.mark.parametrize("name", ASKED)
def test_the_counts_are_those_of_the_answers(name: str) -> None:
    ask, exact = ASKED[name]
    release = ask(PEOPLE)
    answers = release.value if isinstance(release.value, list) else [release.value]
    counts = release.counts if isinstance(release.value, list) else [release.counts]
    assert counts == [exact[answer] for answer in answers]
    assert release.counted.within == 0
    assert release.epsilon == SURE
    assert check(release.to_json()).error_bound
    assert dps.verify(release.to_json()).release == release


def test_each_group_has_its_counts() -> None:
    for once in ({}, {"max_values_per_unit": 2}):
        release: Any = PEOPLE.by(**BY_CITY).top_k("name", 2, candidates=NAMES, **ALWAYS)
        assert release.counts == {
            city: [IN_CITIES[city][answer] for answer in answers] for city, answers in release.value.items()
        }, once
        assert check(release.to_json()).error_bound
        assert dps.verify(release.to_json()).release == release
    single: Any = PEOPLE.by(**BY_CITY).most_common("name", candidates=NAMES, **ALWAYS)
    assert single.counts == {city: IN_CITIES[city][answer] for city, answer in single.value.items()}
    assert dps.verify(single.to_json()).release == single


def test_the_number_of_people_that_are_free() -> None:
    friends = dps.Dataset("examples/data/free_days.csv", unit="person")
    dates: dict[str, Any] = {"bounds": ("2026-12-01", "2026-12-31")}
    release = friends.best_date("free_on", **dates, **ALWAYS)
    count = friends.count("free_on", candidates=[release.value], epsilon=SURE).value
    assert release.counts == count
    assert check(release.to_json()).error_bound


def top(k: int, *, n: int = 1000, **more: Any) -> Any:
    return planned("top_k", candidates=range(n), k=k, epsilon=1.0, **more)


def test_the_rule() -> None:
    """Noise once below .707 k values per unit, with counts below 1.414 k; the same if units are replaced."""
    for relation in Neighbours:
        for k in (1, 3, 10, 50):
            for most in range(1, 100):
                for with_counts, factor in ((False, 1.0), (True, 2.0)):
                    asked: dict[str, Any] = {"max_values_per_unit": most, "with_counts": with_counts}
                    question = top(k, neighbours=relation, **asked)
                    is_once = math.sqrt(2) * most < factor * k
                    assert (question.once is not None) == is_once
                    assert question.terms.arguments["rule"] == (ONCE if is_once else EACH if k == 1 else ORDER)
                    noise = order_noise(1000, k, epsilon=1.0, neighbours=relation, **asked)
                    assert noise.is_once is is_once
    assert top(10).once is None  # who says nothing gets what they got before
    assert "rule" not in top(10).terms.arguments


def test_a_delta_is_weighed_by_its_own_deviation() -> None:
    """At (1, 1e-6) and k = 100 exponential mechanisms have the scale 21.7, and Gumbel noise the deviation 27.8."""
    draws = top(100, delta=1e-6).plan
    assert isinstance(draws, TopKPlan)
    noise = order_noise(1000, 100, epsilon=1.0, delta=1e-6, max_values_per_unit=19)
    assert noise.each == pytest.approx(draws.mechanism.scale * math.pi / math.sqrt(6))
    assert 27.5 < noise.each < 28
    for most, kind in ((10, "Geometric"), (11, "DiscreteGaussian"), (37, "DiscreteGaussian")):
        question = top(100, delta=1e-6, max_values_per_unit=most)
        assert question.once is not None
        assert question.terms.mechanism == f"{kind}Mechanism"
        assert question.terms.delta == (0.0 if kind == "Geometric" else 1e-6)
        assert question.mechanism.event == (
            PureEvent(epsilon=1.0) if not question.terms.delta else question.once.noise.event
        )
        assert question.terms.sensitivity == pytest.approx(most if not question.terms.delta else math.sqrt(most))
    assert top(100, delta=1e-6, max_values_per_unit=38).once is None
    assert top(100, delta=1e-6, max_values_per_unit=38).terms.arguments["rule"] == EACH
    noise = order_noise(1000, 100, epsilon=1.0, delta=1e-6, max_values_per_unit=20)
    assert noise.gaussian == top(100, delta=1e-6, max_values_per_unit=20).once.noise.scale  # type: ignore[union-attr]
    assert noise.is_once
    assert noise.is_gaussian
    assert order_noise(1000, 100, epsilon=1.0, max_values_per_unit=20).gaussian is None


@pytest.mark.slow
def test_for_one_answer_a_delta_gives_nothing() -> None:
    """So the most common and the rarest value take none. Control: for many answers it does."""
    settings = product(Neighbours, (0.01, 0.5, 4.0), (1e-12, 1e-6, 0.01), (1, 2, 30), (False, True))
    for relation, epsilon, part, most, with_counts in settings:
        for k in (1, 40):
            noise = order_noise(
                1000,
                k,
                epsilon=epsilon,
                delta=part * epsilon,
                max_values_per_unit=most,
                with_counts=with_counts,
                neighbours=relation,
            )
            assert k > 1 or not noise.is_gaussian
            assert k == 1 or most < 30 or not with_counts or noise.is_gaussian


@pytest.mark.parametrize("relation", Neighbours)
def test_the_scale_of_noise_once_is_that_of_the_values_of_a_unit(relation: Neighbours) -> None:
    twice = 1 if relation is Neighbours.ADD_REMOVE else 2
    for most in (1, 5):
        question = top(10, max_values_per_unit=most, neighbours=relation)
        assert question.once is not None
        assert question.once.noise.scale == twice * most
        assert question.mechanism.event == PureEvent(epsilon=1.0)
    everything = top(5, n=5, max_values_per_unit=3, neighbours=relation)
    assert (everything.once is not None) is (relation is Neighbours.REPLACE_ONE)


def test_the_noise_of_counts_paid_for() -> None:
    """The scale is what one unit may change, by half of epsilon."""
    candidates = range(100)

    for k, relation, expected in ((1, "add_remove", 1), (7, "add_remove", 7), (7, "replace_one", 7)):
        question = query("top_k", candidates=candidates, k=k, epsilon=1.0, with_counts=True, neighbours=relation)
        assert question.counting is not None
        assert question.counting.sensitivity == expected
        assert question.terms.counted is not None
        assert question.terms.counted.within == GeometricMechanism(epsilon=0.5, sensitivity=expected).error_bound(
            size=k
        )
    for relation, expected in (("add_remove", 6), ("replace_one", 7)):
        few = planned("top_k", candidates=candidates, k=7, epsilon=0.5, max_values_per_unit=6, neighbours=relation)
        assert alone(few)._noise_of_counts().sensitivity == expected
    release: Any = PEOPLE.by("page", groups=[1, 2, 3], max_groups_per_unit=3).top_k(
        "name", 2, candidates=NAMES, epsilon=1.0, with_counts=True
    )
    assert release.counted.within == GeometricMechanism(epsilon=0.5, sensitivity=6).error_bound(size=2)
    one = query("most_common", candidates=candidates, epsilon=0.2, with_counts=True)
    exact = handed(one.alone, [*[0] * 99, 10**6])
    assert one.counting is not None
    away = [abs(one.released([[exact]]).counted - 10**6) for _ in range(400)]
    assert 7 < np.mean(away) < 13.5  # 10 in truth, with a standard deviation of .5


def test_noise_once_deviates_as_its_scale_says() -> None:
    order = NoisyOrder(2, 1, epsilon=0.1, max_values_per_unit=1)
    away = [abs(order.select([10**6, 0]).counts[0] - 10**6) for _ in range(400)]
    assert 7 < np.mean(away) < 13.5


def test_of_equal_noisy_counts_the_earlier_candidate_is_better(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GeometricMechanism, "draw_many", lambda _, given: np.asarray(given))
    order = NoisyOrder(6, 3, epsilon=1.0, max_values_per_unit=1)
    assert [each.tolist() for each in order.select([5, 7, 7, 0, 7, 9])] == [[5, 1, 2], [9, 7, 7]]
    rarest = order.select([5, 7, 5, 9, 0, 5], rarest=True)
    assert [each.tolist() for each in rarest] == [[4, 0, 2], [0, 5, 5]]


@pytest.mark.parametrize("once", [True, False])
def test_answer_and_counts_are_charged_at_once(once: bool, tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    account = ledger.open_account("people", epsilon=10, unit="who")
    data = dps.Dataset(ROWS, unit="who", ledger=ledger, account=account.name)
    more: dict[str, Any] = {"max_values_per_unit": 1} if once else {}
    release = data.top_k("name", 2, candidates=NAMES, epsilon=0.5, with_counts=True, **more)
    both = SequenceEvent(events=(LaplaceProfileEvent(epsilon=0.25), PureEvent(epsilon=0.25)))
    assert release.event == (PureEvent(epsilon=0.5) if once else both)
    assert release.counted is not None
    assert (release.counted.epsilon, release.counted.answer_epsilon) == ((None, None) if once else (0.25, 0.25))
    assert release.epsilon == 0.5
    assert len([*ledger.entries(account.name)]) == 2  # the account is opened by the first
    assert check(release.to_json(), ledger=ledger).question
    assert ledger.remaining(account.name) == pytest.approx(9.5, abs=1e-6)


def test_masked_counts_are_no_counts() -> None:
    order = NoisyOrder(3, 2, epsilon=1.0, max_values_per_unit=1, neighbours=dps.Neighbours.ADD_REMOVE)
    with pytest.raises(InvalidDataError, match=r"^values=<array with nulls>"):
        order.select(np.ma.masked_array([1, 900, 2], mask=[False, True, False]))


def test_the_number_of_units_can_be_asked_as_well() -> None:
    for more in ({}, {"max_values_per_unit": 1}):
        release = PEOPLE.top_k("name", 2, candidates=NAMES, **ALWAYS, **more, usable_epsilon=1.0)
        assert release.usable is not None
        assert release.counts is not None
        assert release.epsilon == SURE + 1.0
        assert check(release.to_json()).error_bound
        assert dps.verify(release.to_json()).release == release


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"with_counts": 1}, "with_counts=1: expected True or False"),
        ({"with_counts": None}, "with_counts=None: expected True or False"),
        ({"max_values_per_unit": 0}, "max_values_per_unit=0: expected a whole number >= 1"),
        ({"max_values_per_unit": 1.0}, "max_values_per_unit=1.0: expected a whole number >= 1"),
        ({"max_values_per_unit": True}, "max_values_per_unit=True: expected a whole number >= 1"),
        ({"max_values_per_unit": 5}, "max_values_per_unit=5: expected at most 4 .the number of candidates"),
        ({"with_counts": True, "epsilon": 1e-18}, "epsilon=.* expected a number large enough for a useful count"),
        ({"max_values_per_unit": 1, "epsilon": 1e-18}, "epsilon=.* expected a number large enough for a useful count"),
    ],
)
def test_what_cannot_be_counted_is_refused_and_costs_nothing(given: dict[str, Any], named: str, tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=1, unit="who")
    data = dps.Dataset(ROWS, unit="who", ledger=ledger, account="people")
    with pytest.raises(InvalidParameterError, match=f"^{named}"):
        data.top_k("name", 2, **({"candidates": NAMES, "epsilon": 0.5} | given))
    assert ledger.remaining("people") == 1.0


def test_a_question_without_candidates_has_no_counts() -> None:
    for method in (PEOPLE.median, PEOPLE.histogram, PEOPLE.sum, PEOPLE.density):
        with pytest.raises(TypeError, match="with_counts"):
            method("age", with_counts=True, epsilon=1.0)  # type: ignore[call-overload]


def test_a_request_stands_for_the_counts_too(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=10, unit="who")
    data = dps.Dataset(ROWS, unit="who", ledger=ledger, account="people")
    asked: dict[str, Any] = {"candidates": NAMES, "epsilon": 0.5, "request": "november"}
    first = data.top_k("name", 2, with_counts=True, **asked)
    assert data.top_k("name", 2, with_counts=True, **asked).to_json() == first.to_json()
    for other in ({}, {"with_counts": True, "max_values_per_unit": 3}, {"max_values_per_unit": 1}):
        with pytest.raises(InvalidParameterError, match="request"):
            data.top_k("name", 2, **asked, **other)
    assert ledger.remaining("people") == pytest.approx(9.5, abs=1e-6)


def test_sentences_tables_and_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    rows = pa.table({"who": range(60), "page": ["a,b"] * 30 + ["c"] * 20 + ["<d>"] * 10, "part": ["x", "y"] * 30})
    data = dps.Dataset(rows, unit="who")
    asked: dict[str, Any] = {"candidates": ["c", "<d>", "a,b"], "epsilon": SURE, "max_values_per_unit": 1}
    release = data.top_k("page", 2, **asked)
    assert str(release).split("\n") == [
        "a,b  30",
        "c  20",
        "Differentially private: epsilon = 4000, when one who is added or removed. This is hardly any protection.",
        "With 99% confidence each count is within 0 of the best one left when it was selected, counting at most 1"
        " value of each who.",
        "With 99% confidence each count is within 0 of the number of units (who) with the released page, counting at"
        " most 1 value of each who.",
        "Noise is added once to all counts, which takes less noise than a draw for each value.",
    ]
    html = release._repr_html_()
    assert "<th>units (who)</th>" in html
    assert "<td>a,b</td><td>30</td>" in html
    frame = release.to_pandas()
    assert frame.columns.tolist() == ["rank", "released", "units", "lower", "upper"]
    assert frame["units"].tolist() == [30, 20]
    drawn = release.plot().to_dict()
    (shown,) = drawn["datasets"].values()
    assert [(row["label"], row["value"]) for row in shown] == [("a,b", 30), ("c", 20)]
    assert "units (who)" in json.dumps(drawn)
    grouped: Any = data.by("part", groups=["x", "y"]).top_k("page", 2, **asked)
    assert str(grouped).split("\n")[:2] == ["x  a,b  15", "x  c  10"]
    assert grouped.to_pandas()["units"].tolist() == [15, 10, 15, 10]
    (in_groups,) = grouped.plot().to_dict()["datasets"].values()
    assert [row["label"] for row in in_groups] == ["x, a,b", "x, c", "y, a,b", "y, c"]
    assert grouped.count_accuracy.startswith("In each part, with 99% confidence each count is within 0 of ")
    assert "<tr><td>x</td><td>1</td><td>a,b</td><td>15</td>" in grouped._repr_html_()
    forecast: Any = dps.DryRun(unit="who").top_k("page", 2, candidates=["a", "b", "c"], epsilon=1.0, with_counts=True)
    assert forecast.count_accuracy == (
        "The number of units (who) with each answer would be released, within 21 with 99% confidence, for epsilon ="
        " 0.5 of it."
    )
    assert forecast.rule == f"{ORDER[0].upper()}{ORDER[1:]}."
    assert forecast.rule in str(forecast)
    assert forecast.count_accuracy in forecast._repr_html_()
    assert forecast.to_dict()["counts"]["within"] == 21


ADULT = str(Path(__file__).parents[2] / "examples" / "data" / "adult.csv")
COMMAND = ["education_num", "2", "--candidates", "9..13", "--unit", "person_id", "--epsilon", "4000"]


def test_the_command_line_has_a_column_of_counts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["top-k", ADULT, *COMMAND, "--with-counts", "--max-values-per-unit", "1"]) == 0
    assert capsys.readouterr().out.split("\n")[:3] == [
        "rank  education_num  units (person_id)  99% interval",
        "   1              9             10,501  10,501 to 10,501",
        "   2             10              7,291  7,291 to 7,291",
    ]
    assert main(["top-k", ADULT, *COMMAND, "--with-counts", "--quiet"]) == 0
    assert capsys.readouterr().out == "9  10501\n10  7291\n"
    assert main(["top-k", ADULT, *COMMAND, "--with-counts", "--json"]) == 0
    certificate = tmp_path / "top.json"
    certificate.write_text(capsys.readouterr().out, encoding="utf-8")
    assert main(["verify", str(certificate)]) == 0
    said = capsys.readouterr().out
    assert "each count is within 0 of the number of units (person_id)" in said
    assert "Noise is added once for the order of the counts alone, which" in said
    assert main(["top-k", ADULT, *COMMAND, "--with-counts", "--dry-run"]) == 0
    assert "would be released, within 0 with 99% confidence, for epsilon = 2000 of it." in capsys.readouterr().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert main(["best-by", ADULT, "education_num", "capital_gain", "--with-counts", "--clip", "0", "10000",
                 *COMMAND[2:]]) == 0  # fmt: skip
    table = capsys.readouterr().out
    assert "units (person_id)" in table
    assert "5,355" in table


def test_a_bounded_unit_counts_for_so_many_values() -> None:
    rows = pa.table({"who": [0] * 3 + [1] * 3, "page": ["a", "b", "c"] * 2})
    data = dps.Dataset(rows, unit="who")
    counts = data.top_k("page", 3, candidates=["a", "b", "c"], epsilon=SURE, max_values_per_unit=1).counts
    assert sum(counts) == 2
    everything = data.top_k("page", 3, candidates=["a", "b", "c"], **ALWAYS)
    assert everything.counts == [2, 2, 2]


def test_a_bound_holds_where_values_are_drawn_one_by_one() -> None:
    """The rule prefers draws here, and the bound still says for what a unit counts."""
    rows = pa.table({"who": [0] * 3, "page": ["a", "b", "c"]})
    data = dps.Dataset(rows, unit="who")
    release = data.least_common("page", candidates=["a", "b", "c"], epsilon=SURE, max_values_per_unit=2)
    assert release.mechanism == "PermuteAndFlip"
    with pytest.MonkeyPatch.context() as patch:
        asked = statements(patch)
        data.most_common("page", candidates=["a", "b", "c"], epsilon=SURE, max_values_per_unit=2)
    assert [each["max_values_per_unit"] for each in asked] == [2]
    assert sum(*opened(rows).counts("page", ["a", "b", "c"], unit="who", most=2)) == 2


def test_counts_that_may_all_be_zero_are_said_to_be_noise() -> None:
    said = "WARNING: all of these counts may be zero in truth"
    # Else one of some hundred runs would draw a count that is surely above zero.
    with dps.testing.seeded(7):
        for asked in (
            PEOPLE.most_common("name", candidates=["nobody", "none"], epsilon=1.0, with_counts=True),
            PEOPLE.top_k("name", 2, candidates=["nobody", "none", "no"], epsilon=1.0, with_counts=True),
            PEOPLE.top_k("name", 2, candidates=["nobody", "none", "no"], epsilon=1.0, max_values_per_unit=1),
        ):
            assert said in asked.basis
        of_one = PEOPLE.by(**BY_CITY).most_common("name", candidates=["nobody", "none"], epsilon=1.0, with_counts=True)
        assert f"{said} in these groups: " in of_one.basis
        for sure in (
            PEOPLE.top_k("name", 2, candidates=NAMES, epsilon=SURE, with_counts=True),
            PEOPLE.least_common("name", candidates=["nobody", "none"], epsilon=1.0, with_counts=True),
            PEOPLE.most_common("name", candidates=["nobody"], epsilon=1.0, with_counts=True, usable_epsilon=1.0),
        ):
            assert said not in sure.basis

"""The certificate: complete, stable, in plain JSON, and free of everything that was not released."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
from datetime import UTC, date, datetime, timedelta, timezone
from hashlib import sha256
from typing import Any

import pytest

import dpselect as dps
from dpselect import Neighbours, Release
from dpselect.accounting import PureEvent
from dpselect.privacy import Guarantee
from dpselect.questions.records import NoisyUnits
from dpselect.questions.wording import in_words
from tests.question_words import provenance

WHEN = datetime(2026, 11, 21, 13, 30, 5, 999, tzinfo=timezone(timedelta(hours=1)))


def make(**changes: Any) -> Release:
    fields: dict[str, Any] = {
        "value": 6,
        "task": "most_common",
        "column": "page",
        "unit": "session",
        "mechanism": "PermuteAndFlip",
        "rounds": 1,
        "epsilon": 0.5,
        "delta": 0.0,
        "sensitivity": 1.0,
        "monotonic": True,
        "neighbours": Neighbours.ADD_REMOVE,
        "candidates": {"origin": "caller", "count": 3, "kind": "whole numbers"},
        "error_bound": 12.9,
        "confidence": 0.99,
        "proofs": ("proofs/counting.md",),
        "time": WHEN,
        "version": "0.2.0",
        "event": PureEvent(epsilon=0.5),
        "question": {"ask": "most_common", "column": "page"},
    }
    return Release(**{**fields, **changes})


EVENT = '{"epsilon": "0.5", "kind": "pure", "version": 1}'


def test_the_certificate_is_stable() -> None:
    text = (
        '{"candidates": {"count": 3, "kind": "whole numbers", "origin": "caller"}, "certificate": 1, '
        '"digest": "DIGEST", "error_bound": {"confidence": 0.99, "within": 12.9}, '
        f'"event": {EVENT}, '
        '"guarantee": {"delta": 0.0, "epsilon": 0.5, "neighbours": "add_remove", "unit": "session"}, '
        '"mechanism": {"monotonic": true, "name": "PermuteAndFlip", "rounds": 1, "sensitivity": 1.0}, '
        '"proofs": ["proofs/counting.md"], "question": {"ask": "most_common", "column": "page"}, "receipt": null, '
        '"time": "2026-11-21T12:30:05+00:00", "value": 6, "version": "0.2.0"}'
    )
    rest = text.replace('"digest": "DIGEST", ', "")
    assert make().to_json() == text.replace("DIGEST", sha256(rest.encode()).hexdigest())


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (6, 6),
        (-(2**63), -(2**63)),
        (0.1, 0.1),
        ('naïve "x"\n', 'naïve "x"\n'),
        (True, True),
        (date(2026, 11, 21), "2026-11-21"),
        ([date(2026, 11, 21)], ["2026-11-21"]),
        ([3, 1], [3, 1]),
    ],
)
def test_every_kind_of_value_can_be_written(value: Any, written: Any) -> None:
    text = make(value=value).to_json()
    assert json.loads(text)["value"] == written
    assert "\n" not in text


def quantile(**changes: Any) -> Release:
    fields: dict[str, Any] = {
        "value": 37.0,
        "task": "quantile",
        "column": "age",
        "unit": "person",
        "mechanism": "ExponentialMechanism",
        "sensitivity": 0.5,
        "monotonic": False,
        "candidates": {"source": "grid", "lower": 0.0, "upper": 120.0, "step": 1.0, "count": 121},
        "error_bound": 18.75,
        "proofs": ("proofs/unit_values.md",),
        "arguments": {"level": 0.5, "max_rows_per_unit": 1},
    }
    return make(**{**fields, **changes})


def price(**changes: Any) -> Release:
    fields: dict[str, Any] = {
        "value": 4.99,
        "task": "best_price",
        "column": "offer",
        "mechanism": "PriceListMechanism",
        "sensitivity": 9.99,
        "candidates": {"origin": "caller", "count": 3, "kind": "prices", "lowest": 1, "highest": 9.99},
        "error_bound": 1234.56,
        "error_unit": "revenue",
        "proofs": ("proofs/best_price.md",),
        "arguments": {"max_rows_per_unit": 1},
    }
    return make(**{**fields, **changes})


def test_the_certificate_of_a_price_names_its_unit() -> None:
    assert price().to_dict()["error_bound"] == {"confidence": 0.99, "unit": "revenue", "within": 1234.56}


@pytest.mark.parametrize(("within", "shown"), [(1234.5, "1,234.5"), (2000.0, "2,000"), (0.0, "0"), (0.05, "0.05")])
def test_the_accuracy_of_a_price(within: float, shown: str) -> None:
    expected = f"With 99% confidence the revenue of the released price is within {shown} of the best"
    expected += ", counting at most 1 row of each session."
    assert price(error_bound=within).accuracy == expected


def test_an_error_that_nothing_bounds_is_not_claimed_to_be_bounded() -> None:
    release = quantile(error_bound=None, candidates={"source": "bounds", "lower": 0.0, "upper": 120.0})
    assert json.loads(release.to_json())["error_bound"] is None
    assert release.accuracy == "No bound on the error holds for all data; with a step there is one."
    assert "99" not in str(release)
    assert "no useful bound" in quantile(error_bound=math.inf).accuracy


def test_nothing_is_missing_from_the_certificate() -> None:
    groups = {"column": "city", "count": 1, "kind": "text", "max_per_unit": 1, "epsilon": 0.5}
    release = dataclasses.replace(
        quantile(),
        facts={"is_whole": True},
        groups=groups,
        value={"Oslo": quantile().value},
        format={"trim": True},
        source={"files": ["ages.csv"]},
        usable=NoisyUnits(count={"Oslo": 12}, within=5, epsilon=0.1, answer_epsilon=0.4),
        counted=NoisyUnits(count={"Oslo": 7}, within=9),
        seeded=True,
    )
    certificate = release.to_dict()
    assert certificate["value"] == [["Oslo", quantile().value]]
    assert set(certificate) - set(make().to_dict()) == {
        "arguments",
        "counts",
        "facts",
        "format",
        "groups",
        "seeded",
        "source",
        "usable",
    }  # not of all
    flat = {**certificate, **certificate["guarantee"], **certificate["mechanism"], **certificate["error_bound"]}
    renamed = {
        "error_bound": "within",
        "counted": "counts",
        "task": "question",
        "column": "question",
        "error_unit": "unit",
    }
    for field in dataclasses.fields(release):
        assert renamed.get(field.name, field.name) in flat


def test_sentences() -> None:
    assert make().promise == "Differentially private: epsilon = 0.5, when one session is added or removed."
    assert make(epsilon=1.0, delta=1e-6).promise.startswith("Differentially private: epsilon = 1, delta = 1e-06, ")
    assert make(neighbours=Neighbours.REPLACE_ONE).promise.endswith("when one session is replaced.")
    assert make().accuracy == "With 99% confidence the count of the released page is within 12 of the best."
    assert make(error_bound=41234.0).accuracy.endswith("within 41,234 of the best.")
    # A distance of ranks need not be a whole number: the bound is rounded up.
    assert quantile().accuracy == (
        "With 99% confidence the released age is within 19 ranks of the true median, values rounded to steps of 1"
        ", counting at most 1 row of each person."
    )
    assert make(task="top_k", value=[6, 3]).accuracy == (
        "With 99% confidence each count is within 12 of the best one left when it was selected."
    )


def test_one_of_something_is_singular() -> None:
    assert "is within 1 rank of the true median," in quantile(error_bound=0.3).accuracy
    assert (
        "is within 0 ranks of the true 0.9-quantile,"
        in quantile(error_bound=0.0, arguments={"level": 0.9, "max_rows_per_unit": 1}).accuracy
    )
    features = make(task="best_features", unit="row", value=["age"], error_bound=1.9)
    assert "at most 1 fewer row (weighted) than" in features.accuracy
    one = {"origin": "caller", "count": 1, "kind": "whole numbers"}
    groups = {"column": "country", "count": 1, "max_per_unit": 1}
    assert provenance(make(candidates=one)) == f"{make().mechanism}, out of 1 candidate given by the caller"
    assert provenance(dataclasses.replace(features, candidates={"count": 1})).endswith(", out of 1 feature")
    assert provenance(make(groups=groups)).endswith(", for 1 value of country, each session in at most 1 group")


@pytest.mark.parametrize(("epsilon", "is_little"), [(0.5, False), (5.0, False), (5.000001, True), (1e9, True)])
def test_an_epsilon_that_protects_hardly_anybody_is_called_so(epsilon: float, is_little: bool) -> None:
    release, forecast = make(epsilon=epsilon), dps.DryRun(unit="who").count(epsilon=epsilon)
    for said in (release.promise, str(release), str(forecast), release._repr_html_(), forecast._repr_html_()):
        assert ("This is hardly any protection." in said) is is_little


def test_no_digit_of_epsilon_is_lost_in_words() -> None:
    assert "epsilon = 0.30000000000000004" in make(epsilon=0.1 + 0.2).promise


@pytest.mark.parametrize("bound", [math.inf, 1e15, 1e300])
def test_useless_bounds_are_not_dressed_up(bound: float) -> None:
    release = make(error_bound=bound)
    assert "no useful bound" in release.accuracy
    assert json.loads(release.to_json())["error_bound"]["within"] == (None if bound == math.inf else bound)


def test_a_release_is_a_frozen_value() -> None:
    release = make()
    assert dataclasses.astuple(release.guarantee) == (0.5, 0.0, Neighbours.ADD_REMOVE, "session")
    with pytest.raises(dataclasses.FrozenInstanceError):
        release.value = 7  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(release)) == release


def test_representations() -> None:
    release = make(value=["<b>", "a&b"], task="top_k")
    assert repr(release) == "Release(value=['<b>', 'a&b'], epsilon=0.5, delta=0.0, unit='session', usable=None)"
    assert str(release).splitlines() == ["<b>", "a&b", release.promise, release.accuracy, release.basis_missing]
    page = release._repr_html_()
    assert f"<p>{release.basis_missing}</p></table>" in page.replace("</p>", "</p></table>")
    assert "<td>1</td><td>&lt;b&gt;</td>" in page
    assert "<td>2</td><td>a&amp;b</td>" in page
    assert "<b>" not in page
    assert "<th>level</th><th>age</th></tr><tr><td>0.5</td><td>37</td>" in quantile()._repr_html_()


def test_times_are_written_in_utc() -> None:
    assert make(time=datetime(2026, 1, 1, tzinfo=UTC)).to_dict()["time"] == "2026-01-01T00:00:00+00:00"


def test_a_report_says_what_an_attacker_finds() -> None:
    said = "A test that wrongly reports 5 of 100 absent ones as present detects at most 8.25 of 100 present ones"
    assert said in in_words(Guarantee(0.5, 0.0, Neighbours.ADD_REMOVE, "person"))
    assert "absent" not in in_words(Guarantee(0.5, 0.0, Neighbours.REPLACE_ONE, "person"))

"""Certificates with any field replaced by anything: refused by name or checked truly, and never another exception."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from datetime import date
from itertools import islice, product
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest

import dpselect as dps
from dpselect import Release
from dpselect import verify as check
from dpselect.errors import InvalidCertificateError
from tests.edited_certificates import canonical_json, digest
from tests.slow import SLOW

CLICKS = str(Path(__file__).parents[1] / "examples" / "data" / "clicks.parquet")
PAGES = range(1, 101)
SECRET = "marker-of-a-secret"

Ask = Callable[[dps.Dataset], Release]

QUESTIONS: dict[str, Ask] = {
    "most_common": lambda visits: visits.most_common("page", candidates=PAGES, epsilon=0.125),
    "top_k": lambda visits: visits.top_k("page", 2, candidates=PAGES, epsilon=0.125),
    "top_k with delta": lambda visits: visits.top_k("page", 12, candidates=PAGES, epsilon=0.125, delta=1e-6),
    "quantile": lambda visits: visits.quantile("page", 0.5, bounds=(0, 100), step=1, epsilon=0.125),
    "quantile between bounds": lambda visits: visits.quantile(
        "page", 0.5, bounds=(0, 100), continuous=True, epsilon=0.125
    ),
    "quantiles": lambda visits: visits.quantiles("page", [0.25, 0.5], bounds=(0, 100), step=1, epsilon=0.125),
    "best_price": lambda visits: visits.best_price("page", prices=[1, 2.5, 4], epsilon=0.125),
    "least_common": lambda visits: visits.least_common("page", candidates=PAGES, epsilon=0.125),
    "best_by": lambda visits: visits.best_by("page", sum="page", clip=(0, 5), candidates=PAGES, epsilon=0.125),
    "mean": lambda visits: visits.mean("page", bounds=(0, 100), epsilon=0.125),
    "variance": lambda visits: visits.variance("page", bounds=(0, 100), step=0.5, epsilon=0.125),
    "histogram of bins": lambda visits: visits.histogram("page", bins=[0, 2.5, 40], epsilon=0.125),
    "std": lambda visits: visits.std("page", bounds=(0, 100), step=0.5, epsilon=0.125),
    "most_common of groups": lambda visits: visits.by("page", groups=[1, 2, 3], max_groups_per_unit=2).most_common(
        "page", candidates=PAGES, epsilon=0.125
    ),
    "top_k of groups": lambda visits: visits.by("page", groups=[1, 2], max_groups_per_unit=2).top_k(
        "page", 2, candidates=PAGES, epsilon=0.125, delta=1e-6
    ),
    "mean of groups": lambda visits: visits.by("page", groups=[1, 2]).mean(
        "page", bounds=(0, 100), step=0.5, epsilon=0.125
    ),
    "best_price of groups": lambda visits: visits.by("page", groups=[1, 2], max_groups_per_unit=2).best_price(
        "page", prices=[1, 2.5, 4], epsilon=0.125
    ),
    "quantiles of groups": lambda visits: visits.by("page", groups=[1, 2], max_groups_per_unit=2).quantiles(
        "page", [0.25, 0.5], bounds=(0, 100), continuous=True, epsilon=0.125
    ),
    "density of groups": lambda visits: visits.by("page", groups=[1, 2]).density(
        "page", bounds=(0, 100), bins=4, epsilon=0.125
    ),
    "density": lambda visits: visits.density("page", bounds=(0, 100), bins=4, epsilon=0.125),
}

ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 0.5, -0.5, 1.5, 1e308, 5e-324, 10**30, -(10**30), 2**63, 10**400),
    *("", "0.5", "x", SECRET, "\ud800", "NaN", "2026-11-21", "0001-01-01T00:00:00+23:59", "\x00"),
    *([], [1], [[]], ["x"], [None], {}, {"x": 1}, {SECRET: 1}, {"kind": "x"}),
]


@pytest.fixture
def ledger(tmp_path: Path) -> dps.Ledger:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("clicks", epsilon=10, unit="session")
    return ledger


@pytest.fixture
def visits(ledger: dps.Ledger) -> dps.Dataset:
    return dps.Dataset(CLICKS, unit="session", ledger=ledger, account="clicks")


def places(held: Any) -> Iterator[tuple[Any, ...]]:
    """The way to every part of a certificate, containers too."""
    if not isinstance(held, (dict, list)):
        return
    known = cast("dict[str, Any] | list[Any]", held)
    for key, part in known.items() if isinstance(known, dict) else enumerate(known):
        yield (key,)
        yield from ((key, *rest) for rest in places(part))


def parent(held: Any, place: tuple[Any, ...]) -> Any:
    for key in place[:-1]:
        held = held[key]
    return held


def edits(held: dict[str, Any], *, turn: int = 0, turns: int = 1) -> Iterator[str]:
    """`held` with one part replaced, left out or added, one of so many in turn; with care where the text allows."""
    for place, odd in islice(product(places(held), [*ODD, ...]), turn, None, turns):
        edited = copy.deepcopy(held)
        inside = parent(edited, place)
        if odd is ...:
            del inside[place[-1]]
        else:
            inside[place[-1]] = odd
        yield rewritten(edited, keep=place == ("digest",))
    for place in [(), *(place for place in places(held) if isinstance(parent(held, (*place, None)), dict))]:
        edited = copy.deepcopy(held)
        parent(edited, (*place, None))[SECRET] = 1
        yield rewritten(edited)


def rewritten(held: dict[str, Any], *, keep: bool = False) -> str:
    try:
        return canonical_json(held if keep else held | {"digest": digest(held)})
    except UnicodeEncodeError:
        return json.dumps(held)  # a lone surrogate, which has no digest


@pytest.mark.sampled(3)
@pytest.mark.parametrize("question", QUESTIONS)
def test_whatever_is_edited_is_refused_by_name_or_checked_truly(visits: dps.Dataset, question: str) -> None:
    """By day each eighth edit, another eighth for the next question: most fields are in all of them."""
    text = QUESTIONS[question](visits).to_json()
    refused: list[str] = []
    turns = 1 if SLOW else 8
    for edited in edits(json.loads(text), turn=[*QUESTIONS].index(question) % turns, turns=turns):
        try:
            checked = check(edited)
        except InvalidCertificateError as error:
            refused.append(str(error))
            continue
        release = checked.release
        assert 0.0 <= checked.epsilon <= release.epsilon
        assert json.loads(release.to_json()) == json.loads(edited)
        assert all([release.promise, release.accuracy, release.table(), release.guarantee])
        assert dps.verify(release.to_json()).release == release
    assert len(refused) > (500 if SLOW else 62)
    assert not any(SECRET in error for error in refused)
    assert check(text).epsilon <= 0.125


def test_under_a_request_nothing_but_the_stored_release_passes(visits: dps.Dataset, ledger: dps.Ledger) -> None:
    text = visits.most_common("page", candidates=PAGES, epsilon=0.125, request="a").to_json()
    passed: list[str] = []
    for edited in edits(json.loads(text)):
        try:
            passed.append(check(edited, ledger=ledger).release.to_json())
        except InvalidCertificateError:
            continue
    assert set(passed) <= {text}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("place", "odd", "field"),
    [
        (("guarantee", "epsilon"), "0.5", "guarantee.epsilon"),
        (("guarantee", "epsilon"), None, "guarantee.epsilon"),
        (("guarantee", "epsilon"), [1], "guarantee.epsilon"),
        (("guarantee", "delta"), "x", "guarantee.delta"),
        (("guarantee", "delta"), -1, "guarantee.delta"),
        (("guarantee", "unit"), 5, "guarantee.unit"),
        (("mechanism", "name"), [1], "mechanism.name"),
        (("error_bound", "within"), "x", "error_bound.within"),
        (("receipt", "sequence"), 10**30, "receipt.sequence"),
        (("receipt", "sequence"), 2**63, "receipt.sequence"),
        (("receipt",), "x", "receipt"),
        (("value",), "\ud800", "text"),
        (("value",), "6", "value"),
        (("question", "candidates", "range"), [1, 0.5], "question.candidates"),
        (("time",), "yesterday", "time"),
        (("more",), 1, "text"),
        # What tables no longer take: docs/decisions/0032.
        (("gap",), {"value": 3.0, "step": 0.5, "noise": "exponential", "scale": 8.0, "confidence": 0.99}, "text"),
        (("arguments",), {"weights": {"hash": "0" * 64, "log_odds": 0.0}}, "arguments"),
        (("task",), "top_k_set", "text"),
        (("question", "ask"), "top_k_set", "question.ask"),
        (("mechanism", "name"), "ExponentialMechanism", "mechanism.name"),
    ],
)
def test_the_field_that_is_wrong_is_named(visits: dps.Dataset, place: tuple[str, ...], odd: Any, field: str) -> None:
    held = QUESTIONS["most_common"](visits).to_dict()
    parent(held, place)[place[-1]] = odd
    with pytest.raises(InvalidCertificateError, match=f"certificate=<{field}>: expected "):
        check(rewritten(held))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"value": ', '"value": 7, "value": ', "text"),
        ('"epsilon": 0.125', '"epsilon": 0.5, "epsilon": 0.125', "text"),
        ('"epsilon": 0.125', '"epsilon": NaN', "text"),
        ('"epsilon": 0.125', '"epsilon": Infinity', "text"),
        ('"epsilon": 0.125', '"epsilon": 1e999', "text"),
        ('"epsilon": 0.125', '"epsilon": ' + "1" * 5000, "text"),
    ],
)
def test_json_that_means_several_things_is_refused(visits: dps.Dataset, old: str, new: str, what: str) -> None:
    text = QUESTIONS["most_common"](visits).to_json()
    assert old in text
    with pytest.raises(InvalidCertificateError, match=f"<{what}>"):
        check(text.replace(old, new))


def test_a_receipt_of_an_unknown_account_is_refused(visits: dps.Dataset, ledger: dps.Ledger) -> None:
    held = QUESTIONS["most_common"](visits).to_dict()
    for account in ("nobody", "\x00", "x" * 2000):
        held["receipt"]["account"] = account
        with pytest.raises(InvalidCertificateError, match="<receipt>"):
            check(rewritten(held), ledger=ledger)


@pytest.mark.parametrize("candidates", [["a", "b"], [0.5, 1.5], [True, False], [date(2026, 1, 1), date(2026, 1, 2)]])
def test_every_kind_of_candidate_is_read_back(tmp_path: Path, candidates: list[Any]) -> None:
    path = tmp_path / "table.csv"
    path.write_text("unit,what\n" + "".join(f"{place},{each}\n" for place, each in enumerate(candidates)))
    release = dps.Dataset(path, unit="unit").most_common("what", candidates=candidates, epsilon=1.0)
    assert dps.verify(release.to_json()).release.value == release.value


def test_bounds_as_far_apart_as_doubles_go() -> None:
    people = dps.Dataset(pa.table({"who": [1, 2], "x": [0.5, 0.7]}), unit="who")
    release = people.median("x", bounds=(-1.5e308, 1.5e308), continuous=True, epsilon=1.0)
    assert check(release.to_json()).epsilon == 1.0


@pytest.mark.parametrize("epsilon", [1e-308, 1e-18])
def test_noise_beyond_any_number_of_units_is_refused(epsilon: float) -> None:
    people = dps.Dataset(pa.table({"who": [1, 2], "x": [0.5, 0.7]}), unit="who")
    with pytest.raises(dps.errors.InvalidParameterError, match="a number large enough for a useful count"):
        people.density("x", bounds=(0, 1), bins=4, epsilon=epsilon)


def test_only_the_text_that_was_written_passes(visits: dps.Dataset) -> None:
    """Or two texts of one answer would both be certificates, and their hashes would differ."""
    text = visits.most_common("page", candidates=range(1, 5), epsilon=0.5).to_json()
    held = json.loads(text)
    assert check(f"{text}\n").release.to_json() == text  # as a file ends
    for other in (
        json.dumps(held, indent=2),
        json.dumps(dict(reversed(held.items()))),
        text.replace('"column": "page"', '"column": "\\u0070age"'),
        text.replace(": ", " : ", 1),
    ):
        assert json.loads(other) == held
        with pytest.raises(InvalidCertificateError, match="exactly the text"):
            check(other)

"""Each field of a certificate of each question, edited with all the care there can be: a ledger finds every edit.

The adversary knows how every hash is made, and makes each anew that needs no ledger: the digest, and the question's
hash in the receipt.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Set
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import pyarrow as pa
import pytest

import dpselect as dps
from dpselect import Release
from dpselect import verify as check
from dpselect.errors import InvalidCertificateError
from dpselect.sklearn import PrivateSelectKBest
from tests.edited_certificates import canonical_json, digest, question_hash
from tests.slow import SLOW

ROWS = pa.table(
    {
        "person": [1, 2, 3, 4, 5, 6],
        "pet": ["cat", "cat", "cat", "dog", "dog", "emu"],
        "day": pa.array([0, 1, 1, 2, 2, 2], pa.int32()).cast(pa.date32()),
        "age": [30, 40, 50, 60, 70, 80],
        "city": ["Oslo", "Rome"] * 3,
    }
)
PETS: dict[str, Any] = {"candidates": ["cat", "dog", "emu"]}
FINE: dict[str, Any] = {"bounds": (0, 100), "step": 0.5}
WIDE: dict[str, Any] = {"bounds": (0, 100)}
DAYS: dict[str, Any] = {"bounds": ("1970-01-01", "1970-01-09"), "step": 2}

QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "most_common": ("pet", PETS),
    "most_common of a range": ("age", {"candidates": range(20, 90, 10)}),
    "least_common": ("pet", PETS),
    "best_date": ("day", DAYS),
    "top_k": ("pet", {"k": 2, **PETS}),
    "top_k with delta": ("age", {"k": 12, "candidates": range(100), "delta": 1e-6}),
    "best_by": ("pet", {"sum": "age", "clip": (0, 50.5), "scale": 10, **PETS}),
    "quantile": ("age", {"level": 0.9, "max_rows_per_unit": 3, **FINE}),
    "quantile between": ("age", {"level": 0.9, **WIDE}),
    "quantiles": ("age", {"levels": [0.25, 0.75], **FINE}),
    "quantiles and extremes": ("age", {"levels": [0, 0.5, 1], **FINE}),
    "quantiles by halving": ("age", {"levels": [0.5, 0.2], "method": "halving", **WIDE}),
    "best_price": ("age", {"prices": [10, 22.5, 37.5, 60], "max_rows_per_unit": 2}),
    "best_price of two": ("age", {"prices": [10, 60]}),
    "best_price of one": ("age", {"prices": [7.5]}),
    "density": ("age", {"bins": 4, **WIDE}),
    "quantile without bounds": ("age", {"level": 0.9, "step": 1, "max_rows_per_unit": 3}),
    "median without bounds": ("age", {"step": 0.5, "max_rows_per_unit": 3}),
    "upper_bound": ("age", {"step": 1, "max_rows_per_unit": 2}),
    "mean": ("age", FINE),
    "most_common and its units": ("pet", {"usable_epsilon": 0.1, **PETS}),
    "most_common with counts": ("pet", {"with_counts": True, "usable_epsilon": 0.1, **PETS}),
    "least_common once": ("pet", {"with_counts": True, "max_values_per_unit": 1, **PETS}),
    "top_k once": ("age", {"k": 3, "max_values_per_unit": 2, "candidates": range(20, 90, 10)}),
    "top_k with counts": ("age", {"k": 2, "with_counts": True, "candidates": range(20, 90, 10)}),
    "quantile and its units": ("age", {"level": 0.9, "max_rows_per_unit": 3, "usable_epsilon": 0.1, **FINE}),
}
GROUPS: dict[str, Any] = {"by": "city", "groups": ["Oslo", "Rome"], "max_groups_per_unit": 2}
CASES = [*QUESTIONS, *(f"{name}, in groups" for name in QUESTIONS), "best_features"]

_FOLDER = TemporaryDirectory(prefix="dpselect-")


@cache
def ledger(kind: str) -> dps.Ledger:
    """One for all of this file: each case has its own account."""
    del kind
    return dps.Ledger(Path(_FOLDER.name) / "budget.db")


@cache
def certificate(case: str, request_id: str | None) -> str:
    opened, account = ledger("one"), f"{case}, {request_id}"
    opened.open_account(account, epsilon=10, delta=0.01, unit="person")
    charged: dict[str, Any] = {"ledger": opened, "account": account, "request": request_id}
    if case == "best_features":
        selector = PrivateSelectKBest(2, epsilon=0.5, classes=["a", "b"], bounds=(0, 9), unit="person", **charged)
        return selector.fit([[1, 2, 3], [7, 8, 2], [1, 1, 9]], ["a", "b", "a"]).release_.to_json()
    name, _, grouped = case.partition(", ")
    column, arguments = QUESTIONS[name]
    request = charged.pop("request")
    data = dps.Dataset(ROWS, unit="person", **charged)
    ask = cast(Callable[..., Release], getattr(data.by(**GROUPS) if grouped else data, name.split(" ")[0]))
    return ask(column, epsilon=0.5, request=request, **arguments).to_json()


def leaves(held: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every part, containers too, but for the digest, which is made anew."""
    if place and place != ("digest",):
        yield place
    if isinstance(held, (dict, list)):
        known = cast("dict[str, Any] | list[Any]", held)
        for key, part in known.items() if isinstance(known, dict) else enumerate(known):
            yield from leaves(part, (*place, key))


def others(value: Any) -> Iterator[Any]:
    """What might stand there instead, of the same kind where there is one."""
    match value:
        case bool():
            yield not value
        case int() | float():
            yield from (value + 1, value * 2, value / 2, value - 1, float(value), round(value), -value)
        case "add_remove":
            yield "replace_one"
        case str():
            yield from (value + "x", value[:-1], value.upper(), "2026-11-20T00:00:00+00:00", "0" * len(value))
        case list():
            yield from (value[::-1], value[:-1], [*value, *value[-1:]])
        case None:
            yield from (0, "x")
        case _:
            return


def edits(
    held: dict[str, Any], *, turn: int, turns: int, always: Set[tuple[Any, ...]]
) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """`held` with one part replaced or left out, one of so many in turn and those at `always`, or one more."""
    unchanged = canonical_json(held)
    parts = ((place, other) for place in leaves(held) for other in [*others(_part(held, place)), ...])
    for number, (place, other) in enumerate(parts):
        if number % turns != turn and place not in always:
            continue
        *inside, last = place
        edited = json.loads(unchanged)
        parent = _part(edited, inside)
        if other is ...:
            del parent[last]
        else:
            parent[last] = other
        if canonical_json(edited) != unchanged:
            yield (*inside, last), edited
    more = {"arguments": {"level": 0.5}, "groups": {"column": "city"}, "candidates": {"step": 1}, "question": {"k": 1}}
    for name, extra in more.items():
        if name not in held or not set(extra) <= set(held[name]):
            edited = json.loads(unchanged)
            edited[name] = {**edited.get(name, {}), **extra}
            yield (name, "more"), edited


def in_turn(
    case: str, held: dict[str, Any], *, always: Set[tuple[Any, ...]] = frozenset()
) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """By day each twelfth of them, another twelfth for the next case: most fields are in all cases."""
    turns = 1 if SLOW else 12
    return edits(held, turn=CASES.index(case) % turns, turns=turns, always=always)


def _part(held: Any, place: Any) -> Any:
    for key in place:
        held = held[key]
    return held


def with_care(edited: dict[str, Any], place: tuple[Any, ...]) -> str:
    if isinstance(edited.get("receipt"), dict) and "question" in edited["receipt"] and place != ("receipt", "question"):
        try:
            edited["receipt"]["question"] = question_hash(edited)
        except (TypeError, ValueError, KeyError):  # groups that are none have no names
            edited["receipt"]["question"] = "0" * 64
    return canonical_json(edited | {"digest": digest(edited)})


def passing(case: str, *, request_id: str | None = None, asked: dps.Ledger | None) -> set[tuple[Any, ...]]:
    """The places where an edit is not noticed."""
    text = certificate(case, request_id)
    checked = check(text, ledger=asked)
    assert (checked.question, checked.charged) == (True, None if asked is None else True)
    found: set[tuple[Any, ...]] = set()
    tried = 0
    held = json.loads(text)
    for place, edited in in_turn(case, held, always=ONCE if asked is None else set()):
        tried += 1
        if asked is None and edited == held:  # 1 for 1.0, which only a hash tells apart
            continue
        try:
            check(with_care(edited, place), ledger=asked)
        except InvalidCertificateError:
            continue
        found.add(place)
    assert tried > (80 if SLOW else 6)
    return found


def is_answer(place: tuple[Any, ...], case: str) -> bool:
    """Whether the place is one of an answer, of groups not of their names."""
    if place[:2] in (("usable", "count"), ("counts", "count")):
        return "in groups" not in case or (len(place) > 3 and place[3] == 1)
    if place == ("usable",):  # without the number that came with an answer: certificates of before had none
        return False
    if place[0] != "value":
        return False
    return "in groups" not in case or (len(place) > 2 and place[2] == 1)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", CASES)
def test_a_ledger_notices_every_edit_but_that_of_an_answer(case: str) -> None:
    found = passing(case, asked=ledger("one"))
    assert {place for place in found if not is_answer(place, case)} == set()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", CASES)
def test_under_a_request_a_ledger_notices_every_edit(case: str) -> None:
    assert passing(case, request_id="november", asked=ledger("one")) == set()


ONCE: set[tuple[Any, ...]] = {("question", "column"), ("receipt", "hash"), ("version",)}
"""Some of what a certificate says once only."""
NEEDS_A_LEDGER = {
    "question",
    "facts",
    "guarantee",
    "receipt",
    "version",
    "time",
    "value",
    "format",
    "source",
    "usable",
    "counts",
}
"""Where edits made with care can pass without a ledger: what the certificate says once only (docs/ledger.md)."""


@pytest.mark.sampled(10)
@pytest.mark.parametrize("case", CASES)
def test_without_a_ledger_what_is_said_once_can_be_edited(case: str) -> None:
    """So the tests above can fail. What the question fixes twice is found all the same."""
    found = passing(case, asked=None)
    assert found >= ONCE
    with_delta = "delta" in case  # a larger delta and a smaller epsilon of a round are a promise that holds, too
    assert {str(place[0]) for place in found} <= NEEDS_A_LEDGER | ({"event"} if with_delta else set())
    assert not found & {("mechanism", "sensitivity"), ("error_bound", "within"), ("guarantee", "neighbours")}
    if case.startswith("best_price") and "of one" not in case:
        assert not any(place[0] == "candidates" for place in found)


@pytest.mark.sampled(21)
@pytest.mark.parametrize("case", CASES)
def test_without_care_for_the_receipt_an_edit_is_noticed_without_a_ledger(case: str) -> None:
    held = json.loads(certificate(case, None))
    for place, edited in in_turn(case, held):
        if is_answer(place, case) or place[0] == "receipt":
            continue
        with pytest.raises(InvalidCertificateError):
            check(canonical_json(edited | {"digest": digest(edited)}))


def test_a_receipt_without_the_hash_is_not_one_of_this_ledger() -> None:
    held = json.loads(certificate("mean", None))
    del held["receipt"]["question"]
    text = canonical_json(held | {"digest": digest(held)})
    assert check(text).question is False
    with pytest.raises(InvalidCertificateError, match=r"<receipt\.question>"):
        check(text, ledger=ledger("one"))


def test_other_candidates_of_the_same_description_are_another_question() -> None:
    """A certificate describes a long list by its hash; the ledger has that of every member."""
    opened = ledger("one")
    opened.open_account("lists", epsilon=10, unit="person")
    data = dps.Dataset(ROWS, unit="person", ledger=opened, account="lists")
    long = [f"pet {each}" for each in range(200)]
    for candidates in (long, [*long[:-1], "emu"], long):
        data.most_common("pet", candidates=candidates, epsilon=0.5)
    _, *entries = opened.history("lists")
    first, second, third = (entry.body["asked"] for entry in entries)
    assert first == third != second
    one, other, again = (entry.body["question"] for entry in entries)
    assert one == again != other

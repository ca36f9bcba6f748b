"""Certificates of every question, of groups and under both relations: true they pass, and with any field edited not."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect import Release
from dpselect import verify as check
from dpselect.errors import InvalidCertificateError
from dpselect.sklearn import PrivateSelectKBest
from tests.edited_certificates import canonical_json, digest
from tests.views import seen

DATA = Path(__file__).parents[1] / "examples" / "data"
Held = dict[str, Any]
Ask = Callable[[str], Release]


def _visits(relation: str) -> dps.Dataset:
    return dps.Dataset(str(DATA / "clicks.parquet"), unit="session", neighbours=relation)  # type: ignore[arg-type]


def _friends(relation: str) -> dps.Dataset:
    return dps.Dataset(str(DATA / "free_days.csv"), unit="person", neighbours=relation)  # type: ignore[arg-type]


def _features(delta: float) -> Ask:
    """Of an estimator, which has no other way to ask."""

    def ask(relation: str) -> Release:
        k = 30 if delta else 2
        chooser = PrivateSelectKBest(
            k, epsilon=0.5, classes=["a", "b"], bounds=(0, 1), delta=delta, neighbours=relation, class_weights=[1, 3]
        )
        return chooser.fit(np.zeros((2, 60)), ["a", "b"]).release_

    return ask


def _asked(**groups: Any) -> dict[str, Ask]:
    """Every question that may be asked of groups."""

    def visits(to: str) -> Any:
        return seen(_visits(to), **groups)

    def friends(to: str) -> Any:
        more = groups and {**groups, "by": "team", "groups": ["west", "north"]}
        return seen(_friends(to), **more)

    listed: Held = {"candidates": range(1, 101)}
    numbers: Held = {"bounds": (0, 100), "step": 0.5}
    december: Held = {"bounds": ("2026-12-01", "2026-12-31")}
    return {
        "most_common": lambda to: visits(to).most_common("page", epsilon=0.5, **listed),
        "least_common": lambda to: visits(to).least_common("page", epsilon=0.5, **listed),
        "best_date": lambda to: friends(to).best_date("free_on", epsilon=0.5, **december),
        "top_k": lambda to: visits(to).top_k("page", 2, epsilon=0.5, **listed),
        "top_k with delta": lambda to: visits(to).top_k("page", 30, epsilon=0.5, delta=1e-6, **listed),
        "best_by": lambda to: visits(to).best_by("page", sum="page", clip=(0, 5.5), scale=10, epsilon=0.5, **listed),
        "quantile": lambda to: visits(to).quantile("page", 0.9, epsilon=0.5, max_rows_per_unit=3, **numbers),
        "mean": lambda to: visits(to).mean("page", epsilon=0.5, **numbers),
        "variance": lambda to: visits(to).variance("page", epsilon=0.5, **numbers),
        "histogram of bins": lambda to: visits(to).histogram("page", bins=[0, 2.5, 40], epsilon=0.5),
        "std": lambda to: visits(to).std("page", epsilon=0.5, **numbers),
        "histogram with Gaussian noise": lambda to: visits(to).histogram(
            "page", max_values_per_unit=12, epsilon=0.5, delta=1e-6, **listed
        ),
        "best_price": lambda to: visits(to).best_price("page", prices=[1, 2.5, 4], epsilon=0.5),
        "quantiles": lambda to: visits(to).quantiles("page", [0.75, 0.25], epsilon=0.5, **numbers),
        "quantiles by halving": lambda to: visits(to).quantiles(
            "page", [0.5, 0.2, 0.8], bounds=(0, 100), method="halving", epsilon=0.5
        ),
        "density": lambda to: visits(to).density("page", bounds=(0, 100), bins=4, epsilon=0.5),
    }


ALL_ROWS: dict[str, Ask] = {
    **_asked(),
    "quantile between": lambda to: _visits(to).quantile("page", 0.9, bounds=(0, 100), continuous=True, epsilon=0.5),
    "best_features": _features(0.0),
    "best_features with delta": _features(1e-6),
}
ONE_GROUP = _asked(by="page", groups=[1, 2, 3])
TWO_GROUPS = _asked(by="page", groups=[1, 2, 3], max_groups_per_unit=2)

CASES: dict[str, tuple[Ask, str]] = {
    **{f"{name}, add_remove": (ask, "add_remove") for name, ask in ALL_ROWS.items()},
    **{f"{name}, replace_one": (ask, "replace_one") for name, ask in ALL_ROWS.items()},
    **{f"{name}, a group of each": (ask, "add_remove") for name, ask in ONE_GROUP.items()},
    **{f"{name}, two groups of each": (ask, "add_remove") for name, ask in TWO_GROUPS.items()},
}


@cache
def certified(case: str) -> Release:
    ask, relation = CASES[case]
    return ask(relation)


def _innermost(event: Held) -> Held:
    while "event" in event:
        event = event["event"]
    return event


def _relation(held: Held) -> None:
    guarantee = held["guarantee"]
    guarantee["neighbours"] = "add_remove" if guarantee["neighbours"] == "replace_one" else "replace_one"


def _scaled(*path: str, by: float) -> Callable[[Held], None]:
    def edit(held: Held) -> None:
        *inside, last = path
        for key in inside:
            held = held[key]
        held[last] *= by

    return edit


def _set(*path: str, to: Any) -> Callable[[Held], None]:
    def edit(held: Held) -> None:
        *inside, last = path
        for key in inside:
            held = held[key]
        held[last] = to

    return edit


def _more(*path: str) -> Callable[[Held], None]:
    def edit(held: Held) -> None:
        *inside, last = path
        for key in inside:
            held = held[key]
        held[last] += 1

    return edit


COMPOSED = {"kind": "composed", "version": 1, "count": 1}
EDITS: dict[str, Callable[[Held], None]] = {
    "epsilon": _scaled("guarantee", "epsilon", by=3.0),
    "smaller epsilon": _scaled("guarantee", "epsilon", by=0.5),
    "delta": _set("guarantee", "delta", to=1e-3),
    "relation": _relation,
    "event's epsilon": lambda held: _innermost(held["event"]).update(epsilon="0.001"),
    "event's kind": lambda held: _innermost(held["event"]).update(kind="bounded_range"),
    "event of runs": lambda held: held.update(event={**COMPOSED, "event": held["event"]}),
    "question": lambda held: held["question"].update(ask="sum" if held["question"]["ask"] != "sum" else "count"),
    "epsilon that was asked": _scaled("question", "epsilon", by=3.0),
    "k": _more("question", "k"),
    "step": _scaled("question", "step", by=0.5),
    "rows that were asked": _more("question", "max_rows_per_unit"),
    "level that was asked": _set("question", "level", to=0.75),
    "with counts": _set("question", "with_counts", to=True),
    "another argument": _set("question", "rounds", to=1),
    "mechanism": _set("mechanism", "name", to="NoisyMax"),
    "rounds": _more("mechanism", "rounds"),
    "larger sensitivity": _scaled("mechanism", "sensitivity", by=2.0),
    "smaller sensitivity": _scaled("mechanism", "sensitivity", by=0.999),
    "monotonic": lambda held: held["mechanism"].update(monotonic=not held["mechanism"]["monotonic"]),
    "count of candidates": _more("candidates", "count"),
    "kind of candidates": _set("candidates", "kind", to="booleans"),
    "better error bound": _scaled("error_bound", "within", by=0.9),
    "worse error bound": _scaled("error_bound", "within", by=1.1),
    "confidence": _set("error_bound", "confidence", to=0.999),
    "rows of a unit": _more("arguments", "max_rows_per_unit"),
    "level": _set("arguments", "level", to=0.5),
    "scale": _scaled("arguments", "scale", by=10.0),
    "most of a unit": _more("arguments", "upper"),
    "no proofs": _set("proofs", to=[]),
    "another order of proofs": lambda held: held["proofs"].reverse(),
    "one proof more": lambda held: held["proofs"].append("proofs/top_k.md"),
    "count of groups": _more("groups", "count"),
    "groups of a unit": _more("groups", "max_per_unit"),
    "epsilon of a group": _scaled("groups", "epsilon", by=2.0),
}


def edited(case: str, edit: str) -> str | None:
    """The certificate edited with care; None if it has no such field, or already says this."""
    held = copy.deepcopy(certified(case).to_dict())
    before = canonical_json(held)
    try:
        EDITS[edit](held)
    except (KeyError, TypeError):
        return None
    return None if canonical_json(held) == before else canonical_json(held | {"digest": digest(held)})


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", CASES)
def test_a_true_certificate_passes(case: str) -> None:
    release = certified(case)
    checked = check(release.to_json())
    assert checked.release.to_json() == release.to_json()
    assert 0.3 < checked.epsilon <= 0.5
    assert checked.error_bound == (release.error_bound is not None)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("case", CASES)
def test_no_field_can_be_edited(case: str) -> None:
    texts = {edit: edited(case, edit) for edit in EDITS}
    assert not {edit for edit, text in texts.items() if text is not None and _passes(text)}


def _passes(text: str) -> bool:
    try:
        return bool(check(text))
    except InvalidCertificateError:
        return False


@pytest.mark.slow  # it takes a certificate of nearly every case
def test_every_edit_is_made_somewhere() -> None:
    for edit in EDITS:
        assert any(edited(case, edit) for case in CASES), edit

"""What certificates say of the counts of selected candidates: every plan passes, and no edit does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpselect as dps
from dpselect import verify as check
from dpselect.errors import InvalidCertificateError
from tests.edited_certificates import canonical_json, digest
from tests.rows.table_questions import NAMES, ROWS
from tests.views import ask

ONCE = "noise is added once to all counts, which takes less noise than a draw for each value"
GAUSSIAN_ONCE = (
    "Gaussian noise is added once to all counts, which takes less noise than geometric noise or a draw for each value"
)
"""As certificates state the rule: the words are part of their format."""

PEOPLE = dps.Dataset(ROWS, unit="who")


def edited(release: dps.Release[Any], change: Callable[[dict[str, Any]], object]) -> str:
    held = json.loads(release.to_json())
    change(held)
    del held["digest"]
    return canonical_json(held | {"digest": digest(held)})


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda held: held["counts"].update(within=1), "counts.within"),
        (lambda held: held["counts"].update(count=[1]), "counts.count"),
        (lambda held: held["counts"].update(count=[1, -1]), "counts.count"),
        (lambda held: held["counts"].update(count=7), "counts.count"),
        (lambda held: held["counts"].update(other=7), "counts"),
        (lambda held: held["counts"].update(confidence=0.5), "counts.confidence"),
        (lambda held: held["arguments"].update(rule="as I like"), "arguments.rule"),
        (lambda held: held["arguments"].update(other=1), "arguments"),
    ],
)
@pytest.mark.parametrize("more", [{}, {"max_values_per_unit": 1}])
def test_what_a_certificate_says_of_counts_is_checked(change: Any, named: str, more: dict[str, Any]) -> None:
    release = PEOPLE.top_k("name", 2, candidates=NAMES, epsilon=0.5, with_counts=True, **more)
    assert check(edited(release, lambda held: None)).release == release  # as it is
    with pytest.raises(InvalidCertificateError, match=f"<{named}>"):
        check(edited(release, change))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda held: held["arguments"].update(max_values_per_unit=2), "arguments.max_values_per_unit"),
        (lambda held: held["arguments"].pop("max_values_per_unit"), "arguments.max_values_per_unit"),
        (lambda held: held["arguments"].update(max_values_per_unit=50), "arguments.max_values_per_unit"),
        (lambda held: held["arguments"].update(k=3), "arguments.k"),
        (lambda held: held["arguments"].pop("k"), "arguments.k"),
        (lambda held: held["arguments"].pop("rule"), "arguments.rule"),
        (lambda held: held.pop("counts"), "counts"),
        (lambda held: held["counts"].update(epsilon=0.1, answer_epsilon=0.4), "counts"),
        (lambda held: held["mechanism"].update(name="PermuteAndFlip"), "mechanism.name"),
    ],
)
def test_a_certificate_of_noise_once_does_not_contradict_itself(change: Any, named: str) -> None:
    release = PEOPLE.top_k("name", 2, candidates=NAMES, epsilon=0.5, max_values_per_unit=1)
    with pytest.raises(InvalidCertificateError, match=f"<({named})>"):
        check(edited(release, change))


def test_counts_that_were_paid_for_cannot_be_left_out() -> None:
    release = PEOPLE.top_k("name", 2, candidates=NAMES, epsilon=0.5, with_counts=True)
    with pytest.raises(InvalidCertificateError, match="<counts>"):
        check(edited(release, lambda held: held.pop("counts")))
    with pytest.raises(InvalidCertificateError, match=r"<counts\.answer_epsilon>"):
        check(edited(release, lambda held: held["counts"].update(answer_epsilon=0.3)))


def test_a_hash_of_the_question_covers_no_count() -> None:
    """The receipt has the hash before anything is drawn."""
    from tests.edited_certificates import question_hash

    release = PEOPLE.top_k("name", 2, candidates=NAMES, epsilon=0.5, max_values_per_unit=1)
    held = json.loads(release.to_json())
    other = json.loads(json.dumps(held))
    other["counts"]["count"] = [0, 0]
    assert question_hash(held) == question_hash(other)


GAUSSIAN: dict[str, Any] = {"max_values_per_unit": 5, "delta": 0.02}
PLANS: list[dict[str, Any]] = [
    {},
    {"delta": 1e-4},
    {"max_values_per_unit": 2, "delta": 1e-3},
    GAUSSIAN,
    {"usable_epsilon": 0.25},
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("more", PLANS)
@pytest.mark.parametrize("n", [5, 1000])
def test_every_plan_has_a_certificate_that_passes(more: dict[str, Any], n: int) -> None:
    """Of all rows under both relations, and of groups."""
    groups: dict[str, Any] = {"by": "page", "groups": [1, 2, 3], "max_groups_per_unit": 2}
    for relation, grouped in (("add_remove", {}), ("replace_one", {}), ("add_remove", groups)):
        data = dps.Dataset(ROWS, unit="who", neighbours=relation)  # type: ignore[arg-type]
        for k in (1, 2, 5):
            asked = {"candidates": range(n), "epsilon": 0.5, "with_counts": True, **more, **grouped}
            release: Any = ask(data, "top_k", "page", k, **asked)
            checked = check(release.to_json())
            assert checked.epsilon <= release.epsilon == 0.5 + more.get("usable_epsilon", 0.0)
            assert checked.error_bound
            assert dps.verify(release.to_json()).release == release


def test_a_certificate_of_gaussian_noise_once_says_so_and_does_not_contradict_itself(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=10, delta=0.1, set_aside=0.05, unit="who", neighbours="replace_one")
    data = dps.Dataset(ROWS, unit="who", ledger=ledger, account="people", neighbours="replace_one")
    release: Any = data.top_k("page", 5, candidates=range(5), epsilon=0.5, with_counts=True, **GAUSSIAN)
    assert (release.mechanism, release.delta) == ("DiscreteGaussianMechanism", 0.02)
    assert release.rule == f"{GAUSSIAN_ONCE}."
    assert release.counted.epsilon is None
    assert "proofs/discrete_gaussian.md" in release.proofs
    assert check(release.to_json(), ledger=ledger).question
    assert ledger.remaining("people") == pytest.approx(9.5, abs=1e-6)
    changes: tuple[tuple[Any, str], ...] = (
        (lambda held: held["arguments"].update(rule=ONCE), "arguments.rule"),
        (lambda held: held["arguments"].update(max_values_per_unit=2), "arguments.max_values_per_unit"),
        (lambda held: held["guarantee"].update(delta=0.01), "guarantee.delta"),
        (lambda held: held["mechanism"].update(name="GeometricMechanism"), "mechanism.name"),
        (lambda held: held["counts"].update(within=1), "counts.within"),
    )
    for change, named in changes:
        with pytest.raises(InvalidCertificateError, match=f"<({named})>"):
            check(edited(release, change))


def test_what_the_answer_cost_beside_counts_and_units_is_checked() -> None:
    release = PEOPLE.top_k("name", 2, candidates=NAMES, epsilon=1.0, with_counts=True, usable_epsilon=0.5)
    stated = json.loads(release.to_json())
    assert stated["usable"]["answer_epsilon"] == 1.0
    stated["usable"]["answer_epsilon"] = 0.5
    stated["digest"] = digest({name: value for name, value in stated.items() if name != "digest"})
    with pytest.raises(InvalidCertificateError, match="usable"):
        check(canonical_json(stated))

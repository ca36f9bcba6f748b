"""One question of each group: what it costs, what is drawn, what the certificate says."""

from __future__ import annotations

import json
from datetime import date
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect import Neighbours
from dpselect import verify as check
from dpselect.accounting import ComposedEvent, compose
from dpselect.errors import InvalidCandidatesError, InvalidParameterError
from tests import drawn_answers
from tests.drawn_answers import groups_of, handed, query, released
from tests.edited_certificates import canonical_json, digest

XYZ = ["x", "y", "z"]
GAP = 100_000


def groups(members: Any, most: int = 1) -> Any:
    return groups_of("city", members, most)


def planned(members: Any, *, epsilon: float = 1.0, neighbours: Any = Neighbours.ADD_REMOVE) -> Any:
    return query("most_common", candidates=XYZ, epsilon=epsilon, groups=members, neighbours=neighbours)


def test_one_group_a_unit_costs_what_one_question_costs() -> None:
    task = planned(groups(["Oslo", "Rome", "Bonn"]))
    assert task.terms.event == drawn_answers.planned("most_common", candidates=XYZ, epsilon=1.0).mechanism.event
    assert task.terms.epsilon == 1.0


@pytest.mark.parametrize("most", [2, 3, 7])
@pytest.mark.parametrize("epsilon", [1.0, 0.1, 1e-300, 3.3])
def test_several_groups_a_unit_share_the_cost(most: int, epsilon: float) -> None:
    task = planned(groups(range(10), most), epsilon=epsilon)
    assert task.terms.event == ComposedEvent(event=task.alone.mechanism.event, count=most)
    assert Fraction(task.alone.terms.epsilon) * most <= Fraction(epsilon)
    assert task.alone.terms.epsilon == pytest.approx(epsilon / most)
    assert compose([task.terms.event]).epsilon(0.0) <= task.terms.epsilon == epsilon


@given(epsilon=st.floats(1e-300, 1e300), most=st.integers(1, 1000))
def test_the_shares_never_add_up_to_more(epsilon: float, most: int) -> None:
    share = Fraction(planned(groups(range(most), most), epsilon=epsilon).alone.epsilon)
    assert share * most <= Fraction(epsilon) <= share * most * (1 + Fraction(1, 2**50))


def test_each_group_has_its_own_answer() -> None:
    release = released(planned(groups(["Oslo", "Rome"], 2)), [[0, GAP, 0], [0, 0, GAP]], column="pet")
    assert release.value == {"Oslo": "y", "Rome": "z"}
    assert release.groups == {"column": "city", "count": 2, "kind": "text", "max_per_unit": 2, "epsilon": 0.5}
    assert release.error_bound == dps.PermuteAndFlip(epsilon=0.5, sensitivity=1, monotonic=True).error_bound(3)
    assert release.proofs[-2:] == ("proofs/groups.md", "proofs/exact_sampling.md")
    assert json.loads(release.to_json())["value"] == [["Oslo", "y"], ["Rome", "z"]]
    assert release.table() == (["city", "pet"], [("Oslo", "y"), ("Rome", "z")])
    assert release.accuracy == (
        "In each city, counting each person in at most 2 groups, "
        "with 99% confidence the count of the released pet is within 9 of the best."
    )


@pytest.mark.parametrize(
    "members", [[3, 1], ["b", "a"], [0.5, 1.0], [date(2026, 1, 2), date(2026, 1, 1)], [True, False]]
)
def test_groups_of_every_kind_are_read_back(members: list[Any]) -> None:
    rows = pa.table({"who": [1, 2], "city": members, "pet": ["y", "z"]})
    data = dps.Dataset(rows, unit="who").by("city", groups=members)
    released_one = data.most_common("pet", candidates=["x", "y", "z"], epsilon=1000.0)
    release = dps.verify(released_one.to_json()).release
    assert release.value == {members[0]: "y", members[1]: "z"}
    assert [type(group) for group in release.value] == [type(member) for member in members]


def test_what_groups_are_called_is_shown_as_text() -> None:
    release = released(planned(groups(["<b>", "a&b"])), [[0, GAP, 0], [0, 0, GAP]], column="pet")
    page = release._repr_html_()
    assert "<td>&lt;b&gt;</td><td>y</td>" in page
    assert "<th>city</th><th>pet</th>" in page
    assert str(release).startswith("<b>  y\na&b  z\nDifferentially private")


def test_the_draws_of_groups_are_independent() -> None:
    task = planned(groups(["a", "b"]), epsilon=0.1)
    counts = [handed(task.alone, [0, 0, 0]) for _ in range(2)]
    drawn = [tuple(task.released([counts]).answer.values()) for _ in range(3000)]
    assert len(set(drawn)) == 9  # of three by three, one is missed with probability below 9 (8/9)^3000


def test_several_answers_of_each_group() -> None:
    members = groups(["a", "b"], 2)
    task = query("top_k", candidates=XYZ, k=2, epsilon=2.0, delta=1e-6, groups=members)
    release = released(task, [[0, GAP, 2 * GAP]] * 2)
    assert release.value == {"a": ["z", "y"], "b": ["z", "y"]}
    assert release.table()[1] == [("a", "1", "z"), ("a", "2", "y"), ("b", "1", "z"), ("b", "2", "y")]
    assert release.delta <= 1e-6


@pytest.mark.parametrize(
    ("by", "members", "most", "reason"),
    [
        (None, ["a"], 1, r"^by=None"),
        (None, None, 2, r"^by=None"),
        ("city", None, 1, r"^groups=None: expected the public list of groups"),
        ("city", [], 1, r"^groups="),
        ("city", ["a", "a"], 1, r"^groups="),
        (3, ["a"], 1, r"^by=3"),
        ("city", ["a", "b"], 3, r"^max_groups_per_unit=3"),
        ("city", ["a", "b"], 0, r"^max_groups_per_unit=0"),
        ("city", ["a", "b"], 1.5, r"^max_groups_per_unit=1.5"),
        ("city", range(10**6), 1, r"^groups=<1,000,000 groups>"),
    ],
)
def test_bad_groups(by: Any, members: Any, most: Any, reason: str) -> None:
    with pytest.raises((InvalidParameterError, InvalidCandidatesError), match=reason):
        groups_of(by, members, most)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan"), None, 5e-324])
def test_bad_epsilon(epsilon: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"^epsilon="):
        planned(groups(range(10), 2), epsilon=epsilon)


def test_too_many_counts_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="candidates in all groups together"):
        groups(range(20)).check_size(10**7)


def test_a_count_is_one_number_in_each_group_however_many_values_it_counts() -> None:
    asked = dps.DryRun(unit="who").by("part", groups=range(20_000))
    assert asked.count("value", candidates=range(9_000), epsilon=1.0).error_bound
    with pytest.raises(InvalidParameterError, match="candidates in all groups together"):
        asked.histogram("value", candidates=range(9_000), epsilon=1.0)


def test_replaced_units_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="would cost twice as much"):
        planned(groups(["a"]), neighbours=Neighbours.REPLACE_ONE)


def test_a_summary_too_few_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dps.PermuteAndFlip, "select", None)
    with pytest.raises(InvalidParameterError, match=r"^summary="):
        released(planned(groups(["a", "b"])), [[1, 2, 3]])


def test_a_larger_share_in_the_certificate_is_refused() -> None:
    data = dps.Dataset("examples/data/free_days.csv", unit="person")
    text = (
        data.by("team", groups=["north", "west"])
        .most_common("free_on", candidates=["2026-12-12", "2026-12-18"], epsilon=1.0)
        .to_json()
    )
    assert check(text).error_bound
    held = json.loads(text)
    held["groups"]["epsilon"] = 2.0
    with pytest.raises(dps.errors.InvalidCertificateError, match=r"groups\.epsilon"):
        check(canonical_json(held | {"digest": digest(held)}))

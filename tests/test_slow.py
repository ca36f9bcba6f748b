"""What the day leaves to the slow tests: each case of each axis still comes, and nothing else is left out."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from tests.slow import left_out


class Item(SimpleNamespace):
    """What is asked of a `pytest.Item`; each is another one, as there."""

    __hash__ = object.__hash__


def item(test: str, partners: int = 1, together: tuple[str, ...] = (), sampled: int | None = None, **cases: Any) -> Any:
    """A test with these cases; those of the names in `together` are given by one `parametrize`."""
    marks = {} if sampled is None else {"sampled": pytest.mark.sampled(sampled).mark}
    if partners > 1:
        marks["partners"] = pytest.mark.partners(partners).mark
    names = [together, *((name,) for name in cases if name not in together)]
    return Item(
        name=f"{test}[{cases}]",
        nodeid=f"{test}[{cases}]",
        callspec=SimpleNamespace(params=cases),
        get_closest_marker=marks.get,
        iter_markers=lambda _: [pytest.mark.parametrize(each, []).mark for each in names],
    )


@pytest.mark.parametrize("partners", [1, 2, 3])
def test_each_case_comes_with_so_many_partners(partners: int) -> None:
    items = [
        item("test_a", partners, engine=engine, question=question) for engine, question in product(range(5), "xyz")
    ]
    dropped = left_out(items)
    kept = [each.callspec.params for each in items if each not in dropped]
    for name, cases in (("engine", range(5)), ("question", "xyz")):
        for case in cases:
            assert sum(each[name] == case for each in kept) >= partners
    assert len(kept) <= 5 * partners


def test_cases_of_one_axis_all_stay() -> None:
    assert left_out([item("test_a", case=case) for case in range(5)]) == []
    assert left_out([item("test_a", a=0), item("test_b", a=0)]) == []
    pairs = [item("test_a", together=("a", "b"), a=a, b=b) for a, b in product("xy", "xy")]
    assert left_out(pairs) == []


def test_what_brings_nothing_new_is_left_out() -> None:
    pairs = [item("test_a", a=a, b=b) for a, b in product("xy", "xy")]
    assert [each.callspec.params for each in left_out(pairs)] == [{"a": "x", "b": "y"}, {"a": "y", "b": "x"}]


def test_of_a_sampled_test_the_same_cases_stay_in_any_order() -> None:
    items = [item("test_a", sampled=3, case=case) for case in range(9)]
    dropped = [each.callspec.params["case"] for each in left_out(items)]
    assert len(dropped) == 6
    assert sorted(each.callspec.params["case"] for each in left_out(items[::-1])) == sorted(dropped)
    assert left_out(items[:3]) == []


def test_each_axis_of_a_sampled_test_is_thinned_before() -> None:
    items = [item("test_a", sampled=2, a=a, b=b) for a, b in product("xyz", "xyz")]
    assert len(left_out(items)) == 7
    assert len(left_out([item("test_a", a=a, b=b) for a, b in product("xyz", "xyz")])) == 6

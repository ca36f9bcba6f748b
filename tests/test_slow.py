"""What the day leaves to the slow tests: each case of each axis still comes, and nothing else is left out."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from tests.slow import left_out


def item(test: str, partners: int = 1, together: tuple[str, ...] = (), **cases: Any) -> Any:
    """A test with these cases; those of the names in `together` are given by one `parametrize`."""
    names = [together, *((name,) for name in cases if name not in together)]
    return SimpleNamespace(
        nodeid=f"{test}[{cases}]",
        callspec=SimpleNamespace(params=cases),
        get_closest_marker=lambda _: pytest.mark.partners(partners).mark if partners > 1 else None,
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

"""Lists that are typed into a page: what was understood is said, and what can be read in two ways is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web import filled_forms
from tests.web.visitor import visit


def _form(listed: str) -> Any:
    return filled_forms.filled("most_common", {"column": "education_num", "candidates": listed, "epsilon": "1"})


@pytest.mark.parametrize(
    ("listed", "expected", "said"),
    [
        ("Paris,Lyon,Nice,Rome", ["Paris", "Lyon", "Nice", "Rome"], "4 values: Paris, Lyon, ..., Rome"),
        ("Paris\nLyon\r\n\n Nice \nRome", ["Paris", "Lyon", "Nice", "Rome"], "4 values: Paris, Lyon, ..., Rome"),
        ('"Paris, Texas"\nLyon', ["Paris, Texas", "Lyon"], "2 values: Paris, Texas, Lyon"),
        ('"Paris"\n"say ""yes"""', ["Paris", 'say "yes"'], '2 values: Paris, say "yes"'),
    ],
)
def test_lines_or_commas_separate(listed: str, expected: list[str], said: str) -> None:
    form = _form(listed)
    assert form.arguments["candidates"] == expected
    assert form.understood["candidates"] == said


@pytest.mark.parametrize("listed", ["Paris,Lyon\nNice", "Paris, Texas\nLyon", "Paris,\nLyon", '"a","b"\nc', '"a\nb",c'])
def test_a_mix_is_refused(listed: str) -> None:
    form = _form(listed)
    assert "one on each line, or all separated by commas on a single line; not both" in form.errors["candidates"]
    assert form.understood == {}
    assert "Paris" not in form.errors["candidates"]


def test_the_pages_say_what_was_understood() -> None:
    visitor = visit(filled_forms.ADULT, "person_id")
    form = {"column": "education_num", "candidates": "1..16", "epsilon": "1"}
    shown = 'id="candidates-understood" aria-live="polite" hx-swap-oob="true">16 values: 1, 2, ..., 16<'
    assert shown in visitor.post("/ask/most_common/plan", form).text
    assert "16 values: 1, 2, ..., 16" in visitor.get(visitor.confirm("most_common", **form)).words
    emptied = visitor.post("/ask/most_common/plan", form | {"candidates": "1,2\n3"}).text
    assert 'id="candidates-understood" aria-live="polite" hx-swap-oob="true"><' in emptied


def test_a_page_speaks_of_no_files_where_a_list_is_typed() -> None:
    page = visit(filled_forms.ADULT, "person_id").get("/ask/most_common").words
    assert "or one on each line" in page
    assert "@" not in page


def test_what_is_said_back_is_short() -> None:
    prices = filled_forms.filled("best_price", {"column": "age", "prices": "5,9.99,20.0", "epsilon": "1"})
    assert prices.understood["prices"] == "3 prices: 5, 9.99, 20"
    assert len(_form("\n".join(f"{'x' * 10_000}{at}" for at in range(9))).understood["candidates"]) < 200
    assert _form(f"-{10**18}..{10**18 - 1}").understood["candidates"].endswith("999999999999999999")

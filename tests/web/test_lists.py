"""Lists that are typed into a page: what was understood is said, and what can be read in two ways is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpselect.questions.question import BY_NAME
from dpselect.web import Site
from dpselect.web.forms import Form, said_back
from tests.web.visitor import Visitor

ADULT = str(Path(__file__).parents[2] / "examples" / "data" / "adult.csv")
SITE = Site(source=ADULT, unit="person_id")


def _form(listed: str) -> Form:
    typed = {"column": "education_num", "candidates": listed, "epsilon": "1"}
    return Form.read(BY_NAME["most_common"], SITE, typed)


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("Paris,Lyon,Nice,Rome", ["Paris", "Lyon", "Nice", "Rome"]),
        ("Paris\nLyon\r\n\n Nice \nRome", ["Paris", "Lyon", "Nice", "Rome"]),
        ('"Paris, Texas"\nLyon', ["Paris, Texas", "Lyon"]),
        ('"Paris"\n"say ""yes"""', ["Paris", 'say "yes"']),
    ],
)
def test_lines_or_commas_separate(listed: str, expected: list[str]) -> None:
    form = _form(listed)
    assert form.arguments["candidates"] == expected
    assert form.understood["candidates"] == said_back("candidates", expected)


@pytest.mark.parametrize("listed", ["Paris,Lyon\nNice", "Paris, Texas\nLyon", "Paris,\nLyon", '"a","b"\nc', '"a\nb",c'])
def test_a_mix_is_refused(listed: str) -> None:
    form = _form(listed)
    assert "one on each line, or all separated by commas on a single line; not both" in form.errors["candidates"]
    assert form.understood == {}
    assert "Paris" not in form.errors["candidates"]


def test_the_pages_say_what_was_understood() -> None:
    visitor = Visitor(SITE).enter()
    form = {"column": "education_num", "candidates": "1..16", "epsilon": "1"}
    shown = 'id="candidates-understood" aria-live="polite" hx-swap-oob="true">16 values: 1, 2, ..., 16<'
    assert shown in visitor.post("/ask/most_common/plan", form).text
    assert "16 values: 1, 2, ..., 16" in visitor.get(visitor.confirm("most_common", **form)).words
    emptied = visitor.post("/ask/most_common/plan", form | {"candidates": "1,2\n3"}).text
    assert 'id="candidates-understood" aria-live="polite" hx-swap-oob="true"><' in emptied


def test_what_is_said_back_is_short() -> None:
    assert said_back("prices", [5, 9.99, 20.0]) == "3 prices: 5, 9.99, 20"
    assert len(said_back("candidates", ["x" * 10_000] * 9)) < 200
    assert said_back("candidates", range(-(10**18), 10**18)).endswith("999999999999999999")

"""What is in a table, or typed into a form, stays text; and what is in it is in no error and no log."""

from __future__ import annotations

import csv
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dpselect as dps
from tests.question_words import NAMES
from tests.slow import SLOW
from tests.web import filled_forms
from tests.web.filled_forms import ADULT
from tests.web.visitor import MEDIAN, Visitor, visit

SCRIPT = '"><script>alert(1)</script><img src=x onerror=alert(2)>'
SECRET = "Rumpelstilzchen"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Names and values that a page could take for its own marks."""
    path = tmp_path / "<b>people.csv"
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["who", SCRIPT, "city", "x" * 300])
        lines.writerows(
            [f"{SECRET}{place}", SCRIPT if place % 3 else "{{ 7*7 }}", SECRET, place] for place in range(400)
        )
    return path


@pytest.fixture
def visitor(table: Path) -> Visitor:
    return visit(str(table), "who")


def _is_clean(text: str) -> bool:
    return "<script>" not in text and "<img src=x" not in text and "<b>" not in text


def test_a_script_as_the_name_of_a_column_stays_text(visitor: Visitor) -> None:
    form = {"column": SCRIPT, "candidates": f'"{SCRIPT.replace(chr(34), chr(34) * 2)}",other', "epsilon": "1"}
    pages = [
        visitor.get("/").text,
        visitor.get("/ask/most_common").text,
        visitor.post("/ask/most_common/plan", form).text,
    ]
    came = visitor.release("most_common", **form)
    id = visitor.pages.answered[0].id
    pages += [came.text, visitor.get("/").text, visitor.get(f"/ask/most_common?from={id}").text]
    assert SCRIPT in came.words
    assert all(map(_is_clean, pages))


def test_a_script_as_a_value_stays_text_also_in_pictures(visitor: Visitor) -> None:
    form = {"column": SCRIPT, "candidates": f"{SCRIPT}\n{{{{ 7*7 }}}}\nother", "epsilon": "1"}
    came = visitor.release("histogram", **form)
    assert _is_clean(came.text)
    assert "{{ 7*7 }}" in came.words
    id = visitor.pages.answered[0].id
    picture = visitor.get(f"/release/{id}/chart.svg")
    assert _is_clean(picture.text)
    assert "default-src 'none'" in picture.headers["content-security-policy"]
    assert visitor.get(f"/release/{id}/certificate.json").headers["x-content-type-options"] == "nosniff"


def test_what_is_typed_stays_text(visitor: Visitor) -> None:
    for name in ("column", "step", "bounds.lower-end", "epsilon", "by", "groups", "usable_epsilon"):
        for path in ("/ask/median/plan", "/ask/median/confirm"):
            send = visitor.post if path.endswith("plan") else visitor.submit
            assert _is_clean(send(path, MEDIAN_TYPED | {name: SCRIPT}).text), name
    assert _is_clean(visitor.get(f"/ask/{SCRIPT}").text)
    assert _is_clean(visitor.get(f"/ask/median?from={SCRIPT}").text)
    assert _is_clean(visitor.get(f"/release/{SCRIPT}").text)


MEDIAN_TYPED = {name.replace("__", "."): text for name, text in MEDIAN.items()}


def test_no_value_is_in_an_error(visitor: Visitor) -> None:
    for question in NAMES:
        form = {"column": "city", "bounds.lower-end": "0", "bounds.upper-end": "9", "epsilon": "x"}
        for path in ("plan", "confirm"):
            send = visitor.post if path == "plan" else visitor.submit
            assert SECRET not in send(f"/ask/{question}/{path}", form).text


def test_an_unforeseen_error_shows_its_type_alone(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch, capfd: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*given: Any) -> Any:
        raise RuntimeError(f"row 3: {SECRET}")

    caplog.set_level(logging.DEBUG)
    filled_forms.instead_of_planning(monkeypatch, fail)
    came = visitor.get("/ask/median")
    assert came.status == 500
    assert "unexpected RuntimeError; nothing was shown" in came.words
    assert SECRET not in came.text
    printed = capfd.readouterr()
    assert printed.out == printed.err == ""
    assert SECRET not in caplog.text


def test_an_unforeseen_error_of_an_answer_shows_its_type_alone(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: Any, **named: Any) -> Any:
        raise RuntimeError(f"row 3: {SECRET}")

    monkeypatch.setattr(dps.Dataset, "count", fail)
    came = visitor.release("count", epsilon="1")
    assert "unexpected RuntimeError; nothing was shown" in came.words
    assert SECRET not in came.text


GOOD = {
    "column": "age",
    "bounds.lower-end": "0",
    "bounds.upper-end": "120",
    "clip.lower-end": "0",
    "clip.upper-end": "100",
    "step": "1",
    "epsilon": "0.5",
    "candidates": "1..16",
    "delta": "1e-6",
    "bins": "12",
    "sum": "capital_gain",
    "prices": "1..100",
}
BAD = ["x", "-1", "0", "1e400", "nan", "1/0", "''", "\0", "@/etc/passwd", "5..1", "[1,2]", "person_id", "9" * 50, "on"]
BAD += [
    "",
    "1_000",
    "1..99999999999",
    "\N{LATIN SMALL LETTER U WITH DIAERESIS}" * 100,
    "1e-320",
    "2026-01-01",
    ",",
    '"',
]


FOREIGN = re.compile(
    r"--|@|[a-z]_[a-z]|(?<!ag)[a-z]=|[a-z]\(|[{}`]|\b(COLUMN|LEVEL|None|True|False|Fraction|dps|Dataset)\b"
)
"""Words of commands and of Python."""


def _forms() -> Iterator[tuple[str, dict[str, str]]]:
    place = 0
    for name in NAMES:
        usual = filled_forms.empty(name)
        for each in (part for field in usual.fields for part in field.parts):
            for bad in BAD:
                place += 1
                if SLOW or place % 41 == 0:
                    yield name, {**usual.typed, **GOOD, each: bad}


def test_whatever_is_typed_is_planned_or_refused_in_a_sentence() -> None:
    seen, refused = 0, 0
    for name, typed in _forms():
        form = filled_forms.filled(name, typed)
        if form.epsilon is not None and not (form.missing or form.errors):
            form.plan()
        seen += 1
        refused += bool(form.errors)
        assert all(sentence.endswith((".", "?", "'")) for sentence in form.errors.values()), form.errors
        assert not any(map(FOREIGN.search, form.errors.values())), form.errors
        assert "" not in form.errors  # each is about a field
    assert seen > refused > 20


@pytest.mark.parametrize(
    ("change", "field", "expected"),
    [
        ({"step": "0.7"}, "step", "divide"),
        ({"step": "one"}, "step", "a number such as 5, 0.25 or 1/3"),
        ({"bounds.lower-end": "200"}, "bounds", "Expected two finite numbers"),
        ({"column": "nobody"}, "column", "Expected a column of the data"),
        ({"column": "person_id"}, "column", "another column than the unit"),
        ({"epsilon": "0"}, "epsilon", "Expected a finite number"),
        ({"max_rows_per_unit": "1.5"}, "max_rows_per_unit", "a whole number"),
        ({"by": "age", "groups": "@/etc/passwd"}, "groups", "not the name of a file"),
    ],
)
def test_an_error_stands_beside_its_field(change: dict[str, str], field: str, expected: str) -> None:
    visitor = visit(ADULT, "person_id")
    for path in ("plan", "confirm"):
        send = visitor.post if path == "plan" else visitor.submit
        came = send(f"/ask/median/{path}", MEDIAN_TYPED | change)
        beside = came.text.partition(f'id="{field}-error"')[2].partition("</p>")[0]
        assert expected in beside.replace("&#39;", "'"), beside
    assert came.status == 422


@pytest.mark.parametrize("name", NAMES)
def test_every_plan_says_what_draws_the_answer(name: str) -> None:
    dates = {"bounds.lower-end": "2026-01-01", "bounds.upper-end": "2026-01-31"} if name == "best_date" else {}
    every_unit = {"column": "", "candidates": ""} if name == "count" else {"bins": ""} if name == "histogram" else {}
    usual = filled_forms.empty(name).typed
    form = filled_forms.filled(name, {**usual, **GOOD, **dates, **every_unit})
    plan = filled_forms.plan_of(form)
    assert plan is not None, form.errors
    assert hasattr(dps.mechanisms, plan.mechanism)
    shown = Visitor(filled_forms.site()).enter().post(f"/ask/{name}/plan", form.typed).words
    assert re.search(f"Drawn by {plan.mechanism}(, in [0-9]+ rounds)?[.]", shown)
    assert plan.rule in shown


def test_the_help_of_a_page_has_no_words_of_the_command_line() -> None:
    for name in NAMES:
        for field in filled_forms.empty(name).fields:
            assert not re.search(r"--|@|COLUMN", " ".join(field.help))


@pytest.mark.parametrize(
    ("scheme", "shown"),
    [
        ("postgresql", "postgresql://ann@db.example.org/shop"),
        (" postgresql", "&lt;text that may hold a password&gt;"),
        ("POSTGRESQL", "&lt;text that may hold a password&gt;"),
        ("postgresql+psycopg", "&lt;text that may hold a password&gt;"),
    ],
)
def test_a_password_is_on_no_page(scheme: str, shown: str) -> None:
    pages = visit(f"{scheme}://ann:Rumpelstilzchen@db.example.org/shop", "who", table="people").pages
    page = pages.shown("error.html", title="x", text="x").body.decode()
    assert shown in page
    assert SECRET not in page

"""From a question to its answer: what is planned, what is charged, and that it is charged once."""

from __future__ import annotations

import csv
import io
import re
import sys
import threading
from pathlib import Path

import pytest

import dpselect as dps
from tests.question_words import NAMES
from tests.web import filled_forms
from tests.web.visitor import COMMON, MEDIAN, Visitor, visit

DATA = Path(__file__).parents[2] / "examples" / "data"
ADULT = str(DATA / "adult.csv")


@pytest.fixture
def visitor() -> Visitor:
    return visit(ADULT, "person_id")


@pytest.fixture
def ledger(tmp_path: Path) -> dps.Ledger:
    held = dps.Ledger(f"sqlite:///{tmp_path}/budget.db")
    held.open_account("adult", epsilon=1.0, unit="person_id")
    return held


@pytest.fixture
def payer(ledger: dps.Ledger) -> Visitor:
    return visit(ADULT, "person_id", ledger=ledger, account="adult")


@pytest.mark.parametrize("name", NAMES)
def test_every_question_has_a_form(visitor: Visitor, name: str) -> None:
    came = visitor.get(f"/ask/{name}")
    assert came.status == 200
    many = "What are the 10 most common values, and how many have each?"
    about = filled_forms.empty(name).about
    assert (many if name == "top_k" else about.asks) in came.words
    (lead,) = re.findall('<p class="lead">(.*)</p>', came.text)
    assert lead.startswith(about.does().split(maxsplit=1)[0])
    assert not re.search("[A-Z]{2}|`| K ", lead), lead  # names of arguments, as a command's help has them


def test_every_question_is_in_the_list_of_the_first_page(visitor: Visitor) -> None:
    shown = visitor.get("/").text
    assert all(shown.count(f'href="/ask/{name}"') == 1 for name in NAMES)


@pytest.mark.parametrize(
    ("question", "form", "expected"),
    [
        ("mean", {"people": "30000"}, r"± 0\.0369 If 30,000 .* with 99% confidence the mean is within 0\.0369"),
        ("mean", {}, "How close the mean comes depends on how many people have a value: guess their number"),
        ("variance", {"people": "30000"}, r"± 5\.48 If 30,000 .* the variance is within 5\.48"),
        ("std", {"people": "30000"}, r"± 2\.35 If 30,000 .* the standard deviation is within 2\.35"),
        ("median", {"people": "30000", "step": "1"}, r"19 ranks .* If 30,000 .* are counted, that is 0\.0634% of them"),
        ("density", {"people": "100", "bins": "4"}, r"within 12 of the truth, .* If 100 .* that is 12% of them"),
        ("sum", {"clip.lower-end": "0", "clip.upper-end": "80"}, r"± 7\d\d "),
        ("count", {"column": ""}, r"± 9 With 99% confidence"),
    ],
)
def test_the_accuracy_is_a_number_in_the_unit_of_the_answer(
    visitor: Visitor, question: str, form: dict[str, str], expected: str
) -> None:
    usual = {"column": "age", "bounds.lower-end": "0", "bounds.upper-end": "120", "epsilon": "0.5"}
    plan = visitor.post(f"/ask/{question}/plan", usual | form)
    assert re.search(expected, plan.words), plan.words


def test_a_number_is_reported_to_the_place_of_its_error_and_downloaded_with_all_digits(visitor: Visitor) -> None:
    form = {"column": "age", "bounds.lower-end": "0", "bounds.upper-end": "120", "epsilon": "0.5"}
    answer = visitor.release("mean", **form)
    asked = visitor.pages.answered[0]
    lower, upper = asked.result.interval
    assert f"Answer {round(asked.result.value, 2)} " in answer.words
    shown = re.search(r"99 times in 100 the truth is between ([0-9.]+) and ([0-9.]+)\.", answer.words)
    assert shown is not None
    assert float(shown[1]) <= lower < upper <= float(shown[2]) < lower + 0.08
    assert '<svg class="interval"' in answer.text
    table = visitor.get(f"/release/{asked.id}/table.csv")
    assert table.headers["content-disposition"].startswith("attachment")
    (row,) = csv.DictReader(io.StringIO(table.text))
    assert (float(row["released"]), float(row["lower"])) == (asked.result.value, lower)
    people = visitor.get("/ask/median").text.partition('id="people"')[2].partition(">")[0]
    assert f'value="{asked.result.usable.count}"' in people  # what was released is a better guess than any


def test_one_selected_value_is_shown_with_its_count(visitor: Visitor) -> None:
    """A list of one value, whose count and interval are lists of one, too."""
    answer = visitor.release("top_k", **COMMON | {"k": "1", "with_counts": "on"})
    release = visitor.pages.answered[0].result
    ((lower, upper),) = release.interval
    said = (
        f"About {release.counts[0]:,} have it. {lower:,} {upper:,} 99 times in 100 the truth is between {lower:,} and"
    )
    assert f"Answer {release.value[0]} {said} {upper:,}." in answer.words


def test_a_report_has_all_answers_about_the_table(visitor: Visitor) -> None:
    assert visitor.get("/report.html").status == 404
    visitor.release("count", epsilon="0.5")
    visitor.release("histogram", **COMMON | {"epsilon": "0.1"})
    report = visitor.get("/report.html")
    assert report.headers["content-disposition"] == 'attachment; filename="report.html"'
    assert "(epsilon = 0.6, for all answers here together)" in report.words
    assert "Report on 2 answers" in visitor.get(f"/release/{visitor.pages.answered[0].id}").words


def test_the_title_says_what_is_asked(visitor: Visitor) -> None:
    assert "What are the most common values?" in visitor.get("/").words
    form = COMMON | {"k": "3"}
    live = visitor.post("/ask/top_k/plan", form)
    assert '<h1 id="asks" hx-swap-oob="true">What are the 3 most common values?</h1>' in live.text
    released = visitor.release("top_k", **form | {"with_counts": "on"})
    assert "What are the 3 most common values, and how many have each?" in released.words
    assert "What are the 3 most common values, and how many have each? (education_num)" in visitor.get("/").words


def test_a_median_is_released(visitor: Visitor) -> None:
    came = visitor.release("median", **MEDIAN)
    release = visitor.pages.answered[0].result
    assert release.value in range(30, 45)
    assert f"Answer {release.value:.0f} With 99% confidence" in came.words
    assert "at most 1.65 times as likely" in came.words
    held = visitor.get(f"/release/{visitor.pages.answered[0].id}/certificate.json")
    assert held.headers["content-disposition"].startswith("attachment")
    assert dps.verify(held.text).release == release


def test_the_most_common_value_is_released(visitor: Visitor) -> None:
    assert "Answer 9 With" in visitor.release("most_common", **COMMON).words


def test_a_histogram_is_a_table_with_a_picture(visitor: Visitor) -> None:
    came = visitor.release("histogram", **COMMON)
    asked = visitor.pages.answered[0]
    assert came.text.count("<tr>") == 17
    picture = visitor.get(f"/release/{asked.id}/chart.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert picture.text.startswith("<svg")


def test_the_plan_says_what_the_library_says(visitor: Visitor) -> None:
    came = visitor.post("/ask/median/plan", {name.replace("__", "."): text for name, text in MEDIAN.items()})
    expected = dps.DryRun(unit="person_id").median("age", bounds=(0, 120), step=1, epsilon=0.5)
    assert expected.accuracy in came.words


def test_pressing_twice_spends_once(payer: Visitor, ledger: dps.Ledger) -> None:
    address = payer.confirm("median", **MEDIAN)
    presses = [threading.Thread(target=payer.post, args=(address,)) for _ in range(4)]
    for each in presses:
        each.start()
    for each in presses:
        each.join()
    payer.pages.asked[address.rpartition("/")[2]].wait(30)
    shown = payer.get(address).words
    for _ in range(2):  # reloaded, and sent again from a page that was kept
        assert payer.post(address).status == 303
        assert payer.get(address).words == shown
    assert ledger.account("adult").spent == 0.5
    assert len(ledger.history("adult")) == 2
    (verified,) = ledger.verify("adult")
    assert verified.entries == 2


def test_without_a_ledger_pressing_twice_draws_once(visitor: Visitor) -> None:
    address = visitor.confirm("median", **MEDIAN | {"epsilon": "0.01"})  # would hardly come out the same twice
    for _ in range(3):
        visitor.post(address)
        visitor.pages.asked[address.rpartition("/")[2]].wait(30)
    assert len(visitor.pages.answered) == 1
    first = visitor.pages.answered[0].result
    assert visitor.pages.answered[0].result is first


def test_a_question_beyond_the_account_is_refused_and_charges_nothing(payer: Visitor, ledger: dps.Ledger) -> None:
    came = payer.release("median", **MEDIAN | {"epsilon": "2"})
    assert "has epsilon 1.0 left of 1.0; this would cost 2.0" in came.words
    assert ledger.account("adult").spent == 0


def test_an_answer_is_found_again_after_a_restart(payer: Visitor, ledger: dps.Ledger) -> None:
    address = payer.confirm("median", **MEDIAN)
    payer.post(address)
    payer.pages.asked[address.rpartition("/")[2]].wait(30)
    again = Visitor(payer.site).enter()
    value = payer.pages.answered[0].result.value
    assert f"Answer {value:.0f}" in again.get(address).words
    assert again.post(address).status == 303
    assert ledger.account("adult").spent == 0.5


def test_a_table_that_was_written_in_between_is_noticed(tmp_path: Path, ledger: dps.Ledger) -> None:
    table = tmp_path / "people.csv"
    table.write_text("person_id,age\n" + "".join(f"{place},{place % 90}\n" for place in range(500)))
    visitor = visit(str(table), "person_id", ledger=ledger, account="adult")
    address = visitor.confirm("median", **MEDIAN)
    table.write_text("person_id,age\n1,40\n")
    visitor.post(address)
    visitor.pages.asked[address.rpartition("/")[2]].wait(30)
    refused = visitor.get(address)
    assert "was written after this page had been opened" in refused.words
    assert "Try again" not in refused.words
    assert f'href="/ask/median?from={address.rpartition("/")[2]}">Ask anew</a>' in refused.text
    assert ledger.account("adult").spent == 0
    anew = visitor.get(f"/ask/median?from={address.rpartition('/')[2]}")
    assert "What is the median?" in anew.words
    assert 'value="120"' in anew.text
    visitor.release("median", **MEDIAN)
    assert ledger.account("adult").spent == 0.5


def test_what_is_looked_at_is_marked(visitor: Visitor) -> None:
    form = {name.replace("__", "."): text for name, text in MEDIAN.items()}
    came = visitor.post("/ask/median/look", form)
    if 'hx-get="/looked/' in came.text:
        id = came.text.partition('hx-get="/looked/')[2].partition('"')[0]
        visitor.pages.looked[id].wait(30)
        came = visitor.get(f"/looked/{id}")
    assert "Only for you: computed from the data without privacy protection" in came.words
    assert "32,561 of 32,561 rows count" in came.words


def test_the_wrong_field_has_the_focus(visitor: Visitor) -> None:
    form = {name.replace("__", "."): text for name, text in MEDIAN.items()}
    came = visitor.submit("/ask/median/confirm", form | {"usable_epsilon": "x"})
    focused = [line for line in came.text.splitlines() if " autofocus" in line]
    assert len(focused) == 1
    assert 'id="usable_epsilon"' in focused[0]
    assert '<details class="box" open>' in came.text


def test_without_the_library_of_charts_there_are_tables(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    form = {name.replace("__", "."): text for name, text in MEDIAN.items()}
    planned = visitor.post("/ask/median/plan", form)
    answered = visitor.release("histogram", **COMMON)
    assert "within 19 ranks" in planned.words
    assert "No picture: The library of charts is not installed here." in answered.words
    assert "<img" not in answered.text
    assert "<table" in answered.text

"""Which table: those of the folder that the server was started in, and nothing else on the machine."""

from __future__ import annotations

import dataclasses
import os
import re
import tempfile
from pathlib import Path
from urllib.parse import quote

import pytest

import dpselect as dps
from dpselect.errors import SelectionError
from tests.forked import Forks
from tests.web.test_hostile_tables import FOREIGN
from tests.web.visitor import COMMON, Visitor, visit

SECRET = "Rumpelstilzchen"
NOBODY = 65534


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A table that nobody may open: it is beside the folder."""
    place = tmp_path / "outside.csv"
    place.write_text(f"who,{SECRET}\n1,2\n")
    return place


@pytest.fixture
def folder(tmp_path: Path, outside: Path) -> Path:
    folder = tmp_path / "served"
    (folder / "below").mkdir(parents=True)
    rows = "".join(f"{each},{each % 16 + 1}\n" for each in range(400))
    for name in ("people.csv", ".hidden.csv", "below/deep.csv", "notes.txt.bak", "a[1].csv"):
        (folder / name).write_text("who,education_num\n" + rows)
    (folder / "german.csv").write_text("who;pay;town\n" + "".join(f"{each};1.000,5;Bonn\n" for each in range(50)))
    (folder / "link.csv").symlink_to(outside)
    (folder / "linked").symlink_to(outside.parent, target_is_directory=True)
    return folder


@pytest.fixture
def visitor(folder: Path) -> Visitor:
    return visit(folder=str(folder))


def chosen(visitor: Visitor, table: str = "people.csv", unit: str = "column who", **more: str) -> Visitor:
    came = visitor.post("/table", {"file": table, "unit": unit, **more})
    assert came.status == 303, came.words
    return visitor


def test_the_tables_of_the_folder_are_listed_and_no_others(visitor: Visitor) -> None:
    assert visitor.get("/").headers["location"] == "/tables"
    shown = re.findall(r"<li><a href=[^>]*>([^<]*)</a></li>", visitor.get("/tables").text)
    assert shown == ["a[1].csv", "german.csv", "people.csv"]


@pytest.mark.parametrize(
    "name",
    [
        "../outside.csv",
        "./people.csv",
        "below/deep.csv",
        "below/../people.csv",
        "linked/outside.csv",
        "link.csv",
        ".hidden.csv",
        "notes.txt.bak",
        "people.csv/",
        "people.csv\0",
        "*.csv",
        "p*",
        "~/people.csv",
        "file:people.csv",
        "postgresql://ann@db/shop",
        "/etc/passwd",
        "{outside}",
        "{folder}/people.csv",
        "",
    ],
)
def test_nothing_outside_of_the_folder_can_be_opened(
    visitor: Visitor, folder: Path, outside: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)  # where a name without a path would be found
    given = name.format(outside=outside, folder=folder) if "{" in name else name
    form = {"file": given, "unit": "column who"}
    for came in (visitor.get(f"/table?file={quote(given)}"), visitor.post("/table", form)):
        assert came.status == 400
        assert "There is no such table in this folder." in came.words
        assert SECRET not in came.text
    assert visitor.pages.site.unit is None
    assert visitor.get("/ask/count").status == 404


def test_a_table_that_becomes_a_link_is_not_read(visitor: Visitor, folder: Path, outside: Path) -> None:
    chosen(visitor)
    address = visitor.confirm("histogram", **COMMON)
    (folder / "people.csv").unlink()
    (folder / "people.csv").symlink_to(outside)
    with pytest.raises(SelectionError, match="no such table in this folder"):
        visitor.pages.site.data()
    visitor.post(address)
    visitor.pages.asked[address.rpartition("/")[2]].wait(30)
    came = visitor.get(address)
    assert "Nothing was read or charged" in came.words
    assert SECRET not in came.text


@pytest.mark.parametrize("origin", ["https://evil.example", "null", ""])
def test_no_other_page_chooses_a_table(visitor: Visitor, origin: str) -> None:
    form = {"file": "people.csv", "unit": "column who"}
    assert visitor.post("/table", form, origin=origin).status == 403
    assert visitor.pages.site.unit is None
    assert visitor.post("/table", form, host="evil.example").status == 400
    visitor.cookies.clear()
    assert visitor.get("/table?file=people.csv").status == visitor.get("/tables").status == 403


def test_a_ledger_that_is_a_link_is_not_opened(visitor: Visitor, folder: Path, tmp_path: Path) -> None:
    (folder / "budget.db").symlink_to(tmp_path / "elsewhere.db")
    came = visitor.post("/table", {"file": "people.csv", "unit": "column who", "account": "new"})
    assert came.status == 422
    assert "a folder in which budget.db is no link" in came.words
    assert not (tmp_path / "elsewhere.db").exists()


def test_a_server_of_one_table_opens_no_other(folder: Path) -> None:
    visitor = visit(str(folder / "people.csv"))
    assert visitor.get("/").headers["location"] == "/table"
    assert visitor.get("/tables").status == 404
    shown = visitor.get("/table?file=german.csv")
    assert "education_num" in shown.words
    assert "pay" not in shown.words
    assert visitor.post("/table", {"file": "german.csv", "unit": "column who"}).status == 303
    assert visitor.pages.site.source == str(folder / "people.csv")


def test_choosing_shows_names_of_columns_alone(visitor: Visitor) -> None:
    shown = visitor.get("/table?file=people.csv").words
    assert "2 columns" in shown
    assert "education_num" in shown
    assert "399" not in shown


def test_a_unit_has_to_be_chosen(visitor: Visitor) -> None:
    for unit in ("", "who", "column nobody"):
        came = visitor.post("/table", {"file": "people.csv", "unit": unit})
        assert came.status == 422
        assert "This is needed" in came.text.partition('id="unit-error"')[2].partition("</p>")[0]
    assert visitor.pages.site.unit is None


def test_each_row_may_be_another_person(visitor: Visitor) -> None:
    chosen(visitor, unit="rows")
    assert visitor.pages.site.unit is dps.ROWS
    assert "protecting each table row" in visitor.get("/").words
    answer = visitor.release("histogram", **COMMON | {"epsilon": "20"})
    assert "units (table row)" in answer.words
    assert visitor.pages.answered[0].result.value[:2] == [25, 25]


def test_how_the_file_is_written_is_said_on_the_page(visitor: Visitor) -> None:
    said = visitor.get("/table?file=german.csv").words
    assert "It looks separated by semicolons. If it is, declare the format: set 'delimiter' to 'semicolon' and" in said
    assert "for files that a program wrote. Nothing was charged. " in said
    declared = "&delimiter=%3B&decimal=%2C&thousands=."
    assert "3 columns" in visitor.get(f"/table?file=german.csv{declared}").words
    wrong = visitor.get("/table?file=german.csv&decimal=%2C&thousands=%2C").text
    assert "Expected a mark different" in wrong.partition('id="decimal-error"')[2].partition("</p>")[0]
    chosen(visitor, "german.csv", delimiter=";", decimal=",", thousands=".")
    typed = {"column": "pay", "bounds.lower-end": "0", "bounds.upper-end": "2000", "epsilon": "50"}
    visitor.release("mean", **typed)
    release = visitor.pages.answered[0].result
    assert abs(release.value - 1000.5) < 10
    assert release.format == {"delimiter": ";", "decimal": ",", "thousands": "."}


def test_what_is_wrong_is_said_beside_its_field_in_words_of_the_page(visitor: Visitor) -> None:
    refused = 0
    for name in ("people.csv", "german.csv"):
        words = [each.name for each in dataclasses.fields(dps.Format)]
        for field in (*words, "unit", "account", "epsilon", "delta", "account_name"):
            for bad in ("", "x", "-1", "\0", "%d", "..", "utf-7", "account nobody", "x" * 2000):
                typed = {"file": name, "unit": "column who", "account": "new", field: bad}
                came = visitor.post("/table", typed)
                said = re.findall(r'<p class="error" id="[a-z_]+-error">([^<]+)</p>', came.text)
                assert came.status in (303, 422), (field, bad)
                assert bool(said) == (came.status == 422), (field, bad)
                refused += bool(said)
                assert not any(map(FOREIGN.search, said)), said
    assert refused > 100


def test_a_ledger_is_kept_in_the_folder_if_one_is_wanted(visitor: Visitor, folder: Path) -> None:
    chosen(visitor)
    assert not (folder / "budget.db").exists()
    new = {"account": "new", "epsilon": "1", "delta": "1e-6", "account_name": "people"}
    chosen(visitor, **new)
    visitor.release("histogram", **COMMON | {"epsilon": "0.75"})
    ledger = dps.Ledger(f"sqlite:///{folder / 'budget.db'}")
    assert float(ledger.account("people").spent) == 0.75
    assert ledger.account("people").set_aside_left == 1e-6
    shown = visitor.get("/table?file=people.csv").words
    assert "Account people: epsilon 0.25 is left" in shown
    again = visitor.post("/table", {"file": "people.csv", "unit": "column who", **new})
    assert again.status == 422
    chosen(visitor, account="account people")
    assert (
        "Refused: account 'people' has epsilon=0.25 left of 1.0; this would cost 0.5."
        in visitor.post("/ask/histogram/plan", COMMON | {"epsilon": ".5"}).words
    )
    other = visitor.post("/table", {"file": "people.csv", "unit": "rows", "account": "account people"})
    assert "This account protects each who" in other.words


@pytest.mark.parametrize("epsilon", ["", "0", "-1", "x", "nan"])
def test_a_wrong_limit_opens_no_account(visitor: Visitor, folder: Path, epsilon: str) -> None:
    new = {"account": "new", "epsilon": epsilon, "account_name": "people"}
    came = visitor.post("/table", {"file": "people.csv", "unit": "column who", **new})
    assert came.status == 422
    assert "Expected" in came.text.partition('id="epsilon-error"')[2].partition("</p>")[0]
    assert visitor.pages.site.unit is None
    ledger = folder / "budget.db"
    assert not ledger.exists() or dps.Ledger(f"sqlite:///{ledger}").accounts() == []


def test_a_form_of_another_table_is_refused(visitor: Visitor) -> None:
    chosen(visitor)
    page = visitor.get("/ask/histogram").text
    site = page.partition('name="site" value="')[2].partition('"')[0]
    form = COMMON | {"site": site}
    address = visitor.confirm("histogram", **form)
    chosen(visitor, "a[1].csv")
    refused = visitor.submit("/ask/histogram/confirm", form)
    assert "Another table was chosen meanwhile" in refused.words
    assert "people.csv , protecting each who" in visitor.get(address).words  # what was confirmed is still about its own
    visitor.post(address)
    visitor.pages.asked[address.rpartition("/")[2]].wait(30)
    assert visitor.get(address).status == 200
    assert visitor.pages.answered == []  # the report is about the table of now
    chosen(visitor, account="new", epsilon="1")
    assert len(visitor.pages.answered) == 1  # whatever account pays


def meet_a_lock() -> None:
    """What the pages say of a table that nobody may read any more; the superuser may, and becomes nobody first."""
    with tempfile.TemporaryDirectory() as name:
        table = Path(name, "people.csv")
        table.write_text("who,education_num\n" + "".join(f"{each},{each % 16 + 1}\n" for each in range(400)))
        visitor = chosen(visit(folder=name), account="new", epsilon="1", account_name="people")
        visitor.release("histogram", **COMMON | {"epsilon": "0.5"})  # so that all is imported that nobody may read
        address = visitor.confirm("histogram", **COMMON | {"epsilon": "0.5"})
        if os.geteuid() == 0:
            for each in (name, *Path(name).iterdir()):
                os.chown(each, NOBODY, NOBODY)
            os.setuid(NOBODY)
        table.chmod(0)
        visitor.post(address)
        visitor.pages.asked[address.rpartition("/")[2]].wait(30)
        print(visitor.get(address).words)
        print(visitor.get("/table?file=people.csv").words)
        with dps.Ledger(f"sqlite:///{name}/budget.db") as ledger:
            print(ledger.remaining("people"))
        table.chmod(0o600)
        visitor.post(address)
        visitor.pages.asked[address.rpartition("/")[2]].wait(30)
        print(visitor.get(address).words)


def test_a_table_that_is_locked_while_it_is_asked_is_said_in_a_sentence_and_costs_nothing(forks: Forks) -> None:
    locked, chosen_again, left, answered = forks.run(meet_a_lock).splitlines()
    said = "The table cannot be read: expected a file that can be opened. Nothing was charged."
    assert f"No answer {said} Try again" in locked
    assert said in chosen_again
    assert left == "0.5"
    assert "Charged to account people as entry 2." in answered


def test_a_table_that_vanishes_is_said_in_a_sentence(visitor: Visitor, folder: Path) -> None:
    chosen(visitor)
    address = visitor.confirm("histogram", **COMMON)
    (folder / "people.csv").unlink()
    visitor.post(address)
    visitor.pages.asked[address.rpartition("/")[2]].wait(30)
    assert "Nothing was read or charged" in visitor.get(address).words
    visitor.pages.site._known.clear()  # what is remembered for half a second
    plan = visitor.get("/ask/histogram")
    assert plan.status == 400
    assert "There is no such table in this folder." in plan.words

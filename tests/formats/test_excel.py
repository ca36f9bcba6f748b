"""Excel files: one sheet, each cell by its own type, and what is refused."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable
from datetime import date, datetime, time
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import openpyxl
import pytest
from openpyxl.utils.datetime import CALENDAR_MAC_1904

import dpselect as dps
from dpselect import Format
from dpselect import verify as check
from dpselect.cli import main
from dpselect.errors import InvalidDataError, InvalidParameterError, MissingExtraError
from dpselect.rows import library_files
from tests.formats.reading import counts, numbers

Rows = list[list[Any]]
ROWS: Rows = [["unit", "value"], [1, 7], [2, 7.0], [3, "7"], [4, 8.5]]


def book(path: Path, rows: Rows, *, shown_as: str = "General", epoch: Any = None, more: tuple[str, ...] = ()) -> Path:
    """A workbook with the sheet ``Sales`` and empty other ones; numbers are displayed as given."""
    made = openpyxl.Workbook()
    made.epoch = epoch or made.epoch
    sheet = made.active
    assert sheet is not None
    sheet.title = "Sales"
    for row in rows:
        sheet.append(row)
    for cells in sheet.iter_rows(min_row=2, min_col=2, max_col=2):
        for cell in cells:
            if shown_as != "General":
                cell.number_format = shown_as
    for name in more:
        made.create_sheet(name)
    made.save(path)
    return path


def of(values: list[Any]) -> Rows:
    return [["unit", "value"], *([unit, value] for unit, value in enumerate(values))]


def test_cells_are_read_by_type_and_not_by_display(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", of([1234, 0.5, -7, "1e2"]), shown_as='"$"#,##0')
    assert numbers(path, None, bounds=(-10, 2000)) == [-7, 0.5, 100, 1234]
    assert counts(path, [1234, -7, 100], None) == [1, 1, 0]
    path = book(tmp_path / "t.xlsx", of(["$1,234", 5]))
    assert numbers(path, None, bounds=(0, 2000)) == [5]
    assert numbers(path, Format(strip="$", thousands=","), bounds=(0, 2000)) == [5, 1234]


def test_dates(tmp_path: Path) -> None:
    found = [
        date(2026, 12, 24),
        datetime(2026, 12, 24),
        datetime(2026, 12, 24, 13, 45),
        "2026-12-24",
        time(3, 4),
        46380,
    ]
    path = book(tmp_path / "t.xlsx", of([*found]))
    assert counts(path, [date(2026, 12, 24)], None) == [3]
    assert counts(path, [46380], None) == [1]
    path = book(tmp_path / "t.xlsx", of([date(2026, 12, 24)]), epoch=CALENDAR_MAC_1904)
    assert counts(path, [date(2026, 12, 24)], None) == [1]
    path = book(tmp_path / "t.xlsx", of([date(1900, 2, 28), date(1900, 3, 1), date(9999, 12, 31)]))
    assert counts(path, [date(1900, 2, 28), date(1900, 3, 1), date(9999, 12, 31)], None) == [1, 1, 1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("odd", [1e300, -1e300, -5, 0.5, 2_958_466, 1e10, "=1/0", "#N/A", None, True, "\x85"])
@pytest.mark.parametrize("display", ["General", "yyyy-mm-dd", "[h]:mm", "0.00%"])
def test_no_cell_changes_how_others_are_read_or_is_told(odd: Any, display: str, tmp_path: Path) -> None:
    rows = of([1.5, 1.5, 1.5])
    path = book(tmp_path / "t.xlsx", rows, shown_as="0.0")
    assert numbers(path, None, bounds=(0, 9)) == [1.5] * 3
    made = openpyxl.load_workbook(path)
    made["Sales"].append([99, odd, odd, odd])
    made["Sales"]["B5"].number_format = display
    made.save(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = numbers(path, None, bounds=(0, 9))
    assert len(found) in (3, 4)
    assert found.count(1.5) == 3


def rewritten(path: Path, old: str, new: str) -> Path:
    """The workbook with another text in its sheet, as no spreadsheet writes it."""
    with ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    assert parts[sheet].decode().count(old) == 1
    parts[sheet] = parts[sheet].replace(old.encode(), new.encode())
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


CELL = '<c r="B4" t="n"><v>4242</v></c>'
"""One that stands once in the sheet."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "cell",
    [
        '<c r="B4"><v>nan</v></c>',
        '<c r="B4"><v>x9</v></c>',
        f'<c r="B4"><v>{"9" * 5000}</v></c>',
        '<c r="B4" t="d"><v>2026-99-99</v></c>',
        '<c r="B4" t="s"><v>99999</v></c>',
        '<c r="B4" t="b"><v>maybe</v></c>',
        '<c r="B4" s="77777"><v>7</v></c>',
        '<c r="ZZZZZZ4"><v>7</v></c>',
    ],
)
def test_a_cell_that_cannot_be_converted_is_empty(cell: str, tmp_path: Path) -> None:
    """It decides neither whether there is an answer nor what other cells are."""
    path = book(tmp_path / "t.xlsx", of([1.5, 1.5, 4242, 1.5]))
    assert sorted(numbers(path, None, bounds=(0, 9))) == [1.5, 1.5, 1.5, 9.0]
    assert numbers(rewritten(path, CELL, cell), None, bounds=(0, 9)) in ([1.5] * 3, [1.5] * 3 + [7.0])


def test_a_time_of_day_that_is_written_as_text_is_that_text(tmp_path: Path) -> None:
    path = rewritten(book(tmp_path / "t.xlsx", of(["x", "y", 4242])), CELL, '<c r="B4" t="d"><v>09:30:00</v></c>')
    assert counts(path, ["09:30:00", "x"], None) == [1, 1]


@pytest.mark.parametrize("epoch", [None, CALENDAR_MAC_1904])
def test_the_last_moment_of_all_is_no_error(epoch: Any, tmp_path: Path) -> None:
    """In the column, in the unit and in a group: a part of a second before the year 10000."""
    last = 2_958_465.999999965 - (0 if epoch is None else 1462)
    rows = [["unit", "value", "part"], [1, date(2026, 12, 24), "a"], [2, last, last], [last, date(2026, 12, 24), "a"]]
    path = book(tmp_path / "t.xlsx", rows, shown_as="yyyy-mm-dd", epoch=epoch)
    made = openpyxl.load_workbook(path)
    for place in ("A4", "C3"):
        made["Sales"][place].number_format = "yyyy-mm-dd"
    made.save(path)
    assert counts(path, [date(2026, 12, 24)], None) == [2]


def test_rows_that_are_missing_are_not_gone_through(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", of([1.5, 1.5, 4242]))
    for last in ("4", "1000000", "2000000000000"):
        path = rewritten(path, '<row r="4">', f'<row r="{last}">')
        assert len(numbers(path, None, bounds=(0, 9))) == 3
        path = rewritten(path, f'<row r="{last}">', '<row r="4">')


def test_truth_values_and_units(tmp_path: Path) -> None:
    path = book(
        tmp_path / "t.xlsx", [["unit", "value"], ["ann", True], [" ann ", True], [7, False], [7.0, True], ["7", True]]
    )
    assert counts(path, [True, False], None) == [2, 1]


def test_blank_rows_are_no_rows_and_columns_without_a_name_no_columns(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", [[None, "unit", "", "value"], [9, 1, 2, 3], [], [None, 2, None, 3], [None] * 9])
    checked = dps.check(path, "value", unit="unit", bounds=(0, 9))
    assert (checked.rows, checked.usable_rows, checked.units) == (2, 2, 2)


@pytest.mark.parametrize("more", [(), ("Other",)])
def test_the_sheet_is_chosen(more: tuple[str, ...], tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", ROWS, more=more)
    assert counts(path, [7], Format(sheet="Sales")) == [3]
    with pytest.raises(InvalidDataError, match=r"^sheet='sales': expected the name of a sheet"):
        counts(path, [7], Format(sheet="sales"))
    if more:
        with pytest.raises(InvalidDataError, match=r"2 sheets that are visible\. Declare the name of one: sheet="):
            counts(path, [7], None)
    else:
        assert counts(path, [7], None) == [3]


def test_hidden_sheets_are_not_asked_unless_they_are_named(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", ROWS, more=("Notes",))
    made = openpyxl.load_workbook(path)
    made["Notes"].sheet_state = "hidden"
    made.save(path)
    assert counts(path, [7], None) == [3]
    with pytest.raises(InvalidDataError, match="names of at least two columns in its first row"):
        counts(path, [7], Format(sheet="Notes"))


@pytest.mark.parametrize("above", [[], [["Sales of May", None, 7]], [["Sales"], [], ["unit", "value"], [9, 7]]])
def test_rows_above_the_header_are_left_out(above: Rows, tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", [*above, *ROWS])
    assert counts(path, [7], Format(header_row=len(above) + 1)) == [3]
    at = len(above) + 7
    with pytest.raises(
        InvalidDataError, match=rf"two columns in row {at}, a unit and a value\. Rows are counted from 1"
    ):
        counts(path, [7], Format(header_row=at))
    with pytest.raises(InvalidDataError, match=r"in its first row.*say in which row they are: header_row=2\."):
        counts(book(tmp_path / "titled.xlsx", [["Sales of May"], *ROWS]), [7], None)


def test_the_certificate_names_the_sheet(tmp_path: Path) -> None:
    data = dps.Dataset(book(tmp_path / "t.xlsx", ROWS), unit="unit", format=Format(sheet="Sales"))
    release = data.median("value", bounds=(0, 10), step=1, epsilon=50.0)
    assert release.to_dict()["format"] == {"sheet": "Sales"}
    assert check(release.to_json()).release == release


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(book(tmp_path / "t.xlsx", ROWS, more=("Other",)))
    asked = [
        "median",
        path,
        "value",
        "--unit",
        "unit",
        "--bounds",
        "0",
        "10",
        "--step",
        "1",
        "--epsilon",
        "50",
        "--quiet",
    ]
    assert main(asked) == 2
    assert "Declare the name of one: --sheet NAME." in capsys.readouterr().err
    assert main([*asked, "--sheet", "Sales"]) == 0
    assert capsys.readouterr().out == "7\n"
    assert main(["columns", path, "--sheet", "Sales"]) == 0
    assert capsys.readouterr().out == "unit\nvalue\n"


@pytest.mark.parametrize(
    ("format", "said"),
    [
        ({"delimiter": ";"}, "expected nothing for an Excel workbook"),
        ({"encoding": "latin-1"}, "expected nothing for an Excel workbook"),
        ({"decimal": ","}, "expected nothing for an Excel workbook"),
    ],
)
def test_words_of_text_files_are_refused(format: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", ROWS)
    with pytest.raises(InvalidDataError, match=said):
        counts(path, [7], Format(**format))


def test_a_sheet_is_only_of_a_workbook(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("unit,value\n1,7\n")
    with pytest.raises(InvalidDataError, match="expected nothing for a CSV file"):
        counts(tmp_path / "t.csv", [7], Format(sheet="Sales"))
    for name in ("", "x" * 32, "a\nb", 5):
        with pytest.raises(InvalidParameterError, match=r"^sheet="):
            Format(sheet=name)  # type: ignore[arg-type]


_BESIDE = (
    b'<extLst><ext uri="{CCE6A557-97BC-4b89-ADB6-D9C93CAAB3DF}"/></extLst>'
    b'<dataValidations><dataValidation type="none such"/></dataValidations></worksheet>'
)


@pytest.mark.filterwarnings("error")
def test_what_stands_beside_the_rows_is_not_read(tmp_path: Path) -> None:
    """openpyxl warns of some of it, and stops at the rest."""
    made = openpyxl.Workbook()
    sheet = made.active
    assert sheet is not None
    for row in ROWS:
        sheet.append(row)
    made.create_chartsheet("Chart")
    made.save(tmp_path / "t.xlsx")
    changed: dict[str, Callable[[bytes], bytes]] = {
        "xl/worksheets/sheet1.xml": lambda part: part.replace(b"</worksheet>", _BESIDE),
        "xl/styles.xml": lambda part: re.sub(b"<cellStyles.*</cellStyles>", b"", part),
        "docProps/core.xml": lambda _: b"none",
        "xl/theme/theme1.xml": lambda _: b"none",
    }
    with ZipFile(tmp_path / "t.xlsx") as old, ZipFile(tmp_path / "new.xlsx", "w") as new:
        for name in old.namelist():
            new.writestr(name, changed.get(name, bytes)(old.read(name)))
    assert numbers(tmp_path / "new.xlsx", None, bounds=(0, 10)) == [7, 7, 7, 8.5]
    with pytest.raises(InvalidDataError, match="the name of a sheet of the workbook"):
        dps.Dataset(tmp_path / "new.xlsx", unit="unit", format=Format(sheet="Chart"))


def test_large_workbooks_are_refused_by_their_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = book(tmp_path / "t.xlsx", ROWS)
    with ZipFile(path, "a", ZIP_DEFLATED) as parts:
        parts.writestr("xl/worksheets/more.xml", b"\0" * (1 << 20))
    assert path.stat().st_size < 1 << 16
    assert counts(path, [7], None) == [3]
    monkeypatch.setattr(library_files, "MOST_BYTES", 1 << 20)
    with pytest.raises(InvalidDataError, match="parts take at most 1 MiB uncompressed"):
        counts(path, [7], None)


def test_files_that_cannot_be_read_are_refused_in_a_line(tmp_path: Path) -> None:
    whole = book(tmp_path / "t.xlsx", ROWS).read_bytes()
    path = tmp_path / "other.xlsx"
    for content in (b"unit,value\n1,7\n", b"\xd0\xcf\x11\xe0" + bytes(600), b"", whole[:-30], whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(InvalidDataError, match=r"^source=[^\n]*$"):
            counts(path, [7], None)
    with ZipFile(path, "w") as parts:
        parts.writestr("something.txt", "else")
    with pytest.raises(InvalidDataError, match="an Excel workbook that can be read to its end"):
        counts(path, [7], None)
    for header in ([["unit"]], [["unit", "unit"]], [], [[None, None]]):
        with pytest.raises(InvalidDataError, match="columns"):
            counts(book(path, header), [7], None)


def test_a_workbook_that_was_replaced_is_refused(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", ROWS)
    data = dps.Dataset(path, unit="unit")
    book(path, [["unit", "price", "value"], [1, 7, 7]])
    with pytest.raises(InvalidDataError, match="was changed while it was read"):
        data.most_common("value", candidates=[7, 8], epsilon=1.0)


def test_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = book(tmp_path / "t.xlsx", ROWS)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match="Excel files: this needs the extra 'excel'"):
        counts(path, [7], None)

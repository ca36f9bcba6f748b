"""What a check says: exact numbers in sentences, with the first cells that do not count, and options that help.

An option is only said to help if with it every number, or date, of the column is read, and none as something else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from dpselect.errors import InvalidCandidatesError, InvalidParameterError
from dpselect.formats import Format
from dpselect.questions.words import counted
from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import pa
from dpselect.rows.duckdb.cells import as_read, compared
from dpselect.rows.duckdb.scan import Source
from dpselect.rows.inspect import SHOWN, ColumnCells, Inspection, Sought, Written
from dpselect.rows.row_rules import MISSING
from dpselect.summaries import CandidateKind, PublicCandidates

WARNING = (
    "For the holder of the data only: these numbers are exact, and cells are shown as they stand in the table. Acting"
    " on them is outside the guarantee: choose candidates, bounds and epsilon without them."
)
FEW_UNITS = 20
_LARGE = 0.05
"""Share of the rows, from which on a unit is looked at."""
_RARE = 0.03
"""Units that are written unlike all others are at most this share of them."""
_GAP = "[ \u00a0\u202f]?"
_SYMBOL = "([A-Za-z]{0,3}[$€£¥₹₽₩₺₪₫%‰]|EUR|USD|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|CZK|kr|zł)"
_NUMBER = re.compile(
    f"[+-]?{_SYMBOL}?{_GAP}[+-]?(?:[0-9]+(?:[.,'’_ \u00a0\u202f][0-9]+)*[.,]?|[.,][0-9]+)"
    f"(?:[eE][+-]?[0-9]+)?{_GAP}{_SYMBOL}?"
)
_READ = {
    CandidateKind.NUMBER: re.compile(r"[ \t]*[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?[ \t]*"),
    CandidateKind.INTEGER: re.compile("[ \t]*[+-]?[0-9]+[ \t]*"),
}
_MARKS: tuple[Mapping[str, Any], ...] = (
    {},
    {"thousands": ","},
    {"decimal": ","},
    {"thousands": ".", "decimal": ","},
    {"thousands": " "},
    {"thousands": " ", "decimal": ","},
    {"thousands": "'"},
    {"thousands": "_"},
)
_DATES = (
    *("%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y", "%Y/%m/%d", "%d.%m.%Y", "%d.%m.%y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%d-%b-%Y", "%d %b %Y", "%Y%m%d"),
)
_OF_DATES: tuple[Mapping[str, Any], ...] = (
    {"as_date": True},
    *({"date_format": each} for each in _DATES),
    *({"date_format": each, "as_date": True} for each in _DATES),
)
_OF_TEXT: tuple[Mapping[str, Any], ...] = ({"trim": True}, {"ignore_case": True}, {"trim": True, "ignore_case": True})
_CALLED = {
    CandidateKind.NUMBER: "number",
    CandidateKind.INTEGER: "whole number",
    CandidateKind.DATE: "date",
    CandidateKind.BOOLEAN: "true or false",
}
_MISSING = re.compile(f"(?i:|n[./]?a[.]?|#n/a|nil|missing|unknown|not available|undefined|{'|'.join(MISSING)})|[-?.]+")
_QUOTE = re.compile("[A-Za-z0-9./:%_-]{2,}")


def printable(name: str) -> str:
    """The name of a column on one line."""
    return name if name.isprintable() else repr(name)


def missing_candidates(candidates: PublicCandidates, places: Sequence[int]) -> str:
    """A sentence about candidates that no row has."""
    listed = ", ".join(_short(candidates[place]) for place in places[:10])
    more = f", and {len(places) - 10:,} more" if len(places) > 10 else ""
    return f"{len(places):,} of {len(candidates):,} occur in no row: {listed}{more}."


class CheckSentences:
    """The sentences about what was found.

    Args:
        found: the numbers.
        unit: what sentences call the unit.
        sought: the columns, that of the question first.
        format: as it was declared.
        source: what was read: it says where rows stand.
        ends: how to say that a number is below and above the two of the question, and what comes of it.
    """

    def __init__(
        self,
        found: Inspection,
        unit: str,
        sought: Sequence[Sought],
        format: Format | None,
        source: Source,
        ends: tuple[str, str, str],
    ) -> None:
        self._found, self._unit, self._sought, self._ends = found, printable(unit), sought, ends
        self._words: dict[str, Any] = {} if format is None else dict(format.words)
        self._source = source
        self.suggested: dict[str, Any] = {}
        self.options: dict[str, str] = {}

    def _named(self, python: str, **words: Any) -> str:
        """The words as Python has them: how the command line does is kept in `options`, quoted for a shell."""
        given = ((f"--{name.replace('_', '-')}", value) for name, value in words.items())
        self.options[python] = " ".join(
            name if value is True else f"{name} {_quoted(str(value))}" for name, value in given
        )
        return python

    def _format_of(self, words: Mapping[str, Any]) -> str:
        return self._named(f"Format({', '.join(f'{name}={value!r}' for name, value in words.items())})", **words)

    def sentences(self) -> Iterator[str]:
        """All of them."""
        yield from self._of_units()
        every = list(zip(self._sought, self._found.columns, strict=True))
        merged, are_clear = dict(self._words), True
        for at, (sought, cells) in enumerate(every):
            name = f"{printable(sought.column.name)}: " if at else ""
            yield from (f"{name}{each}" for each in self._of_cells(sought, cells))
            unread = self._worth_reading(sought, cells)
            ways = self._ways(sought, unread, _read_in(cells))
            kept = [each for each in ways if all(self._reads(*other, each) for other in _others(every, at))]
            if not kept:
                said = "What would read them reads another column as something else." if ways else ""
                yield from (f"{name}{each}" for each in filter(None, [said or self._otherwise(sought, cells, unread)]))
                continue
            first, *others = kept
            merged |= first
            are_clear &= not others
            also = f" Or {' or '.join(map(self._format_of, others))}: the cells do not tell." if others else ""
            dots = first.get("thousands") == "." and any("." in each for each in _read_in(cells))
            then = "and 1.234 as 1234" if dots else "all others as now"
            more = counted(sum(unread.values()), "more row")
            yield f"{name}Try {self._format_of(first)}: with it {more} can count, {then}.{also}"
        if merged != self._words and are_clear:
            self.suggested = merged

    def _of_units(self) -> Iterator[str]:
        found, unit = self._found, self._unit
        if found.left_out:
            count = len(found.left_out)
            yield (
                f"{count:,} of {found.rows + count:,} lines are no rows: another number of fields than the first line,"
                f" or quotes that do not pair up{self._lines(found.left_out[:SHOWN])}"
            )
        if not found.rows:
            yield "The table has no rows."
            return
        for each in found.nobody:
            what = f"have no {unit}" if each.text is not None else f"have no {unit} that can be read"
            yield f"{_share(each.rows, found.rows)} {what}: they do not count{self._shown(each)}"
        if 0 < found.units <= FEW_UNITS and found.rows >= 10 * found.units:
            are = "is" if found.units == 1 else "are"
            yield f"There {are} only {counted(found.units, 'unit')}. Is {unit} whose a row is?"
        elif found.usable_units <= FEW_UNITS and found.rows >= 10 * max(1, found.usable_units):
            few = f"Only {counted(found.usable_units, 'unit')}" if found.usable_units else "No unit"
            yield f"{few} will take part: the answer would be mostly noise."
        elif found.largest.rows > max(FEW_UNITS, _LARGE * found.rows, 10 * found.rows / found.units):
            same = f"{_share(found.largest.rows, found.rows)} have the same {unit}{self._shown(found.largest)}"
            yield f"{same} They count as one person: is it one?"
        if found.words.rows:
            words = self._shown(found.words)
            yield f"{_share(found.words.rows, found.rows)} have a word for {unit} that may mean nobody{words}"
        unlike, units = found.unlike
        if 0 < units <= _RARE * found.units:
            rows = _share(unlike.rows, found.rows)
            yield f"{rows} have a {unit} that is written unlike all others{self._shown(unlike)}"
        count, pairs = found.alike
        if count:
            both = ", ".join(" and ".join(self._cell(*cell) for cell in pair) for pair in pairs)
            may = "may be the same as another one, written in another way, and count beside it"
            yield f"{counted(count, 'unit')} {may}: {both}."

    def _of_cells(self, sought: Sought, cells: ColumnCells) -> Iterator[str]:
        owned = self._found.rows - sum(each.rows for each in self._found.nobody)
        reasons = dict[str, list[Written]]()
        for each in cells.written:
            if each.state == 2 or (each.state == 1 and sought.listed is not None):
                reasons.setdefault(self._reason(sought, each), []).append(each)
        for reason, some in sorted(reasons.items(), key=lambda item: -sum(each.rows for each in item[1])):
            yield f"{_share(sum(each.rows for each in some), owned)}: {reason}{self._shown(*some)}"
        if rest := owned - sum(each.rows for each in cells.written):
            yield f"{_share(rest, owned)} are written in still other ways, which are too many to tell apart."
        if sought.between is not None:
            beyond = sum(each.rows for each in cells.written if each.state == 1)
            if beyond:
                yield f"{_share(beyond, owned)} are not between the two numbers, and do not count."
        lower, upper, then = self._ends
        for rows, where in ((cells.below, f"below {lower}"), (cells.above, f"above {upper}")):
            if rows:
                yield f"{_share(rows, owned)} are {where}, {then}."
        if sought.listed is not None and cells.missing and not sought.is_range:
            yield missing_candidates(sought.listed, cells.missing)

    def _reason(self, sought: Sought, written: Written) -> str:
        text = written.text
        if text is None:
            if self._source.lines([row for _, row in written.cells]):
                return "text that cannot be read, or quotes inside a cell"
            is_text = sought.column.holds in (Holds.ANYTHING, Holds.TEXT)
            return "nothing, or an object, a list or a time" if is_text else "nothing"
        if _MISSING.fullmatch(text.strip()):
            return "nothing, or a word for a missing value"
        if sought.kind is CandidateKind.TEXT or written.state == 1:
            return "a value that is not listed"
        return f"no {_CALLED[sought.kind]} as it is written here"

    def _worth_reading(self, sought: Sought, cells: ColumnCells) -> dict[str, int]:
        """The cells that do not count, but look as if they were meant to, and how many rows have each."""
        state = 1 if sought.kind is CandidateKind.TEXT else 2
        found = {each.text: each.rows for each in cells.written if each.state == state and each.text}
        found = {text: rows for text, rows in found.items() if not _MISSING.fullmatch(text.strip())}
        if sought.kind is CandidateKind.TEXT:
            listed = {_alike(each) for each in _listed(sought)}
            return {text: rows for text, rows in found.items() if _alike(text) in listed}
        if sought.column.holds is not Holds.ANYTHING:
            return {}
        looks = {CandidateKind.DATE: re.compile(".*[0-9].*", re.DOTALL)}.get(sought.kind, _NUMBER)
        return {text: rows for text, rows in found.items() if looks.fullmatch(text.strip())}

    def _ways(self, sought: Sought, unread: Iterable[str], read: Sequence[str]) -> list[Mapping[str, Any]]:
        """The words of a format with which all of these cells are read; the fewest that do."""
        every = list(unread) if sought.kind is CandidateKind.TEXT else [*unread, *read]
        tried = {CandidateKind.TEXT: _OF_TEXT, CandidateKind.DATE: _OF_DATES}.get(sought.kind, _MARKS)
        if sought.kind in _READ:
            stripped = str(self._words.get("strip", ""))
            symbols = {_symbol(each, stripped) for each in every}
            if len(symbols) != 1:  # no option makes numbers with a symbol mean the same as others
                return []
            strip = {"strip": stripped + symbol} if (symbol := symbols.pop()) else {}
            tried = [{k: v for k, v in {**each, **strip}.items() if self._words.get(k) != v} for each in tried]
        ways = [each for each in tried if unread and each and self._all_read(sought, every, each)]
        return [each for each in ways if not any(other.items() < each.items() for other in ways)]

    def _otherwise(self, sought: Sought, cells: ColumnCells, unread: Mapping[str, int]) -> str:
        """What helps where no option does."""
        kind, read = sought.kind, _read_in(cells)
        dots = [each for each in read if "." in each]
        if all(re.fullmatch("[+-]?[0-9]{1,3}[.]000", each) for each in dots) and dots and not (unread or self._words):
            as_thousands = self._format_of({"thousands": ".", "decimal": ","})
            return f"All dots stand before three digits. If they are between thousands: {as_thousands}."
        if not unread:
            return ""
        if kind is CandidateKind.INTEGER:
            as_numbers = self._named("list one that is not whole, too", candidates_as="number")
            return f"Numbers that are not whole match candidates only as numbers: {as_numbers}."
        if kind is CandidateKind.DATE and all(re.fullmatch("[2-7][0-9]{4}([.][0-9]+)?", each) for each in unread):
            return "They look like a spreadsheet's numbers for dates. Give the column the format yyyy-mm-dd there."
        if kind is not CandidateKind.TEXT:
            return "No option makes all of them mean the same. Write them in one way first."
        listed = {_alike(each): each for each in _listed(sought)}
        some = ", ".join(f"{_short(cell)} for {_short(listed[_alike(cell)])}" for cell in list(unread)[:SHOWN])
        are_whole = all(re.fullmatch("0|[1-9][0-9]*", each) for each in listed.values())
        if not (are_whole and all(re.fullmatch(" *[0-9]+([.]0*)? *", each) for each in unread)):
            return f"Candidates are written in another way, such as {some}: give them as they are written."
        as_numbers = self._named("candidates of type int", candidates_as="integer")
        return f"Candidates are written as another number, such as {some}. Both are read alike with {as_numbers}."

    def _reads(self, sought: Sought, cells: ColumnCells, words: Mapping[str, Any]) -> bool:
        """Whether what is read now is read then, too, and a list is still one of different values."""
        if sought.kind is CandidateKind.TEXT:
            return (format := self._format(words)) is not None and bool(_compared(sought, format))
        is_text = sought.kind in _READ and sought.column.holds is Holds.ANYTHING
        return not is_text or self._all_read(sought, _read_in(cells), words)

    def _format(self, words: Mapping[str, Any]) -> Format | None:
        try:
            return Format(**{**self._words, **words})
        except InvalidParameterError:
            return None

    def _all_read(self, sought: Sought, cells: Iterable[str], words: Mapping[str, Any]) -> bool:
        if (format := self._format(words)) is None:
            return False
        is_text = sought.kind is CandidateKind.TEXT
        column = sought.column if is_text else Column(sought.column.name, Holds.ANYTHING)
        found = set(as_read(pa.array(cells, pa.large_string()), column, sought.kind, format).to_pylist())
        if is_text:
            return found <= _compared(sought, format)
        return all(each is not None and _is_read(each, sought.kind) for each in found)

    def _shown(self, *written: Written) -> str:
        """The first cells with their places, behind a sentence."""
        cells = sorted({row: text for each in written for text, row in each.cells}.items())[:SHOWN]
        if all(each.text is None for each in written):
            return self._lines([row for row, _ in cells])
        places = dict[str, list[str]]()
        for row, text in cells:
            if text.strip():
                places.setdefault(text, []).append(self._source.place(row))
        shown = [_short(text) + (f" ({', '.join(some)})" if all(some) else "") for text, some in places.items()]
        return f", such as {', '.join(shown)}." if shown else "."

    def _lines(self, rows: Sequence[int]) -> str:
        """Some lines, and what may help to read them."""
        found = self._source.lines(rows)
        texts = [line.decode(errors="replace") for line in found]
        if not texts:
            return "."
        both = zip(rows, texts, strict=True)
        shown = ", ".join(f"{self._source.place(row)}: {_short(text)}" for row, text in both)
        help = ""
        if "encoding" not in self._words and any("\ufffd" in text for text in texts):
            help = f" If they are text of Windows: {self._format_of({'encoding': 'cp1252'})}."
        elif any('="' in text for text in texts):
            help = ' ="..." is a formula for spreadsheets: write the text alone.'
        elif "quoted_line_breaks" not in self._words and any(text.count('"') % 2 for text in texts):
            help = f" If line breaks stand inside quotes: {self._format_of({'quoted_line_breaks': True})}."
        return f", such as {shown}.{help}"

    def _cell(self, text: str, row: int) -> str:
        where = self._source.place(row)
        return f"{_short(text)} ({where})" if where else _short(text)


def _read_in(cells: ColumnCells) -> list[str]:
    return [each.text for each in cells.written if each.state != 2 and each.text]


def _others(every: Sequence[tuple[Sought, ColumnCells]], at: int) -> Iterator[tuple[Sought, ColumnCells]]:
    return (each for place, each in enumerate(every) if place != at)


def _listed(sought: Sought) -> list[str]:
    return [] if sought.listed is None else list(map(str, sought.listed.values))


def _compared(sought: Sought, format: Format) -> set[str | None]:
    """A list of text as cells are compared with it; nothing if it would not be one."""
    assert sought.listed is not None, "text is only compared with a list"
    try:
        return {str(each) for each in compared(sought.listed, format).values}
    except InvalidCandidatesError:
        return set()


def _symbol(number: str, stripped: str) -> str:
    """The symbol beside a number, without characters that are taken away already."""
    found = _NUMBER.fullmatch(number.strip())
    both = dict.fromkeys(filter(None, (found[1], found[2]))) if found else ()
    return "".join(each for symbol in both for each in symbol if each not in stripped)


def _is_read(text: str, kind: CandidateKind) -> bool:
    if kind in _READ:
        return _READ[kind].fullmatch(text) is not None
    try:
        date.fromisoformat(text.strip(" \t"))
    except ValueError:
        return False
    return True


def _alike(text: str) -> str:
    """Equal for texts that a person may take for the same."""
    text = " ".join(unicodedata.normalize("NFC", text).casefold().split())
    return re.sub("^0+(?=[0-9]+$)", "", re.sub("^([0-9]+)[.]0*$", r"\1", text))


def _short(value: object) -> str:
    text = str(value) if isinstance(value, date) else repr(value)
    text = text if unicodedata.is_normalized("NFC", text) else ascii(value)  # else two look alike
    return text if len(text) <= 60 else f"{text[:60]}..."


def _share(rows: int, of: int) -> str:
    return f"{rows:,} of {of:,} rows ({rows / of:.1%})"


def _quoted(text: str) -> str:
    if text == "." or _QUOTE.fullmatch(text):
        return text
    return f'"{text}"' if text == "'" else "'" + text.replace("'", "'\"'\"'") + "'"

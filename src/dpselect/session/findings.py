"""What a check says: exact numbers in sentences, with the first cells that do not count, and options that help.

An option is only said to help if with it every number, or date, of the column is read, and none as something else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from dpselect.errors import InvalidCandidatesError, InvalidParameterError
from dpselect.formats import Format
from dpselect.questions.question import counted
from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import pa
from dpselect.rows.duckdb.cells import as_read, compared
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
_MARKS: tuple[Mapping[str, str], ...] = (
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
_MISSING = f"(?i:|n[./]?a[.]?|#n/a|nil|missing|unknown|not available|undefined|{'|'.join(MISSING)})|[-?.]+"
_CALLED = (
    (
        "a minus sign that is none in ASCII; no option reads it: write -",
        ".*[\u2010-\u2015\u2212].*0.*",
    ),
    ("a limit and no number; no option reads it", "[<>≤≥~] ?=?.*0.*|.*0 ?[+]"),
    ("a time or a duration; no option reads it", "[0-9]+:[0-9]{1,2}(:.*)?"),
    ("a date", "[0-9]{4}-[0-9]{2}-[0-9]{2}.*|[0-9]{1,2}[/.-][0-9]{1,2}[/.-][0-9]{2,4}.*"),
    ("parentheses, often for a minus; no option reads them: write -", "[(].*0.*[)]"),
    ("a minus sign at the end; no option reads it: write it in front", ".*0.*-"),
    ("a number with text", ".*0.*"),
    ("text without a digit", ".*"),
)
"""What stands in place of a number that has its own way to be written. All digits are 0."""
_TRUE_OR_FALSE = (
    "yes no",
    "y n",
    "t f",
    "1 0",
    "on off",
    "ja nein",
    "j n",
    "oui non",
    "si no",
    "wahr falsch",
    "vrai faux",
)
_QUOTE = re.compile("[A-Za-z0-9./:%_-]{2,}")


def printable(name: str) -> str:
    """The name of a column on one line."""
    return name if name.isprintable() else repr(name)


def missing_candidates(candidates: PublicCandidates, places: Sequence[int]) -> str:
    """A sentence about candidates that no row has."""
    listed = ", ".join(_short(candidates[place]) for place in places[:10])
    more = f", and {len(places) - 10:,} more" if len(places) > 10 else ""
    return f"{len(places):,} of {len(candidates):,} occur in no row: {listed}{more}."


_Advice = tuple[list[dict[str, Any]], int, str]


class CheckSentences:
    """The sentences about what was found.

    Args:
        found: the numbers.
        unit: what sentences call the unit.
        sought: the columns, that of the question first.
        format: as it was declared.
        place: says where rows stand.
        ends: how to say that a number is below and above the two of the question, and what comes of it.
    """

    def __init__(
        self,
        found: Inspection,
        unit: str,
        sought: Sequence[Sought],
        format: Format | None,
        place: Callable[[Sequence[int], int], tuple[Mapping[int, tuple[str, bytes]], Sequence[tuple[str, bytes]]]],
        ends: tuple[str, str, str],
    ) -> None:
        self._found, self._unit, self._sought, self._ends = found, printable(unit), sought, ends
        self._words: dict[str, Any] = {} if format is None else dict(format.words)
        columns = [each for cells in found.columns for each in cells.written if each.state > 0]
        shown = [each.cells for each in (*found.nobody, found.words, found.unlike[0], found.largest)]
        rows = {row for cells in (*shown, *found.alike[1]) for _, row in cells}
        rows |= {row for each in columns[: 100 * SHOWN] for _, row in each.cells}
        self._at, self._others = place(sorted(rows), SHOWN if found.left_out else 0)
        self.suggested: dict[str, Any] = {}
        self.options: dict[str, str] = {}

    def _named(self, python: str, **words: Any) -> str:
        """The words as Python has them: how the command line does is kept in `options`, quoted for a shell."""
        given = ((f"--{name.replace('_', '-')}", value) for name, value in words.items())
        self.options[python] = " ".join(
            name if value is True else f"{name} {_quoted(str(value))}" for name, value in given
        )
        return python

    def _format_of(self, **words: Any) -> str:
        return self._named(f"Format({', '.join(f'{name}={value!r}' for name, value in words.items())})", **words)

    def sentences(self) -> Iterator[str]:
        """All of them."""
        yield from self._of_units()
        every = list(zip(self._sought, self._found.columns, strict=True))
        merged, are_clear = dict(self._words), True
        for at, (sought, cells) in enumerate(every):
            name = f"{printable(sought.column.name)}: " if at else ""
            yield from (f"{name}{each}" for each in self._of_cells(sought, cells))
            found, rows, otherwise = self._advice(sought, cells)
            ways = [each for each in found if all(self._keeps(*other, each) for other in every)]
            if ways:
                merged |= ways[0]
                are_clear &= len(ways) == 1
                also = " or ".join(self._format_of(**each) for each in ways[1:])
                others = f" Or {also}: the cells do not tell." if also else ""
                dots = ways[0].get("thousands") == "." and any(
                    "." in (e.text or "") for e in cells.written if not e.state
                )
                then = "and 1.234 as 1234" if dots else "all others as now"
                first = self._format_of(**ways[0])
                yield f"{name}Try {first}: with it {counted(rows, 'more row')} can count, {then}.{others}"
            elif found:
                yield f"{name}What would read them reads another column as something else."
            elif otherwise:
                yield f"{name}{otherwise}"
        if merged != self._words and are_clear:
            self.suggested = merged

    def _of_units(self) -> Iterator[str]:
        found, unit = self._found, self._unit
        if found.left_out:
            yield (
                f"{found.left_out:,} of {found.rows + found.left_out:,} lines are no rows: another number of fields"
                f" than the first line, or quotes that do not pair up{self._lines(self._others)}"
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
            if any(self._line(row) for _, row in written.cells):
                return "text that cannot be read, or quotes inside a cell"
            is_text = sought.column.holds in (Holds.ANYTHING, Holds.TEXT)
            return "nothing, or an object, a list or a time" if is_text else "nothing"
        text = text.strip()
        if re.fullmatch(_MISSING, text):
            return "nothing, or a word for a missing value"
        if sought.kind is CandidateKind.TEXT or written.state == 1:
            return "a value that is not listed"
        if sought.kind not in _READ:
            return f"no {'date' if sought.kind is CandidateKind.DATE else 'true or false'} as it is written here"
        if (found := _NUMBER.fullmatch(text)) is not None:
            symbol = found[1] or found[2]
            if sought.kind is CandidateKind.INTEGER and _READ[CandidateKind.NUMBER].fullmatch(text):
                return "a number that is not whole, or has an exponent"
            return f"a number with {symbol}" if symbol else "a number with marks that are not read"
        return next(called for called, pattern in _CALLED if re.fullmatch(pattern, text, re.DOTALL))

    def _advice(self, sought: Sought, cells: ColumnCells) -> _Advice:
        """Words of a format that read what is not read, in each way, and of how many rows; or else what helps."""
        unread = {each.text: each.rows for each in cells.written if each.state == 2 and each.text}
        unread = {text: rows for text, rows in unread.items() if not re.fullmatch(_MISSING, text.strip())}
        read = [each.text for each in cells.written if each.state != 2 and each.text]
        if sought.kind is CandidateKind.TEXT:
            others = {each.text: each.rows for each in cells.written if each.state == 1 and each.text}
            return self._of_texts(sought, others)
        if sought.column.holds is not Holds.ANYTHING:
            return [], 0, ""
        if sought.kind is CandidateKind.BOOLEAN:
            return [], 0, self._of_words(unread)
        if sought.kind in _READ:
            numbers = {text: rows for text, rows in unread.items() if _NUMBER.fullmatch(text.strip())}
            return self._of_numbers(sought, numbers, read)
        dates = {text: rows for text, rows in unread.items() if any(map(str.isdigit, text))}
        if sought.kind is not CandidateKind.DATE or not dates:
            return [], 0, ""
        tried: list[dict[str, Any]] = [{"as_date": True}, *({"date_format": each} for each in _DATES)]
        tried += [{"date_format": each, "as_date": True} for each in _DATES]
        ways = [each for each in tried if self._all_read(sought, (*dates, *read), each)]
        ways = [each for each in ways if not any(other.items() < each.items() for other in ways)]
        otherwise = "No option reads all of them."
        if all(re.fullmatch("[2-7][0-9]{4}([.][0-9]+)?", each) for each in dates):
            otherwise = "They look like a spreadsheet's numbers for dates. Give the column the format yyyy-mm-dd there."
        return ways, sum(dates.values()), otherwise

    def _of_numbers(self, sought: Sought, unread: Mapping[str, int], read: list[str]) -> _Advice:
        otherwise, ways = "", list[dict[str, Any]]()
        stripped = str(self._words.get("strip", ""))
        symbols = {_symbol(each, stripped) for each in (*unread, *read)}
        dots = [each for each in read if "." in each]
        if not unread:
            if dots and not self._words and all(re.fullmatch("[+-]?[0-9]{1,3}[.]000", each) for each in dots):
                otherwise = "All dots stand before three digits. If they are between thousands:"
                otherwise += f" {self._format_of(thousands='.', decimal=',')}."
        elif len(symbols) > 1:
            otherwise = f"Numbers with {', '.join(sorted(filter(None, symbols)))} stand beside others: no option makes"
            otherwise += " them mean the same. Write them in one way first."
        else:
            strip = {"strip": stripped + symbol} if (symbol := next(iter(symbols))) else {}
            tried = [{k: v for k, v in {**each, **strip}.items() if self._words.get(k) != v} for each in _MARKS]
            ways = [each for each in tried if each and self._all_read(sought, (*unread, *read), each)]
            ways = [each for each in ways if not any(other.items() < each.items() for other in ways)]
            otherwise = "No option reads all of these numbers: they are written in several ways."
            if sought.kind is CandidateKind.INTEGER:
                as_numbers = self._named("list one that is not whole, too", candidates_as="number")
                otherwise = f"Numbers that are not whole match candidates only as numbers: {as_numbers}."
        return ways, sum(unread.values()), otherwise

    def _of_texts(self, sought: Sought, others: Mapping[str, int]) -> _Advice:
        """ColumnCells that only differ from a candidate in how they are written."""
        assert sought.listed is not None, "text is only compared with a list"
        listed = [str(each) for each in sought.listed.values]
        alike = {_alike(each): each for each in listed}
        near = {each: alike[_alike(each)] for each in others if _alike(each) in alike}
        rows = sum(others[each] for each in near)
        for words in ({"trim": True}, {"ignore_case": True}, {"trim": True, "ignore_case": True}):
            if near and (format := self._format(words)) is not None and (become := _compared(sought, format)):
                cells = as_read(pa.array(near, pa.large_string()), sought.column, sought.kind, format)
                if set(cells.to_pylist()) <= become:
                    return [words], rows, ""
        named = ", ".join(f"{_short(cell)} for {_short(candidate)}" for cell, candidate in list(near.items())[:SHOWN])
        otherwise = f"Candidates are written in another way, such as {named}: give them as they are written."
        numbers = all(re.fullmatch("0|[1-9][0-9]*", each) for each in listed)
        if numbers and all(re.fullmatch(" *[0-9]+([.]0*)? *", cell) for cell in near):
            otherwise = f"Candidates are written as another number, such as {named}."
            otherwise += f" Both are read alike with {self._named('candidates of type int', candidates_as='integer')}."
        if not near and set(alike) <= {"true", "false"}:
            return [], 0, self._of_words(others)
        return [], rows, otherwise if near else ""

    def _of_words(self, unread: Iterable[str]) -> str:
        """What to do with other words for true and false; empty if these are none."""
        found = sorted({each.strip() for each in unread})
        if not found or not any({each.lower() for each in found} <= {*pair.split()} for pair in _TRUE_OR_FALSE):
            return ""
        listed = {"candidates": ",".join(found), "candidates_as": "text"}
        named = self._named(f"candidates={found!r}", **listed)
        return f"Only the words true and false are read so. Others are values like any text: {named}."

    def _keeps(self, sought: Sought, cells: ColumnCells, words: Mapping[str, Any]) -> bool:
        """Whether the numbers that are read now are read then, too, and a list is still one of different values."""
        if sought.kind is CandidateKind.TEXT:
            return (format := self._format(words)) is not None and bool(_compared(sought, format))
        read = [each.text for each in cells.written if each.state != 2 and each.text]
        is_text = sought.kind in _READ and sought.column.holds is Holds.ANYTHING
        return not is_text or self._all_read(sought, read, words)

    def _format(self, words: Mapping[str, Any]) -> Format | None:
        given: dict[str, Any] = {**self._words, **words}
        try:
            return Format(**given)
        except InvalidParameterError:
            return None

    def _all_read(self, sought: Sought, cells: Iterable[str], words: Mapping[str, Any]) -> bool:
        if (format := self._format(words)) is None:
            return False
        column = Column(sought.column.name, Holds.ANYTHING)
        found: list[str | None] = as_read(pa.array(cells, pa.large_string()), column, sought.kind, format).to_pylist()
        return all(each is not None and _is_read(each, sought.kind) for each in found)

    def _shown(self, *written: Written) -> str:
        """The first cells with their places, behind a sentence."""
        cells = sorted({row: text for each in written for text, row in each.cells}.items())[:SHOWN]
        if all(each.text is None for each in written) and any(self._line(row) for row, _ in cells):
            return self._lines([self._at[row] for row, _ in cells if row in self._at])
        places = dict[str, list[str]]()
        for row, text in cells:
            if text.strip():
                places.setdefault(text, []).append(self._at[row][0] if row in self._at else "")
        shown = [_short(text) + (f" ({', '.join(some)})" if all(some) else "") for text, some in places.items()]
        return f", such as {', '.join(shown)}." if shown else "."

    def _lines(self, places: Iterable[tuple[str, bytes]]) -> str:
        """Some lines, and what may help to read them."""
        places = list(places)
        if not places:
            return "."
        texts = [(where, line.decode(errors="replace")) for where, line in places]
        shown = ", ".join(f"{where}: {_short(text)}" for where, text in texts)
        if "encoding" not in self._words and any("\ufffd" in text for _, text in texts):
            return f", such as {shown}. If they are text of Windows: {self._format_of(encoding='cp1252')}."
        if any('="' in text for _, text in texts):
            return f', such as {shown}. ="..." is a formula for spreadsheets: write the text alone.'
        if "quoted_line_breaks" not in self._words and any(line.count(b'"') % 2 for _, line in places):
            return f", such as {shown}. If line breaks stand inside quotes: {self._format_of(quoted_line_breaks=True)}."
        return f", such as {shown}."

    def _line(self, row: int) -> bytes:
        return self._at[row][1] if row in self._at else b""

    def _cell(self, text: str, row: int) -> str:
        where = self._at[row][0] if row in self._at else ""
        return f"{_short(text)} ({where})" if where else _short(text)


def _compared(sought: Sought, format: Format) -> set[str]:
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

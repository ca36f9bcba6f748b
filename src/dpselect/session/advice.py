"""How a check suggests to declare a format, from the cells that a question does not read.

An option is only said to help if with it every number, or date, of the column is read, and none as something else.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dpselect.errors import InvalidCandidatesError, InvalidParameterError
from dpselect.formats import Format
from dpselect.questions.words import counted
from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import pa
from dpselect.rows.duckdb.cells import as_read, compared
from dpselect.rows.inspect import NO_VALUE, SHOWN, Sought, Written, short
from dpselect.rows.row_rules import PATTERNS
from dpselect.summaries import CandidateKind, as_date

Cells = tuple[Sought, Sequence[Written]]
"""A column, and how its cells are written."""

_GAP = "[ \u00a0\u202f]?"
_SYMBOL = "([A-Za-z]{0,3}[$€£¥₹₽₩₺₪₫%‰]|EUR|USD|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|CZK|kr|zł)"
_NUMBER = re.compile(
    f"[+-]?{_SYMBOL}?{_GAP}[+-]?(?:[0-9]+(?:[.,'’_ \u00a0\u202f][0-9]+)*[.,]?|[.,][0-9]+)"
    f"(?:[eE][+-]?[0-9]+)?{_GAP}{_SYMBOL}?"
)
_NUMBERS = (CandidateKind.NUMBER, CandidateKind.INTEGER)
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
_AS_WHOLE, _AS_NUMBERS = "candidates of type int", "list one that is not whole, too"
_OPTIONS = {_AS_WHOLE: "--candidates-as integer", _AS_NUMBERS: "--candidates-as number"}
_QUOTE = re.compile("[A-Za-z0-9./:%_-]{2,}")


class Advice:
    """What to declare for each of some columns, beside the `words` that are declared already.

    Attributes:
        suggested: all words together; none if the cells do not tell which.
    """

    def __init__(self, every: Sequence[Cells], words: Mapping[str, Any]) -> None:
        self._every, self._words = every, dict(words)
        self._are_clear = True
        self.suggested = dict(words)

    def said(self, at: int) -> Iterator[str]:
        """The sentences about one of the columns."""
        sought, written = self._every[at]
        unread, read = self._worth_reading(sought, written), _read_in(written)
        ways = self._ways(sought, unread, read)
        others = [each for place, each in enumerate(self._every) if place != at]
        kept = [each for each in ways if all(self._keeps(*other, each) for other in others)]
        if not kept:
            self._are_clear &= not ways
            said = "What would read them reads another column as something else." if ways else ""
            yield from filter(None, [said or self._otherwise(sought, read, unread)])
            return
        first, *others = kept
        self.suggested |= first
        self._are_clear &= not others
        also = f" Or {' or '.join(map(_format_of, others))}: the cells do not tell." if others else ""
        dots = first.get("thousands") == "." and any("." in each for each in read)
        then = "and 1.234 as 1234" if dots else "all others as now"
        more = counted(sum(unread.values()), "more row")
        yield f"Try {_format_of(first)}: with it {more} can count, {then}.{also}"

    @property
    def format(self) -> Format | None:
        """The declared format with all that was suggested, if the cells tell what."""
        return Format(**self.suggested) if self._are_clear and self.suggested != self._words else None

    def _worth_reading(self, sought: Sought, written: Sequence[Written]) -> dict[str, int]:
        """The cells that do not count, but look as if they were meant to, and how many rows have each."""
        is_text = sought.kind is CandidateKind.TEXT
        found = {each.text: each.rows for each in written if each.state == (1 if is_text else 2) and each.text}
        found = {text: rows for text, rows in found.items() if not NO_VALUE.fullmatch(text.strip())}
        if is_text:
            listed = {_alike(each) for each in _listed(sought)}
            return {text: rows for text, rows in found.items() if _alike(text) in listed}
        if sought.column.holds is not Holds.ANYTHING:
            return {}
        looks = re.compile(".*[0-9].*", re.DOTALL) if sought.kind is CandidateKind.DATE else _NUMBER
        return {text: rows for text, rows in found.items() if looks.fullmatch(text.strip())}

    def _ways(self, sought: Sought, unread: Iterable[str], read: Sequence[str]) -> list[Mapping[str, Any]]:
        """The words of a format with which all of these cells are read; the fewest that do."""
        every = list(unread) if sought.kind is CandidateKind.TEXT else [*unread, *read]
        tried = {CandidateKind.TEXT: _OF_TEXT, CandidateKind.DATE: _OF_DATES}.get(sought.kind, _MARKS)
        if sought.kind in _NUMBERS:
            stripped = str(self._words.get("strip", ""))
            symbols = {_symbol(each, stripped) for each in every}
            if len(symbols) != 1:  # no option makes numbers with a symbol mean the same as others
                return []
            strip = {"strip": stripped + symbol} if (symbol := symbols.pop()) else {}
            tried = [{k: v for k, v in {**each, **strip}.items() if self._words.get(k) != v} for each in tried]
        ways = [each for each in tried if unread and each and self._all_read(sought, every, each)]
        return [each for each in ways if not any(other.items() < each.items() for other in ways)]

    def _otherwise(self, sought: Sought, read: Sequence[str], unread: Mapping[str, int]) -> str:
        """What helps where no option does."""
        kind, dots = sought.kind, [each for each in read if "." in each]
        if not unread:
            if kind not in _NUMBERS or self._words or not dots:
                return ""
            are_thousands = all(re.fullmatch("[+-]?[0-9]{1,3}[.]000", each) for each in dots)
            as_thousands = _format_of({"thousands": ".", "decimal": ","})
            said = f"All dots stand before three digits. If they are between thousands: {as_thousands}."
            return said if are_thousands else ""
        if kind is CandidateKind.INTEGER:
            return f"Numbers that are not whole match candidates only as numbers: {_AS_NUMBERS}."
        if kind is CandidateKind.DATE and all(re.fullmatch("[2-7][0-9]{4}([.][0-9]+)?", each) for each in unread):
            return "They look like a spreadsheet's numbers for dates. Give the column the format yyyy-mm-dd there."
        if kind is not CandidateKind.TEXT:
            return "No option makes all of them mean the same. Write them in one way first."
        listed = {_alike(each): each for each in _listed(sought)}
        some = ", ".join(f"{short(cell)} for {short(listed[_alike(cell)])}" for cell in list(unread)[:SHOWN])
        are_whole = all(re.fullmatch("0|[1-9][0-9]*", each) for each in listed.values())
        if not (are_whole and all(re.fullmatch(" *[0-9]+([.]0*)? *", each) for each in unread)):
            return f"Candidates are written in another way, such as {some}: give them as they are written."
        return f"Candidates are written as another number, such as {some}. Both are read alike with {_AS_WHOLE}."

    def _keeps(self, sought: Sought, written: Sequence[Written], words: Mapping[str, Any]) -> bool:
        """Whether what is read now is read then, too, and a list is still one of different values."""
        if sought.kind is CandidateKind.TEXT:
            return (format := self._format(words)) is not None and bool(_compared(sought, format))
        is_text = sought.kind in _NUMBERS and sought.column.holds is Holds.ANYTHING
        return not is_text or self._all_read(sought, _read_in(written), words)

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


def _format_of(words: Mapping[str, Any]) -> str:
    return f"Format({', '.join(f'{name}={value!r}' for name, value in words.items())})"


def as_options(sentence: str) -> str:
    """A sentence with what the command line takes in place of Python, quoted for a shell.

    >>> as_options("Try Format(thousands=',', as_date=True): with it 7 more rows can count.")
    "Try --thousands ',' --as-date: with it 7 more rows can count."
    """

    def typed(found: re.Match[str]) -> str:
        call = ast.parse(found[0], mode="eval").body
        assert isinstance(call, ast.Call), "the expression finds nothing else"
        given = {f"--{each.arg}".replace("_", "-"): ast.literal_eval(each.value) for each in call.keywords}
        return " ".join(name if value is True else f"{name} {_quoted(str(value))}" for name, value in given.items())

    for python, option in _OPTIONS.items():
        sentence = sentence.replace(python, option)
    return re.sub(r"""Format\((\w+=('[^']*'|"[^"]*"|True)(, )?)+\)""", typed, sentence)


def _read_in(written: Sequence[Written]) -> list[str]:
    return [each.text for each in written if each.state != 2 and each.text]


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
    """Whether the row rules read it."""
    is_written = re.fullmatch(PATTERNS[kind], text) is not None
    return is_written and (kind is not CandidateKind.DATE or as_date(text.strip()) is not None)


def _alike(text: str) -> str:
    """Equal for texts that a person may take for the same."""
    text = " ".join(unicodedata.normalize("NFC", text).casefold().split())
    return re.sub("^0+(?=[0-9]+$)", "", re.sub("^([0-9]+)[.]0*$", r"\1", text))


def _quoted(text: str) -> str:
    if text == "." or _QUOTE.fullmatch(text):
        return text
    return f'"{text}"' if text == "'" else "'" + text.replace("'", "'\"'\"'") + "'"

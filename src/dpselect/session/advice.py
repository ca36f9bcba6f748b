"""How a check suggests to declare a format, from the cells that a question does not read.

An option is only said to help if with it every number, or date, of the column is read, and none as something else.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dpselect.errors import InvalidParameterError
from dpselect.formats import Format
from dpselect.questions.words import counted
from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import pa
from dpselect.rows.duckdb.cells import as_read, compared
from dpselect.rows.inspect import BESIDE, NO_VALUE, READ, SHOWN, UNREAD, Sought, Written, short
from dpselect.rows.row_rules import PATTERNS
from dpselect.summaries import CandidateKind, as_date

Cells = tuple[Sought, Sequence[Written]]
"""A column, and how its cells are written."""

Words = Mapping[str, Any]
"""Of a format."""

_GAP = "[ \u00a0\u202f]?"
_SYMBOL = "([A-Za-z]{0,3}[$€£¥₹₽₩₺₪₫%‰]|EUR|USD|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|CZK|kr|zł)"
_NUMBER = re.compile(
    f"[+-]?{_SYMBOL}?{_GAP}[+-]?(?:[0-9]+(?:[.,'’_ \u00a0\u202f][0-9]+)*[.,]?|[.,][0-9]+)"
    f"(?:[eE][+-]?[0-9]+)?{_GAP}{_SYMBOL}?"
)
_NUMBERS = (CandidateKind.NUMBER, CandidateKind.INTEGER)
_MARKS: tuple[Words, ...] = (
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
_OF_DATES: tuple[Words, ...] = (
    {"as_date": True},
    *({"date_format": each} for each in _DATES),
    *({"date_format": each, "as_date": True} for each in _DATES),
)
_OF_TEXT: tuple[Words, ...] = ({"trim": True}, {"ignore_case": True}, {"trim": True, "ignore_case": True})
_AS_WHOLE, _AS_NUMBERS = "candidates of type int", "list one that is not whole, too"
_OPTIONS = {_AS_WHOLE: "--candidates-as integer", _AS_NUMBERS: "--candidates-as number"}
_QUOTE = re.compile("[A-Za-z0-9./:%_-]{2,}")


def advised(every: Sequence[Cells], words: Words) -> tuple[list[str], Format | None]:
    """What to declare for each of some columns, beside the words that are declared already.

    Returns:
        A sentence about each column, or nothing; and the format with all that is suggested, if the cells tell what.
    """
    said, suggested, are_clear = list[str](), dict(words), True
    for sought, written in every:
        unread, read = _worth_reading(sought, written), _texts(written, READ, BESIDE)
        ways = _ways(sought, unread, read, words)
        others = [each for each in every if each[0] is not sought]
        kept = [each for each in ways if all(_keeps(*other, {**words, **each}) for other in others)]
        are_clear &= len(kept) == 1 or not ways
        if not kept:
            another = "What would read them reads another column as something else."
            said.append(another if ways else _otherwise(sought, read, unread, words))
            continue
        first, *more = kept
        suggested |= first
        also = f" Or {' or '.join(map(_format_of, more))}: the cells do not tell." if more else ""
        dots = first.get("thousands") == "." and any("." in each for each in read)
        then = "and 1.234 as 1234" if dots else "all others as now"
        rows = counted(sum(unread.values()), "more row")
        said.append(f"Try {_format_of(first)}: with it {rows} can count, {then}.{also}")
    return said, Format(**suggested) if are_clear and suggested != words else None


def _worth_reading(sought: Sought, written: Sequence[Written]) -> dict[str, int]:
    """The cells that do not count, but look as if they were meant to, and how many rows have each."""
    is_text = sought.kind is CandidateKind.TEXT
    found = {each.text: each.rows for each in written if each.state == (BESIDE if is_text else UNREAD) and each.text}
    found = {text: rows for text, rows in found.items() if not NO_VALUE.fullmatch(text.strip())}
    if is_text:
        listed = {_alike(each) for each in _listed(sought)}
        return {text: rows for text, rows in found.items() if _alike(text) in listed}
    if sought.column.holds is not Holds.ANYTHING:
        return {}
    looks = re.compile(".*[0-9].*", re.DOTALL) if sought.kind is CandidateKind.DATE else _NUMBER
    return {text: rows for text, rows in found.items() if looks.fullmatch(text.strip())}


def _ways(sought: Sought, unread: Iterable[str], read: Sequence[str], words: Words) -> list[Words]:
    """The words of a format with which all of these cells are read; the fewest that do."""
    every = list(unread) if sought.kind is CandidateKind.TEXT else [*unread, *read]
    tried = {CandidateKind.TEXT: _OF_TEXT, CandidateKind.DATE: _OF_DATES}.get(sought.kind, _MARKS)
    if sought.kind in _NUMBERS:
        stripped = str(words.get("strip", ""))
        symbols = {_symbol(each, stripped) for each in every}
        if len(symbols) != 1:  # no option makes numbers with a symbol mean the same as others
            return []
        strip = {"strip": stripped + symbol} if (symbol := symbols.pop()) else {}
        tried = [{k: v for k, v in {**each, **strip}.items() if words.get(k) != v} for each in tried]
    ways = [each for each in tried if unread and each and _all_read(sought, every, {**words, **each})]
    return [each for each in ways if not any(other.items() < each.items() for other in ways)]


def _otherwise(sought: Sought, read: Sequence[str], unread: Mapping[str, int], words: Words) -> str:
    """What helps where no option does."""
    kind, dots = sought.kind, [each for each in read if "." in each]
    if not unread:
        if kind not in _NUMBERS or words or not dots:
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


def _keeps(sought: Sought, written: Sequence[Written], words: Words) -> bool:
    """Whether what is read now is read with other words, too, and a list is still one of different values."""
    is_written = sought.kind in _NUMBERS and sought.column.holds is Holds.ANYTHING
    return _all_read(sought, _texts(written, READ, BESIDE) if is_written else [], words)


def _all_read(sought: Sought, cells: Iterable[str], words: Words) -> bool:
    """Whether the cells are read, if such a format can be declared."""
    try:
        format = Format(**words)
        listed = {} if sought.listed is None else dict.fromkeys(map(str, compared(sought.listed, format).values))
    except InvalidParameterError:
        return False
    is_text = sought.kind is CandidateKind.TEXT
    column = sought.column if is_text else Column(sought.column.name, Holds.ANYTHING)
    found = as_read(pa.array(cells, pa.large_string()), column, sought.kind, format).to_pylist()
    return all(each in listed if is_text else each is not None and _is_read(each, sought.kind) for each in found)


def _format_of(words: Words) -> str:
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


def _texts(written: Sequence[Written], *states: int) -> list[str]:
    return [each.text for each in written if each.state in states and each.text]


def _listed(sought: Sought) -> list[str]:
    return [] if sought.listed is None else list(map(str, sought.listed.values))


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

"""How a check suggests to declare a format: so that every number, or date, of the column is read as what it is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from dpselect.errors import InvalidParameterError
from dpselect.formats import Format
from dpselect.questions.records import counted
from dpselect.rows.arrow import pa
from dpselect.rows.columns import Column, Holds
from dpselect.rows.row_rules import PATTERNS
from dpselect.rows.scan import as_read, compared
from dpselect.summaries import CandidateKind, PublicCandidates, as_date

SHOWN, LONGEST = 3, 100  # cells of a kind that are shown; characters of a cell that are looked at
TEXTS = (Holds.ANYTHING, Holds.TEXT)

Words = Mapping[str, Any]

_GAP = "[ \u00a0\u202f]?"
_SYMBOL = "([A-Za-z]{0,3}[$€£¥₹₽₩₺₪₫%‰]|EUR|USD|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|CZK|kr|zł)"
_NUMBER = re.compile(
    f"[(]?[+−-]?{_SYMBOL}?{_GAP}[+-]?(?:[0-9]+(?:[.,'’_ \u00a0\u202f][0-9]+)*[.,]?|[.,][0-9]+)"
    f"(?:[eE][+-]?[0-9]+)?{_GAP}{_SYMBOL}?[)-]?"
)
_LOOKS: dict[CandidateKind, re.Pattern[str]] = {
    **dict.fromkeys((CandidateKind.NUMBER, CandidateKind.INTEGER), _NUMBER),
    CandidateKind.DATE: re.compile(".*[0-9].*", re.DOTALL),
}
"""What was meant to be of a kind; true and false are not told from other words."""

_AS_THOUSANDS: Words = {"thousands": ".", "decimal": ","}
_OF_NUMBERS: tuple[Words, ...] = (
    *({}, {"thousands": ","}, {"decimal": ","}, _AS_THOUSANDS, {"thousands": " "}),
    *({"thousands": " ", "decimal": ","}, {"thousands": "'"}, {"thousands": "_"}),
)
_ORDERS = (  # of the parts of a date; where dots stand between them, the first two are not meant
    *("%m{}%d{}%Y", "%m{}%d{}%y", "%d{}%m{}%Y", "%d{}%m{}%y", "%Y{}%m{}%d"),
    *("%d{}%b{}%Y", "%d{}%b{}%y", "%b{}%d{}%Y"),
)
_WAYS: Mapping[CandidateKind, Sequence[Words]] = {
    CandidateKind.NUMBER: _OF_NUMBERS,
    CandidateKind.INTEGER: _OF_NUMBERS,
    CandidateKind.TEXT: ({"trim": True}, {"ignore_case": True}, {"trim": True, "ignore_case": True}),
}
_OTHERWISE = {  # what is said of a kind where no option helps, if all cells look so
    CandidateKind.INTEGER: (
        PATTERNS[CandidateKind.NUMBER],
        "With a fraction or an exponent they only match candidates that are numbers (--candidates-as number).",
    ),
    CandidateKind.DATE: (
        "[2-7][0-9]{4}([.][0-9]+)?",
        "They look like a spreadsheet's numbers for dates. Give the column the format yyyy-mm-dd there.",
    ),
}

_WRITTEN = re.compile(r"""Format\(((?:\w+=(?:'[^']*'|"[^"]*"|True)(?:, )?)+)\)""")
_LOOK_ALIKE = {"LATIN", "CYRILLIC", "GREEK"}  # scripts with letters that cannot be told from those of the others


class Written(NamedTuple):
    """How the cells of a column of text are written, which should be of a kind and, if there is a list, in it.

    Of cells that are not counted, how many rows have each; those that are read. Of numbers one stands for all alike.
    """

    column: Column
    kind: CandidateKind
    listed: PublicCandidates | None
    unread: Mapping[str, int]
    read: Sequence[str]


def advised(cells: Written, every: Sequence[Written], words: Words) -> str:
    """What to declare for a column beside the words that are declared already, in a sentence; or nothing."""
    looks, listed = _LOOKS.get(cells.kind), _alike_listed(cells)
    are_meant = {each for each in cells.unread if (looks.fullmatch(each.strip()) if looks else _alike(each) in listed)}
    unread = {each: rows for each, rows in cells.unread.items() if each in are_meant}
    if not unread:
        dots = [each for each in cells.read if "." in each]
        are_numbers = bool(dots) and not words and _WAYS.get(cells.kind) is _OF_NUMBERS
        if not (are_numbers and _all("[+-]?[0-9]{1,3}[.][0-9]{3}", dots)):
            return ""
        return f"All dots stand before three digits. If they are between thousands: {_format_of(_AS_THOUSANDS)}."
    ways = [
        each
        for each in _tried(cells.kind, [*unread, *cells.read], words)
        if _reads(cells, unread, {**words, **each})
        and all(_reads(other, other.read, {**words, **each}) for other in every)
    ]
    ways = [each for each in ways if not any(other.items() < each.items() for other in ways)]
    if not ways:
        return _otherwise(cells, unread)
    first, *more = ways
    also = f" Or {' or '.join(map(_format_of, more))}: the cells fit each." if more else ""
    dots = first.get("thousands") == "." and any("." in each for each in cells.read)
    then = "and 1.234 as 1234" if dots else "and the others are read as before"
    return f"Try {_format_of(first)}: with it {counted(sum(unread.values()), 'more row')} can count, {then}.{also}"


def _tried(kind: CandidateKind, texts: Sequence[str], words: Words) -> Sequence[Words]:
    """What may be declared. No option makes numbers with a symbol mean the same as others."""
    tried = _ways_of_dates(texts[0]) if kind is CandidateKind.DATE else _WAYS.get(kind, ())
    if tried is _OF_NUMBERS:
        stripped = str(words.get("strip", ""))
        symbols = {_symbol(each, stripped) for each in texts}
        around = " " * any(each.strip(" \t") != each.strip() for each in texts)  # a blank stands for all blanks
        strip = {"strip": stripped + symbol} if (symbol := symbols.pop() or around) else {}
        tried = [] if symbols else [{**each, **strip} for each in tried]
    differing = ({name: each[name] for name in each if words.get(name) != each[name]} for each in tried)
    return [each for each in differing if each]


def _ways_of_dates(date: str) -> list[Words]:
    """What may be declared of dates with the same between their parts."""
    found = re.match("[0-9A-Za-z]+([^0-9A-Za-z]+)[0-9A-Za-z]+([^0-9A-Za-z]+)[0-9]+(?:([^0-9A-Za-z]+)$)?", date.strip())
    orders = _ORDERS[2 * ("." in found.groups()) :] if found else ()
    formats = ["%Y%m%d", *(order.format(found[1], found[2]) + (found[3] or "") for order in orders if found)]
    return [{"as_date": True}, *({"date_format": each, **more} for more in ({}, {"as_date": True}) for each in formats)]


def _reads(cells: Written, texts: Iterable[str], words: Words) -> bool:
    """Whether the cells are read, if such a format can be declared."""
    try:
        format = Format(**words)
        listed = set[str]() if cells.listed is None else {*map(str, compared(cells.listed, format).values)}
    except InvalidParameterError:
        return False
    is_text = cells.kind is CandidateKind.TEXT
    column = cells.column if is_text else Column(cells.column.name, Holds.ANYTHING)
    found: list[str | None] = as_read(pa.array(texts, pa.large_string()), column, cells.kind, format).to_pylist()
    return set(found) <= listed if is_text else all(each and _is_read(each, cells.kind) for each in found)


def _otherwise(cells: Written, unread: Mapping[str, int]) -> str:
    """What helps where no option does."""
    if cells.kind is not CandidateKind.TEXT:
        looks, said = _OTHERWISE.get(cells.kind, ("", ""))
        return said if _all(looks, unread) else "No option reads them all. Write them all in the same way first."
    listed = _alike_listed(cells)
    some = ", ".join(f"{short(cell)} for {short(listed[_alike(cell)])}" for cell in [*unread][:SHOWN])
    if _all("0|[1-9][0-9]*", listed.values()) and _all(" *[0-9]+([.]0*)? *", unread):
        alike = "Both are read alike if candidates are whole numbers, not text (--candidates-as integer)."
        return f"Candidates are written as another number, such as {some}. {alike}"
    return f"Candidates are written in another way, such as {some}: give them as they are written."


def _alike_listed(cells: Written) -> dict[str, str]:
    return {} if cells.listed is None else {_alike(str(each)): str(each) for each in cells.listed.values}


def as_options(sentence: str) -> str:
    """A sentence with what the command line takes in place of Python."""

    def typed(found: re.Match[str]) -> str:
        given = re.sub("([a-z_]+)=", lambda name: f"--{name[1].replace('_', '-')} ", found[1])
        return given.replace(" True", "").replace(", --", " --")

    return _WRITTEN.sub(typed, sentence)


def _format_of(words: Words) -> str:
    return f"Format({', '.join(f'{name}={value!r}' for name, value in words.items())})"


def _all(pattern: str, texts: Iterable[str]) -> bool:
    return all(re.fullmatch(pattern, each) for each in texts)


def _symbol(number: str, stripped: str) -> str:
    """The symbol beside a number, without characters that are taken away already."""
    found = _NUMBER.fullmatch(number.strip())
    both = dict.fromkeys(filter(None, (found[1], found[2]))) if found else ()
    return "".join(each for symbol in both for each in symbol if each not in stripped)


def _is_read(text: str, kind: CandidateKind) -> bool:
    """Whether the row rules read it."""
    is_written = len(text) < LONGEST and re.fullmatch(PATTERNS[kind], text) is not None
    if kind is CandidateKind.DATE:
        return is_written and as_date(text.strip()) is not None
    return is_written and (kind is not CandidateKind.INTEGER or -(2**63) <= int(float(text)) < 2**63)


def _alike(text: str) -> str:
    """Equal for texts that a person may take for the same; characters without a width are left out."""
    shown = (each for each in unicodedata.normalize("NFC", text).casefold() if unicodedata.category(each) != "Cf")
    text = " ".join("".join(shown).split())
    return re.sub("^0+(?=[0-9]+$)", "", re.sub("^([0-9]+)[.]0*$", r"\1", text))


def short(value: object) -> str:
    """A cell or a candidate in a sentence."""
    text = str(value) if isinstance(value, date) else repr(value)
    scripts = {unicodedata.name(each, "").split(" ")[0] for each in text if each.isalpha()} & _LOOK_ALIKE
    text = text if unicodedata.is_normalized("NFC", text) and len(scripts) < 2 else ascii(value)  # else two look alike
    return text if len(text) <= 60 else f"{text[:60]}..."

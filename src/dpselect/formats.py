"""Declared formats: how the cells of a table are written, said by the caller before anything is read.

Nothing of it is guessed from the data: one person's row could then change how the rows of all others are read.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

from dpselect.arguments import arguments_of
from dpselect.checks import boolean, one_of
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown, typed

DELIMITERS = (",", ";", "\t", "|", ":", "^", "~", "#", " ", "\x01", "\x1f")
"""What may stand between the cells of a line."""
_DELIMITER = "comma, semicolon, tab or pipe; or one of : ^ ~ # or a blank"

DELIMITER_WORDS = {"semicolon": ";", r"\t": "\t", "tab": "\t", "pipe": "|", "comma": ","}
"""Words for delimiters that a shell would take for something else; the last one for each is the one to suggest."""

THOUSANDS = {",": ",", ".": ".", "'": "'\u2019", "_": "_", " ": " \u00a0\u202f"}
"""Marks between groups of three digits, and all the characters that each of them stands for."""

ENCODINGS = ("utf-8", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "iso-8859-15", "cp1252", "cp1250", "cp1251")
"""In all of them each line can be told from the others by itself."""

_AS_PYTHON_CALLS_IT = {"utf-8-sig": "utf-8", "iso8859-1": "latin-1", "iso8859-15": "iso-8859-15"}

_DATE_WORDS = {"Y": "year", "y": "year", "m": "month", "b": "month", "d": "day"}
"""The words of a date format without their percent sign, and which part of a date each is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How the cells of a table are written: public, the same for every row, and never guessed from the data.

    A cell that is not written as declared holds nothing of the kind asked for: it is no error, as no row may decide
    whether a question is answered. Without a word of it, cells are read as ``docs/files.md`` says.

    Args:
        delimiter: Character between the cells of a CSV file: one of , ; | : ^ ~ #, a blank, a tab, or the control
            characters 1 and 31; also written comma, semicolon, pipe or tab. Default: comma; tab in .tsv files.
        encoding: Encoding of a CSV file: utf-8, latin-1, iso-8859-15, cp1250, cp1251, cp1252, utf-16 (which starts with
            a byte order mark), utf-16-le or utf-16-be.
        thousands: Mark between groups of three digits: , . ' _ or a blank. A number may have it at every group or at
            none: 12,34 is not one. Default: no mark, and 1,234 is not a number.
        decimal: Decimal mark: . or ,
        date_format: Format of dates, in the words %Y %m %d, %y for a year of two digits (69 to 99 are in the 1900s) and
            %b for an English month such as Nov; all else stands for itself, as in %d.%m.%Y. Default: %Y-%m-%d.
        as_date: Where a date is asked for, read the date of a timestamp, as it is written; of a column of timestamps
            with a time zone, the date in that zone.
        strip: Characters to take away, with blanks, from both ends of numbers and behind their signs, such as '$%'. 5%
            is then 5.
        ignore_case: Compare text and groups without regard to capitals.
        trim: Compare text and groups without the blanks around them.
        sheet: Name of the sheet of an Excel file. Default: the only one.
        header_row: Row of the sheet of an Excel file that names the columns; rows above it are left out.
        skip_lines: Lines of a CSV file that stand above its header, such as titles.
        quoted_line_breaks: Read line breaks inside quotes as part of the cell. One quote that is not closed then
            swallows the rows of others: the guarantee holds only if every row is well formed.

    Raises:
        InvalidParameterError: an unknown word, or words that contradict each other.

    >>> Format(thousands=",", strip="$").words
    {'thousands': ',', 'strip': '$'}
    """

    delimiter: Annotated[str | None, "any text"] = None
    encoding: Annotated[str, "text"] = "utf-8"
    thousands: Annotated[str | None, "any text"] = None
    decimal: Annotated[str, "any text"] = "."
    date_format: Annotated[str | None, "any text"] = None
    as_date: Annotated[bool, "flag"] = False
    strip: Annotated[str, "any text"] = ""
    ignore_case: Annotated[bool, "flag"] = False
    trim: Annotated[bool, "flag"] = False
    sheet: Annotated[str | None, "any text"] = None
    header_row: Annotated[int, "whole"] = 1
    skip_lines: Annotated[int, "whole"] = 0
    quoted_line_breaks: Annotated[bool, "flag"] = False

    def __post_init__(self) -> None:
        for name in ("as_date", "ignore_case", "trim", "quoted_line_breaks"):
            boolean(getattr(self, name), name)
        if self.delimiter is not None:
            written = one_of(self.delimiter, "delimiter", (*DELIMITER_WORDS, *DELIMITERS), expected=_DELIMITER)
            object.__setattr__(self, "delimiter", DELIMITER_WORDS.get(written, written))
        object.__setattr__(self, "encoding", _encoding(self.encoding))
        if self.thousands is not None:
            one_of(self.thousands, "thousands", THOUSANDS)
        one_of(self.decimal, "decimal", (".", ","))
        if self.decimal == self.thousands:
            got, expected = Shown(repr(self.decimal)), "a mark different from the one between thousands"
            raise InvalidParameterError("decimal", got, expected, "One cell would mean both.")
        marks = self.decimal + ("" if self.thousands is None else THOUSANDS[self.thousands].strip())
        if len(_text("strip", self.strip)) > 32 or any(each in f"0123456789+-{marks}" for each in self.strip):
            expected = "at most 32 characters, none of which is part of a number: no digit, sign or mark"
            raise InvalidParameterError("strip", typed(self.strip), expected)
        if self.date_format is not None:
            date_pattern(self.date_format)
        if self.sheet is not None and not 0 < len(_text("sheet", self.sheet)) <= 31:
            raise InvalidParameterError("sheet", Shown("<text>"), "the name of a sheet, of at most 31 characters")
        for name, least, most in (("header_row", 1, 1 << 20), ("skip_lines", 0, 10_000)):
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise InvalidParameterError(name, value, f"a whole number from {least} to {most:,}")

    @property
    def words(self) -> dict[str, Any]:
        """What differs from the default, by its name."""
        return {each.name: said for each in WORDS if (said := getattr(self, each.name)) != each.default}

    def check(self, allowed: Iterable[str], source: str) -> None:
        """Refuse, with an `InvalidDataError` that names the word, what cannot be said of a source."""
        allowed = tuple(allowed)
        for name, value in self.words.items():
            if name not in allowed:
                fit = f"Words that fit: {', '.join(f'`{each}`' for each in allowed)}. Or" if allowed else "Else"
                raise InvalidDataError(name, Shown(repr(value)), f"nothing for {source}", f"{fit} convert the column.")


WORDS = arguments_of(Format)  # each word, with what it means


def declared(value: object) -> Format | None:
    """A format with at least one word, or None; anything else is refused."""
    if value is None or isinstance(value, Format):
        return value if value and value.words else None
    raise InvalidParameterError("format", value, "a dpselect.Format, such as Format(thousands=',')")


def is_canonical(words: Any) -> bool:
    """Whether these are the `Format.words` of some format."""
    try:
        return bool(words) and Format(**words).words == words
    except (InvalidParameterError, TypeError):
        return False


def date_pattern(date_format: object) -> str:
    """The regular expression of dates in this format, with the groups ``year``, ``month`` and ``day``.

    Months and days have one or two digits, and two where another word stands directly beside them, so that no cell can
    be read in two ways. The expression means the same to Python and to RE2.

    Raises:
        InvalidParameterError: an unknown word, or not exactly one year, one month and one day.
    """
    text = _text("date_format", date_format)
    hint = "Other words are not read; `as_date=True` leaves out a time of day behind the date."
    if sorted(_DATE_WORDS.get(word, "?") for word in re.findall("%(.?)", text)) != ["day", "month", "year"]:
        expected = "one year (%Y or %y), one month (%m or %b) and one day (%d), such as '%d.%m.%Y'"
        raise InvalidParameterError("date_format", Shown(repr(text)), expected, hint)

    def side_by_side(words: re.Match[str]) -> str:
        digits = "[0-9]{1,2}" if len(words[0]) == 2 else "[0-9]{2}"
        others = {"b": f"(?i:{'|'.join(MONTHS)})", "Y": "[0-9]{4}", "y": "[0-9]{2}"}
        return "".join(f"(?P<{_DATE_WORDS[word]}>{others.get(word, digits)})" for word in words[0][1::2])

    return re.sub("(?:%.)+", side_by_side, re.escape(text))


MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
"""What ``%b`` stands for, in lower case."""


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidParameterError(name, value, "text")
    if not value.isprintable():
        raise InvalidParameterError(name, Shown("<text with control characters>"), "printable text")
    return value


def _encoding(value: object) -> str:
    with suppress(LookupError, ValueError):
        name = codecs.lookup(value).name if isinstance(value, str) else ""
        if (name := _AS_PYTHON_CALLS_IT.get(name, name)) in ENCODINGS:
            return name
    hint = "Other files are converted to UTF-8 first, such as by iconv."
    raise InvalidParameterError("encoding", typed(value), f"one of {', '.join(ENCODINGS)}", hint)

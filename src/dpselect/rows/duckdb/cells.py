"""Cells before they reach the engine: in a declared format, made what the row rules read; and shortened if long.

What a cell becomes depends on the cell and the public format alone: with the row rules it is one rule. Nothing can fail
because of a cell; one that is not written as declared is null. Proof: ``proofs/counting.md``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, NamedTuple, cast

import numpy as np

from dpselect.errors import InvalidCandidatesError, Shown
from dpselect.formats import MONTHS, THOUSANDS, Format, date_pattern
from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import Array, computed, matches, of_numpy, pa, pc
from dpselect.rows.row_rules import BLANKS, LONGEST_NAME, NO_BREAK_BLANKS, PATTERNS
from dpselect.summaries import CandidateKind, PublicCandidates


def as_read(array: Array, column: Column, kind: CandidateKind, format: Format | None) -> Array:
    """The cells of a column as the row rules read values of a kind in them; only text can be written in a format.

    >>> cells = pa.array(["$1,234.50", "1,23", " 7 ", None], pa.large_string())
    >>> price = Column("price", Holds.ANYTHING)
    >>> as_read(cells, price, CandidateKind.NUMBER, Format(thousands=",", strip="$")).to_pylist()
    ['1234.50', None, '7', None]
    """
    if format is None or column.holds not in (Holds.ANYTHING, Holds.TEXT):
        return array
    if kind is CandidateKind.TEXT:
        return _compared_text(array, format)
    if column.holds is Holds.TEXT:
        return array
    if kind in (CandidateKind.NUMBER, CandidateKind.INTEGER):
        return _numbers(array, format)
    if kind is CandidateKind.DATE and (format.date_format is not None or format.as_date):
        return _dates(array, format)
    return array


def unit_names(text: Array) -> Array:
    """Cells of text as the names of units that the row rules compare: see `Dialect.unit_text`.

    Here it takes a fortieth of the engine's time, and most tables have nothing to change.

    >>> unit_names(pa.array([" ann ", "Zoe" + chr(0x301), "7.0", "007", None], pa.large_string())).to_pylist()
    ['ann', 'Zoé', '7', '007', None]
    """
    text = computed("ascii_trim_whitespace", text)
    written = bytes(text.buffers()[2] or b"")
    if not written.isascii():
        others = pc.fill_null(pc.invert(pc.string_is_ascii(text)), False)
        changed = pc.replace_substring_regex(text.filter(others), pattern=f"[{NO_BREAK_BLANKS}]", replacement=" ")
        changed = pc.utf8_normalize(pc.ascii_trim_whitespace(changed), form="NFC")
        text = pc.replace_with_mask(text, others, changed)
    if b"." in written:
        text = pc.replace_substring_regex(text, pattern="^([+-]?[0-9]+)[.]0*$", replacement="\\1")
    if b"-" in written:
        text = computed("if_else", computed("equal", text, pa.scalar("-0", text.type)), pa.scalar("0", text.type), text)
    return text


def compared(candidates: PublicCandidates, format: Format | None, *, argument: str = "candidates") -> PublicCandidates:
    """The candidates as cells are compared with them; refused if two become the same, or one becomes empty."""
    if format is None or candidates.kind is not CandidateKind.TEXT or not (format.trim or format.ignore_case):
        return candidates
    written = pa.array(cast("tuple[str, ...]", candidates.values), pa.large_string())
    texts = cast("list[str]", _compared_text(written, format).to_pylist())
    words = " and ".join(word for word in ("ignore_case", "trim") if getattr(format, word))
    got = Shown(f"<{len(candidates):,} {candidates.kind}>")
    if "" in texts:
        hint = "One of them is only blanks, which trim takes away."
        raise InvalidCandidatesError(argument, got, f"{argument} that are not blank", hint)
    if len(set(texts)) < len(texts):
        hint = f"Two of them are the same after {words}."
        raise InvalidCandidatesError(argument, got, f"{argument} that differ as they are compared", hint)
    return PublicCandidates(candidates.kind, tuple(texts))


def _compared_text(array: Array, format: Format) -> Array:
    if format.trim:
        array = pc.utf8_trim(array, characters=BLANKS + NO_BREAK_BLANKS)
    return pc.utf8_lower(array) if format.ignore_case else array


def _numbers(array: Array, format: Format) -> Array:
    if format.strip:
        taken = format.strip + " \t" + NO_BREAK_BLANKS
        array = pc.utf8_trim(array, characters=taken)
        behind_sign = "^([+-])[" + "".join(f"\\x{{{ord(each):x}}}" for each in taken) + "]+"
        array = pc.replace_substring_regex(array, pattern=behind_sign, replacement="\\1")
    marks = THOUSANDS.get(format.thousands or "", "")
    others = marks if format.decimal == "." else f"{marks}.,"
    if not others:
        return array
    marked = pc.match_substring_regex(array, f"[{re.escape(others)}]").fill_null(False)
    found = array.filter(marked)
    if not len(found):
        return array
    # With all thousands marks, or with none.
    grouped = "|".join(f"[0-9]{{1,3}}(?:{re.escape(mark)}[0-9]{{3}})+" for mark in marks)
    whole = f"(?:{grouped}|[0-9]+)" if marks else "[0-9]+"
    point = re.escape(format.decimal)
    digits = f"(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)"
    well_written = pc.match_substring_regex(found, f"^[ \t]*[+-]?{digits}(?:[eE][+-]?[0-9]+)?[ \t]*$")
    for mark in marks:
        found = pc.replace_substring(found, mark, "")
    if format.decimal != ".":
        found = pc.replace_substring(found, format.decimal, ".")
    found = pc.if_else(well_written, found, pa.scalar(None, array.type))
    return pc.replace_with_mask(array, marked, found)


_ISO_DATE = "(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
_TIME = (
    "(?:[T ][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?: ?[AaPp][Mm])?"
    "(?: ?(?:Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?))?)?"
)
"""A time of day and a time zone behind a date, or nothing."""


def _dates(array: Array, format: Format) -> Array:
    """As ISO 8601 writes them; that a month has no such day is found by the row rules."""
    text, date_format = array.type, format.date_format or ""
    pattern = (date_pattern(date_format) if date_format else _ISO_DATE) + (_TIME if format.as_date else "")
    parts = pc.extract_regex(array, f"^[ \t]*{pattern}[ \t]*$")
    year, month, day = (pc.struct_field(parts, name) for name in ("year", "month", "day"))
    if "%y" in date_format:
        century = pc.if_else(pc.less_equal(year, pa.scalar("68", text)), "20", "19").cast(text)  # as POSIX has it
        year = pc.binary_join_element_wise(century, year, pa.scalar("", text))
    if "%b" in date_format:
        names = pc.index_in(pc.ascii_lower(month), value_set=pa.array(MONTHS, text))
        month = pa.array([f"{at + 1:02}" for at in range(len(MONTHS))], text).take(names)
    month, day = (pc.utf8_lpad(part, width=2, padding="0") for part in (month, day))
    return pc.binary_join_element_wise(year, month, day, pa.scalar("-", text))


LONG, LONG_UNIT = LONGEST_NAME, 64
"""Bytes; longer text, and longer names of units, do not reach the engine.

It collects 2048 rows without counting their bytes towards its limit, so texts of 1 MiB would take 2 GiB; and of units,
which it sorts and groups, it keeps more than it spills.
"""


def short_units(column: Array) -> Array:
    """Units, with a digest in place of each text or bytes longer than `LONG_UNIT`.

    A digest is padded to just more, so that it equals no unit that is not replaced. Two long units become one only if
    their 256-bit BLAKE2b digests collide. So the length of a person's name does not decide whether memory suffices.
    """
    is_long = pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type)
    return _replaced(column, _digest, longer_than=LONG_UNIT) if is_long else column


class Cell(NamedTuple):
    """One way in which the cells of a column reach the engine: as values of a kind, or without one as units.

    No candidate is text of more than `longest` bytes.
    """

    column: Column
    kind: CandidateKind | None = None
    longest: int = 0

    @classmethod
    def of(cls, column: Column, candidates: PublicCandidates | CandidateKind | None) -> Cell:
        """Of candidates, or of unknown names of a kind; None: of numbers."""
        if not isinstance(candidates, PublicCandidates):
            return cls(column, CandidateKind.NUMBER if candidates is None else candidates)
        texts = cast("tuple[str, ...]", candidates.values) if candidates.kind is CandidateKind.TEXT else ("",)
        return cls(column, candidates.kind, 4 * max(map(len, texts)))  # the most bytes of a character in UTF-8

    def made(self, array: Array, format: Format | None) -> Array:
        """The cells as the row rules read them; null where a text is longer than every value of the kind."""
        if self.kind is None:
            is_text = self.column.holds in (Holds.ANYTHING, Holds.TEXT)
            return short_units(unit_names(array) if is_text else array)
        array = as_read(array, self.column, self.kind, format)
        if not pa.types.is_large_string(array.type):
            return array
        sure = _SURE.get(self.kind)
        if sure is not None and bytes(array.buffers()[2] or b"").translate(None, sure):
            is_number = matches(array, f"^({PATTERNS[self.kind]})$")
            array = computed("if_else", is_number, array, pa.scalar(None, array.type))
        return _replaced(array, lambda _: None, longer_than=max(LONG, self.longest))


_SURE = {CandidateKind.INTEGER: b"0123456789- ", CandidateKind.NUMBER: b"0123456789-.eE "}
"""Characters of texts that the engine reads as a number exactly if they are written as the row rules say.

To match all texts would take a fifth of the time of a question, and hardly any table needs it.
"""


def _replaced(column: Array, by: Callable[[Any], object], *, longer_than: int) -> Array:
    """Replace each long value by the result of `by`."""
    if not len(column):
        return column
    taken = np.diff(np.frombuffer(column.buffers()[1], np.int64)[column.offset : column.offset + len(column) + 1])
    if taken.max() <= longer_than:
        return column
    long = of_numpy(taken > longer_than)
    values = [None if value is None else by(value) for value in column.filter(long).to_pylist()]
    return pc.replace_with_mask(column, long, pa.array(values, column.type))


def _digest(unit: str | bytes) -> str:
    written = unit.encode() if isinstance(unit, str) else unit
    return blake2b(written, digest_size=32).hexdigest().rjust(LONG_UNIT + 1, "0")

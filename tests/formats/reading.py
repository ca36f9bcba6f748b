"""Small files in declared formats, what is read of them, and a few lines of Python that it has to equal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from dpselect import Format
from tests.rows.tables import EVERYTHING, count, count_groups, gather

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
MARKS = {None: "", ",": ",", ".": ".", "'": "'\u2019", "_": "_", " ": " \u00a0\u202f"}


def written(path: Path, rows: Sequence[tuple[object, str]], format: Format, *, header: str = "unit,value") -> Path:
    """A CSV file in the format, all cells in quotes."""
    delimiter = format.delimiter or ","
    lines = [delimiter.join(header.split(","))]
    lines += [delimiter.join('"' + str(cell).replace('"', '""') + '"' for cell in row) for row in rows]
    path.write_bytes(("\n".join(lines) + "\n").encode(format.encoding))
    return path


def counts(source: object, candidates: Any, format: Format | None = None, **names: str) -> list[int]:
    """How many units have each candidate."""
    return count(source, candidates, format=format, **names)


def counts_in_groups(source: object, candidates: Any, groups: Any, format: Format | None) -> list[list[int]]:
    """The same in each group of column ``part``."""
    return count_groups(source, candidates, groups, format=format)


def numbers(source: object, format: Format | None, *, bounds: tuple[float, float] = EVERYTHING) -> list[float]:
    """The numbers of all rows, in increasing order."""
    return gather(source, bounds=bounds, format=format)


def number_in(cell: str, format: Format) -> float | None:
    """The number that a cell holds, by taking it apart."""
    taken = " \t\u00a0\u202f" + format.strip
    text = cell.strip(taken) if format.strip else cell.strip(" \t")
    if format.strip and text[:1] in ("+", "-"):
        text = text[0] + text[1:].lstrip(taken)
    sign, text = (text[0], text[1:]) if text[:1] in ("+", "-") else ("", text)
    mantissa, exponent = text, "0"
    for letter in "eE":
        if letter in text:
            mantissa, _, exponent = text.partition(letter)
    whole, _, fraction = mantissa.partition(format.decimal)
    if not whole and not fraction:
        return None
    whole = _ungrouped(whole, MARKS[format.thousands])
    power = exponent[1:] if exponent[:1] in ("+", "-") else exponent
    if whole is None or not all(_is_digits(part) for part in (whole or "0", fraction or "0", power)):
        return None
    return float(f"{sign}{whole or '0'}.{fraction or '0'}e{exponent}")


def _ungrouped(whole: str, marks: str) -> str | None:
    for mark in marks:
        if mark in whole:
            first, *others = whole.split(mark)
            fits = 1 <= len(first) <= 3 and all(len(part) == 3 for part in others)
            return first + "".join(others) if fits else None
    return whole


def _is_digits(text: str) -> bool:
    return bool(text) and set(text) <= set("0123456789")


def date_in(cell: str, date_format: str) -> date | None:
    """The date that a cell holds, word by word."""
    text, found, rest = cell.strip(" \t"), dict[str, int](), date_format
    while rest:
        if rest[0] != "%":
            if text[:1] != rest[0]:
                return None
            text, rest = text[1:], rest[1:]
            continue
        word, rest = rest[1], rest[2:]
        if word == "b":
            name, text = text[:3].capitalize(), text[3:]
            if name not in MONTHS:
                return None
            found["m"] = MONTHS.index(name) + 1
            continue
        beside = rest[:1] == "%" or re.search(f"%[Yymbd]%{word}", date_format) is not None
        least, most = {"Y": (4, 4), "y": (2, 2)}.get(word, (2 if beside else 1, 2))
        digits = 0
        while digits < most and text[digits : digits + 1] in tuple("0123456789"):
            digits += 1
        if digits < least:
            return None
        value, text = int(text[:digits]), text[digits:]
        found["Y" if word == "y" else word] = value + (2000 if value < 69 else 1900) if word == "y" else value
    try:
        return None if text else date(found["Y"], found["m"], found["d"])
    except ValueError:
        return None

"""Public scores in a text file, for ``dpselect plan --scores``."""

from __future__ import annotations

import math
import os
import re
from pathlib import PurePath

from dpselect.errors import InvalidScoresError, Shown
from dpselect.mechanisms.scores import NumericArray, finite_scores

_TABLES = {".csv", ".tsv", ".parquet", ".json", ".jsonl", ".ndjson", ".arrow", ".feather", ".xlsx", ".db", ".sqlite"}
_LEAK = "Planning with private scores would itself leak data. Write public numbers into a text file, one per line."

_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MOST_DIGITS = 20
"""Digits of a 64-bit integer."""


def public_scores(path: str) -> NumericArray:
    """The numbers in a text file: UTF-8, one a line; blank lines and those that start with ``#`` do not count.

    Args:
        path: of a file whose name is not that of a table, because a table would be the private data.

    Returns:
        Shape ``(n,)``; 64-bit integers if all numbers are whole, else the doubles nearest to them.

    Raises:
        InvalidScoresError: a table, not such a file, no number in it, or a line that is no finite number, named by
            its place alone.

    >>> public_scores("examples/data/public_scores.txt")[:3]
    array([640, 625, 553])
    """
    names = (path, os.path.realpath(path)) if "\0" not in path else ()
    if any(suffix.lower() in _TABLES for name in names for suffix in PurePath(name).suffixes):
        raise InvalidScoresError("scores", Shown(repr(path)), "a file of public scores, not a table", _LEAK)
    numbers: list[int | float] = []
    try:
        with open(path, encoding="utf-8-sig") as file:
            for place, line in enumerate(file, 1):
                text = line.strip()
                if text and not text.startswith("#"):
                    numbers.append(_number(text, place))
    except InvalidScoresError:  # also a ValueError
        raise
    except (OSError, ValueError):  # also a NUL in the path, and bytes that are not UTF-8
        raise InvalidScoresError(
            "scores", Shown(repr(path)), "a readable text file in UTF-8, one number per line"
        ) from None
    if not numbers:
        raise InvalidScoresError("scores", Shown(repr(path)), "at least one number in it")
    return finite_scores(numbers)


def _number(text: str, place: int) -> int | float:
    if _INTEGER.fullmatch(text):
        if len(text.lstrip("+-0")) <= _MOST_DIGITS:
            return int(text)
        raise InvalidScoresError("scores", Shown(f"<line {place}>"), "an integer of 64 bits")
    number = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(number):
        raise InvalidScoresError("scores", Shown(f"<line {place}>"), "a finite number, and nothing else on its line")
    return number

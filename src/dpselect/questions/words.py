"""A question's arguments in words: what certificates, ledgers and plans hold, the same however they were given."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from fractions import Fraction
from typing import Any, NoReturn, cast

from dpselect import summaries
from dpselect.arguments import REQUIRED, Argument
from dpselect.checks import decimal_fraction
from dpselect.errors import InvalidCertificateError, Shown

Words = dict[str, Any]

CERTIFICATE = 1
"""The format of certificates."""

SEEDED = "seeded: not private"
"""What their field ``seeded`` says; it is there only if known random bits were part of the draw."""

_WHOLE_DOUBLES = 2**52
"""From here on, all doubles are whole numbers."""


def wrong(field: str, expected: str, hint: str = "") -> InvalidCertificateError:
    """The error for a field of a certificate. It never quotes what the field holds: that may be the answer."""
    return InvalidCertificateError("certificate", Shown(f"<{field}>"), expected, hint)


def canonical_json(held: Mapping[str, Any]) -> str:
    """JSON on one line with sorted keys: the same text for equal objects."""
    return json.dumps(held, sort_keys=True, allow_nan=False, ensure_ascii=False)


def identity_text(question: Words, *, unit: str, source: str = "", format: Mapping[str, Any] | None = None) -> str:
    """What tells a question from others in a ledger: its words, its table, and how the table's cells are written."""
    about: Words = {"question": question, "unit": unit, "source": source}
    return canonical_json({**about, "format": dict(format)} if format else about)


def written(value: Any, kind: object) -> Any:
    """An argument other than a public list in words.

    >>> written((0.0, Fraction(1, 3)), "bounds"), written(0.5, "number")
    ([0, '1/3'], 0.5)
    """
    if isinstance(value, bool | str):
        return value
    if kind == "ends" or (kind == "numbers or dates" and summaries.are_dates(value)):
        return [str(summaries.as_date(each)) for each in value]
    if kind in ("bounds", "levels", "numbers or dates"):
        return [number_written(each) for each in cast("Iterable[Any]", value)]
    return number_written(value)


def number_written(value: Any) -> int | float | str:
    """A number: as JSON has it where that is exactly what the caller means, else as a fraction."""
    if type(value) is float:  # from 2^52 on as it is: see `whole_or_double_bounds`
        return int(value) if value.is_integer() and abs(value) < _WHOLE_DOUBLES else value
    exact = decimal_fraction(value, "number", expected="a finite number")
    if exact.denominator == 1 and abs(exact) < 10**40:
        return int(exact)
    nearest = float(exact)
    return nearest if Fraction(repr(nearest)) == exact else str(exact)


_FRACTION = re.compile(r"-?[0-9]{1,1000}/[0-9]{1,1000}", re.ASCII)


def _number(held: object, name: str) -> int | float | Fraction:
    if isinstance(held, str) and _FRACTION.fullmatch(held) and int(held.partition("/")[2]):
        return Fraction(held)
    if isinstance(held, bool) or not isinstance(held, int | float):
        raise wrong(name, "a number")
    return held


def _list(held: object, name: str) -> list[object]:
    if not isinstance(held, list):
        raise wrong(name, "a list")
    return cast("list[object]", held)


def _numbers(held: object, name: str) -> Any:
    return tuple(_number(each, name) for each in _list(held, name))


def _text(held: object, name: str) -> str:
    if not isinstance(held, str) or not held:
        raise wrong(name, "a text")
    return held


def _whole(held: object, name: str) -> int:
    if isinstance(held, bool) or not isinstance(held, int):
        raise wrong(name, "a whole number")
    return held


def _flag(held: object, name: str) -> bool:
    if not isinstance(held, bool):
        raise wrong(name, "true or false")
    return held


def members(held: object, name: str = "list") -> Any:
    """The public list that `PublicCandidates.words` wrote.

    Raises:
        InvalidCertificateError: there is no such list.

    >>> members({"range": [1, 5]}), members({"dates": ["2026-11-21"]})
    (range(1, 6), [datetime.date(2026, 11, 21)])
    """
    if isinstance(held, list):
        return cast("list[object]", held)
    about: Words = cast("Words", held) if isinstance(held, dict) else {}
    if set(about) == {"range"}:
        ends = [_whole(each, name) for each in _list(about["range"], name)]
        if len(ends) in (2, 3) and all(ends[2:]):
            first, last, step = (*ends, 1)[:3]
            return range(first, last + (1 if step > 0 else -1), step)
    elif set(about) == {"dates"}:
        return [_date(each, name) for each in _list(about["dates"], name)]
    elif set(about) == {"count", "kind", "sha256"}:
        kind, hash = about["kind"], _text(about["sha256"], name)
        if kind in [*summaries.CandidateKind] and re.fullmatch("[0-9a-f]{64}", hash):
            return summaries.UnlistedCandidates.stated_as(
                summaries.CandidateKind(kind), _whole(about["count"], name), hash
            )
    raise wrong(name, "a public list: its members, a range, dates, or a count, a kind and a hash")


def _date(held: object, name: str) -> date:
    try:
        read = date.fromisoformat(_text(held, name))
    except ValueError:
        raise wrong(name, "dates such as 2026-11-21") from None
    if read.isoformat() != held:
        raise wrong(name, "dates such as 2026-11-21")
    return read


def _ends(held: object, name: str) -> Any:
    return tuple(_text(each, name) for each in _list(held, name))


def _numbers_or_dates(held: object, name: str) -> Any:
    return (_ends if all(map(summaries.as_date, _list(held, name))) else _numbers)(held, name)


def _prices(held: object, name: str) -> Any:
    return _numbers(held, name) if not isinstance(held, dict) else members(cast("Words", held), name)


_READ: dict[object, Callable[[object, str], Any]] = {
    "text": _text,
    "any text": _text,
    "whole": _whole,
    "number": _number,
    "exact": _number,
    "flag": _flag,
    "bounds": _numbers,
    "ends": _ends,
    "numbers or dates": _numbers_or_dates,
    "levels": _numbers,
    "prices": _prices,
    "dates": members,
    "values": members,
    "list": members,
}


def read(words: Words, arguments: Iterable[Argument], *, within: str = "question") -> Words:
    """The arguments that `words` describe.

    Raises:
        InvalidCertificateError: one is missing, unknown, or not written as it has to be. The error names it.
        SelectionError: its own check refuses it.
    """
    known = {each.name: each for each in arguments}
    if unknown := words.keys() - known.keys():
        shown = min(unknown)
        name = f"{within}.{shown}" if len(shown) <= 60 and shown.isidentifier() else within
        raise wrong(name, f"one of the arguments {', '.join(known)}")
    found: Words = {}
    for name, each in known.items():
        if name in words:
            value = _READ.get(each.kind, _text)(words[name], f"{within}.{name}")
            found[name] = value if each.check is None else each.check(value, name)
        elif each.default is REQUIRED:
            _missing(within, name)
    return found


def _missing(within: str, name: str) -> NoReturn:
    raise wrong(f"{within}.{name}", "a value")


def list_written(listed: Any) -> Any:
    """Public prices in words: whole numbers as a list of candidates, others as they are."""
    if all(type(each) is int for each in listed):
        return summaries.PublicCandidates.given(listed).words(whole=True)
    return [number_written(each) for each in listed]

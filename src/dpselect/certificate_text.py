"""The text of a certificate, parsed strictly: every field of its type and range, none twice and none unknown.

Errors name the field and never what it holds: that may be the answer, or worse.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any, cast

from dpselect.errors import InvalidCertificateError, Shown
from dpselect.privacy import Neighbours

Fields = dict[str, Any]
Check = Callable[[object, str], object]

_LARGEST = 2**63 - 1
_MOST_ROWS = 10**9


def parsed(text: object) -> Fields:
    """The certificate `text` as plain Python values, all of the types and in the ranges that a release has.

    Raises:
        InvalidCertificateError: which field is missing, unknown, given twice, or not of its type or range.
    """
    if not isinstance(text, str):
        raise wrong("text", "text")
    try:
        held: object = json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except InvalidCertificateError:
        raise
    except (ValueError, RecursionError):
        raise wrong("text", "the JSON that Release.to_json writes") from None
    fields = _object_with(held, "text", _FIELDS, optional=_OPTIONAL)
    _check_task(fields)
    return fields


def check_draft(held: Fields) -> None:
    """Refuse a certificate that could not be written or read back, whatever its answer will be.

    Raises:
        InvalidCertificateError: which field is not of its type or range.
    """
    fields = _object_with(held, "text", _FIELDS, optional=_OPTIONAL)
    _check_question(fields)


def wrong(field: str, expected: str, hint: str = "") -> InvalidCertificateError:
    """The error about a field."""
    return InvalidCertificateError("certificate", Shown(f"<{field}>"), expected, hint)


def _object(pairs: list[tuple[str, object]]) -> Fields:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise wrong("a field twice", "each field once")
    return fields


def _constant(_: str) -> object:
    raise wrong("a number", "finite numbers")


def _object_with(held: object, name: str, checks: dict[str, Check], *, optional: Iterable[str] = ()) -> Fields:
    expected = f"an object with the fields {', '.join(checks)}" if checks else "an object without fields"
    if not isinstance(held, dict):
        raise wrong(name, expected)
    fields = cast(Fields, held)
    if not set(fields) <= set(checks) or not set(checks) - set(optional) <= set(fields):
        raise wrong(name, expected)
    prefix = "" if name == "text" else f"{name}."
    for field, value in fields.items():
        checks[field](value, prefix + field)
    return fields


def _text(value: object, name: str, *, empty: bool = False) -> str:
    if not isinstance(value, str) or not (value or empty):
        raise wrong(name, "a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise wrong(name, "a text that UTF-8 can hold") from None
    return value


def _any_text(value: object, name: str) -> None:
    _text(value, name, empty=True)


def _one_of(*allowed: str) -> Check:
    def check(value: object, name: str) -> None:
        if not isinstance(value, str) or value not in allowed:
            raise wrong(name, f"one of {', '.join(allowed)}")

    return check


def _hash(value: object, name: str) -> None:
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{64}", value):
        raise wrong(name, "64 hexadecimal digits")


def _bool(value: object, name: str) -> None:
    if not isinstance(value, bool):
        raise wrong(name, "true or false")


def _whole(least: int, most: int = _LARGEST) -> Check:
    def check(value: object, name: str) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise wrong(name, f"a whole number from {least} to {most}")

    return check


def _fraction(value: object, name: str) -> None:
    """In its lowest terms; the common unit of prices has at most 2200 bits below the bar, and 3300 above it."""
    digits = "[1-9][0-9]{0,1000}"
    if not isinstance(value, str) or not re.fullmatch(f"{digits}(/{digits})?", value) or str(Fraction(value)) != value:
        raise wrong(name, "a fraction > 0 in its lowest terms, as text")


def _number(value: object, name: str) -> float:
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(float(value)):
            return float(value)
    except OverflowError:
        pass  # said below, as for all that no double holds
    raise wrong(name, "a finite number")


def _share(value: object, name: str) -> None:
    if not isinstance(value, float) or not math.isfinite(value):
        raise wrong(name, "shares, as numbers with a point")


def _that(holds: Callable[[float], bool], expected: str) -> Check:
    def check(value: object, name: str) -> None:
        if not holds(_number(value, name)):
            raise wrong(name, expected)

    return check


_positive = _that(lambda number: number > 0.0, "a number > 0")
_delta = _that(lambda number: 0.0 <= number < 1.0, "a number from 0 to below 1")
_probability = _that(lambda number: 0.0 < number < 1.0, "a number strictly between 0 and 1")
_level = _that(lambda number: 0.0 <= number <= 1.0, "a number from 0 to 1")
_not_negative = _that(lambda number: number >= 0.0, "a number >= 0")
_count = _whole(1)


def _list_of(check: Check) -> Check:
    def checked(value: object, name: str) -> None:
        if not isinstance(value, list):
            raise wrong(name, "a list")
        for member in cast("list[object]", value):
            check(member, name)

    return checked


def _date(value: object, name: str) -> None:
    try:
        if date.fromisoformat(_text(value, name)).isoformat() == value:
            return
    except ValueError as error:
        if isinstance(error, InvalidCertificateError):
            raise
    raise wrong(name, "a date as ISO 8601 text")


def _time(value: object, name: str) -> None:
    try:
        time = datetime.fromisoformat(_text(value, name))
        if time.isoformat(timespec="seconds") == value and time.utcoffset() == timedelta(0):
            return
    except ValueError as error:
        if isinstance(error, InvalidCertificateError):
            raise
    raise wrong(name, "a time in UTC as ISO 8601 text")


def _anything(value: object, name: str) -> None:
    """A field whose kind another field states, or that another reader parses."""
    del value, name


def _if_any(checks: dict[str, Check], *, optional: Iterable[str] = ()) -> Check:
    def check(value: object, name: str) -> None:
        if value is not None:
            _object_with(value, name, checks, optional=optional)

    return check


def _always(checks: dict[str, Check], *, optional: Iterable[str] = ()) -> Check:
    def check(value: object, name: str) -> None:
        _object_with(value, name, checks, optional=optional)

    return check


def _within(value: object, name: str) -> None:
    if value is not None:  # no double could hold it
        _not_negative(value, name)


_ERROR_UNITS = ("ranks", "revenue", "share", "sum", "value", "weighted rows")
_RECEIPT: dict[str, Check] = {
    "account": _text,
    "sequence": _whole(0),
    "hash": _hash,
    "time": _any_text,
    "question": _hash,
    "request": _text,
    "ledger": _text,
}
_FIELDS: dict[str, Check] = {
    "value": _anything,
    "guarantee": _always(
        {"epsilon": _positive, "delta": _delta, "neighbours": _one_of(*map(str, Neighbours)), "unit": _text}
    ),
    "receipt": _if_any(_RECEIPT, optional=["question", "request", "ledger"]),
    "event": _anything,
    "task": _one_of(
        *("most_common", "least_common", "best_date", "top_k", "best_by", "quantile", "quantiles", "mean"),
        *("best_price", "density", "best_features"),
    ),
    "column": _any_text,
    "mechanism": _always({"name": _text, "rounds": _count, "sensitivity": _positive, "monotonic": _bool}),
    "candidates": _anything,
    "error_bound": _if_any(
        {"within": _within, "confidence": _probability, "unit": _one_of(*_ERROR_UNITS)}, optional=["unit"]
    ),
    "arguments": _anything,
    "groups": _anything,
    "proofs": _list_of(_text),
    "version": _text,
    "time": _time,
    "digest": _hash,
}
_OPTIONAL = ("event", "arguments", "groups", "digest")

_KINDS: dict[str, Check] = {
    "whole numbers": _whole(-_LARGEST - 1),
    "numbers": _number,
    "text": _text,
    "dates": _date,
    "booleans": _bool,
}
_ends: dict[str, Check] = {"lower": _number, "upper": _number}
_LISTED: dict[str, Check] = {
    "origin": _one_of("caller"),
    "count": _count,
    "kind": _one_of(*_KINDS),
    "range": _always(dict.fromkeys(("first", "last", "step"), _whole(-_LARGEST - 1))),
}
_PRICES: dict[str, Check] = {
    "origin": _one_of("caller"),
    "count": _count,
    "kind": _one_of("prices"),
    "lowest": _number,
    "highest": _number,
    "common_unit": _fraction,
    "second_highest": _number,
}
_BOUNDS: dict[str, Check] = {"source": _one_of("bounds"), **_ends}
_GRID: dict[str, Check] = {"source": _one_of("grid"), **_ends, "step": _positive, "count": _count}
_BINS: dict[str, Check] = {"source": _one_of("bins"), **_ends, "count": _count}
_SUMMED: dict[str, Check] = {
    "sum": _any_text,
    "scale": _positive,
    "lower": _whole(-(2**31), 2**31),
    "upper": _whole(-(2**31), 2**31),
}
_GROUPS: dict[str, Check] = {
    "column": _any_text,
    "count": _count,
    "kind": _one_of(*_KINDS),
    "max_per_unit": _count,
    "epsilon": _positive,
}
_ROWS: dict[str, Check] = {"max_rows_per_unit": _whole(1, _MOST_ROWS)}
_COUNTS: dict[str, Check] = {"method": _one_of("counts"), "max_rows_per_unit": _whole(1, 1)}
_SAMPLE: dict[str, Check] = {"method": _one_of("sample"), **_ROWS, "units": _count, "sample_size": _count}


def _entry(held: object, name: str) -> object:
    return cast(Fields, held).get(name) if isinstance(held, dict) else None


def _check_task(fields: Fields) -> None:
    """The parts that depend on the question: the candidates, the arguments, and the number and kind of values."""
    value_check, length = _check_question(fields)
    value = cast(object, fields["value"])
    for answer in _by_group(fields["groups"], value) if "groups" in fields else [value]:
        if length is None:
            value_check(answer, "value")
            continue
        _list_of(value_check)(answer, "value")
        if len(cast("list[object]", answer)) != length:
            raise wrong("value", "as many as were drawn")


def _check_question(fields: Fields) -> tuple[Check, int | None]:
    """The check of one value of an answer, and the number of values; None: a single value that is not a list."""
    task, public = cast(str, fields["task"]), cast(object, fields["candidates"])
    arguments = cast(object, fields.get("arguments", {}))
    source = _entry(public, "source")
    has_bound, length = True, None
    value_check: Check = _number
    match task:
        case "most_common" | "least_common" | "best_date" | "top_k" | "best_by":
            about = _object_with(public, "candidates", _LISTED, optional=["range"])
            if task == "best_date" and about["kind"] != "dates":
                raise wrong("candidates.kind", "dates")
            value_check = _KINDS[about["kind"]]
            asked = _object_with(arguments, "arguments", _SUMMED if task == "best_by" else {})
            if task == "best_by" and not asked["lower"] < asked["upper"]:
                raise wrong("arguments", "lower below upper")
            length = _selected(fields) if task == "top_k" else None
        case "best_features":
            about = _object_with(public, "candidates", _LISTED, optional=["range"])
            _object_with(arguments, "arguments", {"classes": _whole(2)})
            value_check, length = _KINDS[about["kind"]], _selected(fields)
        case "mean":
            _object_with(public, "candidates", _GRID)
            _object_with(arguments, "arguments", {"units": _count, "max_rows_per_unit": _whole(1, 1)})
        case "best_price":
            if source == "bounds":
                _object_with(public, "candidates", _BOUNDS)
            else:
                listed = _object_with(public, "candidates", _PRICES, optional=["common_unit", "second_highest"])
                if ("second_highest" in listed) != ("common_unit" in listed and listed["count"] > 1):
                    raise wrong("candidates.second_highest", "one, if there are several prices with a unit")
            _object_with(arguments, "arguments", _ROWS)
            has_bound = source != "bounds"
        case "density":
            bins = _object_with(public, "candidates", _BINS)
            by_sample = _entry(arguments, "method") == "sample"
            _object_with(arguments, "arguments", _SAMPLE if by_sample else _COUNTS)
            value_check, length = _share, bins["count"]
        case _:
            _object_with(public, "candidates", _BOUNDS if source == "bounds" else _GRID)
            has_bound = task == "quantile" and source != "bounds"
            if task == "quantile":
                _object_with(arguments, "arguments", {"level": _level, **_ROWS})
            else:
                levels = {"levels": _list_of(_level), **_ROWS, "method": _text, "score_range": _positive}
                length = len(_object_with(arguments, "arguments", levels, optional=["score_range"])["levels"])
    if source is not None:
        ends = cast(Fields, public)
        count = ends.get("count", 2)  # without a grid only the order counts, however far apart they are
        if not ends["lower"] < ends["upper"] or not 0.0 <= ends["upper"] / count - ends["lower"] / count < math.inf:
            raise wrong("candidates", "lower below upper")
        if "count" in ends and ends["upper"] / count == ends["lower"] / count:
            raise wrong("candidates", "a step above 0")
    if (fields["error_bound"] is not None) != has_bound:
        raise wrong("error_bound", "a bound" if has_bound else "null: no bound holds for all data")
    if "groups" in fields:
        about = _object_with(fields["groups"], "groups", _GROUPS)
        if about["max_per_unit"] > about["count"]:
            raise wrong("groups.max_per_unit", "at most as many as there are groups")
    return value_check, length


def _selected(fields: Fields) -> int:
    """The number of selected candidates, one per round; if all but one were drawn, the last may follow."""
    rounds, count = fields["mechanism"]["rounds"], fields["candidates"]["count"]
    value: object = fields.get("value")
    if "groups" in fields and isinstance(value, list) and value:  # pairs of a group and its answer: see `_by_group`
        value = _second(cast("list[object]", value)[0])
    is_all = rounds + 1 == count and isinstance(value, list) and len(cast("list[object]", value)) == count
    return count if is_all else rounds


def _second(pair: object) -> object:
    return cast("list[object]", pair)[1] if isinstance(pair, list) and len(cast("list[object]", pair)) == 2 else None


def _by_group(about: Fields, value: object) -> list[object]:
    """The answers, after checking that there is one for each group."""
    _list_of(_pair)(value, "value")
    pairs = cast("list[list[object]]", value)
    for group, _ in pairs:
        _KINDS[about["kind"]](group, "value")
    if len({group for group, _ in pairs}) != about["count"] or len(pairs) != about["count"]:
        raise wrong("value", "one for each group")
    return [answer for _, answer in pairs]


def _pair(value: object, name: str) -> None:
    if not isinstance(value, list) or len(cast("list[object]", value)) != 2:
        raise wrong(name, "pairs of a group and its answer")

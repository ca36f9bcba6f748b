"""The text of a certificate, parsed strictly: every field of its type and range, none twice and none unknown.

Errors name the field and never what it holds: that may be the answer, or worse.
"""

from __future__ import annotations

import json
import math
from typing import cast

from dpselect.errors import InvalidCertificateError
from dpselect.formats import is_canonical
from dpselect.privacy import Neighbours
from dpselect.questions import QUESTIONS, fields
from dpselect.questions.count import LARGEST_COUNT
from dpselect.questions.fields import AnswerFields, Check, Fields, wrong

SEEDED = "seeded: not private"
"""What the field ``seeded`` says; it is there only if known random bits were part of the draw."""


def parsed(text: object) -> Fields:
    """The certificate `text` as plain Python values, all of the types and in the ranges that a release has.

    Raises:
        InvalidCertificateError: which field is missing, unknown, given twice, or not of its type or range.
    """
    if not isinstance(text, str):
        raise wrong("text", "text")
    try:
        read: object = json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except InvalidCertificateError:
        raise
    except (ValueError, RecursionError):
        raise wrong("text", "the JSON that Release.to_json writes") from None
    held = fields.object_with(read, "text", _FIELDS, optional=_OPTIONAL)
    expected = _check_question(held)
    value = cast(object, held["value"])
    answers = _by_group(held["groups"], value) if "groups" in held else [value]
    for answer in answers:
        if expected.length is None and expected.most is None:
            expected.value(answer, "value")
            continue
        fields.list_of(expected.value)(answer, "value")
        count = len(cast("list[object]", answer))
        if count > expected.most if expected.most is not None else count != expected.length:
            raise wrong("value", "as many as were drawn")
    if "usable" in held:
        _check_counts(held, "usable", [None] * len(answers))
    if "counts" in held:
        lengths = [len(cast("list[object]", answer)) if isinstance(answer, list) else None for answer in answers]
        _check_counts(held, "counts", lengths)
    return held


def check_draft(held: Fields) -> None:
    """Refuse a certificate that could not be written or read back, whatever its answer will be.

    Raises:
        InvalidCertificateError: which field is not of its type or range.
    """
    _check_question(fields.object_with(held, "text", _FIELDS, optional=_OPTIONAL))


def _object(pairs: list[tuple[str, object]]) -> Fields:
    held = dict(pairs)
    if len(held) < len(pairs):
        raise wrong("a field twice", "each field once")
    return held


def _constant(_: str) -> object:
    raise wrong("a number", "finite numbers")


def _format(value: object, name: str) -> None:
    if not isinstance(value, dict) or not is_canonical(cast(Fields, value)):
        raise wrong(name, "the words of a dpselect.Format that differ from the default")


def _condition(value: object, name: str) -> None:
    """One column, and two ends or a list."""
    held = fields.object_with(value, name, _CONDITION, optional=["between", "values"])
    if ("between" in held) == ("values" in held):
        raise wrong(name, "either between or values")
    if "between" in held and (len(held["between"]) != 2 or held["between"] == [None, None]):
        raise wrong(f"{name}.between", "two ends, at most one of them null")


def _noisy_units(value: object, name: str) -> None:
    held = fields.object_with(value, name, _NOISY_UNITS, optional=["epsilon", "answer_epsilon"])
    if ("epsilon" in held) != ("answer_epsilon" in held):
        raise wrong(name, "epsilon and answer_epsilon together")


ERROR_UNITS = ("ranks", "revenue", "share", "sum", "sum of squares", "value", "weighted rows")
"""Those of all questions; written down, so that no other question is imported for it."""

_GUARANTEE: dict[str, Check] = {
    "epsilon": fields.positive,
    "delta": fields.delta,
    "neighbours": fields.one_of(*map(str, Neighbours)),
    "unit": fields.text,
}
_MECHANISM: dict[str, Check] = {
    "name": fields.text,
    "rounds": fields.count,
    "sensitivity": fields.positive,
    "monotonic": fields.boolean,
}
_BOUND: dict[str, Check] = {
    "within": fields.or_null(fields.not_negative),  # null: no double holds it
    "confidence": fields.probability,
    "unit": fields.one_of(*ERROR_UNITS),
}
_RECEIPT: dict[str, Check] = {
    "account": fields.text,
    "sequence": fields.whole(0),
    "hash": fields.sha256,
    "time": fields.any_text,
    "question": fields.sha256,
    "request": fields.text,
    "ledger": fields.text,
}
_SOURCE: dict[str, Check] = {
    "files": fields.list_of(fields.file_name, empty=False),
    "table": fields.text,
    "frame": fields.text,
    "schema": fields.sha256,
    "name": fields.text,
}
_UNITS = fields.whole(0, LARGEST_COUNT)
_NOISY_UNITS: dict[str, Check] = {
    "count": fields.anything,
    "within": fields.whole(0),
    "confidence": fields.probability,
    "epsilon": fields.positive,
    "answer_epsilon": fields.positive,
}
_CONDITION: dict[str, Check] = {
    "column": fields.any_text,
    "between": fields.list_of(fields.or_null(fields.number)),
    "values": fields.list_of(fields.anything, empty=False),
}
_FIELDS: dict[str, Check] = {
    "value": fields.anything,
    "guarantee": fields.always(_GUARANTEE),
    "receipt": fields.or_null(fields.always(_RECEIPT, optional=["question", "request", "ledger"])),
    "event": fields.anything,
    "task": fields.one_of(*QUESTIONS),
    "column": fields.any_text,
    "mechanism": fields.always(_MECHANISM),
    "candidates": fields.anything,
    "error_bound": fields.or_null(fields.always(_BOUND, optional=["unit"])),
    "arguments": fields.anything,
    "groups": fields.anything,
    "format": _format,
    "where": fields.list_of(_condition, empty=False),
    "source": fields.always(_SOURCE, optional=["schema", "name"], one_of=["files", "table", "frame"]),
    "usable": _noisy_units,
    "counts": _noisy_units,
    "seeded": fields.one_of(SEEDED),
    "proofs": fields.list_of(fields.text),
    "version": fields.text,
    "time": fields.utc_time,
    "digest": fields.sha256,
}
_OPTIONAL = ("event", "arguments", "groups", "format", "where", "source", "usable", "counts", "seeded", "digest")
_GROUPS: dict[str, Check] = {
    "column": fields.any_text,
    "count": fields.count,
    "kind": fields.one_of(*fields.KINDS),
    "max_per_unit": fields.count,
    "epsilon": fields.positive,
}


def _check_question(held: Fields) -> AnswerFields:
    """The parts that depend on the question: the candidates, the arguments, and the number and kind of values."""
    expected = QUESTIONS[held["task"]].check_fields(held)
    public = cast(Fields, held["candidates"])
    if "source" in public:
        _check_ends(public)
    if (held["error_bound"] is not None) != expected.has_bound:
        raise wrong("error_bound", "a bound" if expected.has_bound else "null: no bound holds for all data")
    if "groups" in held:
        about = fields.object_with(held["groups"], "groups", _GROUPS)
        if about["max_per_unit"] > about["count"]:
            raise wrong("groups.max_per_unit", "at most as many as there are groups")
    return expected


def _check_ends(public: Fields) -> None:
    """Without a grid only the order of the ends counts; with one, steps between them have to be doubles above 0."""
    lower, upper, count = public["lower"], public["upper"], public.get("count", 2)
    width = upper / count - lower / count
    if not lower < upper or not 0.0 <= width < math.inf:
        raise wrong("candidates", "lower below upper")
    if "count" in public and not width:
        raise wrong("candidates", "a step above 0")


def _by_group(about: Fields, value: object) -> list[object]:
    """The answers, after checking that there is one for each group."""
    fields.list_of(_pair)(value, "value")
    pairs = cast("list[list[object]]", value)
    for group, _ in pairs:
        fields.KINDS[about["kind"]](group, "value")
    if len({group for group, _ in pairs}) != about["count"] or len(pairs) != about["count"]:
        raise wrong("value", "one for each group")
    return [answer for _, answer in pairs]


def _check_counts(held: Fields, field: str, lengths: list[int | None]) -> None:
    """A number of units, or a list of so many; or this for each group, in the order of the answers."""
    count, name = held[field]["count"], f"{field}.count"
    if "groups" not in held:
        _check_numbers(count, name, lengths[0])
        return
    fields.list_of(_pair)(count, name)
    pairs = cast("list[list[object]]", count)
    for (_, numbers), length in zip(pairs, lengths, strict=False):
        _check_numbers(numbers, name, length)
    if [group for group, _ in pairs] != [group for group, _ in held["value"]]:
        raise wrong(name, "one for each group, in the order of the answers")


def _check_numbers(value: object, name: str, length: int | None) -> None:
    if length is None:
        _UNITS(value, name)
        return
    fields.list_of(_UNITS)(value, name)
    if len(cast("list[object]", value)) != length:
        raise wrong(name, "one for each value")


def _pair(value: object, name: str) -> None:
    if not isinstance(value, list) or len(cast("list[object]", value)) != 2:
        raise wrong(name, "pairs of a group and its answer")

"""A certificate read back: the question it holds is asked again, without a row, and every claim is compared.

Errors name the field and never what it holds: that may be the answer, or worse.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Any, cast

from dpselect.accounting.codec import decode, encode
from dpselect.accounting.events import Event
from dpselect.errors import InvalidCertificateError, InvalidParameterError, SelectionError, Shown
from dpselect.formats import is_canonical
from dpselect.privacy import EACH_ROW, Neighbours
from dpselect.questions.query import Query
from dpselect.questions.question import Question
from dpselect.questions.words import (
    CERTIFICATE,
    SEEDED,
    NoisyUnits,
    Words,
    a_text,
    canonical_json,
    is_noisy_count,
    wrong,
)
from dpselect.summaries import CandidateKind
from dpselect.summaries.groups import MOST_GROUPS

_NEEDED = frozenset(
    [
        "certificate",
        "question",
        "value",
        "guarantee",
        "receipt",
        "event",
        "mechanism",
        "candidates",
        "error_bound",
        "proofs",
        "version",
        "time",
    ]
)
_OPTIONAL = frozenset(["facts", "arguments", "groups", "format", "source", "usable", "counts", "seeded", "digest"])
_CLOSE = 1e-9
"""Relative difference allowed between a stated bound or cost and a recomputed one: logarithms differ by machine."""


def released(text: object, certified: Callable[..., Any]) -> Any:
    """The release whose certificate `text` is. All that its question and its table determine is what they give.

    Args:
        text: the certificate.
        certified: makes the certificate of a question without its answer: see `certificates.release`.

    Raises:
        InvalidCertificateError: it is not such a text, there is no such question, or a claim differs from what the
            question gives. Names the field.
    """
    held = parsed(text)
    guarantee = _object(held["guarantee"], "guarantee")
    unit, neighbours = guarantee.get("unit"), guarantee.get("neighbours")
    if not isinstance(unit, str) or not unit:
        raise wrong("guarantee.unit", "a text")
    if neighbours not in [*Neighbours]:
        raise wrong("guarantee.neighbours", f"one of {', '.join(Neighbours)}")
    words, answers = _object(held["question"], "question"), [("", held["value"])]
    names: list[Any] | None = None
    if "groups" in words:
        answers = _pairs(held["value"], "value")
        if len(answers) > MOST_GROUPS:
            raise wrong("value", f"at most {MOST_GROUPS:,} groups")
        names = [_group(name, words["groups"]) for name, _ in answers]
    elif "by" in words:
        raise wrong("question.groups", "the groups")
    try:
        asked = Query.again(
            words, neighbours=Neighbours(neighbours), facts=_object(held.get("facts", {}), "facts"), groups=names
        )
        terms = asked.terms
    except InvalidCertificateError:
        raise
    except InvalidParameterError as refused:
        known = refused.name if refused.name in words else ""
        raise wrong(f"question.{known}" if known else "question", refused.expected) from None
    except SelectionError:
        raise wrong("question", "a question that can be asked") from None
    named = {"where": [each["column"] for each in asked.where], "by": asked.groups.columns if asked.groups else ()}
    for name, columns in {**named, "column": [words.get("column")], "sum": [words.get("sum")]}.items():
        if unit in columns and unit != EACH_ROW:
            raise wrong(f"question.{name}", "another column than the unit")
    is_date = terms.candidates.get("kind") == CandidateKind.DATE
    read = [_read(answer, is_date=is_date) for _, answer in answers]
    column = str(words.get("column", unit))
    release = certified(asked, column=column, unit=unit, time=_time(held["time"]))
    release = replace(
        release,
        value=read[0] if names is None else dict(zip(names, read, strict=True)),
        receipt=_receipt(held["receipt"]),
        event=_event(held["event"], release.event),
        version=a_text(held["version"], "version"),
        format=_format(held.get("format")),
        source=_source(held.get("source")),
        error_bound=_bound(held["error_bound"], release.error_bound),
        usable=_numbers(held, "usable", release.usable, names, [None] * len(read)),
        counted=_numbers(held, "counts", release.counted, names, [_length(answer) for answer in read]),
        seeded="seeded" in held,
    )
    _compare(held, release.to_dict())
    for name, answer in zip(names or [None], read, strict=True):
        _check_possible(asked.alone, answer, release, name)
    return release


def parsed(text: object) -> Words:
    """The certificate as JSON has it, with all of its fields and no other.

    Raises:
        InvalidCertificateError: it is no such text.
    """
    if not isinstance(text, str):
        got = Shown(f"<{type(text).__name__}>")
        raise InvalidCertificateError("certificate", got, "the text that Release.to_json writes")
    try:
        read: object = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
        canonical_json({"": read}).encode()  # nor does JSON hold what is infinite, or UTF-8 half of a character
    except InvalidCertificateError:
        raise
    except (ValueError, RecursionError):
        raise wrong("text", "the JSON that Release.to_json writes, of finite numbers") from None
    held = _object(read, "text")
    if held.get("certificate") != CERTIFICATE or held["certificate"] is True:
        raise wrong("certificate", f"{CERTIFICATE}, the format of certificates that this version reads")
    if not _NEEDED <= set(held) <= _NEEDED | _OPTIONAL:
        raise wrong("text", f"an object with the fields {', '.join(sorted(_NEEDED))}")
    if "seeded" in held and held["seeded"] != SEEDED:
        raise wrong("seeded", f"{SEEDED!r}, or nothing")
    return held


def _once(pairs: list[tuple[str, object]]) -> Words:
    held = dict(pairs)
    if len(held) < len(pairs):
        raise wrong("a field twice", "each field once")
    return held


def _no_constant(_: str) -> object:
    raise wrong("a number", "finite numbers")


def _object(held: object, name: str) -> Words:
    if not isinstance(held, dict):
        raise wrong(name, "an object")
    return cast("Words", held)


def _compare(stated: Words, expected: Words) -> None:
    """Refuse the first claim that is not the one of the question."""
    claims = {name: claim for name, claim in stated.items() if name != "digest"}
    if canonical_json(claims) == canonical_json(expected):  # as texts: 1 is neither 1.0 nor True
        return
    name = _first_difference(claims, expected)
    one, other = claims.get(name), expected.get(name)
    if isinstance(one, dict) and isinstance(other, dict):
        part = _first_difference(cast("Words", one), cast("Words", other))
        name = f"{name}.{part}" if part in other else name
    raise wrong(name, "what its question gives")


def _first_difference(stated: Words, expected: Words) -> str:
    return next(name for name in sorted({*stated, *expected}) if _text_of(stated, name) != _text_of(expected, name))


def _text_of(held: Words, name: str) -> str:
    return canonical_json({name: held[name]} if name in held else {})


def _pairs(held: object, name: str) -> list[tuple[Any, Any]]:
    """The groups with the answer of each."""
    pairs = cast("list[object]", held) if isinstance(held, list) else []
    if not pairs or not all(isinstance(pair, list) and len(cast("list[object]", pair)) == 2 for pair in pairs):
        raise wrong(name, "pairs of a group and its answer")
    return [(one, other) for one, other in cast("list[list[Any]]", pairs)]


def _group(held: object, words: object) -> Any:
    """The name of a group; in a cross table a tuple."""
    about: Words = cast("Words", words) if isinstance(words, dict) else {}
    if "kinds" in about:
        parts, kinds = _list_of(held), _list_of(about["kinds"])
        if len(parts) != len(kinds) or any(isinstance(part, list) for part in parts):
            raise wrong("value", "a value of each column of the groups")
        return tuple(_read(part, is_date=kind == CandidateKind.DATE) for part, kind in zip(parts, kinds, strict=True))
    return _read(held, is_date="dates" in about or about.get("kind") == CandidateKind.DATE)


def _list_of(held: object) -> list[object]:
    return cast("list[object]", held) if isinstance(held, list) else []


def _read(held: object, *, is_date: bool) -> Any:
    """A value of an answer, or a list of them; what is no date stays a text, which no question can answer."""
    if isinstance(held, list):
        listed = cast("list[object]", held)
        if not any(isinstance(each, list) for each in listed):
            return [_read(each, is_date=is_date) for each in listed]
    if isinstance(held, list | dict) or held is None:
        raise wrong("value", "a value, or a list of values")
    try:
        return date.fromisoformat(held) if is_date and isinstance(held, str) else held
    except ValueError:
        raise wrong("value", "dates such as 2026-11-21") from None


def _length(answer: object) -> int | None:
    return len(cast("list[object]", answer)) if isinstance(answer, list) else None


def _check_possible(question: Question, answer: object, release: Any, group: object) -> None:
    """Refuse values that no such question answers with, or that the numbers which came with them contradict."""
    is_list = question.gives_list
    values = cast("list[Any]", answer) if isinstance(answer, list) else [answer]
    if isinstance(answer, list) != is_list:
        raise wrong("value", "a list of values" if is_list else "a single value")
    units, counts = (_at_no_cost(numbers, group) for numbers in (release.usable, release.counted))
    if not question.possible(values, units, counts if is_list else None):
        raise wrong("value", "one that such a question can have, and that agrees with the numbers released with it")


def _at_no_cost(numbers: NoisyUnits | None, group: object) -> Any:
    """The numbers that came with the answer of the group at no cost; None if there are none."""
    if numbers is None or numbers.epsilon is not None:
        return None
    count = numbers.count
    return cast("dict[Any, Any]", count)[group] if isinstance(count, dict) else count


def _numbers(
    held: Words, field: str, expected: NoisyUnits | None, names: list[Any] | None, lengths: list[int | None]
) -> NoisyUnits | None:
    """The noisy numbers of units, of the shape of the answers."""
    if expected is None or field not in held:
        return expected  # compared below
    count, name = _object(held[field], field).get("count"), f"{field}.count"
    found = [count] if names is None else [numbers for _, numbers in _pairs(count, name)]
    if len(found) != len(lengths):
        raise wrong(name, "one for each group")
    for numbers, length in zip(found, lengths, strict=True):
        listed = cast("list[object]", numbers) if isinstance(numbers, list) else [numbers]
        if not all(map(is_noisy_count, listed)) or (None if not isinstance(numbers, list) else len(listed)) != length:
            raise wrong(name, "whole numbers from 0, one for each value")
    return replace(expected, count=count if names is None else dict(zip(names, found, strict=True)))


def _bound(held: object, expected: float | None) -> float | None:
    """The stated error bound, where it is the recomputed one up to the rounding of machines."""
    within: object = _object(held, "error_bound").get("within") if held is not None else None
    if expected is not None and isinstance(within, float) and math.isclose(within, expected, rel_tol=_CLOSE):
        return within
    return expected


def _event(held: object, expected: Event) -> Event:
    """The stated event, where it is the recomputed one up to the rounding of machines."""
    if held == (known := encode(expected)):
        return expected
    try:
        stated = decode(held)
    except InvalidParameterError:
        raise wrong("event", "an event that this dpselect can read") from None
    if not _is_close(encode(stated), known):
        raise wrong("event", "that of such a question")
    return stated


def _is_close(one: object, other: object) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_is_close(one[name], other[name]) for name in one)  # pyright: ignore
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_close, one, other))  # pyright: ignore
    numbers = _exact(one), _exact(other)  # pyright: ignore[reportUnknownArgumentType]
    return one == other or (None not in numbers and math.isclose(*numbers, rel_tol=_CLOSE))  # pyright: ignore


def _exact(held: object) -> Fraction | None:
    """A number of an event, which is written as text."""
    is_number = isinstance(held, str) and re.fullmatch(r"[0-9]{1,400}([./][0-9]{1,400})?(e[+-]?[0-9]{1,3})?", held)
    return Fraction(cast("str", held)) if is_number and not str(held).endswith("/0") else None


def _time(held: object) -> datetime:
    try:
        found = datetime.fromisoformat(a_text(held, "time"))
        if found.tzinfo is UTC and found.isoformat(timespec="seconds") == held:
            return found
    except (ValueError, OverflowError):
        pass  # said below
    raise wrong("time", "a time in UTC, to the second")


def _charged(held: object, name: str) -> None:
    """The time of a charge, which a ledger writes as a release does."""
    try:
        if datetime.fromisoformat(a_text(held, name)).tzinfo is not None:
            return
    except ValueError:
        pass  # said below
    raise wrong(name, "a time with a zone")


def _sha256(held: object, name: str) -> str:
    if not isinstance(held, str) or not re.fullmatch("[0-9a-f]{64}", held):
        raise wrong(name, "64 hexadecimal digits")
    return held


def _sequence(held: object, name: str) -> int:
    if type(held) is not int or not 0 <= held < 2**63:
        raise wrong(name, "a whole number from 0")
    return held


def _names(held: object, name: str) -> list[str]:
    listed = cast("list[object]", held) if isinstance(held, list) else []
    if not listed or not all(isinstance(each, str) and each and "/" not in each for each in listed):
        raise wrong(name, "names of files without folders")
    return cast("list[str]", listed)


def _checked(held: object, name: str, needed: Mapping[str, Any], optional: Mapping[str, Any]) -> Words:
    about = _object(held, name)
    checks: dict[str, Callable[[object, str], object]] = {**needed, **optional}
    if not set(needed) <= set(about) <= set(checks):
        raise wrong(name, f"an object with the fields {', '.join(checks)}")
    for field, value in about.items():
        checks[field](value, f"{name}.{field}")
    return about


def _receipt(held: object) -> Words | None:
    if held is None:
        return None
    needed = {"account": a_text, "sequence": _sequence, "hash": _sha256, "time": _charged}
    return _checked(held, "receipt", needed, {"question": _sha256, "request": a_text, "ledger": a_text})


def _format(held: object) -> Words | None:
    if held is not None and (not isinstance(held, dict) or not is_canonical(cast("Words", held))):
        raise wrong("format", "the words of a dpselect.Format that differ from the default")
    return cast("Words | None", held)


def _source(held: object) -> Words | None:
    if held is None:
        return None
    kinds = {"files": _names, "table": a_text, "frame": a_text}
    about = _checked(held, "source", {}, {**kinds, "schema": _sha256, "name": a_text})
    if len(set(about) & set(kinds)) != 1:
        raise wrong("source", f"one of {', '.join(kinds)}")
    return about

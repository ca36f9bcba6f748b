"""A certificate read back and checked: its question is asked again, without a row, and every claim is compared.

Then the guarantee is compared with what its event costs, and the charge with a ledger. Errors name the field and never
what it holds: that may be the answer, or worse.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, cast

from dpselect.accounting import Event, compose, planned_epsilon
from dpselect.accounting.codec import decode, from_json
from dpselect.accounting.events import BoundedRangeEvent, LaplaceProfileEvent, PureEvent, Run, encode
from dpselect.certificates.release import Release, canonical_json, digest, question_hash
from dpselect.errors import InvalidCertificateError, InvalidParameterError, SelectionError, Shown, wrong
from dpselect.formats import is_canonical
from dpselect.privacy import EACH_ROW, Neighbours
from dpselect.questions.query import Query
from dpselect.questions.records import CERTIFICATE, Drawn, Words, is_noisy_count
from dpselect.summaries import CandidateKind
from dpselect.summaries.scans import MOST_GROUPS

if TYPE_CHECKING:
    from dpselect.ledger import Ledger

_CLAIMED = ("question", "guarantee", "event", "mechanism", "candidates", "error_bound", "proofs")
_NEEDED = frozenset([*_CLAIMED, "certificate", "value", "receipt", "version", "time"])
_OPTIONAL = frozenset(["facts", "arguments", "groups", "format", "source", "usable", "counts", "seeded", "digest"])
_CLOSE = 1e-9  # relative difference allowed of a stated bound or cost: logarithms differ by machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What was verified about a certificate.

    Attributes:
        release: the release it certifies.
        epsilon: the guarantee, recomputed from the event at the certificate's delta; at most what is stated.
        error_bound: whether the error bound was recomputed from the event and public arguments, and agrees.
        charged: whether the charge was found in a ledger, on an account of this unit and relation; None if no ledger
            was given.
        question: whether the receipt holds a hash of every field but the value, and this hash matches; with a ledger,
            so does that of the charge. False without a receipt, or with one of a charge made by hand.
        value: whether the value itself is certified: the ledger stored this release for its request id.
    """

    release: Release[Any]
    epsilon: float
    error_bound: bool
    charged: bool | None
    question: bool
    value: bool


def verify(text: str, *, ledger: Ledger | None = None, allow_seeded: bool = False) -> Checked:
    """Recompute what the certificate `text` claims, and whether its value is one that its candidates allow.

    A careful editor of a certificate can make its parts agree with each other, because none of its hashes needs a
    secret. Only a ledger shows that exactly this question was asked and charged.

    Args:
        text: what `Release.to_json` wrote.
        ledger: the ledger of its receipt, or None.
        allow_seeded: check also a release of `dpselect.testing.seeded`, which is not private; for tests of checks.

    Raises:
        InvalidCertificateError: it is seeded, was edited, is no certificate, or does not match the ledger. Says which.
        LedgerError: the ledger cannot be read.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> certificate = people.median("age", bounds=(0, 120), step=1, epsilon=0.5).to_json()
    >>> verify(certificate).epsilon
    0.5
    >>> verify(certificate.replace('"delta": 0.0, "epsilon": 0.5', '"delta": 0.0, "epsilon": 0.1'))
    Traceback (most recent call last):
    dpselect.errors.InvalidCertificateError: certificate=<guarantee.epsilon>: expected what its question gives.
    """
    release, held = read_certificate(text)
    if held.get("digest") != digest(held):
        raise wrong("digest", "that of its content", "It was edited.")
    if release.seeded and not allow_seeded:
        raise wrong("seeded", "an answer with the operating system's noise", "Seeded: not private. It is for tests.")
    epsilon = _cost(release.event, release.delta)
    if not epsilon <= release.epsilon:
        raise wrong("guarantee", f"at least epsilon={epsilon!r}, what its event costs")
    receipt = release.receipt or {}
    if is_asked := "question" in receipt:
        if receipt["time"] != held["time"]:
            raise wrong("receipt.time", "the time of the release")
        if receipt["question"] != question_hash(held):
            raise wrong("receipt.question", "the hash of all in the certificate except the value", "It was edited.")
    stored = ledger is not None and _stored(release, text, ledger)
    return Checked(
        release=release,
        epsilon=epsilon,
        error_bound=release.error_bound is not None,
        charged=None if ledger is None else True,
        question=is_asked,
        value=stored,
    )


def _cost(event: Event, delta: float) -> float:
    """The smaller of what the general bounds give and what rounds are planned by; of one pure draw, its own."""
    if not delta and isinstance(event, PureEvent | BoundedRangeEvent | LaplaceProfileEvent):
        return event.epsilon
    general, planned = compose([event]).epsilon(delta), planned_epsilon(event, delta=delta)
    return general if planned is None else min(general, planned)


def _stored(release: Release, text: str, ledger: Ledger) -> bool:
    """Whether the ledger also stored the release whose charge it has to have."""
    receipt = release.receipt
    if receipt is None:
        raise wrong("no receipt", "the receipt of a charge to this ledger")
    entry = None
    with suppress(InvalidParameterError):  # no such account
        entry = ledger.find(receipt["account"], receipt["sequence"])
    if entry is None or entry.receipt is None or entry.hash != receipt.get("hash"):
        raise wrong("receipt", "that of a charge in this ledger")
    expected_receipt = entry.receipt.to_dict()
    for name in sorted({*expected_receipt, *receipt} - {"request"}):  # what it was for is said below
        if receipt.get(name) != expected_receipt.get(name):
            raise wrong(f"receipt.{name}", "what the charge in this ledger says")
    fitting, relation = list[Event | Run]([release.event]), release.neighbours
    with suppress(InvalidParameterError):  # no ledger takes so long a name
        fitting.append(Run(event=release.event, mechanism=release.mechanism, neighbours=relation, unit=release.unit))
    if from_json(entry.body["event"]) not in fitting or receipt.get("request") != entry.request:
        raise wrong("event", "what was charged under its receipt")
    # A charge by a bare event names neither: then it protects what the account does.
    account = ledger.account(receipt["account"])
    if release.neighbours is not account.neighbours or account.unit not in (None, release.unit):
        raise wrong("guarantee", "the unit and the relation that the account protects")
    if entry.release is not None and entry.release != text.strip():
        raise wrong("value", "the release that the ledger stored for its request")
    return entry.release is not None


def read_certificate(text: object) -> tuple[Release[Any], Words]:
    """The release whose certificate `text` is, and what JSON has of it: all that the question determines is as it says.

    Raises:
        InvalidCertificateError: it is no such text, or a claim differs from what its question gives. Names the field.
    """
    held = _parsed(text)
    guarantee = _object(held["guarantee"], "guarantee")
    unit, neighbours = _fitting(guarantee.get("unit"), "guarantee.unit"), guarantee.get("neighbours")
    if neighbours not in [*Neighbours]:
        raise wrong("guarantee.neighbours", f"one of {', '.join(Neighbours)}")
    words, answers = _object(held["question"], "question"), [held["value"]]
    names: list[Any] | None = None
    if "groups" in words:
        groups, answers = zip(*_pairs(held["value"], "value"), strict=True)
        names = [_group(name, words["groups"]) for name in groups]
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
    if "format" in held and not is_canonical(held["format"]):
        raise wrong("format", "the words of a dpselect.Format that differ from the default")
    is_date = terms.candidates.get("kind") == CandidateKind.DATE
    read = [_read(answer, is_date=is_date) for answer in answers]
    column = str(words.get("column", unit))
    usable, counted = _numbers(held, "usable", names, [0] * len(read)), _numbers(held, "counts", names, read)
    about = {**asked.stated(column=column, unit=unit), "value": asked.undrawn}
    try:
        about["time"] = datetime.fromisoformat(_fitting(held["time"], "time")).astimezone(UTC)
    except (ValueError, OverflowError):
        raise wrong("time", _HELD["time"][0]) from None
    about["event"] = _event(held["event"], terms.event)
    about["error_bound"] = _bound(held["error_bound"], terms.error_bound)
    undrawn: Release[Any] = Release(
        receipt=_fields(held["receipt"], "receipt", ("account", "sequence", "hash", "time"), _IN_RECEIPTS),
        version=_fitting(held["version"], "version"),
        format=held.get("format"),
        source=_fields(held.get("source"), "source", (), (*_SOURCES, "schema", "name")),
        seeded="seeded" in held,
        **about,
    )
    parts: list[Any] = [read, usable, counted]
    value, *noisy = (each[0] if names is None else dict(zip(asked.undrawn, each, strict=True)) for each in parts)
    release = undrawn.answered(Drawn(value, usable=noisy[0], counted=noisy[1]))
    if release.source is not None and len(set(release.source) & set(_SOURCES)) != 1:
        raise wrong("source", f"one of {', '.join(_SOURCES)}")
    stated, expected = {name: claim for name, claim in held.items() if name != "digest"}, release.to_dict()
    if canonical_json(stated) != canonical_json(expected):
        raise _difference(stated, expected)
    # With numbers that came at no cost an answer has to agree.
    alone, free = asked.alone, asked.alone.terms
    for answer, units, counts in zip(read, usable, counted, strict=True):
        if isinstance(answer, list) != alone.gives_list:
            raise wrong("value", "a list of values" if alone.gives_list else "a single value")
        told = units if free.usable else None, counts if free.counted and alone.gives_list else None
        if not alone.possible(_values(answer), *told):
            raise wrong("value", "one that such a question can have, and that agrees with the numbers released with it")
    return release, held


def _parsed(text: object) -> Words:
    """The certificate as JSON has it, with all of its fields and no other."""
    if not isinstance(text, str):
        got = Shown(f"<{type(text).__name__}>")
        raise InvalidCertificateError("certificate", got, "the text that Release.to_json writes")
    read: Any = None
    with suppress(ValueError, RecursionError):  # also of what is infinite, or half of a character
        found = json.loads(text)
        read = found if canonical_json(found).encode() == text.strip().encode() else None
    if read is None:
        raise wrong("text", "exactly the text that Release.to_json writes, of finite numbers")
    held = _object(read, "text")
    if held.get("certificate") != CERTIFICATE or held["certificate"] is True:
        raise wrong("certificate", f"{CERTIFICATE}, the format of certificates that this version reads")
    if not _NEEDED <= set(held) <= _NEEDED | _OPTIONAL:
        raise wrong("text", f"an object with the fields {', '.join(sorted(_NEEDED))}")
    return held


def _object(held: object, name: str) -> Words:
    if not isinstance(held, dict):
        raise wrong(name, "an object")
    return cast("Words", held)


def _difference(stated: Words, expected: Words, place: str = "") -> InvalidCertificateError:
    """The error for the first claim that is not the one of the question; what was asked comes first: the rest follows.

    They are compared as texts: 1 is neither 1.0 nor True.
    """
    texts = [{name: canonical_json({"": each[name]}) for name in each} for each in (stated, expected)]
    names = sorted({*stated, *expected}, key=lambda name: (name != "question", name))
    name = next(name for name in names if texts[0].get(name) != texts[1].get(name))
    parts = stated.get(name), expected.get(name)
    if not place and all(isinstance(each, dict) for each in parts):
        return _difference(*cast("tuple[Words, Words]", parts), f"{name}.")
    known = name in expected or not place  # else whoever wrote it chose the name
    return wrong(f"{place}{name}" if known else place.rstrip("."), "what its question gives")


def _pairs(held: object, name: str) -> list[tuple[Any, Any]]:
    """The groups with the answer of each."""
    pairs = _list_of(held)
    if not 0 < len(pairs) <= MOST_GROUPS or any(len(_list_of(pair)) != 2 for pair in pairs):
        raise wrong(name, f"pairs of a group and its answer, at most {MOST_GROUPS:,}")
    return [(one, other) for one, other in pairs]


def _group(held: object, words: object) -> Any:
    """The name of a group; in a cross table a tuple."""
    about: Words = cast("Words", words) if isinstance(words, dict) else {}
    if "kinds" in about:
        parts, kinds = _list_of(held), _list_of(about["kinds"])
        if len(parts) != len(kinds) or any(isinstance(part, list) for part in parts):
            raise wrong("value", "a value of each column of the groups")
        return tuple(_read(part, is_date=kind == CandidateKind.DATE) for part, kind in zip(parts, kinds, strict=True))
    return _read(held, is_date="dates" in about or about.get("kind") == CandidateKind.DATE)


def _values(answer: object) -> list[Any]:
    """Those of an answer of one group, or its only one."""
    return cast("list[Any]", answer) if isinstance(answer, list) else [answer]


def _list_of(held: object) -> list[Any]:
    return cast("list[Any]", held) if isinstance(held, list) else []


def _read(held: object, *, is_date: bool) -> Any:
    """A value of an answer, or a list of them; what is no date stays a text, which no question can answer."""
    listed = _list_of(held)
    if isinstance(held, list) and not any(isinstance(each, list) for each in listed):
        return [_read(each, is_date=is_date) for each in listed]
    if isinstance(held, list | dict) or held is None:
        raise wrong("value", "a value, or a list of values")
    try:
        return date.fromisoformat(held) if is_date and isinstance(held, str) else held
    except ValueError:
        raise wrong("value", "dates such as 2026-11-21") from None


def _numbers(held: Words, field: str, names: list[Any] | None, shapes: list[Any]) -> list[Any]:
    """The noisy numbers of units of each group, in these shapes; None of each if there is no such field."""
    if field not in held:
        return [None] * len(shapes)
    count, name = _object(held[field], field).get("count"), f"{field}.count"
    parts = [count] if names is None else [numbers for _, numbers in _pairs(count, name)]
    sizes = [[(isinstance(each, list), len(_values(each))) for each in of] for of in (parts, shapes)]
    if sizes[0] != sizes[1] or not all(is_noisy_count(number) for part in parts for number in _values(part)):
        raise wrong(name, "whole numbers from 0, one for each value")
    return parts


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
        stated: Any = decode(held)
    except InvalidParameterError:
        raise wrong("event", "an event that this dpselect can read") from None
    if not _is_close(encode(stated), known):
        raise wrong("event", "that of such a question")
    return stated


def _is_close(one: object, other: object) -> bool:
    """Whether two written events differ in no more than the last digits of their numbers, which are texts."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_is_close(one[name], other[name]) for name in one)  # pyright: ignore
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_close, one, other))  # pyright: ignore
    if isinstance(one, str) and isinstance(other, str) and one != other and one[:1].isdigit() and other[:1].isdigit():
        return math.isclose(float(one), float(other), rel_tol=_CLOSE)
    return one == other


_SOURCES, _IN_RECEIPTS = ("files", "table", "frame"), ("question", "request", "ledger")
_HELD = {  # what fields of these names have to hold, in words and as JSON has it. All others are texts
    **dict.fromkeys(("hash", "question", "schema"), ("64 hexadecimal digits", '"[0-9a-f]{64}"')),
    "sequence": ("a whole number from 0", "[0-9]{1,18}"),  # below 2^63
    "time": ("a time with a zone", '"[0-9-]{10}T[0-9:]{8}([.][0-9]+)?(Z|[+-][0-9:]{5})"'),
    "files": ("names of files without folders", r'\[(?:"(?:[^"/\\]|\\.)+"(?:, |\]$))+'),
}


def _fitting(held: object, name: str) -> Any:
    expected, pattern = _HELD.get(name.rpartition(".")[2], ("a text", '".+"'))
    if re.fullmatch(pattern, json.dumps(held, ensure_ascii=False), re.DOTALL) is None:
        raise wrong(name, expected)
    return held


def _fields(held: object, name: str, needed: tuple[str, ...], optional: tuple[str, ...]) -> Words | None:
    """An object with these fields, each with what it has to hold; or null."""
    if held is None:
        return None
    about = _object(held, name)
    if not set(needed) <= set(about) <= {*needed, *optional}:
        raise wrong(name, f"an object with the fields {', '.join((*needed, *optional))}")
    return {field: _fitting(value, f"{name}.{field}") for field, value in about.items()}

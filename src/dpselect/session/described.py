"""A question described by a mapping of words: the name of its method, and its arguments under their own names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from inspect import Parameter, signature
from typing import Any, cast

from dpselect.errors import OTHER_WORDS, InvalidParameterError, Shown, did_you_mean, typed
from dpselect.session.asking import Asking, neighbours_of, rows_of
from dpselect.session.choices import ChoiceQuestions
from dpselect.session.counts import CountQuestions
from dpselect.session.numbers import NumberQuestions
from dpselect.session.paying import Collecting, TableQuestion
from dpselect.summaries import CandidateKind

ASK = "ask"
"""The key that names the method."""

METHODS: dict[str, Callable[..., Any]] = {
    name: method
    for family in (CountQuestions, ChoiceQuestions, NumberQuestions)
    for name, method in vars(family).items()
    if not name.startswith("_")
}
"""The questions of a `dpselect.Dataset`, by name."""

_PAIRS = frozenset({"bounds", "between", "clip"})
"""Arguments that are a pair; files can only write lists."""


class Planner(CountQuestions, ChoiceQuestions, NumberQuestions):
    """The questions of a table, planned and not answered: each method returns what it would ask, a `TableQuestion`.

    Args:
        table: a `dpselect.Dataset` or `dpselect.DryRun`.
    """

    __slots__ = ()

    def __init__(self, table: Asking) -> None:
        self._rows, self._neighbours, self._spending = rows_of(table), neighbours_of(table), Collecting()

    def candidate_kinds(self, column: str) -> tuple[CandidateKind, ...]:
        """See `dpselect.Dataset.candidate_kinds`."""
        return self._rows.candidate_kinds(column)


def arguments_of(method: str) -> dict[str, Parameter]:
    """The arguments of a question, by name."""
    return {name: each for name, each in signature(METHODS[method]).parameters.items() if name != "self"}


def method_of(described: Mapping[str, Any], place: str) -> str:
    """The method that a description names.

    Args:
        described: the description.
        place: what comes before a dot and a key in errors.

    Raises:
        InvalidParameterError: it names none.
    """
    if not isinstance(cast(object, described), Mapping):
        raise InvalidParameterError(place, described, 'a dictionary such as {"ask": "median", "column": "age", ...}')
    name: object = described.get(ASK)
    if isinstance(name, str) and name in METHODS:
        return name
    hint = did_you_mean(name, METHODS, said=OTHER_WORDS)
    raise InvalidParameterError(f"{place}.{ASK}", typed(name), f"one of {', '.join(METHODS)}", hint)


def check_keys(given: Iterable[object], known: Iterable[str], *, place: str = "", of: str) -> None:
    """Refuse a key that is not among `known`.

    Args:
        given: the keys.
        known: those that there are.
        place: what comes before a dot and the key in the error.
        of: what has such keys.

    Raises:
        InvalidParameterError: an unknown key; the error names it, and the known one that is most like it.
    """
    known = tuple(known)
    for key in given:
        if key not in known:
            shown = key if isinstance(key, str) and len(key) <= 60 and key.isprintable() else "<a key>"
            name = f"{place}.{shown}" if place else shown
            hint = did_you_mean(key, known, said=OTHER_WORDS)
            raise InvalidParameterError(
                name, Shown("<unknown key>"), f"one of the keys of {of}: {', '.join(known)}", hint
            )


def check_described(
    described: Mapping[str, Any], place: str, *, other: tuple[str, ...] = (), elsewhere: frozenset[str] = frozenset()
) -> str:
    """Check the keys of a described question, and return its method.

    Args:
        described: the description.
        place: what comes before a dot and a key in errors.
        other: keys besides those of the method.
        elsewhere: arguments of the method that are given elsewhere.

    Raises:
        InvalidParameterError: it names no question, has an unknown key, or lacks an argument.
    """
    method = method_of(described, place)
    arguments = {name: each for name, each in arguments_of(method).items() if name not in elsewhere}
    check_keys(described, (ASK, *other, *arguments), place=place, of=f"a {method}")
    for name, each in arguments.items():
        if each.default is Parameter.empty and name not in described:
            raise InvalidParameterError(f"{place}.{name}", None, f"a value, which {method} needs")
    return method


def planned_by(data: Any, method: str, given: Mapping[str, Any], place: str) -> Any:
    """The reply of `data` to the question; errors name the key.

    Args:
        data: a `dpselect.Dataset` or `dpselect.DryRun`.
        method: its method.
        given: the arguments. Lists that stand for pairs may be lists.
        place: what comes before a dot and a key in errors.
    """
    arguments = {name: _as_argument(name, value) for name, value in given.items()}
    try:
        return getattr(data, method)(**arguments)
    except InvalidParameterError as error:
        if error.name not in arguments_of(method):
            raise
        raise type(error)(f"{place}.{error.name}", error.got, error.expected, error.hint) from None


def refuse_shared_requests(questions: Iterable[TableQuestion[Any]]) -> None:
    """Refuse a request id that two of the questions have; it would be found out only after the first was paid for."""
    seen: set[str] = set()
    for place, each in enumerate(questions):
        if each.request is None:
            continue
        if not isinstance(cast(object, each.request), str) or each.request in seen:
            raise InvalidParameterError(f"questions[{place}].request", typed(each.request), "an id of its own, as text")
        seen.add(each.request)


def _as_argument(name: str, value: Any) -> Any:
    if name in _PAIRS and isinstance(value, list):
        return tuple(cast("list[object]", value))
    if isinstance(value, datetime):
        return value.date() if (value.hour, value.minute, value.second) == (0, 0, 0) else value
    return value

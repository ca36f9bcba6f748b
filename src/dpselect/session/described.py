"""A question described by a mapping of words: the name of its method, and its arguments under their own names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, cast

from dpselect import arguments
from dpselect.arguments import OF_VIEWS, REQUIRED, Argument, words_of
from dpselect.errors import OTHER_WORDS, InvalidParameterError, Shown, did_you_mean, typed
from dpselect.questions.question import BY_NAME

ASK = "ask"
"""The key that names the method."""


def arguments_of(method: str) -> dict[str, Argument]:
    """The arguments of a question, by name, with those of every question and of views."""
    own = arguments.arguments_of(BY_NAME[method])
    return {each.name: each for each in (*own, *arguments.OF_EVERY_QUESTION, *arguments.OF_VIEWS)}


def seen(data: Any, *, where: Any = None, by: Any = None, groups: Any = None, max_groups_per_unit: Any = 1) -> Any:
    """`data`, or what it is where conditions and groups are given. An interval may be written as a text: ``"18.."``."""
    if where is not None:
        if not isinstance(where, Mapping):
            raise InvalidParameterError("where", typed(where), 'a condition for each column: {"age": "18..65"}')
        from dpselect import public

        conditions = cast("Mapping[str, Any]", where)
        data = data.where({name: public.interval(given) or given for name, given in conditions.items()})
    if by is None and groups is None and max_groups_per_unit == 1:
        return data
    return data.by(by, groups=groups, max_groups_per_unit=max_groups_per_unit)


def check_keys(given: Iterable[object], known: Iterable[str], *, place: str = "", of: str) -> None:
    """Refuse a key of `of` that is not among `known`; the error names it after `place`."""
    known = tuple(known)
    for key in given:
        if key not in known:
            shown = key if isinstance(key, str) and len(key) <= 60 and key.isprintable() else "<a key>"
            name, expected = f"{place}.{shown}" if place else shown, f"one of the keys of {of}: {', '.join(known)}"
            hint = did_you_mean(key, known, said=OTHER_WORDS)
            raise InvalidParameterError(name, Shown("<unknown key>"), expected, hint)


def check_described(
    described: object, place: str, *, other: tuple[str, ...] = (), elsewhere: frozenset[str] = frozenset()
) -> str:
    """Check the keys of a described question, and return its method.

    It has `other` keys besides those of the method, and some arguments of the method are given `elsewhere`. Errors name
    the `place` and the key.
    """
    if not isinstance(described, Mapping):
        raise InvalidParameterError(place, described, 'keys and values such as {"ask": "median", "column": "age", ...}')
    described = cast("Mapping[str, Any]", described)
    method: object = described.get(ASK)
    if not isinstance(method, str) or method not in BY_NAME:
        hint = did_you_mean(method, BY_NAME, said=OTHER_WORDS)
        raise InvalidParameterError(f"{place}.{ASK}", typed(method), f"one of {', '.join(BY_NAME)}", hint)
    arguments = {name: each for name, each in arguments_of(method).items() if name not in elsewhere}
    check_keys(described, (ASK, *other, *arguments), place=place, of=f"a {method}")
    for name, each in arguments.items():
        if each.default is REQUIRED and name not in described:
            raise InvalidParameterError(f"{place}.{name}", None, f"a value, which {method} needs")
    return method


def reply(data: Any, method: str, given: Mapping[str, Any]) -> Any:
    """What `data` replies to the question with these arguments, those of views among them."""
    own = dict(given)
    view = {each.name: own.pop(each.name) for each in OF_VIEWS if each.name in own}
    return getattr(seen(data, **view), method)(**own)


def planned_by(data: Any, method: str, given: Mapping[str, Any], place: str) -> Any:
    """The reply of `data` to the question, whose pairs may be lists; errors name the `place` and the key."""
    known = arguments_of(method)
    try:
        return reply(data, method, {name: _as_argument(known[name], value) for name, value in given.items()})
    except InvalidParameterError as error:
        if error.name not in known:
            raise
        raise type(error)(f"{place}.{error.name}", error.got, error.expected, error.hint) from None


def _as_argument(argument: Argument, value: Any) -> Any:
    """Of what a file can write: pairs are lists there, and days may have a time."""
    if words_of(argument.kind) == 2 and isinstance(value, list):
        return tuple(cast("list[object]", value))
    if isinstance(value, datetime):
        return value.date() if (value.hour, value.minute, value.second) == (0, 0, 0) else value
    return value

"""Our column: questions of a table, and mechanisms where there is none. Rows are read once for a hundred answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
from examples.gallery.attacks import DELTA, FAR, Sampler, in_two_processes

import dpselect as dps

_AT_ONCE = 100
_NUMBER = dps.LaplaceMechanism(epsilon=1.0, sensitivity=1.0)


def _answers(table: Callable[[Any], dps.Dataset], **question: Any) -> Sampler:
    """The answers to one question of the rows, which are asked for by the hundred."""
    waiting: dict[int, list[Any]] = {}

    def asked(rows: Any) -> object:
        answers = waiting.setdefault(id(rows), [])
        if not answers:
            answers += [release.value for release in table(rows).ask([question] * _AT_ONCE)]
        return answers.pop()

    return asked


def _numbers(values: Sequence[float]) -> dps.Dataset:
    """A row is a person, and may be replaced."""
    return dps.Dataset(pa.table({"value": pa.array(values, pa.float64())}), unit=dps.ROWS, neighbours="replace_one")


def _words(values: Sequence[str]) -> dps.Dataset:
    return dps.Dataset(pa.table({"value": list(values)}), unit=dps.ROWS)


def _people(rows: Sequence[tuple[str, str]]) -> dps.Dataset:
    return dps.Dataset(pa.table({"person": [person for person, _ in rows]}), unit="person")


def _best(scores: Sequence[int]) -> Any:
    return dps.select(scores, epsilon=1.0, sensitivity=1)


_UNIT: dict[str, Any] = {"column": "value", "epsilon": 1.0, "bounds": (0, 1)}
_FAR_MEAN = _answers(_numbers, ask="mean", column="value", epsilon=1.0, bounds=(FAR, FAR + 2), step=2)
SAMPLERS: dict[str, Sampler] = {
    "number": _NUMBER.draw,
    "mean": _answers(_numbers, ask="mean", **_UNIT),
    "median": _answers(_numbers, ask="median", continuous=True, **_UNIT),
    "equal": _answers(_numbers, ask="median", continuous=True, **_UNIT),
    "close": _best,
    "whole": _best,
    "far": _FAR_MEAN,
    "order": _FAR_MEAN,
    "nan": _answers(_numbers, ask="mean", **_UNIT),
    "values": _answers(_words, ask="values", column="value", epsilon=1.0, delta=DELTA),
    "rows": _answers(_people, ask="count", epsilon=1.0),
    "fork": in_two_processes(_NUMBER.draw),
}

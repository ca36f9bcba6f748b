"""The identity of a question: what a request id stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

_CHUNK = 1 << 20
"""Numbers compared at a time, so that a long list is not copied."""


@dataclass(frozen=True, slots=True)
class QuestionIdentity:
    """The public parts of a question, by which repeating it is told from asking another.

    Attributes:
        task: the question.
        source: where the table is.
        unit: the column that says whose a row is.
        column: the column asked about.
        arguments: the others of the question.
        format: how the table's cells are written, if that was declared.
        named: what certificates say of the table: a label, which makes no other question of it.
        where: what its rows have to meet, which is also among `arguments`.
    """

    task: str
    source: str
    unit: str
    column: str
    arguments: dict[str, Any]
    format: Mapping[str, Any] = field(default_factory=dict[str, Any])
    named: Mapping[str, Any] = field(default_factory=dict[str, Any])
    where: Sequence[Mapping[str, Any]] = ()

    @property
    def text(self) -> str:
        """A text that is the same for the same question."""
        words = [self.task, self.source, self.unit, self.column]
        for name, value in sorted(self.arguments.items()):
            value = _as_range(value)
            exact = value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
            words += [name, sha256(exact).hexdigest()]
        if self.format:  # or what was asked before formats could be declared would be something else
            words += ["format", sha256(repr(sorted(self.format.items())).encode()).hexdigest()]
        return repr(words)


def _as_range(value: Any) -> Any:
    """Whole numbers in equal steps as the one range that ends right after the last, however they were given.

    A range is not run through; an array is, as its bytes are below.
    """
    if isinstance(value, range):
        found = value
    elif isinstance(value, np.ndarray):
        listed = cast("NDArray[np.int64]", value)
        if listed.dtype != np.int64 or not listed.size:
            return listed
        first, last = int(listed[0]), int(listed[-1])
        step = int(listed[1]) - first if len(listed) > 1 else 1
        if first + step * (len(listed) - 1) != last or not _in_steps(listed, step):
            return listed
        found = range(first, last + (1 if step > 0 else -1), step)
    else:
        return value
    if len(found) < 2:
        return range(found[0], found[0] + 1) if found else found
    return range(found[0], found[-1] + (1 if found.step > 0 else -1), found.step)


def _in_steps(listed: NDArray[np.int64], step: int) -> bool:
    """Whether all differences equal `step`. Both ends fit it, so no wrap-around at 64 bits can hide another number."""
    wrapped = (step + 2**63) % 2**64 - 2**63
    starts = range(0, len(listed) - 1, _CHUNK)
    return all(bool((np.diff(listed[start : start + _CHUNK + 1]) == wrapped).all()) for start in starts)

"""Reads the rows for several questions, in as few passes as the questions allow.

A question reads its rows through a table, and may look at one answer before it asks for the next. Here the engine first
only notes what the question asks for. When every question waits for an answer, all of these are found in one pass; then
each question reads again from the start, and gets the answers that are known. Until then it does the same as before:
reading leaves nothing to chance but what is in the answers.

Proof: ``proofs/one_pass.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dpselect.rows.columns import Progress
from dpselect.rows.statements import Found, Statement
from dpselect.rows.table import Table
from dpselect.session.rows import UnreadEngine

Reader = Callable[[Table], Any]
"""Reads the rows of a table for one question; see `dpselect.questions.question.Priced.read`."""


def read_all(readers: Sequence[Reader], table: Table, *, progress: Progress | None) -> list[Any]:
    """What each reader makes of the rows, in order.

    Args:
        readers: the questions.
        table: their table.
        progress: called with the fraction that was read in each pass.
    """
    if len(readers) < 2:
        return [read(table) for read in readers]
    known: list[list[Found]] = [[] for _ in readers]
    found: dict[int, Any] = {}
    while len(found) < len(readers):
        wanted: dict[int, Statement] = {}
        for at, read in enumerate(readers):
            if at in found:
                continue
            try:
                engine = replace(_Known.over(table.engine), known=iter(known[at]))
                found[at] = read(replace(table, engine=engine))
            except _MissingAnswer as missing:
                wanted[at] = missing.statement
        if wanted:
            answers = table.engine.answers([*wanted.values()], progress)
            for at, answer in zip(wanted, answers, strict=True):
                known[at].append(answer)
    return [found[at] for at in range(len(readers))]


class _MissingAnswer(Exception):  # noqa: N818 - nothing is wrong
    """A question waits for the answer to this statement."""

    def __init__(self, statement: Statement) -> None:
        super().__init__()
        self.statement = statement


@dataclass(frozen=True, slots=True)
class _Known(UnreadEngine):
    """An engine that gives the answers that are known, in the order in which they are asked for.

    Raises:
        _MissingAnswer: by the first request for another one.
    """

    known: Iterator[Found] = field(default_factory=lambda: iter(()))

    def answers(self, asked: Sequence[Statement], progress: object) -> list[Found]:
        """The next one."""
        for answer in self.known:
            return [answer]
        raise _MissingAnswer(asked[0])

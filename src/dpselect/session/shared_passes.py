"""Reads the rows for several questions, in as few passes as the questions allow.

A question reads its rows through a table, and may look at one summary before it asks for the next. Here the table first
only notes what the question asks for. When every question waits for a summary, all of these are made in one pass; then
each question reads again from the start, and gets the summaries that are known. Until then it does the same as before:
reading leaves nothing to chance but what is in the summaries.

Proof: ``proofs/one_pass.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dpselect.rows.contract import Progress, SharesPasses, SummaryRequest, Table
from dpselect.session.rows import UnreadTable

Reader = Callable[[Table], Any]
"""Reads the rows of a table for one question; see `dpselect.questions.question.Priced.read`."""


def read_all(readers: Sequence[Reader], table: Table, *, progress: Progress | None) -> list[Any]:
    """What each reader makes of the rows, in order.

    Args:
        readers: the questions.
        table: their table.
        progress: called with the fraction that was read in each pass.
    """
    if not isinstance(table, SharesPasses) or len(readers) < 2:
        return [read(table) for read in readers]
    known: list[list[Any]] = [[] for _ in readers]
    found: dict[int, Any] = {}
    while len(found) < len(readers):
        wanted: dict[int, SummaryRequest] = {}
        for at, read in enumerate(readers):
            if at in found:
                continue
            try:
                found[at] = read(_KnownTable(table, known[at]))
            except _MissingSummary as missing:
                wanted[at] = missing.request
        if wanted:
            summaries = table.in_one_pass([*wanted.values()], progress=progress)
            for at, summary in zip(wanted, summaries, strict=True):
                known[at].append(summary)
    return [found[at] for at in range(len(readers))]


class _MissingSummary(Exception):  # noqa: N818 - nothing is wrong
    """A question waits for this summary."""

    def __init__(self, request: SummaryRequest) -> None:
        super().__init__()
        self.request = request


class _KnownTable(UnreadTable):
    """A table that gives the summaries that are known, in the order in which they are asked for.

    Raises:
        _MissingSummary: by the first request for another one.
    """

    __slots__ = ("_known",)

    def __init__(self, table: Table, known: Sequence[Any]) -> None:
        super().__init__(table)
        self._known = iter(known)

    def _next(self, method: str, arguments: dict[str, Any]) -> Any:
        arguments.pop("progress", None)
        for summary in self._known:
            return summary
        raise _MissingSummary(SummaryRequest(method, arguments))

    def count(self, **arguments: Any) -> Any:
        return self._next("count", arguments)

    def total(self, **arguments: Any) -> Any:
        return self._next("total", arguments)

    def gather(self, **arguments: Any) -> Any:
        return self._next("gather", arguments)

    def units(self, **arguments: Any) -> Any:
        return self._next("units", arguments)

    def names(self, **arguments: Any) -> Any:
        return self._next("names", arguments)

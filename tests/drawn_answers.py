"""An answer from a summary made by hand: what the runner of questions does when rows are read."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeVar

from dpselect import Release
from dpselect.certificates.release import certified
from dpselect.privacy import neighbouring_relation
from dpselect.questions.query import Query
from dpselect.summaries import CandidateKind, PublicCandidates, candidate_kind

Question = TypeVar("Question")


class Columns:
    """Columns of whole numbers or of text: a question may be asked of any of them."""

    def __init__(self, *, is_whole: bool = False) -> None:
        self.whole = is_whole

    def is_whole(self, column: str, /) -> bool:
        return self.whole

    def name_kind(self, column: str, given: object, /) -> CandidateKind:
        return CandidateKind.TEXT if given is None else candidate_kind(given)

    def listed(self, given: object, /) -> PublicCandidates:
        return PublicCandidates.given(given)

    def check_compared(self, members: PublicCandidates, /, *, argument: str = "candidates") -> None:
        pass


def planned(
    question: type[Question],
    column: Any = "what",
    *,
    neighbours: Any = "add_remove",
    is_whole: bool = False,
    **asked: Any,
) -> Question:
    """The question, as it is planned for a table without a row."""
    known = question(column=column, **asked).known(Columns(is_whole=is_whole), neighbouring_relation(neighbours))  # type: ignore
    known.terms  # noqa: B018 - which refuses what is out of range
    return known


def drawn_answer(question: Any, summary: object, *, column: str, unit: str, time: datetime) -> Release:
    """Drawn and certified: of a question of all rows, or of a query with what was found for it."""
    asked = question if isinstance(question, Query) else Query(question=question, alone=question)
    found: Any = summary if isinstance(summary, list) else [[summary]]
    return certified(asked, column=column, unit=unit, time=time).answered(asked.released(found))

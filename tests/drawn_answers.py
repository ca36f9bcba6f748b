"""An answer from a summary made by hand: what the runner of questions does when rows are read."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeVar

from dpselect import Release
from dpselect.certificates.release import draft
from dpselect.privacy import neighbouring_relation
from dpselect.questions.question import Priced
from dpselect.summaries import CandidateKind, PublicCandidates, candidate_kind

Question = TypeVar("Question")


class _Columns:
    """Columns of whole numbers or of text: a question may be asked of any of them."""

    def __init__(self, *, is_whole: bool) -> None:
        self.whole = is_whole

    def is_whole(self, column: str, /) -> bool:
        return self.whole

    def name_kind(self, column: str, given: object, /) -> CandidateKind:
        return CandidateKind.TEXT if given is None else candidate_kind(given)

    def candidates(self, given: object, /, *, are_counted: bool) -> PublicCandidates:
        return PublicCandidates.given(given)

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
    known = question(column=column, **asked).known(_Columns(is_whole=is_whole), neighbouring_relation(neighbours))  # type: ignore
    known.terms  # noqa: B018 - which refuses what is out of range
    return known


def drawn_answer(question: Priced[Any], summary: object, *, column: str, unit: str, time: datetime) -> Release:
    """Drawn and certified."""
    planned = draft(question, column=column, unit=unit, time=time)
    return planned.answered(question.released(summary))

"""A question planned by its name, and an answer from a summary made by hand: what happens when rows are read."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from dpselect import Release
from dpselect.questions.counts import Density
from dpselect.questions.query import Query
from dpselect.questions.question import QUESTIONS
from dpselect.summaries import (
    CandidateKind,
    CandidateTotals,
    CountsOf,
    NameCounts,
    NamesOf,
    PublicDomain,
    PublicGroups,
    TotalsOf,
    UnitValues,
)

WHEN = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


class Columns:
    """Columns of whole numbers or of text: a question may be asked of any of them."""

    def __init__(self, *, is_whole: bool = False) -> None:
        self.whole = is_whole

    def is_whole(self, column: str, /) -> bool:
        return self.whole

    def name_kind(self, column: str, /) -> CandidateKind:
        return CandidateKind.TEXT


def planned(
    name: str, column: Any = "what", *, neighbours: Any = "add_remove", is_whole: bool = False, **asked: Any
) -> Any:
    """The question of this name, as it is planned for a table without a row."""
    question: Any = QUESTIONS[name](column=column, **asked)
    return Query.planned(question, Columns(is_whole=is_whole), neighbours=neighbours).alone


def groups_of(by: Any, members: Any, most: Any = 1) -> Any:
    """Public groups, as a caller writes them; None if there are none."""
    return PublicGroups.given(by, members, most)


def query(
    name: str,
    column: Any = "what",
    *,
    groups: Any = None,
    neighbours: Any = "add_remove",
    usable_epsilon: float | None = None,
    **asked: Any,
) -> Any:
    """The same with all that is asked beside it: in groups, and with numbers of units."""
    question: Any = QUESTIONS[name](column=column, **asked)
    return Query.planned(question, Columns(), neighbours=neighbours, groups=groups, usable_epsilon=usable_epsilon)


def alone(question: Any) -> Any:
    """A planned question of all rows, with nothing beside it."""
    asked = replace(question, bins=question.bins.count) if isinstance(question, Density) else question
    return Query(question=asked, alone=question)


def handed(question: Any, found: Any, *, most: int | None = None, **other: Any) -> Any:
    """What the rows hand up to a planned question: counts or totals of candidates, numbers, or names and their counts.

    Of numbers one may say that they were gathered for another question: with `most` of a unit, or in another domain.
    """
    match question.scan:
        case CountsOf() | TotalsOf():
            return CandidateTotals(np.array(found))
        case NamesOf():
            return NameCounts(pa.array([*found]), np.array([*found.values()]))
        case scan:
            domain = PublicDomain.given(**other) if other else scan.domain
            rows = scan.max_rows_per_unit if most is None else most
            return UnitValues(np.array(found, np.float64), domain=domain, max_rows_per_unit=rows)


def drawn(question: Any, found: Any) -> Any:
    """The answer that a planned question draws, with the numbers of units that come with it."""
    return question.released(handed(question, found))


def released(
    question: Any, found: Any, *, column: str = "age", unit: str = "person", time: datetime = WHEN, **other: Any
) -> Release[Any]:
    """Drawn and certified: of a question of all rows, or of a query with what is found in each of its groups."""
    if isinstance(question, Query):
        asked, summaries = question, [[handed(question.alone, each, **other) for each in found]]
    else:
        asked, summaries = alone(question), [[handed(question, found, **other)]]
    undrawn: Release[Any] = Release(value=asked.undrawn, time=time, **asked.stated(column=column, unit=unit))
    return undrawn.answered(asked.released(summaries))

"""The base of all planned questions: terms that hold before the data is seen, and a draw."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

from dpselect.accounting import Event
from dpselect.answers import Answered
from dpselect.privacy import Sensitivity
from dpselect.release import CONFIDENCE, Release

Summary = TypeVar("Summary", contravariant=True)
"""The summary that a backend makes of one group of rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Everything in a certificate except the answer: all of it is public, and known before the data is seen.

    Attributes:
        task: name of the question.
        mechanism: name of the mechanism that draws, as exported by `dpselect`.
        rounds: number of draws.
        epsilon: privacy loss of the whole release.
        delta: probability with which epsilon may fail.
        sensitivity: of the scores, for the relation that the release guarantees, with its proof.
        candidates: what the answer is drawn from.
        error_bound: see `Release.error_bound`.
        proofs: pages that prove the guarantee, beside that of the sensitivity.
        arguments: other arguments of the question.
        groups: the groups, for a question about groups.
    """

    task: str
    mechanism: str
    rounds: int = 1
    epsilon: float
    delta: float = 0.0
    sensitivity: Sensitivity
    candidates: Mapping[str, Any]
    error_bound: float | None
    proofs: tuple[str, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    groups: Mapping[str, Any] | None = None

    @property
    def pages(self) -> tuple[str, ...]:
        """All pages that prove the guarantee: of the sensitivity, of the mechanism, and of exact sampling."""
        return self.sensitivity.proof, *self.proofs, "proofs/exact_sampling.md"


class Task(ABC, Generic[Summary]):
    """One planned question. Planned from public arguments; sees data only in `release`."""

    __slots__ = ()

    @property
    @abstractmethod
    def event(self) -> Event:
        """What one release costs, for accounting; to be charged before `release` is called."""

    @property
    @abstractmethod
    def terms(self) -> Terms:
        """What the certificate will contain."""

    @property
    @abstractmethod
    def question(self) -> dict[str, Any]:
        """The public arguments that distinguish this question from others about the same column."""

    @property
    def nothing_drawn(self) -> Answered:
        """The placeholder for the answer before it is drawn."""
        return cast(Answered, None)

    @abstractmethod
    def draw(self, summary: Summary, /) -> Answered:
        """The answer, at the cost of `event`.

        Args:
            summary: of the rows, made for this question.

        Raises:
            InvalidParameterError: it was made for another question. Nothing is drawn then.
        """

    def release(self, summary: Summary, /, *, column: str, unit: str, time: datetime) -> Release:
        """Draw, and certify what was drawn.

        Args:
            summary: as for `draw`.
            column: name of the column it came from.
            unit: name of the column that names the unit.
            time: the time of the release, with a time zone.

        Raises:
            InvalidParameterError: as for `draw`.
        """
        return replace(self.draft(summary, column=column, unit=unit, time=time), value=self.draw(summary))

    def draft(self, summary: Summary, /, *, column: str, unit: str, time: datetime) -> Release:
        """The certificate without the answer, with None in its place; see `release`.

        Nothing is drawn. Only public facts of the `summary` are used, such as where the draw will be made.
        """
        del summary
        terms = self.terms
        moved = terms.sensitivity
        return Release(
            value=self.nothing_drawn,
            task=terms.task,
            column=column,
            unit=unit,
            mechanism=terms.mechanism,
            rounds=terms.rounds,
            epsilon=terms.epsilon,
            delta=terms.delta,
            sensitivity=moved.value,
            monotonic=moved.monotonic,
            neighbours=moved.neighbours,
            candidates=terms.candidates,
            error_bound=terms.error_bound,
            confidence=CONFIDENCE,
            proofs=terms.pages,
            time=time,
            arguments=terms.arguments,
            groups=terms.groups,
        )

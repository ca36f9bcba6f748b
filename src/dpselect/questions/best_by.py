"""The candidate with the largest sum of clipped amounts: one draw, by scores that are whole numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

from dpselect.mechanisms import PermuteAndFlip
from dpselect.mechanisms.noisy_order import left_for_selection
from dpselect.privacy import Neighbours, Sensitivity, neighbouring_relation
from dpselect.questions.list_question import ListQuestion
from dpselect.questions.question import CONFIDENCE, Planned, RowReader, Terms, Value
from dpselect.questions.scores import sum_range, sum_scores, sum_sensitivity
from dpselect.questions.wording import clipped
from dpselect.summaries import CandidateTotals, PublicCandidates, PublicClip, PublicCondition, PublicGroups

if TYPE_CHECKING:
    from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent


@dataclass(frozen=True, kw_only=True)
class BestBy(ListQuestion[CandidateTotals]):
    """Which candidate has the largest sum of the units' amounts? Planned from public arguments.

    Attributes:
        candidates: the public set to choose from.
        clip: the column to sum, and how much one unit may add.
        mechanism: draws once, at the whole cost, and at the scale of the sums' range.
        neighbours: which data sets the guarantee compares.
    """

    name: ClassVar[str] = "best_by"
    error_units: ClassVar[tuple[str, ...]] = ("sum",)

    candidates: PublicCandidates
    clip: PublicClip
    mechanism: PermuteAndFlip
    neighbours: Neighbours

    @classmethod
    def planned(
        cls,
        candidates: PublicCandidates,
        clip: PublicClip,
        *,
        epsilon: float,
        with_counts: bool = False,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """The question, planned for a cost of `epsilon`; for half of it if counts are wanted, and cost the other half.

        Raises:
            InvalidParameterError: `epsilon` is not a finite number > 0.

        >>> pages, clip = PublicCandidates.given(["/a", "/b"]), PublicClip.given("seconds", (-60, 600))
        >>> BestBy.planned(pages, clip, epsilon=0.5).mechanism.scale  # (600 + 60) / epsilon
        1320.0
        """
        # At the scale sum_range / epsilon, which is all that its proof asks for: the factor is in the range already.
        part = left_for_selection(epsilon) if with_counts else epsilon
        mechanism = PermuteAndFlip(epsilon=part, sensitivity=sum_range(clip, neighbours), monotonic=True)
        relation = neighbouring_relation(neighbours)
        return cls(candidates=candidates, clip=clip, mechanism=mechanism, neighbours=relation)

    @property
    def event(self) -> BoundedRangeEvent | LaplaceProfileEvent:
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.mechanism.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain; sensitivity and error bound are in the unit of the column that is summed.

        Proof: ``proofs/clipped_sums.md`` (the sensitivity) and ``proofs/permute_and_flip.md`` (the draw).
        """
        moved = sum_sensitivity(self.clip, self.neighbours)
        whole = self.mechanism.error_bound(len(self.candidates), confidence=CONFIDENCE)
        return Terms(
            task=self.name,
            mechanism=type(self.mechanism).__name__,
            epsilon=self.mechanism.epsilon,
            sensitivity=Sensitivity(
                self.clip.in_units(moved.value),
                monotonic=moved.monotonic,
                neighbours=moved.neighbours,
                proof=moved.proof,
            ),
            candidates=self.candidates.description(),
            error_bound=self.clip.error_in_units(whole),
            proofs=("proofs/permute_and_flip.md",),
            arguments=self.clip.description(),
        )

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[CandidateTotals]:
        """What the units' amounts add up to for each candidate."""
        return rows.total(self.candidates, self.clip, groups)

    def usable_units(
        self, rows: RowReader, groups: PublicGroups | None, summaries: list[CandidateTotals], /
    ) -> list[int]:
        """How many units have one of the candidates and an amount in the same row."""
        return rows.units(PublicCondition(candidates=self.candidates, summed=self.clip.column), groups)

    def draw(self, summary: CandidateTotals, /) -> Value:
        """One of the candidates, by what the units' amounts add up to, in the candidates' order."""
        return self.candidates[self.mechanism.select(sum_scores(summary, self.clip, self.neighbours).values)]

    label: ClassVar[str] = "answer"

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return ["best"]

    @classmethod
    def accepts_usable_epsilon(cls, release: Planned) -> bool:
        """See `Question.accepts_usable_epsilon`. Counts are of units with a candidate, with or without an amount."""
        return True

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        total = f"the total {release.arguments['sum']}"
        return f"{total} of the released {release.column} is within {f'{bound:,}'.removesuffix('.0')} of the best"

    @classmethod
    def counting(cls, release: Planned) -> str:
        """See `Question.counting`."""
        return f", counting {clipped(release)} of each {release.unit}"

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return f"{super().origin(release)}, each {release.unit} adding {clipped(release)} to one"

"""Questions about sums."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from dpselect.questions import BestBy
from dpselect.session.asking import Asking
from dpselect.session.spending import Reply
from dpselect.summaries import PublicCandidates, PublicClip, PublicGroups


class SumQuestions(Asking[Reply]):
    """Questions about sums of clipped amounts."""

    __slots__ = ()

    def best_by(
        self,
        column: str,
        *,
        sum: str,  # the word that says it, here and on the command line
        clip: tuple[float | Fraction, float | Fraction],
        scale: float | Fraction = 1,
        candidates: object = None,
        epsilon: float,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        allow_many: bool = False,
        request: str | None = None,
    ) -> Reply:
        """The candidate in `column` with the largest sum of the numbers in another column.

        Sums are of whole numbers, so that neither order nor rounding can change them by more than one unit adds (a sum
        of floats may). What a unit adds to a candidate is clipped: first for each row, then for the total of its rows.

        Args:
            column: name of the column of candidates.
            sum: name of a column of numbers: the amount that a row adds to its candidate. Rows without a number are
                left out.
            clip: the smallest and the largest amount that one unit may add to a candidate, in the unit of the summed
                column; public. The noise grows with the width of the range spanned by the two and 0, so choose it as
                small as the question allows.
            scale: the numbers are multiplied by this and rounded to whole numbers: 100 counts cents. `clip` times
                `scale` has to be whole and between -2^31 and 2^31.
            candidates: see `most_common`.
            epsilon: privacy loss of this release, > 0; with groups, of all groups together.
            by, groups, max_groups_per_unit, allow_many: see `most_common`.
            request: see `Dataset`.

        Returns:
            A release whose value is one of the candidates; with groups, a dictionary with one for each group.

        Raises:
            InvalidCandidatesError: the candidates are missing or invalid.
            InvalidDataError: there is no such column, or it is of the wrong type.
            InvalidParameterError: another argument is invalid. Nothing is read or drawn then.

        Proof: ``proofs/clipped_sums.md`` and ``proofs/permute_and_flip.md``; for groups ``proofs/groups.md``.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> years = range(1, 17)
        >>> release = people.best_by(
        ...     "education_num", sum="capital_gain", clip=(0, 10_000), candidates=years, epsilon=1.0
        ... )
        >>> release.value
        13
        >>> print(release.accuracy)
        With 99% confidence the total capital_gain of the released education_num is within 66,138 of the best, counting
        from 0 to 10000 of each person_id.
        """
        public = PublicCandidates.given(candidates, allow_many=allow_many)
        clipped = PublicClip.given(sum, clip, scale=scale)
        return self._answer_each(
            lambda part: BestBy.planned(public, clipped, epsilon=part, neighbours=self._neighbours),
            column,
            partial(self._rows.total, column, public, clipped),
            epsilon=epsilon,
            groups=PublicGroups.given(by, groups, max_groups_per_unit),
            request=request,
        )

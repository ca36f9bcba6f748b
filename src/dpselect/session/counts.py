"""What most units have, and what few have."""

from __future__ import annotations

from functools import partial

from dpselect.release import Release
from dpselect.session.asking import Asking
from dpselect.summaries import PublicCandidates
from dpselect.tasks import MostCommon, TopK


class CountQuestions(Asking):
    """Questions about how many units have a candidate."""

    __slots__ = ()

    def most_common(
        self, column: str, *, candidates: object = None, epsilon: float, request: str | None = None
    ) -> Release:
        """The candidate that the most units have in `column`.

        A unit counts once per candidate, however many rows it has.

        Args:
            column: name of the column to look at.
            candidates: the public set to choose from: a ``range``, or a list or one-dimensional array of whole
                numbers, numbers, text, dates or booleans, all of one kind, without duplicates. Required: they are
                never read from the column, because which values occur there is private.
            epsilon: privacy loss of this release, > 0.
            request: see `Dataset`.

        Returns:
            A release whose value is one of the candidates.

        Raises:
            InvalidCandidatesError: no candidates, or not such a set.
            InvalidDataError: no such column, or one that candidates of this kind cannot match.
            InvalidParameterError: `epsilon` is out of range. Nothing is read or drawn then.

        Proof: ``proofs/counting.md`` and ``proofs/permute_and_flip.md``.

        >>> visits = Dataset("examples/data/clicks.parquet", unit="session")
        >>> release = visits.most_common("page", candidates=range(1, 41271), epsilon=1.0)
        >>> print(release.accuracy)
        With 99% confidence the count of the released page is within 14 of the best.
        """
        public = PublicCandidates.given(candidates)
        task = MostCommon.planned(public, epsilon=epsilon, neighbours=self._neighbours)
        return self._answer(task, column, partial(self._rows.count, column, public), request)

    def top_k(
        self,
        column: str,
        k: int,
        *,
        candidates: object = None,
        epsilon: float,
        delta: float = 0.0,
        request: str | None = None,
    ) -> Release:
        """The `k` candidates that the most units have in `column`, best first.

        Args:
            column: name of the column to look at.
            k: how many to select, from 1 to the number of candidates.
            candidates: see `most_common`.
            epsilon: privacy loss of all `k` selections together, > 0.
            delta: probability with which that may fail, from 0 (pure differential privacy) to below 1; far below one
                over the number of units. More than 0 lowers the error from about ten selections on. With a ledger the
                account's own delta covers it; an account without one charges the sum of all rounds.
            request: see `Dataset`.

        Returns:
            A release whose value is a list of `k` different candidates.

        Raises:
            InvalidCandidatesError, InvalidDataError, InvalidParameterError: see `most_common`.

        Proof: ``proofs/counting.md`` and ``proofs/top_k.md``.

        >>> visits = Dataset("examples/data/clicks.parquet", unit="session")
        >>> visits.top_k("page", 3, candidates=range(1, 41271), epsilon=1.0).value
        [6, 3, 11]
        """
        public = PublicCandidates.given(candidates)
        task = TopK.planned(public, k, epsilon=epsilon, delta=delta, neighbours=self._neighbours)
        return self._answer(task, column, partial(self._rows.count, column, public), request)

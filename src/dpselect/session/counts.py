"""Questions about counts: the most common values, the rarest, and the best date."""

from __future__ import annotations

from functools import partial

from dpselect.errors import InvalidCandidatesError, Shown
from dpselect.mechanisms import Mechanism, PendingSelection
from dpselect.session.asking import Asking
from dpselect.session.spending import Reply
from dpselect.summaries import CandidateCounts, DistantCandidates, PublicCandidates, PublicGroups, public_dates
from dpselect.tasks import BestDate, LeastCommon, MostCommon, TopK


class CountQuestions(Asking[Reply]):
    """Questions about how many units have a candidate."""

    __slots__ = ()

    def most_common(
        self,
        column: str,
        *,
        candidates: object = None,
        epsilon: float,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        allow_many: bool = False,
        request: str | None = None,
    ) -> Reply:
        """The most common value in `column`: the candidate that the most units have.

        A unit counts once per candidate, however many rows it has.

        Args:
            column: name of the column with the values.
            candidates: the public set to choose from: a ``range``, or a list or one-dimensional array of whole
                numbers, numbers, text, dates or booleans, all of one kind, without duplicates. Required: they are never
                read from the column, because which values occur there is private. `dpselect.candidates_from` reads them
                from a public file. The result of ``unique()`` or ``value_counts()`` on the private column cannot be
                distinguished from a public list, but reveals people's data all the same. For a Spark table the counts
                of more than a million candidates stay in Spark, which needs this package on its workers. There the list
                may also be a Spark data frame of one column, made from another, public table: here and in `top_k`.
            epsilon: privacy loss of this release, > 0; with groups, of all groups together.
            by: name of the column with the group of each row, for one answer per group in `groups`.
            groups: the public list of groups, given like candidates; rows of other groups, or of none, are left out.
            max_groups_per_unit: a unit with rows in more groups takes part in this many of them, chosen at random. Each
                group is asked with `epsilon` divided by this number.
            allow_many: allow more than ten million candidates.
            request: see `Dataset`.

        Returns:
            A release whose value is one of the candidates; with groups, a dictionary with one for each group.

        Raises:
            InvalidCandidatesError: the candidates are missing or invalid.
            InvalidDataError: there is no such column, or candidates of this kind cannot match it.
            InvalidParameterError: another argument is invalid, or groups are requested under
                ``neighbours="replace_one"``. Nothing is read or drawn then.

        Proof: ``proofs/counting.md`` and ``proofs/permute_and_flip.md``; for groups ``proofs/groups.md``.

        >>> import dpselect as dps
        >>> visits = dps.Dataset("examples/data/clicks.parquet", unit="session")
        >>> release = visits.most_common("page", candidates=range(1, 41271), epsilon=1.0)
        >>> print(release.accuracy)
        With 99% confidence the count of the released page is within 14 of the best.
        """
        asked = PublicGroups.given(by, groups, max_groups_per_unit)
        public = self._listed(candidates, asked, allow_many=allow_many)

        def planned(part: float) -> MostCommon:
            return MostCommon.planned(public, epsilon=part, neighbours=self._neighbours)

        return self._answer_each(
            planned,
            column,
            lambda groups: self._counted(column, public, groups, planned(epsilon).mechanism),
            epsilon=epsilon,
            groups=asked,
            request=request,
        )

    def least_common(
        self,
        column: str,
        *,
        candidates: object = None,
        epsilon: float,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        allow_many: bool = False,
        request: str | None = None,
    ) -> Reply:
        """The rarest value in `column`: the candidate that the fewest units have.

        A candidate that nobody has is the rarest of all, so leave out values that cannot occur.

        Args:
            column, candidates, epsilon, by, groups, max_groups_per_unit, allow_many, request: see `most_common`.

        Returns:
            A release whose value is one of the candidates; with groups, a dictionary with one for each group.

        Raises:
            InvalidCandidatesError, InvalidDataError, InvalidParameterError: see `most_common`.

        Proof: ``proofs/counting.md`` and ``proofs/permute_and_flip.md``; for groups ``proofs/groups.md``.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> people.least_common("education_num", candidates=range(1, 17), epsilon=1.0).value
        1
        """
        public = PublicCandidates.given(candidates, allow_many=allow_many)
        return self._answer_each(
            lambda part: LeastCommon.planned(public, epsilon=part, neighbours=self._neighbours),
            column,
            partial(self._rows.count, column, public),
            epsilon=epsilon,
            groups=PublicGroups.given(by, groups, max_groups_per_unit),
            request=request,
        )

    def best_date(
        self,
        column: str,
        *,
        dates: object = None,
        bounds: tuple[object, object] | None = None,
        step: int = 1,
        epsilon: float,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        request: str | None = None,
    ) -> Reply:
        """The date on which the most units are free.

        Each row states that its unit is free on the date in `column`. A unit counts once per date.

        Args:
            column: name of a column of dates; in CSV, of text such as ``2026-11-21``.
            dates: the public list to choose from: ``datetime.date``, text such as ``"2026-11-21"``, or timestamps at
                midnight, as from ``pandas.date_range``.
            bounds: the first and the last date, both included, instead of a list.
            step: with `bounds`, the number of days from one date to the next.
            epsilon: privacy loss of this release, > 0; with groups, of all groups together.
            by, groups, max_groups_per_unit: see `most_common`.
            request: see `Dataset`.

        Returns:
            A release whose value is a ``datetime.date``; with groups, a dictionary with one for each group.

        Raises:
            InvalidCandidatesError: the dates are invalid, or not exactly one of `dates` and `bounds` is given.
            InvalidDataError: there is no such column, or it does not hold dates.
            InvalidParameterError: another argument is invalid. Nothing is read or drawn then.

        Proof: ``proofs/counting.md`` and ``proofs/permute_and_flip.md``; for groups ``proofs/groups.md``.

        >>> import dpselect as dps
        >>> friends = dps.Dataset("examples/data/free_days.csv", unit="person")
        >>> release = friends.best_date("free_on", bounds=("2026-12-01", "2026-12-31"), epsilon=2.0)
        >>> str(release.value)
        '2026-12-12'
        >>> print(release.accuracy)
        With 99% confidence the count of the released date is within 3 of the best.
        """
        public = public_dates(dates, bounds=bounds, step=step)
        return self._answer_each(
            lambda part: BestDate.planned(public, epsilon=part, neighbours=self._neighbours),
            column,
            partial(self._rows.count, column, public, argument="dates"),
            epsilon=epsilon,
            groups=PublicGroups.given(by, groups, max_groups_per_unit),
            request=request,
        )

    def top_k(
        self,
        column: str,
        k: int,
        *,
        candidates: object = None,
        epsilon: float,
        delta: float = 0.0,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        allow_many: bool = False,
        request: str | None = None,
    ) -> Reply:
        """The `k` most common values in `column`, best first.

        Args:
            column: name of the column with the values.
            k: number of values to select, from 1 to the number of candidates.
            candidates: see `most_common`.
            epsilon: privacy loss of all `k` selections together, > 0.
            delta: probability with which epsilon may fail, from 0 (pure differential privacy) to below 1; choose it far
                below one over the number of units. A delta above 0 lowers the error from about ten selections on. A
                ledger composes the rounds at the account's own delta, to a few percent more than `epsilon`
                (``docs/ledger.md``), and without a delta to the sum of their epsilons.
            by, groups, max_groups_per_unit, allow_many: see `most_common`.
            request: see `Dataset`.

        Returns:
            A release whose value is a list of `k` different candidates; with groups, a dictionary with such a list for
            each group.

        Raises:
            InvalidCandidatesError, InvalidDataError, InvalidParameterError: see `most_common`.

        Proof: ``proofs/counting.md`` and ``proofs/top_k.md``.

        >>> import dpselect as dps
        >>> visits = dps.Dataset("examples/data/clicks.parquet", unit="session")
        >>> visits.top_k("page", 3, candidates=range(1, 41271), epsilon=1.0).value
        [6, 3, 11]
        """
        asked = PublicGroups.given(by, groups, max_groups_per_unit)
        public = self._listed(candidates, asked, allow_many=allow_many)
        share = delta if asked is None else asked.share_of_delta(delta)

        def planned(part: float) -> TopK:
            return TopK.planned(public, k, epsilon=part, delta=share, neighbours=self._neighbours)

        return self._answer_each(
            planned,
            column,
            lambda groups: self._counted(column, public, groups, planned(epsilon).plan.mechanism),
            epsilon=epsilon,
            groups=asked,
            request=request,
        )

    def _listed(
        self, candidates: object, groups: PublicGroups | None, *, allow_many: bool
    ) -> PublicCandidates | DistantCandidates:
        """The public candidates; with groups, they have to be known locally."""
        public = self._rows.candidates(candidates, allow_many=allow_many)
        if groups is not None and isinstance(public, DistantCandidates):
            hint = "Ask without groups, or give a list that is short enough to be fetched."
            got = Shown(f"<{len(public):,} {public.kind}>")
            raise InvalidCandidatesError("candidates", got, "a local list", hint)
        return public

    def _counted(
        self,
        column: str,
        candidates: PublicCandidates | DistantCandidates,
        groups: PublicGroups | None,
        mechanism: Mechanism,
    ) -> list[CandidateCounts | PendingSelection]:
        """How many units have each candidate (in each group), or a pending draw where they are counted."""
        if groups is not None and isinstance(candidates, PublicCandidates):
            return [*self._rows.count(column, candidates, groups)]
        return [*self._rows.select(column, candidates, mechanism)]

"""Questions whose answers are candidates of a public list."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from functools import partial
from typing import Any

from dpselect import questions
from dpselect.arguments import boolean
from dpselect.certificates.release import Release
from dpselect.errors import InvalidParameterError, Shown
from dpselect.session.asking import Asking
from dpselect.summaries import PublicCandidates, PublicClip, PublicGroups, public_dates


class ChoiceQuestions(Asking):
    """Which of the candidates is the most common, the rarest, the best by a sum? `dpselect.questions` has the plans."""

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
        with_counts: bool = False,
        max_values_per_unit: int | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[Any] | Release[dict[Any, Any]]:
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
            with_counts: also release the number of units with each answer, with noise: ``release.counts``. Half of
                `epsilon` selects and half counts, unless noise once on all counts is better: then both come from it.
            max_values_per_unit: for how many candidates one unit counts; if it has more, so many are chosen at random.
                None: for any number. Where it is small, as for people with one diagnosis each, noise is added once to
                all counts: far less of it, and the counts of the answers cost nothing. The rule that decides is
                `dpselect.planning.order_noise`, and the release states it.
            usable_epsilon: also release the number of units that could be used, with noise, for this much epsilon more:
                ``release.usable``. Where it is near zero, the answer is about hardly anybody: numbers were written with
                a ``$``, candidates in another case, dates in another order. A tenth of `epsilon` is often enough.
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
        parts = PublicGroups.given(by, groups, max_groups_per_unit)
        is_counted = boolean(with_counts, "with_counts") or max_values_per_unit is not None
        public = self._candidates(candidates, parts, allow_many=allow_many, counted=is_counted)
        counting = {"max_values_per_unit": max_values_per_unit, "with_counts": with_counts}
        planned = partial(questions.MostCommon.planned, public, **counting)
        return self._ask(column, planned, epsilon, parts, request, usable_epsilon, with_counts)

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
        with_counts: bool = False,
        max_values_per_unit: int | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[Any] | Release[dict[Any, Any]]:
        """The rarest value in `column`: the candidate that the fewest units have.

        A candidate that nobody has is the rarest of all, so leave out values that cannot occur.

        Args:
            column, candidates, epsilon, by, groups, max_groups_per_unit, allow_many: see `most_common`.
            with_counts, max_values_per_unit, usable_epsilon: see `most_common`.
            request: see `Dataset`.

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
        parts = PublicGroups.given(by, groups, max_groups_per_unit)
        counting = {"max_values_per_unit": max_values_per_unit, "with_counts": boolean(with_counts, "with_counts")}
        planned = partial(questions.LeastCommon.planned, public, **counting)
        return self._ask(column, planned, epsilon, parts, request, usable_epsilon, with_counts)

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
        with_counts: bool = False,
        max_values_per_unit: int | None = None,
        kind: str | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[list[Any]] | Release[dict[Any, list[Any]]]:
        """The `k` most common values in `column`, best first.

        Args:
            column: name of the column with the values.
            k: number of values to select, from 1 to the number of candidates.
            candidates: see `most_common`. None, with a delta above 0: the values that occur, as far as enough units
                have them. Either noise is added once to all their counts, and those of at least a public threshold come
                with the answer (``release.counts``); or values are drawn until a candidate that means "stop", without
                counts. The rule that decides is `dpselect.planning.unknown_noise`, and the release states it. The
                answer may be shorter than `k`.
            epsilon: privacy loss of all `k` selections together, > 0.
            delta: probability with which epsilon may fail, from 0 (pure differential privacy) to below 1; choose it far
                below one over the number of units. A delta above 0 lowers the error from about ten selections on, or
                allows Gaussian noise once on all counts (then an account needs a delta that it sets aside). A
                ledger composes the rounds at the account's own delta, to a few percent more than `epsilon`
                (``docs/ledger.md``), and without a delta to the sum of their epsilons.
            by, groups, max_groups_per_unit, allow_many: see `most_common`.
            with_counts: also release the number of units with each answer, with noise: ``release.counts``. Half of
                `epsilon` selects and half counts, unless noise once on all counts is better: then both come from it.
                Without candidates, only ways to select that have counts are chosen from.
            max_values_per_unit: for how many candidates one unit counts; if it has more, so many are chosen at random.
                None: for any number. Where it is small, as for people with one diagnosis each, noise is added once to
                all counts: far less of it, and the counts of the answers cost nothing. The rule that decides is
                `dpselect.planning.order_noise`, and the release states it. Without candidates, None is 1.
            kind: without candidates, how the values are read: see `values`.
            usable_epsilon: see `most_common`.
            request: see `Dataset`.

        Returns:
            A release whose value is a list of `k` different candidates; with groups, a dictionary with such a list for
            each group. Without candidates a list may have fewer.

        Raises:
            InvalidCandidatesError, InvalidDataError, InvalidParameterError: see `most_common`.

        Proof: ``proofs/counting.md`` and ``proofs/top_k.md``; without candidates
        ``proofs/unknown_candidates.md`` and ``proofs/stop_candidate.md``.

        >>> import dpselect as dps
        >>> visits = dps.Dataset("examples/data/clicks.parquet", unit="session")
        >>> visits.top_k("page", 3, candidates=range(1, 41271), epsilon=1.0).value
        [6, 3, 11]
        >>> visits.top_k("page", 3, epsilon=1.0, delta=1e-6, max_values_per_unit=3).value
        [6, 3, 11]
        """
        parts = PublicGroups.given(by, groups, max_groups_per_unit)
        if candidates is None:
            questions.check_unlisted(delta)
            most = 1 if max_values_per_unit is None else max_values_per_unit
            questions.check_countable(most, usable_epsilon)
            held = self._rows.name_kind(column, kind)
            share = delta if parts is None else parts.share_of_delta(delta)
            counting = {"max_values_per_unit": most, "with_counts": boolean(with_counts, "with_counts")}
            unlisted = partial(questions.TopUnknown.planned, held, k, delta=share, **counting)
            return self._ask(column, unlisted, epsilon, parts, request, usable_epsilon)
        if kind is not None:
            raise InvalidParameterError("kind", Shown("<a kind>"), "None, because candidates are given")
        is_counted = boolean(with_counts, "with_counts") or max_values_per_unit is not None
        public = self._candidates(candidates, parts, allow_many=allow_many, counted=is_counted)
        share = delta if parts is None else parts.share_of_delta(delta)
        counting = {"max_values_per_unit": max_values_per_unit, "with_counts": with_counts}
        planned = partial(questions.TopK.planned, public, k, delta=share, **counting)
        return self._ask(column, planned, epsilon, parts, request, usable_epsilon, with_counts)

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
        with_counts: bool = False,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[date] | Release[dict[Any, date]]:
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
            with_counts: also release the number of units that are free on the answer, with noise: see `most_common`.
            usable_epsilon: see `most_common`.
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
        parts = PublicGroups.given(by, groups, max_groups_per_unit)
        planned = partial(questions.BestDate.planned, public, with_counts=boolean(with_counts, "with_counts"))
        return self._ask(column, planned, epsilon, parts, request, usable_epsilon, with_counts)

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
        with_counts: bool = False,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[Any] | Release[dict[Any, Any]]:
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
            with_counts: also release the number of units that have the answer, with an amount or not, with noise:
                ``release.counts``. Half of `epsilon` selects and half counts.
            usable_epsilon: see `most_common`.
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
        parts = PublicGroups.given(by, groups, max_groups_per_unit)
        planned = partial(questions.BestBy.planned, public, clipped, with_counts=boolean(with_counts, "with_counts"))
        return self._ask(column, planned, epsilon, parts, request, usable_epsilon, with_counts)

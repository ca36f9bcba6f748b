"""Questions about how many there are, and what they add up to."""

from __future__ import annotations

from functools import partial
from typing import Any

from dpselect import questions
from dpselect.certificates.release import Release
from dpselect.errors import InvalidParameterError
from dpselect.session.asking import Asking
from dpselect.summaries import PublicCandidates, PublicClip, PublicGroups


class CountQuestions(Asking):
    """How many units are there, how many have each value, what do amounts add up to?"""

    __slots__ = ()

    def count(
        self,
        column: str | None = None,
        *,
        values: object = None,
        between: tuple[float, float] | None = None,
        epsilon: float,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[int] | Release[dict[Any, int]]:
        """The number of units, or of those with a row that meets a public condition.

        A unit counts once, however many rows it has.

        Args:
            column: name of the column of the condition; None: every unit is counted.
            values: public values; a unit is counted if one of its rows has one of them. Given like candidates.
            between: two numbers; a unit is counted if a row has a number that is not below the first and not above the
                second.
            epsilon: privacy loss of this release, > 0; with groups, of all groups together.
            by: name of the column with the group of each row, for one answer per group in `groups`.
            groups: the public list of groups, given like candidates; rows of other groups, or of none, are left out.
            max_groups_per_unit: a unit with rows in more groups takes part in this many of them, chosen at random. Each
                group is asked with `epsilon` divided by this number.
            usable_epsilon: also release the number of units that could be used, with noise, for this much epsilon more:
                ``release.usable``. Only with `between`: it counts the units with any number in the
                column, so that numbers written in another way are noticed.
            request: an id of your choice, with a ledger: repeating the question under it returns the stored release.

        Returns:
            A release whose value is a whole number >= 0; with groups, a dictionary with one for each group.

        Raises:
            InvalidCandidatesError: the values are invalid.
            InvalidDataError: there is no such column, or its type cannot meet the condition.
            InvalidParameterError: another argument is invalid. Nothing is read or drawn then.

        Proof: ``proofs/counting.md``, claim 5, and ``proofs/geometric_mechanism.md``; for groups ``proofs/groups.md``.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> release = people.count("age", between=(65, 120), epsilon=1.0)
        >>> abs(release.value - 1336) < 50  # 1336 in truth
        True
        >>> print(release.accuracy)
        With 99% confidence the released number is within 4 of the number of units (person_id) with age from 65 to 120.
        """
        parts = PublicGroups.given(by, groups, max_groups_per_unit)
        listed = questions.listed_values(values)
        if listed is not None:
            self._rows.check_compared(listed, argument="values")
        condition = questions.condition_given(column, listed, between)
        if usable_epsilon is not None and between is None:
            raise InvalidParameterError(
                "usable_epsilon", usable_epsilon, "None: the answer is itself a number of units"
            )
        return self._ask(column, partial(questions.Count.planned, condition), epsilon, parts, request, usable_epsilon)

    def histogram(
        self,
        column: str,
        *,
        candidates: object = None,
        epsilon: float,
        max_values_per_unit: int = 1,
        delta: float = 0.0,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        allow_many: bool = False,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[list[int]] | Release[dict[Any, list[int]]]:
        """The number of units with each of the candidates.

        Args:
            column: name of the column with the values.
            candidates: the public values to count: a list, a range or an array, never read from the table itself.
            epsilon: privacy loss of this release, for all counts (and groups) together, > 0.
            max_values_per_unit: number of candidates for which one unit counts, in each group. If a unit has more, this
                many are chosen at random. The noise grows with it.
            delta: probability with which epsilon may fail, from 0 (pure differential privacy) to below 1; choose it far
                below one over the number of units. With a delta above 0 the noise is discrete Gaussian if that has a
                smaller error bound than geometric noise: where a unit counts for about five values or more. Otherwise
                the noise is geometric, and the release costs no delta.
            by: name of the column with the group of each row, for one answer per group in `groups`.
            groups: the public list of groups, given like candidates; rows of other groups, or of none, are left out.
            max_groups_per_unit: a unit with rows in more groups takes part in this many of them, chosen at random. Each
                group is asked with `epsilon` divided by this number.
            allow_many: allow more than ten million candidates.
            usable_epsilon: also release the number of units that could be used, with noise, for this much epsilon more:
                ``release.usable``. With ``max_values_per_unit=1`` it comes at no cost.
            request: an id of your choice, with a ledger: repeating the question under it returns the stored release.

        Returns:
            A release whose value is a list of whole numbers >= 0, in the order of the candidates, and whose ``rows()``
            name them; with groups, a dictionary with such a list for each group.

        Raises:
            InvalidCandidatesError: the candidates are missing or invalid.
            InvalidDataError: there is no such column, or candidates of this kind cannot match it.
            InvalidParameterError: another argument is invalid. Nothing is read or drawn then.

        Proof: ``proofs/counting.md``, claim 6; ``proofs/geometric_mechanism.md`` or ``proofs/discrete_gaussian.md``;
        for groups ``proofs/groups.md``.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> release = people.histogram("education_num", candidates=range(1, 17), epsilon=1.0)
        >>> abs(release.value[8] - 10501) < 50  # 10501 in truth
        True
        >>> print(release.accuracy)
        With 99% confidence each released count is within 7 of the truth, counting at most 1 value of each person_id.
        """
        parts = PublicGroups.given(by, groups, max_groups_per_unit)
        public = PublicCandidates.given(candidates, allow_many=allow_many)
        self._rows.check_compared(public)
        share = delta if parts is None else parts.share_of_delta(delta)
        planned = partial(questions.Histogram.planned, public, delta=share, max_values_per_unit=max_values_per_unit)
        return self._ask(column, planned, epsilon, parts, request, usable_epsilon)

    def sum(
        self,
        column: str,
        *,
        clip: tuple[float, float],
        epsilon: float,
        scale: float = 1.0,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float] | Release[dict[Any, float]]:
        """The sum of a column of numbers, with a bounded amount for each unit.

        Args:
            column: name of a column of numbers.
            clip: smallest and largest amount that one unit may add; public, never taken from the column. All rows of a
                unit are added up, and the total is clipped. The noise grows with the larger bound. If you know none,
                `upper_bound` finds a bound of one row's amount first: it is released, too, and both costs add up.
            epsilon: privacy loss of this release, > 0; with groups, of all groups together.
            scale: numbers are multiplied by this and rounded to whole numbers, so that the sum is exact: 100 counts
                cents.
            by: name of the column with the group of each row, for one answer per group in `groups`.
            groups: the public list of groups, given like candidates; rows of other groups, or of none, are left out.
            max_groups_per_unit: a unit with rows in more groups takes part in this many of them, chosen at random. Each
                group is asked with `epsilon` divided by this number.
            usable_epsilon: also release the number of units that could be used, with noise, for this much epsilon more:
                ``release.usable``.
                Where it is near zero, the numbers are written in another way.
            request: an id of your choice, with a ledger: repeating the question under it returns the stored release.

        Returns:
            A release whose value is a number, which may be below 0 where the sum is small: a whole number without a
            scale. With groups, a dictionary with one for each group.

        Raises:
            InvalidDataError: there is no such column, or it does not hold numbers.
            InvalidParameterError: another argument is invalid. Nothing is read or drawn then.

        Proof: ``proofs/clipped_sums.md`` and ``proofs/geometric_mechanism.md``; for groups ``proofs/groups.md``.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> release = people.sum("hours_per_week", clip=(0, 80), epsilon=1.0)
        >>> print(release.accuracy)
        With 99% confidence the released sum is within 368 of the total hours_per_week, counting from 0 to 80 of each
        person_id.
        """
        planned = partial(questions.Sum.planned, PublicClip.given(column, clip, scale=scale))
        parts = PublicGroups.given(by, groups, max_groups_per_unit)
        return self._ask(column, planned, epsilon, parts, request, usable_epsilon)

    def values(
        self,
        column: str,
        *,
        epsilon: float,
        delta: float,
        max_values_per_unit: int = 1,
        kind: str | None = None,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[list[Any]] | Release[dict[Any, list[Any]]]:
        """The values that occur in `column`, as far as enough units have them: where no list of candidates is public.

        A value with more units is named with a higher probability. A value that only one unit has is named with
        probability `delta` at most. Each value has a coin, or noise is added to its count; what needs fewer units is
        chosen by a public rule, `dpselect.planning.naming_noise`, and the release states it.

        Args:
            column: name of the column with the values.
            epsilon: privacy loss of this release, > 0; with groups, of all groups together.
            delta: probability with which epsilon may fail, strictly between 0 and 1. Choose it far below one over the
                number of units: at one over it, the own value of some unit may well be named.
            max_values_per_unit: for how many values one unit counts (in a group). If it has more, this many are chosen
                at random. A value then needs more units.
            kind: how the values are read: ``"text"``, ``"integer"``, ``"number"``, ``"date"`` or ``"boolean"``. The
                default is the column's type; in CSV and JSON lines, where columns have no type, it is text. Values that
                are not of the kind are left out, and so are empty text and text of more than 1,024 bytes.
            by: name of the column with the group of each row, for one answer per group in `groups`.
            groups: the public list of groups, given like candidates; rows of other groups, or of none, are left out.
            max_groups_per_unit: a unit with rows in more groups takes part in this many of them, chosen at random. Each
                group is asked with `epsilon` divided by this number.
            usable_epsilon: also release the number of units that could be used, with noise, for this much epsilon more:
                ``release.usable``. Only with ``max_values_per_unit=1``.
            request: an id of your choice, with a ledger: repeating the question under it returns the stored release.

        Returns:
            A release whose value is a list of different values in increasing order, which may be empty; with groups, a
            dictionary with such a list for each group. ``error_bound`` is a number of units: a value that at least so
            many have is named with 99% confidence.

        Raises:
            InvalidDataError: there is no such column, or no value of it is of this kind.
            InvalidParameterError: another argument is invalid. Nothing is read or drawn then.

        Proof: ``proofs/unknown_candidates.md`` and ``proofs/partition_selection.md``; for groups ``proofs/groups.md``.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> release = people.values("education_num", kind="integer", epsilon=1.0, delta=1e-6)
        >>> release.value
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
        >>> print(release.accuracy)
        With 99% confidence a value that at least 18 units (person_id) have is named, counting at most 1 value of
        each person_id; at 14 units the probability reaches one half.
        """
        parts = PublicGroups.given(by, groups, max_groups_per_unit)
        share = delta if parts is None else parts.share_of_delta(delta)
        questions.check_countable(max_values_per_unit, usable_epsilon)
        held = self._rows.name_kind(column, kind)
        planned = partial(questions.Values.planned, held, delta=share, max_values_per_unit=max_values_per_unit)
        return self._ask(column, planned, epsilon, parts, request, usable_epsilon)

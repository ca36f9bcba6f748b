"""Questions about quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from dpselect.arguments import positive_count
from dpselect.mechanisms import QuantilesMethod
from dpselect.questions import Quantile, Quantiles
from dpselect.questions.numbers import MOST_ROWS_PER_UNIT
from dpselect.session.asking import Asking
from dpselect.session.spending import Reply
from dpselect.summaries import PublicDomain, PublicGroups


class QuantileQuestions(Asking[Reply]):
    """Questions about the ranks of numbers."""

    __slots__ = ()

    def quantile(
        self,
        column: str,
        level: float,
        *,
        bounds: tuple[float, float],
        epsilon: float,
        step: float | None = None,
        max_rows_per_unit: int = 1,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        request: str | None = None,
    ) -> Reply:
        """A quantile: a number below which about the share `level` of the values in `column` lies.

        Args:
            column: name of a column of numbers. ``docs/tables.md`` describes how they are read and which rows are left
                out.
            level: from 0 to 1; 0.5 is the median, and nine values in ten lie below the 0.9-quantile.
            bounds: smallest and largest possible answer. Public, so never taken from the column: its own minimum and
                maximum belong to two people. Values beyond a bound count as that bound.
            epsilon: privacy loss of this release, > 0; with groups, of all groups together.
            step: the answer is one of ``lower, lower + step, ..., upper``, and values count as the nearest of these;
                `step` has to divide the distance between the bounds. Use it if many units have the same value, such as
                an age in years: without a step the answer lies between values and never equals one. Only with a step is
                there an error bound before the data is seen. None: all numbers between the bounds.
            max_rows_per_unit: number of rows used per unit. If a unit has more, this many are chosen at random. The
                error grows with it.
            by, groups, max_groups_per_unit: see `most_common`; `max_rows_per_unit` applies to each group.
            request: see `Dataset`.

        Returns:
            A release whose value is a number within the bounds; with groups, a dictionary with one for each group.

        Raises:
            InvalidDataError: there is no such column, or it does not hold numbers.
            InvalidParameterError: another argument is invalid. Nothing is read or drawn then.

        Proof: ``proofs/unit_values.md`` and ``proofs/exponential_mechanism.md``; for groups ``proofs/groups.md``.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> release = people.quantile("age", 0.9, bounds=(0, 120), step=1, epsilon=1.0)
        >>> 57 <= release.value <= 59  # 58 in truth
        True
        >>> print(release.accuracy)
        With 99% confidence the released age is within 17 ranks of the true 0.9-quantile, values rounded to steps of 1,
        counting at most 1 row of each person_id.
        """
        domain = PublicDomain.given(bounds, step=step)
        rows = positive_count(max_rows_per_unit, "max_rows_per_unit", at_most=MOST_ROWS_PER_UNIT)
        return self._answer_each(
            lambda part: Quantile.planned(
                level, domain, epsilon=part, max_rows_per_unit=rows, neighbours=self._neighbours
            ),
            column,
            partial(self._rows.gather, column, domain, max_rows_per_unit=rows),
            epsilon=epsilon,
            groups=PublicGroups.given(by, groups, max_groups_per_unit),
            request=request,
        )

    def median(
        self,
        column: str,
        *,
        bounds: tuple[float, float],
        epsilon: float,
        step: float | None = None,
        max_rows_per_unit: int = 1,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        request: str | None = None,
    ) -> Reply:
        """The median: the number below which about half of the values in `column` lie. It is `quantile` at level 0.5.

        Args:
            column: name of a column of numbers. ``docs/tables.md`` describes how they are read and which rows are left
                out.
            bounds: smallest and largest possible answer. Public, never taken from the column. Values beyond a bound
                count as that bound.
            epsilon: privacy loss of this release, > 0; with groups, of all groups together.
            step: distance between possible answers; it has to divide the distance between the bounds. Use it if many
                units have the same value, such as an age in years. Only with a step is there an error bound. None: all
                numbers between the bounds.
            max_rows_per_unit: number of rows used per unit. If a unit has more, this many are chosen at random. The
                error grows with it.
            by, groups, max_groups_per_unit: see `most_common`; `max_rows_per_unit` applies to each group.
            request: see `Dataset`.

        Returns:
            A release whose value is a number within the bounds; with groups, a dictionary with one for each group.

        Raises:
            InvalidDataError: there is no such column, or it does not hold numbers.
            InvalidParameterError: another argument is invalid. Nothing is read or drawn then.

        Proof: ``proofs/unit_values.md`` and ``proofs/exponential_mechanism.md``; for groups ``proofs/groups.md``.

        Ages are whole years and repeat, so this example uses a step of one year:

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> people.median("age", bounds=(0, 120), step=1, epsilon=1.0).value
        37.0
        """
        return self.quantile(
            column,
            0.5,
            bounds=bounds,
            epsilon=epsilon,
            step=step,
            max_rows_per_unit=max_rows_per_unit,
            by=by,
            groups=groups,
            max_groups_per_unit=max_groups_per_unit,
            request=request,
        )

    def quantiles(
        self,
        column: str,
        levels: Sequence[float],
        *,
        bounds: tuple[float, float],
        epsilon: float,
        step: float | None = None,
        max_rows_per_unit: int = 1,
        method: QuantilesMethod = "joint",
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        request: str | None = None,
    ) -> Reply:
        """Several quantiles: numbers below which about the shares `levels` of the values in `column` lie.

        Together they cost one `epsilon`.

        Args:
            column: as for `quantile`.
            levels: different numbers from 0 to 1.
            bounds: as for `quantile`.
            epsilon: privacy loss of this release, for all levels (and groups) together, > 0; at most 100 for
                ``"joint"``.
            step: as for `quantile`; use it if many units have the same value.
            max_rows_per_unit: as for `quantile`.
            method: ``"joint"`` draws all at once; ``"halving"`` draws the middle one first, and is better for very many
                levels.
            by, groups, max_groups_per_unit: as for `quantile`.
            request: see `Dataset`.

        Returns:
            A release whose value is a list of numbers within the bounds, one per level, in the order of `levels`; with
            groups, a dictionary with such a list for each group.

        Raises:
            InvalidDataError: there is no such column, or it does not hold numbers.
            InvalidParameterError: another argument is invalid. Nothing is read or drawn then.

        Proof: ``proofs/unit_values.md`` and ``proofs/joint_quantiles.md``; for halving ``proofs/quantiles.md``; for
        groups ``proofs/groups.md``.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> people.quantiles("age", [0.25, 0.5, 0.75], bounds=(0, 120), step=1, epsilon=1.0).value
        [28.0, 37.0, 48.0]
        """
        domain = PublicDomain.given(bounds, step=step)
        rows = positive_count(max_rows_per_unit, "max_rows_per_unit", at_most=MOST_ROWS_PER_UNIT)
        return self._answer_each(
            lambda part: Quantiles.planned(
                levels, domain, epsilon=part, max_rows_per_unit=rows, method=method, neighbours=self._neighbours
            ),
            column,
            partial(self._rows.gather, column, domain, max_rows_per_unit=rows),
            epsilon=epsilon,
            groups=PublicGroups.given(by, groups, max_groups_per_unit),
            request=request,
        )

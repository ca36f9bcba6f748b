"""Questions about the distribution of numbers, and their mean."""

from __future__ import annotations

from functools import partial
from typing import Literal

from dpselect.questions import Density, Mean
from dpselect.session.asking import Asking
from dpselect.session.spending import Reply
from dpselect.summaries import PublicBins, PublicDomain, PublicGroups


class DistributionQuestions(Asking[Reply]):
    """Questions about all values of a column."""

    __slots__ = ()

    def density(
        self,
        column: str,
        *,
        bounds: tuple[float, float],
        bins: int,
        epsilon: float,
        method: Literal["counts", "sample"] = "counts",
        units: int | None = None,
        sample_size: int | None = None,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        request: str | None = None,
    ) -> Reply:
        """The distribution of the values in `column`: the share of the units in each bin.

        Args:
            column: name of a column of numbers. ``docs/tables.md`` describes how they are read and which rows are left
                out. If a unit has several rows, one is chosen at random.
            bounds: start of the first bin and end of the last; public, never taken from the column. Values beyond
                belong to the outer bins.
            bins: number of bins of equal width.
            epsilon: privacy loss of this release, > 0; with groups, of all groups together.
            method: ``"counts"`` adds noise to the count of each bin, and is nearly always more accurate
                (``examples/densities`` measures it). ``"sample"`` draws a sample whose distribution is close to that of
                the units in Kolmogorov-Smirnov distance, with a bound on this distance.
            units: for a sample: the number of units (with groups, in each group), as publicly known. Units without a
                value, or not in the table, make the shares add up to less than 1.
            sample_size: for a sample: its number of points. By default computed from `epsilon` and `units`.
            by, groups, max_groups_per_unit: see `most_common`.
            request: see `Dataset`.

        Returns:
            A release whose value is a list of `bins` shares; with groups, a dictionary with such a list for each group.

        Raises:
            InvalidDataError: there is no such column, or it does not hold numbers.
            InvalidParameterError: another argument is invalid. Nothing is read or drawn then.

        Proof: ``proofs/noisy_histograms.md`` and ``proofs/density.md``; for groups ``proofs/groups.md``.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> release = people.density("age", bounds=(0, 120), bins=4, epsilon=1.0)
        >>> [round(share, 2) for share in release.value]
        [0.3, 0.62, 0.08, 0.0]
        >>> print(release.accuracy)
        With 99% confidence the noisy count of each bin is within 6 of the truth, counting at most 1 row of
        each person_id.
        """
        public = PublicBins.given(bounds, bins)
        return self._answer_each(
            lambda part: Density.planned(
                public,
                epsilon=part,
                method=method,
                units=units,
                sample_size=sample_size,
                neighbours=self._neighbours,
            ),
            column,
            partial(self._rows.gather, column, public.domain, max_rows_per_unit=1),
            epsilon=epsilon,
            groups=PublicGroups.given(by, groups, max_groups_per_unit),
            request=request,
        )

    def mean(
        self,
        column: str,
        *,
        bounds: tuple[float, float],
        step: float,
        units: int,
        epsilon: float,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        request: str | None = None,
    ) -> Reply:
        """The mean of the values in `column` over a public number of units.

        The noise has a size known in advance. The number of units with a value is private, so the mean is over `units`
        units, and each unit without a value counts as the midpoint of the bounds. If there are more units than that,
        the mean is proportionally farther from the midpoint, but never beyond the bounds.

        Args:
            column: name of a column of numbers. ``docs/tables.md`` describes how they are read and which rows are left
                out. If a unit has several rows, one is chosen at random.
            bounds: smallest and largest value; public, never taken from the column. Values beyond a bound count as that
                bound. The noise grows with the distance between the bounds.
            step: values are rounded to ``lower, lower + step, ..., upper`` and added up as whole numbers, because a sum
                of floats may change by more than one unit adds.
            units: the number of units, as publicly known: the size of a study, a census. With groups, the number in
                each group. Do not count the rows to find it.
            epsilon: privacy loss of this release, > 0; with groups, of all groups together.
            by, groups, max_groups_per_unit: see `most_common`.
            request: see `Dataset`.

        Returns:
            A release whose value is a number within the bounds; with groups, a dictionary with one for each group.

        Raises:
            InvalidDataError: there is no such column, or it does not hold numbers.
            InvalidParameterError: another argument is invalid. Nothing is read or drawn then.

        Proof: ``proofs/means.md``, claims 5 and 6, and ``proofs/laplace_mechanism.md``; for groups
        ``proofs/groups.md``.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> release = people.mean("age", bounds=(0, 120), step=1, units=32_561, epsilon=1.0)
        >>> round(release.value, 1)  # 38.58 in truth
        38.6
        >>> print(release.accuracy)
        With 99% confidence the released mean is within 0.00849 of the mean of 32,561 units, units without a value
        counted as the midpoint, counting at most 1 row of each person_id.
        """
        domain = PublicDomain.given(bounds, step=step)
        return self._answer_each(
            lambda part: Mean.planned(domain, units=units, epsilon=part, neighbours=self._neighbours),
            column,
            partial(self._rows.gather, column, domain, max_rows_per_unit=1),
            epsilon=epsilon,
            groups=PublicGroups.given(by, groups, max_groups_per_unit),
            request=request,
        )

"""How numbers are distributed, and their mean."""

from __future__ import annotations

from functools import partial
from typing import Literal

from dpselect.session.asking import Asking
from dpselect.session.spending import Reply
from dpselect.summaries import PublicBins, PublicDomain, PublicGroups
from dpselect.tasks import Density, Mean


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
        """How the values in `column` are distributed: the share of the units in each bin.

        Args:
            column: name of a column of numbers. How they are read, and which rows are left out, is described in
                ``docs/tables.md``. Of a unit with more rows than one, one is chosen at random.
            bounds: where the first bin begins and the last one ends; public, never taken from the column. Values beyond
                belong to the outer bins.
            bins: how many bins of one width there are.
            epsilon: privacy loss of this release, > 0; with groups, of all of them together.
            method: ``"counts"`` adds noise to the count of each bin, and is nearly always the more accurate one
                (``examples/densities`` measures it). ``"sample"`` draws a sample whose distribution is close to that
                of the units in the distance of Kolmogorov and Smirnov, with a bound on it.
            units: for a sample: how many units there are, as far as is publicly known; with groups, in each of them.
                Those without a value, or not in the table, make the shares add up to less than 1.
            sample_size: for a sample: of how many points. By default it depends on `epsilon` and `units`.
            by, groups, max_groups_per_unit: see `most_common`.
            request: see `Dataset`.

        Returns:
            A release whose value is a list of `bins` shares; with groups a dictionary of one for each.

        Raises:
            InvalidDataError: no such column, or one that does not hold numbers.
            InvalidParameterError: another argument is out of range. Nothing is read or drawn then.

        Proof: ``proofs/noisy_histograms.md`` and ``proofs/density.md``; of groups ``proofs/groups.md``.

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

        With noise whose size is known beforehand. How many units have a value is private; so the mean is that of
        `units` of them, and each without a value counts as the middle of the bounds. If there are more units than
        that, the mean is farther from the middle, in proportion, but never beyond the bounds.

        Args:
            column: name of a column of numbers. How they are read, and which rows are left out, is described in
                ``docs/tables.md``. Of a unit with more rows than one, one is chosen at random.
            bounds: smallest and largest value; public, never taken from the column. Values beyond count as the bound.
                The noise grows with their distance.
            step: values are rounded to ``lower, lower + step, ..., upper`` before they are added up, in whole numbers:
                a sum of floats may move by more than one unit adds.
            units: how many units there are, as far as is publicly known: the size of a study, a census. With groups, in
                each of them. Do not count the rows to find it.
            epsilon: privacy loss of this release, > 0; with groups, of all of them together.
            by, groups, max_groups_per_unit: see `most_common`.
            request: see `Dataset`.

        Returns:
            A release whose value is a number within the bounds; with groups a dictionary of one for each.

        Raises:
            InvalidDataError: no such column, or one that does not hold numbers.
            InvalidParameterError: another argument is out of range. Nothing is read or drawn then.

        Proof: ``proofs/means.md``, claims 5 and 6, and ``proofs/laplace_mechanism.md``; of groups ``proofs/groups.md``.

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

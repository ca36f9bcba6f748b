"""Questions about a column of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

from dpselect import questions
from dpselect.arguments import boolean, quantile_level
from dpselect.certificates.release import Release
from dpselect.errors import InvalidParameterError
from dpselect.session.asking import Asking
from dpselect.summaries import PublicBins, PublicDomain, PublicGroups

_TESTED_IN_ORDER = 0.9
"""From this level on, answers that are tested in order have the smaller error if no bound is known."""


class NumberQuestions(Asking):
    """Which number is the median, the mean, the best price? `dpselect.questions` has the plans."""

    __slots__ = ()

    def quantile(
        self,
        column: str,
        level: float,
        *,
        bounds: tuple[float, float] | Literal["private"] | None = None,
        epsilon: float,
        lower: float | None = None,
        step: float | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float] | Release[dict[Any, float]]:
        """A quantile: a number below which about the share `level` of the values in `column` lies.

        Args:
            column: name of a column of numbers. ``docs/files.md`` describes how they are read and which rows are left
                out.
            level: from 0 to 1; 0.5 is the median, and nine values in ten lie below the 0.9-quantile.
            bounds: smallest and largest possible answer. Public, so never taken from the column: its own minimum and
                maximum belong to two people. Values beyond a bound count as that bound. If you know none, None: from
                the level 0.9 on, possible answers that grow apart are tested in order, from `lower` on; for lower
                levels (and with `continuous`) an upper bound is found first, with a quarter of epsilon. ``"private"``
                finds one at any level. `Release.mechanism` says which it was.
            epsilon: privacy loss of this release, > 0; with groups, of all groups together.
            lower: without bounds, the smallest possible answer, 0 unless you say otherwise. Public.
            step: the answer is one of ``lower, lower + step, ..., upper``, and values count as the nearest of these;
                `step` has to divide the distance between the bounds. Needed unless `continuous` is true, or the
                column's type is an integer type and the bounds are whole: then it is 1. Where answers grow apart, it is
                the smallest distance between them, and 1% of the distance from `lower` follows.
            continuous: whether the answer may be any number between the bounds. Only for values of which hardly any two
                are equal: the answer then lies between values and never equals one, so repeated values, such as ages in
                years, can move it far away. There is no error bound.
            max_rows_per_unit: number of rows used per unit. If a unit has more, this many are chosen at random. The
                error grows with it.
            by, groups, max_groups_per_unit: see `most_common`; `max_rows_per_unit` applies to each group.
            usable_epsilon: see `most_common`.
            request: see `Dataset`.

        Returns:
            A release whose value is a number within the bounds; with groups, a dictionary with one for each group. If
            there are none it may, very seldom, be the last possible answer, which says nothing.

        Raises:
            InvalidDataError: there is no such column, or it does not hold numbers.
            InvalidParameterError: another argument is invalid. Nothing is read or drawn then.

        Proof: ``proofs/unit_values.md`` and ``proofs/exponential_mechanism.md``; without bounds
        ``proofs/unbounded_quantiles.md``; for groups ``proofs/groups.md``.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> release = people.quantile("age", 0.9, bounds=(0, 120), step=1, epsilon=1.0)
        >>> 57 <= release.value <= 59  # 58 in truth
        True
        >>> print(release.accuracy)
        With 99% confidence the released age is within 17 ranks of the true 0.9-quantile, values rounded to steps of 1,
        counting at most 1 row of each person_id.
        """
        if bounds is None or (isinstance(bounds, str) and bounds == "private"):
            self._check_step(step, continuous)
            first = 0.0 if lower is None else lower
            apart = None if continuous else self._smallest_step(column, first, step)
            planned = _without_bounds(level, bounds, first, apart)
        else:
            if lower is not None:
                raise InvalidParameterError("lower", lower, "None, because bounds are given")
            domain = PublicDomain.given(bounds, step=self._step(column, bounds, step, continuous))
            planned = partial(questions.Quantile.planned, level, domain)
        planned = partial(planned, max_rows_per_unit=max_rows_per_unit)
        return self._ask(
            column, planned, epsilon, PublicGroups.given(by, groups, max_groups_per_unit), request, usable_epsilon
        )

    def median(
        self,
        column: str,
        *,
        bounds: tuple[float, float] | Literal["private"] | None = None,
        epsilon: float,
        lower: float | None = None,
        step: float | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float] | Release[dict[Any, float]]:
        """The median: the number below which about half of the values in `column` lie. It is `quantile` at level 0.5.

        Args:
            column: name of a column of numbers. ``docs/files.md`` describes how they are read and which rows are left
                out.
            bounds: smallest and largest possible answer. Public, never taken from the column. Values beyond a bound
                count as that bound. If you know none, None (or ``"private"``): an upper bound is found first, with a
                quarter of epsilon.
            epsilon: privacy loss of this release, > 0; with groups, of all groups together.
            lower: without bounds, the smallest possible answer, 0 unless you say otherwise. Public.
            step: distance between possible answers; it has to divide the distance between the bounds. Needed unless
                `continuous` is true, or the column's type is an integer type and the bounds are whole: then it is 1.
            continuous: whether the answer may be any number between the bounds. Only for values of which hardly any two
                are equal; there is no error bound.
            max_rows_per_unit: number of rows used per unit. If a unit has more, this many are chosen at random. The
                error grows with it.
            by, groups, max_groups_per_unit: see `most_common`; `max_rows_per_unit` applies to each group.
            usable_epsilon: see `most_common`.
            request: see `Dataset`.

        Returns:
            A release whose value is a number within the bounds; with groups, a dictionary with one for each group.

        Raises:
            InvalidDataError: there is no such column, or it does not hold numbers.
            InvalidParameterError: another argument is invalid. Nothing is read or drawn then.

        Proof: ``proofs/unit_values.md`` and ``proofs/exponential_mechanism.md``; without bounds
        ``proofs/unbounded_quantiles.md``; for groups ``proofs/groups.md``.

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
            lower=lower,
            step=step,
            continuous=continuous,
            max_rows_per_unit=max_rows_per_unit,
            by=by,
            groups=groups,
            max_groups_per_unit=max_groups_per_unit,
            usable_epsilon=usable_epsilon,
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
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        method: Literal["joint", "halving"] = "joint",
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[list[float]] | Release[dict[Any, list[float]]]:
        """Several quantiles: numbers below which about the shares `levels` of the values in `column` lie.

        Together they cost one `epsilon`.

        Args:
            column: as for `quantile`.
            levels: different numbers from 0 to 1.
            bounds: as for `quantile`.
            epsilon: privacy loss of this release, for all levels (and groups) together, > 0; at most 100 for
                ``"joint"``.
            step, continuous: as for `quantile`.
            max_rows_per_unit: as for `quantile`.
            method: ``"joint"`` draws all at once; ``"halving"`` draws the middle one first, and is better for very many
                levels.
            by, groups, max_groups_per_unit: as for `quantile`.
            usable_epsilon: see `most_common`.
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
        domain = PublicDomain.given(bounds, step=self._step(column, bounds, step, continuous))
        planned = partial(
            questions.Quantiles.planned, levels, domain, max_rows_per_unit=max_rows_per_unit, method=method
        )
        return self._ask(
            column, planned, epsilon, PublicGroups.given(by, groups, max_groups_per_unit), request, usable_epsilon
        )

    def upper_bound(
        self,
        column: str,
        *,
        epsilon: float,
        lower: float = 0.0,
        step: float | None = None,
        max_rows_per_unit: int = 1,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float] | Release[dict[Any, float]]:
        """A number that only few values in `column` are above, such as a bound to clip a `sum` by.

        The largest value belongs to one person and cannot be released. This is a number such that about as many values
        are above it as the noise is large: most often ``4 / epsilon``, never known to be more than `error_bound`.

        Args:
            column: name of a column of numbers. ``docs/files.md`` describes how they are read and which rows are left
                out.
            epsilon: privacy loss of this release, > 0; with groups, of all groups together.
            lower: smallest possible answer. Public; smaller values count as this. For amounts and ages it is 0.
            step: smallest distance between possible answers; further away from `lower` they are 1% of the distance from
                it apart, up to 2^50 steps. Needed unless the column's type is an integer type: then it is 1.
            max_rows_per_unit: number of rows used per unit. If a unit has more, this many are chosen at random. The
                error grows with it.
            by, groups, max_groups_per_unit: see `most_common`; `max_rows_per_unit` applies to each group.
            usable_epsilon: see `most_common`.
            request: see `Dataset`.

        Returns:
            A release whose value is a number; with groups, a dictionary with one for each group. It is seldom far above
            all values, and very seldom the last possible answer, which says nothing (claim 6).

        Raises:
            InvalidDataError: there is no such column, or it does not hold numbers.
            InvalidParameterError: another argument is invalid. Nothing is read or drawn then.

        Proof: ``proofs/unbounded_quantiles.md``; for groups ``proofs/groups.md``.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> release = people.upper_bound("hours_per_week", step=1, epsilon=0.5)
        >>> release.value > 80  # the largest value is 99
        True
        >>> print(release.accuracy)
        With 99% confidence at most 48 values of hours_per_week are above the released bound, counting at most 1 row of
        each person_id.
        """
        apart = self._smallest_step(column, lower, step)
        planned = partial(
            questions.UpperBound.planned, 1.0, lower=lower, step=apart, max_rows_per_unit=max_rows_per_unit
        )
        return self._ask(
            column, planned, epsilon, PublicGroups.given(by, groups, max_groups_per_unit), request, usable_epsilon
        )

    def mean(
        self,
        column: str,
        *,
        bounds: tuple[float, float] | Literal["private"],
        epsilon: float,
        lower: float | None = None,
        step: float | None = None,
        units: int | None = None,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float] | Release[dict[Any, float]]:
        """The mean of the values in `column`, over all units that have one.

        The number of units with a value is private. It is released together with the mean, in ``release.usable``, at no
        additional cost. What the error may be follows from it: the sentence of the release says how much.

        If the number of units is publicly known, give it as `units`. The mean is then over that many units: each unit
        without a value counts as the midpoint of the bounds, and if there are more units than that, the mean is
        proportionally farther from the midpoint, but never beyond the bounds. The error bound is then known in advance.

        Args:
            column: name of a column of numbers. ``docs/files.md`` describes how they are read and which rows are left
                out. If a unit has several rows, one is chosen at random.
            bounds: smallest and largest value; public, never taken from the column. Values beyond a bound count as that
                bound. The noise grows with the distance between the bounds. If you know none, ``"private"``: an upper
                bound that only few units are above is found first, with half of epsilon, and is released, too
                (``release.bound``).
            epsilon: privacy loss of this release, > 0; with groups, of all groups together.
            lower: with ``bounds="private"``, the smallest value, 0 unless you say otherwise. Public.
            step: values are rounded to ``lower, lower + step, ..., upper`` and added up as whole numbers, because a sum
                of floats may change by more than one unit adds. Default: 1 if the column's type is an integer type and
                the bounds are whole, else a millionth of the distance between the bounds. With ``bounds="private"``
                the possible upper bounds are this far from `lower`, twice as far, four times and so on (default: 1 if
                the column's type is an integer type and `lower` is whole, else 1/1024), and values are rounded to
                2^26 steps up to the bound.
            units: the number of units, as publicly known: the size of a study, a census. With groups, the number in
                each group. Do not count the rows to find it.
            by, groups, max_groups_per_unit: see `most_common`.
            usable_epsilon: see `most_common`; only with `units`.
            request: see `Dataset`.

        Returns:
            A release whose value is a number within the bounds; with groups, a dictionary with one for each group.
            Without `units`, its `error_bound` is the bound on the error times the released number of units.

        Raises:
            InvalidDataError: there is no such column, or it does not hold numbers.
            InvalidParameterError: another argument is invalid. Nothing is read or drawn then.

        Proof: ``proofs/moments.md`` and ``proofs/geometric_mechanism.md``; with `units` ``proofs/means.md``, claims 5
        and 6, and ``proofs/laplace_mechanism.md``; of a private bound ``proofs/clipping_bounds.md``; for groups
        ``proofs/groups.md``.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> release = people.mean("age", bounds=(0, 120), step=0.5, epsilon=1.0)
        >>> abs(release.value - 38.58) < 0.1  # 38.58 in truth
        True
        >>> print(release.accuracy)
        With 99% confidence the released mean is within 0.017 of the true one, values rounded to steps of 0.5, counting
        at most 1 row of each person_id.
        >>> abs(release.usable.count - 32_561) < 30
        True
        """
        if isinstance(bounds, str) and bounds == "private":
            if units is not None:
                raise InvalidParameterError("units", units, "None, because the bounds are private")
            planned: Callable[..., questions.Question[Any]] = partial(
                questions.PrivateBoundsMean.planned, **self._first_bound(column, lower, step)
            )
        else:
            domain = PublicDomain.given(bounds, step=self._fine_step(column, bounds, step, lower=lower))
            planned = partial(questions.Mean.planned, domain, units=units)
        return self._ask(
            column, planned, epsilon, PublicGroups.given(by, groups, max_groups_per_unit), request, usable_epsilon
        )

    def variance(
        self,
        column: str,
        *,
        bounds: tuple[float, float] | Literal["private"],
        epsilon: float,
        lower: float | None = None,
        step: float | None = None,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float] | Release[dict[Any, float]]:
        """The variance of the values in `column`, over all units that have one; its root is the standard deviation.

        It is the mean squared distance from the mean: the sum is divided by the number of units. That number is
        private, and is released together with the variance, in ``release.usable``, at no additional cost.

        Args:
            column: name of a column of numbers. ``docs/files.md`` describes how they are read and which rows are left
                out. If a unit has several rows, one is chosen at random.
            bounds: smallest and largest value; public, never taken from the column. Values beyond a bound count as that
                bound. The noise grows with the square of the distance between the bounds. ``"private"``: see `mean`.
            epsilon: privacy loss of this release, > 0; with groups, of all groups together.
            lower: with ``bounds="private"``, the smallest value, 0 unless you say otherwise. Public.
            step: values are rounded to ``lower, lower + step, ..., upper``, at most 2^26 steps, so that sums of squares
                are exact. Default: 1 if the column's type is an integer type and the bounds are whole, else a millionth
                of the distance between the bounds. With ``bounds="private"``: see `mean`.
            by, groups, max_groups_per_unit: see `most_common`.
            usable_epsilon: None: the number of units comes at no cost.
            request: see `Dataset`.

        Returns:
            A release whose value is a number from 0 to ``(upper - lower)**2 / 4``; with groups, a dictionary with one
            for each group. Its `error_bound` is, up to a smaller term that its sentence states, the bound on the error
            times the released number of units.

        Raises:
            InvalidDataError: there is no such column, or it does not hold numbers.
            InvalidParameterError: another argument is invalid. Nothing is read or drawn then.

        Proof: ``proofs/moments.md`` and ``proofs/geometric_mechanism.md``; of a private bound
        ``proofs/clipping_bounds.md``; for groups ``proofs/groups.md``.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> release = people.variance("age", bounds=(0, 120), step=1, epsilon=1.0)
        >>> abs(release.value - 186.1) < 6  # 186.06 in truth; the standard deviation is 13.64
        True
        >>> print(release.accuracy)
        With 99% confidence the released variance is within 2.53 of the true one, values rounded to steps of 1, counting
        at most 1 row of each person_id.
        """
        if isinstance(bounds, str) and bounds == "private":
            planned: Callable[..., questions.Question[Any]] = partial(
                questions.PrivateBoundsVariance.planned, **self._first_bound(column, lower, step)
            )
        else:
            domain = PublicDomain.given(bounds, step=self._fine_step(column, bounds, step, lower=lower))
            planned = partial(questions.Variance.planned, domain)
        return self._ask(
            column, planned, epsilon, PublicGroups.given(by, groups, max_groups_per_unit), request, usable_epsilon
        )

    def best_price(
        self,
        column: str,
        *,
        prices: object = None,
        bounds: tuple[float, float] | None = None,
        epsilon: float,
        step: float | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float] | Release[dict[Any, float]]:
        """The price that earns the most if everybody buys who offers at least the price.

        For something that costs nothing to copy: the revenue of a price is the price times the number of offers that
        are at least as high. The price is from a list or between bounds. Only the price is released, never a revenue.

        Args:
            column: name of a column of numbers: the most that each unit would pay. ``docs/files.md`` describes how
                they are read and which rows are left out.
            prices: the public list to choose from: positive numbers, all different, such as ``range(1, 101)`` or
                ``[4.99, 9.99]``. Never the offers themselves. The noise grows with the highest price: leave out prices
                that you would not charge.
            bounds: instead of a list, the smallest and the largest price, ``0 <= lower < upper``, public as well.
            epsilon: privacy loss of this release, > 0; with groups, of all groups together.
            step: with `bounds`, the prices are ``lower, lower + step, ..., upper``, without 0. Needed unless
                `continuous` is true, or the column's type is an integer type and the bounds are whole: then it is 1.
            continuous: with `bounds`, whether the answer may be any number between them. Only for offers of which
                hardly any two are equal; there is no error bound.
            max_rows_per_unit: number of rows used per unit. If a unit has more, this many are chosen at random. The
                error grows with it.
            by, groups, max_groups_per_unit: see `most_common`; `max_rows_per_unit` applies to each group.
            usable_epsilon: see `most_common`.
            request: see `Dataset`.

        Returns:
            A release whose value is one of the prices, or a number within the bounds; with groups, a dictionary with
            one for each group.

        Raises:
            InvalidCandidatesError: `prices` is not such a list, or not exactly one of `prices` and `bounds` is given.
            InvalidDataError: there is no such column, or it does not hold numbers.
            InvalidParameterError: another argument is invalid. Nothing is read or drawn then.

        Proof: ``proofs/best_price.md`` and ``proofs/permute_and_flip.md``; with bounds ``proofs/prices.md``.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> release = people.best_price("capital_gain", prices=range(500, 10_001, 500), epsilon=1.0)
        >>> release.value  # ahead of the second best, 6500, by 446,000
        7000
        >>> print(release.accuracy)
        With 99% confidence the revenue of the released price is within 65,000 of the best, counting at most 1
        row of each person_id.
        """
        if prices is None and bounds is not None:
            step = self._step(column, bounds, step, continuous)
        elif boolean(continuous, "continuous"):
            raise InvalidParameterError("continuous", True, "False, because a list of prices is given")
        planned = partial(
            questions.BestPrice.planned, prices, bounds=bounds, step=step, max_rows_per_unit=max_rows_per_unit
        )
        return self._ask(
            column, planned, epsilon, PublicGroups.given(by, groups, max_groups_per_unit), request, usable_epsilon
        )

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
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[list[float]] | Release[dict[Any, list[float]]]:
        """The distribution of the values in `column`: the share of the units in each bin.

        Args:
            column: name of a column of numbers. ``docs/files.md`` describes how they are read and which rows are left
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
            usable_epsilon: see `most_common`.
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
        planned = partial(questions.Density.planned, public, method=method, units=units, sample_size=sample_size)
        return self._ask(
            column, planned, epsilon, PublicGroups.given(by, groups, max_groups_per_unit), request, usable_epsilon
        )


def _without_bounds(
    level: object, bounds: object, lower: float, step: float | None
) -> Callable[..., questions.UnboundedQuantile | questions.PrivateBoundsQuantile]:
    """How a quantile without public bounds is planned. The choice between both ways is public."""
    share = quantile_level(level)
    if bounds is None and step is not None and share >= _TESTED_IN_ORDER:
        return partial(questions.UnboundedQuantile.planned, share, lower=lower, step=step)
    return partial(questions.PrivateBoundsQuantile.planned, share, lower=lower, step=step)

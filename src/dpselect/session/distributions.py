"""How numbers are distributed."""

from __future__ import annotations

from functools import partial
from typing import Literal

from dpselect.release import Release
from dpselect.session.asking import Asking
from dpselect.summaries import PublicBins
from dpselect.tasks import Density


class DistributionQuestions(Asking):
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
        request: str | None = None,
    ) -> Release:
        """How the values in `column` are distributed: the share of the units in each bin.

        Args:
            column: name of a column of numbers. How they are read, and which rows are left out, is described in
                ``docs/tables.md``. Of a unit with more rows than one, one is chosen at random.
            bounds: where the first bin begins and the last one ends; public, never taken from the column. Values beyond
                belong to the outer bins.
            bins: how many bins of one width there are.
            epsilon: privacy loss of this release, > 0.
            method: ``"counts"`` adds noise to the count of each bin, and is nearly always the more accurate one
                (``examples/densities`` measures it). ``"sample"`` draws a sample whose distribution is close to that
                of the units in the distance of Kolmogorov and Smirnov, with a bound on it.
            units: for a sample: how many units there are, as far as is publicly known. Those without a value, or not in
                the table, make the shares add up to less than 1.
            sample_size: for a sample: of how many points. By default it depends on `epsilon` and `units`.
            request: see `Dataset`.

        Returns:
            A release whose value is a list of `bins` shares.

        Raises:
            InvalidDataError: no such column, or one that does not hold numbers.
            InvalidParameterError: another argument is out of range. Nothing is read or drawn then.

        Proof: ``proofs/noisy_histograms.md`` and ``proofs/density.md``.

        >>> people = Dataset("examples/data/adult.csv", unit="person_id")
        >>> release = people.density("age", bounds=(0, 120), bins=4, epsilon=1.0)
        >>> [round(share, 2) for share in release.value]
        [0.3, 0.62, 0.08, 0.0]
        >>> print(release.accuracy)
        With 99% confidence the noisy count of each bin is within 6 of the truth.
        """
        task = Density.planned(
            PublicBins.given(bounds, bins),
            epsilon=epsilon,
            method=method,
            units=units,
            sample_size=sample_size,
            neighbours=self._neighbours,
        )
        return self._answer(task, column, partial(self._rows.gather, column, task.domain, max_rows_per_unit=1), request)

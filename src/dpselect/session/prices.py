"""Questions about prices."""

from __future__ import annotations

from functools import partial

from dpselect.questions import BestPrice
from dpselect.session.asking import Asking
from dpselect.session.spending import Reply
from dpselect.summaries import PublicGroups


class PriceQuestions(Asking[Reply]):
    """Questions about the revenue of prices."""

    __slots__ = ()

    def best_price(
        self,
        column: str,
        *,
        prices: object = None,
        bounds: tuple[float, float] | None = None,
        epsilon: float,
        max_rows_per_unit: int = 1,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        request: str | None = None,
    ) -> Reply:
        """The price that earns the most if everybody buys who offers at least the price.

        For something that costs nothing to copy: the revenue of a price is the price times the number of offers that
        are at least as high. The price is from a list or between bounds. Only the price is released, never a revenue.

        Args:
            column: name of a column of numbers: the most that each unit would pay. ``docs/tables.md`` describes how
                they are read and which rows are left out.
            prices: the public list to choose from: positive numbers, all different, such as ``range(1, 101)`` or
                ``[4.99, 9.99]``. Never the offers themselves. The noise grows with the highest price: leave out prices
                that you would not charge.
            bounds: instead of a list, the smallest and the largest price, ``0 <= lower < upper``, public as well; the
                answer is any number between them. Prefer a list: only with a list is there an error bound that holds
                for all offers.
            epsilon: privacy loss of this release, > 0; with groups, of all groups together.
            max_rows_per_unit: number of rows used per unit. If a unit has more, this many are chosen at random. The
                error grows with it.
            by, groups, max_groups_per_unit: see `most_common`; `max_rows_per_unit` applies to each group.
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

        def planned(part: float) -> BestPrice:
            return BestPrice.planned(
                prices, bounds=bounds, epsilon=part, max_rows_per_unit=max_rows_per_unit, neighbours=self._neighbours
            )

        task = planned(epsilon)  # for what is gathered, which does not depend on epsilon
        return self._answer_each(
            planned,
            column,
            partial(self._rows.gather, column, task.domain, max_rows_per_unit=task.max_rows_per_unit),
            epsilon=epsilon,
            groups=PublicGroups.given(by, groups, max_groups_per_unit),
            request=request,
        )

"""A table that can be asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from dpselect.ledger import Ledger
from dpselect.ledger.question import Question
from dpselect.mechanisms import QuantilesMethod
from dpselect.release import Release
from dpselect.session.rows import Rows
from dpselect.session.spending import Spending
from dpselect.summaries import CandidateKind, PublicBins, PublicCandidates, PublicDomain
from dpselect.tasks import BestPrice, Density, MostCommon, Quantile, Quantiles, TopK


class Dataset:
    """A table about people (or devices, or visits) that can be asked private questions.

    A description, not a copy: constructing it reads headers and footers, each question reads the rows anew. It does
    not change.

    With a ledger every release is charged to the account before it is drawn, and refused when the account has not
    enough left. Without one the costs of several releases add up all the same, and keeping the sum within what the
    people in the table were promised is up to the caller.

    Args:
        source: path of a CSV, Parquet or JSON-lines file, or a glob of several with the same columns; or a frame of
            pandas, Polars or PyArrow, or anything else with ``__arrow_c_stream__``; a lazy frame of Polars, a DuckDB
            relation, a PySpark ``DataFrame`` or an Ibis table; or ``postgresql://user@host/database``, with `table`.
            How rows are read, and which are left out, is described in ``docs/tables.md`` and ``docs/engines.md``.
        unit: name of the column that says whose row it is: who is protected. All rows with the same value are one
            unit, in whichever file; rows in which it is missing belong to nobody and are left out.
        table: which table of the server, ``name`` or ``schema.name``; for no other source.
        progress: called now and then during long scans with the fraction read, from 0 to 1.
        memory_limit: such as ``"2GiB"``, or a number of bytes: what may be used for grouping rows before they go to a
            temporary folder on disk. By default most of the machine's memory.
        ledger: a `dpselect.Ledger` or its URL. Goes together with `account`.
        account: name of the account that all releases are charged to; it has to protect the same unit.

    With a ledger each question takes a `request`: an id of your choice for this act of asking. The same question asked
    again under the same id returns the release that was stored, and costs nothing. What else asking may raise then:
    `ChargeRefusedError`, `InvalidAccountError`, `WrongAccountError`, `RequestReusedError`, `LedgerError`; nothing is
    drawn then.

    Raises:
        InvalidParameterError: only one of `ledger` and `account`; or `memory_limit` is no size of memory.
        TableUnavailableError: the server cannot be reached, now or when a question is asked.
        InvalidDataError: no such table or column, or a file is not what its name says. No error ever depends on,
            or quotes, a row.

    >>> visits = Dataset("examples/data/clicks.parquet", unit="session")
    >>> visits.most_common("page", candidates=range(1, 41271), epsilon=1.0).value
    6
    """

    __slots__ = ("_rows", "_spending")

    def __init__(
        self,
        source: object,
        *,
        unit: str,
        table: str | None = None,
        progress: Callable[[float], None] | None = None,
        memory_limit: str | int | None = None,
        ledger: Ledger | str | Path | None = None,
        account: str | None = None,
    ) -> None:
        self._spending = Spending(ledger, account)
        self._rows = Rows(source, unit=unit, table=table, progress=progress, memory_limit=memory_limit)

    def __repr__(self) -> str:
        return f"Dataset({self._rows.shown}, unit={self._rows.unit!r})"

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
        task = MostCommon.planned(PublicCandidates.given(candidates), epsilon=epsilon)
        values = task.candidates.values
        asked = self._question("most_common", column, candidates=values)
        return self._spending.answer(
            task, task.mechanism, lambda: self._rows.count(column, task.candidates), asked, request
        )

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
        task = TopK.planned(PublicCandidates.given(candidates), k, epsilon=epsilon, delta=delta)
        asked = self._question("top_k", column, k=task.plan.k, delta=task.plan.delta, candidates=task.candidates.values)
        return self._spending.answer(
            task, task.plan.mechanism, lambda: self._rows.count(column, task.candidates), asked, request
        )

    def quantile(
        self,
        column: str,
        level: float,
        *,
        bounds: tuple[float, float],
        epsilon: float,
        step: float | None = None,
        max_rows_per_unit: int = 1,
        request: str | None = None,
    ) -> Release:
        """A number below which about the share `level` of the values in `column` lies.

        Args:
            column: name of a column of numbers. How they are read, and which rows are left out, is described in
                ``docs/tables.md``.
            level: from 0 to 1; 0.5 is the median, 0.9 the number that nine values in ten are below.
            bounds: smallest and largest answer. Public, so never taken from the column: its own minimum and maximum
                are two people's. Values beyond count as the bound.
            epsilon: privacy loss of this release, > 0.
            step: the answer is one of ``lower, lower + step, ..., upper``, and values count as the nearest of them;
                `step` has to divide the distance of the bounds. Wanted where many have the same value, such as an age
                in years: without a step the answer falls between values, never on one. And only with a step there is a
                bound on the error before the data is seen. None: all numbers between the bounds.
            max_rows_per_unit: of a unit that has more rows, so many are chosen at random. The error grows with it.
            request: see `Dataset`.

        Returns:
            A release whose value is a number within the bounds.

        Raises:
            InvalidDataError: no such column, or one that does not hold numbers.
            InvalidParameterError: another argument is out of range. Nothing is read or drawn then.

        Proof: ``proofs/unit_values.md`` and ``proofs/exponential_mechanism.md``.

        >>> people = Dataset("examples/data/adult.csv", unit="person_id")
        >>> release = people.quantile("age", 0.9, bounds=(0, 120), step=1, epsilon=1.0)
        >>> 57 <= release.value <= 59  # 58 in truth
        True
        >>> print(release.accuracy)
        With 99% confidence the rank of the released age is within 17 of the wanted one, values rounded to steps of 1.
        """
        domain = PublicDomain.given(bounds, step=step)
        task = Quantile.planned(level, domain, epsilon=epsilon, max_rows_per_unit=max_rows_per_unit)
        rows = task.max_rows_per_unit
        asked = self._question("quantile", column, level=task.level, domain=task.domain, rows=rows)
        gather = partial(self._rows.gather, column, task.domain, max_rows_per_unit=rows)
        return self._spending.answer(task, task.mechanism, gather, asked, request)

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
        request: str | None = None,
    ) -> Release:
        """Numbers below which about the shares `levels` of the values in `column` lie, for one `epsilon` together.

        Args:
            column: as for `quantile`.
            levels: different numbers from 0 to 1.
            bounds: as for `quantile`.
            epsilon: privacy loss of this release, of all numbers together, > 0; at most 100 if joint.
            step: as for `quantile`; wanted where many have the same value.
            max_rows_per_unit: as for `quantile`.
            method: ``"joint"``, all by one draw, or ``"halving"``, the middle one first: better for very many levels.
            request: see `Dataset`.

        Returns:
            A release whose value is a list of numbers within the bounds, one for each level, in their order.

        Raises:
            InvalidDataError: no such column, or one that does not hold numbers.
            InvalidParameterError: another argument is out of range. Nothing is read or drawn then.

        Proof: ``proofs/unit_values.md`` and ``proofs/joint_quantiles.md``; for halving ``proofs/quantiles.md``.

        >>> people = Dataset("examples/data/adult.csv", unit="person_id")
        >>> people.quantiles("age", [0.25, 0.5, 0.75], bounds=(0, 120), step=1, epsilon=1.0).value
        [28.0, 37.0, 48.0]
        """
        domain = PublicDomain.given(bounds, step=step)
        task = Quantiles.planned(levels, domain, epsilon=epsilon, max_rows_per_unit=max_rows_per_unit, method=method)
        rows = task.max_rows_per_unit
        asked = self._question(
            "quantiles",
            column,
            levels=task.mechanism.levels,
            domain=task.domain,
            rows=rows,
            method=task.mechanism.method,
        )
        gather = partial(self._rows.gather, column, task.domain, max_rows_per_unit=rows)
        return self._spending.answer(task, task.mechanism, gather, asked, request)

    def median(
        self,
        column: str,
        *,
        bounds: tuple[float, float],
        epsilon: float,
        step: float | None = None,
        max_rows_per_unit: int = 1,
        request: str | None = None,
    ) -> Release:
        """The number that about half of the values in `column` are below: `quantile` at level 0.5.

        >>> people = Dataset("examples/data/adult.csv", unit="person_id")
        >>> 36 < people.median("age", bounds=(0, 120), epsilon=1.0).value < 38  # 37 in truth
        True
        """
        return self.quantile(
            column,
            0.5,
            bounds=bounds,
            epsilon=epsilon,
            step=step,
            max_rows_per_unit=max_rows_per_unit,
            request=request,
        )

    def best_price(
        self,
        column: str,
        *,
        prices: object = None,
        bounds: tuple[float, float] | None = None,
        epsilon: float,
        max_rows_per_unit: int = 1,
        request: str | None = None,
    ) -> Release:
        """The price that earns the most, of a list or between bounds, if everybody buys whose offer is at least it.

        For something that costs nothing to copy: the revenue of a price is the price times the number of offers that
        are at least as high. One of the best prices is released, never a revenue.

        Args:
            column: name of a column of numbers, the most that each would pay. How they are read, and which rows are
                left out, is described in ``docs/tables.md``.
            prices: the public list to choose from: positive numbers, all different, such as ``range(1, 101)`` or
                ``[4.99, 9.99]``. Never the offers themselves. The noise grows with the highest: leave out what is
                not in question.
            bounds: instead of a list, the smallest and the largest answer, ``0 <= lower < upper``, public as well: any
                number between them. Prefer a list; only for one there is a bound on the error that holds for all
                offers.
            epsilon: privacy loss of this release, > 0.
            max_rows_per_unit: of a unit that has more rows, so many are chosen at random. The error grows with it.
            request: see `Dataset`.

        Returns:
            A release whose value is one of the prices, or a number within the bounds.

        Raises:
            InvalidCandidatesError: `prices` are not such a list, or not exactly one of `prices` and `bounds` is given.
            InvalidDataError: no such column, or one that does not hold numbers.
            InvalidParameterError: another argument is out of range. Nothing is read or drawn then.

        Proof: ``proofs/best_price.md`` and ``proofs/permute_and_flip.md``; with bounds ``proofs/prices.md``.

        >>> people = Dataset("examples/data/adult.csv", unit="person_id")
        >>> release = people.best_price("capital_gain", prices=range(500, 10_001, 500), epsilon=1.0)
        >>> release.value  # ahead of the second best, 6500, by 446,000
        7000
        >>> print(release.accuracy)
        With 99% confidence the revenue of the released price is within 65,000 of the best.
        """
        task = BestPrice.planned(prices, bounds=bounds, epsilon=epsilon, max_rows_per_unit=max_rows_per_unit)
        rows = task.max_rows_per_unit
        asked = self._question("best_price", column, **task.offered, rows=rows)
        gather = partial(self._rows.gather, column, task.domain, max_rows_per_unit=rows)
        return self._spending.answer(task, task.mechanism, gather, asked, request)

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
        cut = PublicBins.given(bounds, bins)
        task = Density.planned(cut, epsilon=epsilon, method=method, units=units, sample_size=sample_size)
        asked = self._question("density", column, bins=task.bins, units=task.units, sample_size=task.sample_size)
        gather = partial(self._rows.gather, column, task.domain, max_rows_per_unit=1)
        return self._spending.answer(task, task.mechanism, gather, asked, request)

    def candidate_kind(self, column: str) -> CandidateKind | None:
        """The kind of candidates that `column`'s type asks for; None if several fit, as any do in CSV.

        Raises:
            InvalidDataError: no such column.
        """
        return self._rows.candidate_kind(column)

    def _question(self, task: str, column: str, **arguments: object) -> Question:
        self._rows.check(column)  # a column that is not there is refused before anything is charged
        return Question(task, self._rows.origin, self._rows.unit, column, arguments)

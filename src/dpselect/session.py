"""Where data and questions meet: the only module that knows a table, a task and the order of steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from dpselect.accounting import Event, Run
from dpselect.backends.files import (
    Column,
    FileTable,
    candidate_kind,
    check_match,
    check_numeric,
    count_distinct_units,
    gather_unit_values,
)
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown
from dpselect.ledger import Ledger
from dpselect.ledger.question import Question
from dpselect.mechanisms import QuantilesMethod
from dpselect.privacy import Neighbours
from dpselect.release import Release
from dpselect.summaries import CandidateCounts, CandidateKind, PublicBins, PublicCandidates, PublicDomain, UnitValues
from dpselect.tasks import BestPrice, Density, MostCommon, Quantile, Quantiles, TopK

Gathered = TypeVar("Gathered", contravariant=True)


class Task(Protocol[Gathered]):
    """What every question is, once it has a price."""

    @property
    def event(self) -> Event: ...

    def release(self, gathered: Gathered, /, *, column: str, unit: str, time: datetime) -> Release: ...


class Dataset:
    """A table about people (or devices, or visits) that can be asked private questions.

    A description, not a copy: constructing it reads headers and footers, each question reads the rows anew. It does
    not change.

    With a ledger every release is charged to the account before it is drawn, and refused when the account has not
    enough left. Without one the costs of several releases add up all the same, and keeping the sum within what the
    people in the table were promised is up to the caller.

    Args:
        source: path of a CSV or Parquet file, or a glob that matches several with the same columns. How rows are
            read, and which are left out, is described in ``docs/tables.md``.
        unit: name of the column that says whose row it is: who is protected. All rows with the same value are one
            unit, in whichever file; rows in which it is missing belong to nobody and are left out.
        progress: called now and then during long scans with the fraction read, from 0 to 1.
        ledger: a `dpselect.Ledger` or its URL. Goes together with `account`.
        account: name of the account that all releases are charged to; it has to protect the same unit.

    With a ledger each question takes a `request`: an id of your choice for this act of asking. The same question asked
    again under the same id returns the release that was stored, and costs nothing. What else asking may raise then:
    `ChargeRefusedError`, `InvalidAccountError`, `WrongAccountError`, `RequestReusedError`, `LedgerError`; nothing is
    drawn then.

    Raises:
        InvalidParameterError: only one of `ledger` and `account`.
        InvalidDataError: no such file or column, or the file is not what its name says. No error ever depends on,
            or quotes, a row.

    >>> visits = Dataset("examples/data/clicks.parquet", unit="session")
    >>> visits.most_common("page", candidates=range(1, 41271), epsilon=1.0).value
    6
    """

    __slots__ = ("_account", "_ledger", "_progress", "_table", "_unit")

    def __init__(
        self,
        source: str | Path,
        *,
        unit: str,
        progress: Callable[[float], None] | None = None,
        ledger: Ledger | str | Path | None = None,
        account: str | None = None,
    ) -> None:
        if (ledger is None) != (account is None):
            missing = "ledger" if ledger is None else "account"
            raise InvalidParameterError(missing, None, "a ledger together with one of its accounts")
        self._ledger = ledger if isinstance(ledger, Ledger) or ledger is None else Ledger(ledger)
        self._account = "" if account is None else account
        self._table = FileTable.at(source)
        self._unit = self._table.unit(unit)
        self._progress = progress

    def __repr__(self) -> str:
        return f"Dataset({self._table.source!r}, unit={self._unit.name!r})"

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
        return self._answer(task, task.mechanism, lambda: self._count(column, task.candidates), asked, request)

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
        return self._answer(task, task.plan.mechanism, lambda: self._count(column, task.candidates), asked, request)

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
        gather = partial(self._gather, column, task.domain, max_rows_per_unit=rows)
        return self._answer(task, task.mechanism, gather, asked, request)

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
        gather = partial(self._gather, column, task.domain, max_rows_per_unit=rows)
        return self._answer(task, task.mechanism, gather, asked, request)

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
        gather = partial(self._gather, column, task.domain, max_rows_per_unit=rows)
        return self._answer(task, task.mechanism, gather, asked, request)

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
        gather = partial(self._gather, column, task.domain, max_rows_per_unit=1)
        return self._answer(task, task.mechanism, gather, asked, request)

    def candidate_kind(self, column: str) -> CandidateKind | None:
        """The kind of candidates that `column`'s type asks for; None if several fit, as any do in CSV.

        Raises:
            InvalidDataError: no such column.
        """
        return candidate_kind(self._table.column(column))

    def _question(self, task: str, column: str, **arguments: object) -> Question:
        self._asked(column)  # a column that is not there is refused before anything is charged
        return Question(task, self._table.source, self._unit.name, column, arguments)

    def _answer(
        self,
        task: Task[Gathered],
        mechanism: object,
        gather: Callable[[], Gathered],
        asked: Question,
        request: str | None,
    ) -> Release:
        """Read, charge, draw and store, in this order; or return what is stored for the request.

        Reading comes first, as a file that cannot be read should cost nothing; but not before the account was asked.
        """
        name, column, unit = type(mechanism).__name__, asked.column, self._unit.name
        # Every table task guarantees this relation, whatever else its mechanism would.
        run = Run(event=task.event, mechanism=name, neighbours=Neighbours.ADD_REMOVE, unit=unit)
        if self._ledger is None:
            if request is not None:
                raise InvalidParameterError("request", Shown(repr(request)), "a ledger and an account beside it")
            release = task.release(gather(), column=column, unit=unit, time=_now())
            return replace(release, event=run.event)
        question = "" if request is None else asked.text
        known = self._ledger.look(self._account, run, request=request, question=question)
        if known is not None and known.release is not None:
            return Release.from_json(known.release)
        values = gather()
        receipt = self._ledger.charge(self._account, run, request=request, question=question)
        if receipt.release is not None:
            return Release.from_json(receipt.release)
        drawn = task.release(values, column=column, unit=unit, time=_now())
        release = replace(drawn, event=run.event, receipt=receipt.to_dict())
        if request is None:
            return release
        return Release.from_json(self._ledger.store_release(receipt, release.to_json()))

    def _asked(self, name: str) -> Column:
        """The column a question is about."""
        column = self._table.column(name)
        if column == self._unit:
            hint = "Every value of the unit's own column belongs to one unit only."
            raise InvalidDataError("column", Shown(repr(column.name)), "another column than the unit", hint)
        return column

    def _count(self, name: str, candidates: PublicCandidates) -> CandidateCounts:
        column = self._asked(name)
        check_match(column, candidates.kind)
        return count_distinct_units(
            self._table, unit=self._unit, column=column, candidates=candidates, progress=self._progress
        )

    def _gather(self, name: str, domain: PublicDomain, *, max_rows_per_unit: int) -> UnitValues:
        column = self._asked(name)
        check_numeric(column)
        return gather_unit_values(
            self._table,
            unit=self._unit,
            column=column,
            domain=domain,
            max_rows_per_unit=max_rows_per_unit,
            progress=self._progress,
        )


def _now() -> datetime:
    return datetime.now(UTC)

"""A table that can be asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from dpselect.arguments import memory_size
from dpselect.backends.opening import open_table, origin_of
from dpselect.ledger import Ledger
from dpselect.privacy import Neighbours, neighbouring_relation
from dpselect.public_time import Times
from dpselect.release import Release
from dpselect.session.questions import Questions
from dpselect.session.rows import Rows
from dpselect.session.spending import Spending
from dpselect.summaries import CandidateKind


class Dataset(Questions[Release]):
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
        engine: what reads files: ``"duckdb"`` all of them, ``"polars"`` and ``"spark"`` Parquet only. None: DuckDB.
        progress: called now and then during long scans with the fraction read, from 0 to 1.
        memory_limit: such as ``"2GiB"``, or a number of bytes: what may be used for grouping rows before they go to a
            temporary folder on disk. By default most of the machine's memory. Nothing where Polars, Spark or a server
            holds the rows: they have limits of their own, and so has the query behind a DuckDB relation.
        ledger: a `dpselect.Ledger` or its URL. Goes together with `account`.
        account: name of the account that all releases are charged to; it has to protect the same unit, under the
            same relation.
        neighbours: which two tables a guarantee compares. ``"add_remove"``: one has all rows of one more unit; how many
            units there are stays private. ``"replace_one"``: all rows of one unit are replaced by others; how many
            units there are is taken to be public. Most questions need twice the noise for it.
        times: how finely releases tell when they were asked for: the ``"day"`` or the ``"hour"``, in UTC. Nothing
            finer, because how long an answer took depends on the rows (``docs/sharp-edges.md``).

    With a ledger each question takes a `request`: an id of your choice for this act of asking. The same question asked
    again under the same id returns the release that was stored, and costs nothing. What else asking may raise then:
    `ChargeRefusedError`, `InvalidAccountError`, `WrongAccountError`, `RequestReusedError`, `LedgerError`; nothing is
    drawn then. And if something fails after the charge, `AnswerLostError`; or, if an answer could only not be stored
    for its request, it comes with an `AnswerNotStoredWarning` (``docs/ledger.md``).

    Raises:
        InvalidParameterError: only one of `ledger` and `account`, no such `neighbours`, `engine` or `times`, or a
            `memory_limit` that is no size of memory, or that would not be kept.
        TableUnavailableError: the server cannot be reached, now or when a question is asked.
        InvalidDataError: no such table or column, or a file is not what its name says. No error ever depends on,
            or quotes, a row.

    >>> visits = Dataset("examples/data/clicks.parquet", unit="session")
    >>> visits.most_common("page", candidates=range(1, 41271), epsilon=1.0).value
    6
    """

    __slots__ = ("_is_named",)

    def __init__(
        self,
        source: object,
        *,
        unit: str,
        table: str | None = None,
        engine: Literal["duckdb", "polars", "spark"] | None = None,
        progress: Callable[[float], None] | None = None,
        memory_limit: str | int | None = None,
        ledger: Ledger | str | Path | None = None,
        account: str | None = None,
        neighbours: Neighbours | Literal["add_remove", "replace_one"] = Neighbours.ADD_REMOVE,
        times: Times | Literal["day", "hour"] = Times.DAY,
    ) -> None:
        self._is_named = isinstance(source, str | Path)
        self._neighbours = neighbouring_relation(neighbours)
        self._spending = Spending(ledger, account, times)
        most = None if memory_limit is None else memory_size(memory_limit, "memory_limit")
        opened = open_table(source, table=table, engine=engine, memory_limit=most)
        self._rows = Rows(opened, origin=origin_of(source, table=table), unit=unit, progress=progress)

    def __repr__(self) -> str:
        return f"Dataset({self._rows.shown}, unit={self._rows.unit!r})"

    def __getstate__(self) -> object:
        """Of a table in files, which is only named; other tables would take their rows with them."""
        if not self._is_named:
            raise TypeError("This Dataset may hold rows and cannot be pickled or copied; make it anew from its source")
        return object.__getstate__(self)

    def candidate_kinds(self, column: str) -> tuple[CandidateKind, ...]:
        """The kinds of candidates that `column`'s type can match; none where it says nothing of them, as in CSV.

        Raises:
            InvalidDataError: no such column.
        """
        return self._rows.candidate_kinds(column)

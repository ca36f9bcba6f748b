"""The options that questions share, and how a question is run and its answer printed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from dpselect.cli.columns import columns
from dpselect.cli.format_options import AS_USUAL, FormatOptions
from dpselect.cli.help_text import NEEDED, OF_GROUPS, OF_QUESTION, SHARED
from dpselect.cli.options import Flag, Json, Number, Text, Whole
from dpselect.cli.progress import scan_progress
from dpselect.cli.streams import refuse_unread
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown
from dpselect.plans import written_lists as public
from dpselect.privacy import Neighbours
from dpselect.public_time import Times
from dpselect.summaries import CandidateKind

if TYPE_CHECKING:
    from dpselect.ledger import Ledger
    from dpselect.session import Dataset

REFUSED = 2
"""Exit status for bad input, and for a question that is or would be refused."""


@Parameter(name="*", group=SHARED)
@dataclass(frozen=True, kw_only=True)
class QuestionOptions:
    """Options of every question."""

    unit: Annotated[str, Parameter(group=NEEDED)]
    """Column that identifies whom a row belongs to: who is protected."""

    epsilon: Annotated[Number, Parameter(group=NEEDED)]
    """Privacy loss of the whole answer. Smaller is more private and less accurate."""

    neighbours: Neighbours = Neighbours.ADD_REMOVE
    """Which tables the guarantee compares: one unit added or removed, or the rows of one unit replaced."""

    table: str | None = None
    """For PostgreSQL: name of the table, or schema.table."""

    engine: Literal["duckdb", "polars", "spark"] | None = None
    """Engine that reads the file; polars and spark read only Parquet. Default: duckdb."""

    memory_limit: str | None = None
    """Memory limit for reading, such as 2GiB; what does not fit goes to a temporary folder. DuckDB only."""

    written: FormatOptions = AS_USUAL

    source_name: Text | None = None
    """What the certificate calls the table, beside the names of its files without folders."""

    usable_epsilon: Number | None = None
    """Epsilon for the number of units that could be used, with noise, on top of --epsilon: a warning if it is small."""

    ledger: str | None = None
    """Ledger to charge before the answer is drawn, such as sqlite:///budget.db."""

    account: str | None = None
    """Ledger account to charge."""

    anchor: str | None = None
    """File or database that records the latest entry of each account, so that an older ledger copy is refused."""

    request: str | None = None
    """An id of your choice. Repeating the same question under the same id returns the same answer at no cost."""

    times: Times = Times.DAY
    """Precision of the request time in the certificate, in UTC. A finer time would reveal something about the rows."""

    dry_run: Flag = False
    """Print cost and error bound; read no row, charge nothing. Exit status 2: the account would refuse it."""

    show_columns: Flag = False
    """Print only what the columns are called, on your terminal; needs nothing but SOURCE. See dpselect columns."""

    quiet: Flag = False
    """Print only the answer, without a progress bar; with --dry-run, only epsilon."""

    as_json: Json = False
    """Print the certificate as JSON instead of a table."""

    def answer(self, source: str, ask: Callable[[Dataset], Any]) -> int:
        """Run the question and print the answer; the exit status is `REFUSED` if an account would refuse it."""
        from dpselect import session
        from dpselect.cli.output import forecast_shown, shown, warning

        if self.show_columns:  # typed as --show-columns=true; otherwise the command is another one
            columns(source, table=self.table, written=self.written)
            return 0
        who: dict[str, Any] = {"unit": self.unit, "neighbours": self.neighbours}
        who |= {"ledger": self._paying(), "account": self.account, "format": self.written.format}
        if self.dry_run:
            dry: Any = session.DryRun(source=source, table=self.table, **who)
            forecast = ask(dry)
            if dry.unchecked:
                _say_unchecked(dry.unchecked)
            print(forecast_shown(forecast, as_json=self.as_json, quiet=self.quiet))
            return REFUSED if forecast.fits is False else 0
        refuse_unread()  # also if nothing is charged, because reading may take long
        with scan_progress(wanted=not self.quiet) as progress:
            reading = {"table": self.table, "engine": self.engine, "memory_limit": self.memory_limit}
            reading |= {"source_name": self.source_name}
            reading = {name: value for name, value in reading.items() if value is not None}
            release = ask(session.Dataset(source, progress=progress, times=self.times, **reading, **who))
        print(shown(release, as_json=self.as_json, quiet=self.quiet))
        if self.quiet and not self.as_json and (said := warning(release)):
            with suppress(OSError):  # the answer is on standard output
                print(said, file=sys.stderr)
        return 0

    def _paying(self) -> Ledger | None:
        if self.ledger is not None:
            from dpselect.cli.charging import LedgerChargingIfRead

            return LedgerChargingIfRead(self.ledger, anchor=self.anchor)
        if self.anchor is not None:
            raise InvalidParameterError("--anchor", Shown("<anchor>"), "--ledger and --account together with it")
        return None


def _say_unchecked(why: str) -> None:
    """Say on standard error that no column was checked; the source is not quoted, as it may hold a password."""
    with suppress(OSError):  # the forecast is the same if nobody can read it
        print(f"dpselect: {why}: computed from the arguments alone, no column is checked.", file=sys.stderr)


@Parameter(name="*", group=OF_QUESTION)
@dataclass(frozen=True, kw_only=True)
class CandidateOptions:
    """Options of questions that choose from a list."""

    candidates: Annotated[Text, Parameter(group=NEEDED)]
    """Public values to choose from, whether or not they occur: 1..100, red,green,blue, @file or @codes.csv:column."""

    candidates_as: CandidateKind | None = None
    """Type of the candidates. Default: the column's type; for CSV, integers if all look like it (007 does not)."""

    yes: Flag = False
    """Allow more than ten million candidates."""

    def among(self, data: Dataset, column: str, source: str, *, may_be_one: bool) -> dict[str, Any]:
        """The arguments of a question."""
        kinds = data.candidate_kinds(column)
        reading: dict[str, Any] = {"kind": self.candidates_as, "fitting": kinds, "may_be_one": may_be_one}
        listed = public.parsed(self.candidates, private=source, **reading)
        return {"candidates": listed, "allow_many": self.yes}


@Parameter(name="*", group=OF_QUESTION)
@dataclass(frozen=True, kw_only=True)
class OptionalCandidateOptions:
    """Options of questions that can also be asked without a list."""

    candidates: Text | None = None
    """Public values to choose from: 1..100, red,green,blue, @file or @codes.csv:column. Without them, --delta."""

    candidates_as: CandidateKind | None = None
    """Type of the candidates. Default: the column's type; for CSV, integers if all look like it (007 does not)."""

    yes: Flag = False
    """Allow more than ten million candidates."""

    def among(self, data: Dataset, column: str, source: str, *, may_be_one: bool) -> dict[str, Any]:
        """The arguments of a question."""
        if self.candidates is not None:
            given = CandidateOptions(candidates=self.candidates, candidates_as=self.candidates_as, yes=self.yes)
            return given.among(data, column, source, may_be_one=may_be_one)
        if self.candidates_as is not None:
            raise InvalidParameterError("candidates_as", Shown(repr(str(self.candidates_as))), "--candidates with it")
        return {"candidates": None}


@Parameter(name="*", group=OF_GROUPS)
@dataclass(frozen=True, kw_only=True)
class GroupOptions:
    """Options of questions that can be asked for several groups at once."""

    by: str | None = None
    """Column with the group of each row, for one answer per group in --groups."""

    groups: Text | None = None
    """Public list of groups, written like candidates."""

    groups_as: CandidateKind | None = None
    """Type of the groups. Default: the column's type; for CSV, integers if all look like it (007 does not)."""

    max_groups_per_unit: Whole = 1
    """Groups per unit. A unit in more groups takes part in this many, chosen at random. The error grows with it."""

    def among(self, data: Dataset, source: str) -> dict[str, Any]:
        """The arguments of a question."""
        if self.groups is None:
            if self.groups_as is not None:
                raise InvalidParameterError("groups_as", Shown(repr(str(self.groups_as))), "--groups together with it")
            return {"by": self.by, "groups": None, "max_groups_per_unit": self.max_groups_per_unit}
        kinds = () if self.by is None else self._kinds(data, self.by)
        groups = public.parsed(self.groups, kind=self.groups_as, fitting=kinds, private=source, argument="groups")
        return {"by": self.by, "groups": groups, "max_groups_per_unit": self.max_groups_per_unit}

    def _kinds(self, data: Dataset, by: str) -> tuple[CandidateKind, ...]:
        try:
            return data.candidate_kinds(by)
        except InvalidDataError as error:  # whose text is about a column
            raise InvalidDataError("by", error.got, error.expected, error.hint) from None

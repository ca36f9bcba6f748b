"""What every question takes on the command line, and how it is asked and answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from cyclopts import Parameter

from dpselect.cli import candidates as public
from dpselect.cli.options import Flag, Json, Number, Text, Whole
from dpselect.cli.output import forecast_shown, shown
from dpselect.cli.progress import scan_progress
from dpselect.cli.streams import refuse_unread
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown
from dpselect.privacy import Neighbours
from dpselect.public_time import Times
from dpselect.summaries import CandidateKind

if TYPE_CHECKING:
    from dpselect.ledger import Ledger
    from dpselect.session import Dataset

REFUSED = 2
"""The exit status of bad input, and of a question that is refused or would be."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Asked:
    """Of every question."""

    unit: str
    """Column that says whose row it is: who is protected."""

    epsilon: Number
    """Privacy loss of the whole answer; smaller is more private and less accurate."""

    neighbours: Neighbours = Neighbours.ADD_REMOVE
    """Which tables the guarantee compares: with one unit more or fewer, or with one unit's rows replaced by others."""

    table: str | None = None
    """On PostgreSQL: name of the table, or schema.table."""

    engine: Literal["duckdb", "polars", "spark"] | None = None
    """What reads the file; the last two read Parquet only. Default: duckdb."""

    memory_limit: str | None = None
    """Most memory for reading, such as 2GiB; what does not fit goes to a temporary folder. With DuckDB only."""

    ledger: str | None = None
    """Ledger that the answer is charged to before it is drawn, such as sqlite:///budget.db."""

    account: str | None = None
    """The account of it."""

    anchor: str | None = None
    """File or database that notes how far each account has come, so that an older copy of the ledger is refused."""

    request: str | None = None
    """Id of your choice. The same question under the same id again gives the same answer, for nothing."""

    times: Times = Times.DAY
    """How finely the certificate says when it was asked for, in UTC; nothing finer, because that tells of the rows."""

    dry_run: Flag = False
    """Say what it would cost and how far off it may be; touch nothing. Exit status 2: the account would refuse it."""

    quiet: Flag = False
    """Print the answer only, and show no progress; with --dry-run only the epsilon."""

    as_json: Json = False
    """Print the certificate as JSON instead of a table."""

    def answer(self, source: str, ask: Callable[[Dataset], Any]) -> int:
        """Ask, and print what comes back; the exit status is that of bad input if an account would refuse."""
        from dpselect.session import Dataset, DryRun

        who: dict[str, Any] = {"unit": self.unit, "neighbours": self.neighbours}
        who |= {"ledger": self._paying(), "account": self.account}
        if self.dry_run:
            dry: Any = DryRun(source=source, table=self.table, **who)
            forecast = ask(dry)
            print(forecast_shown(forecast, as_json=self.as_json, quiet=self.quiet))
            return REFUSED if forecast.fits is False else 0
        refuse_unread()  # also where nothing is charged: reading may take long
        with scan_progress(wanted=not self.quiet) as progress:
            reading = {"table": self.table, "engine": self.engine, "memory_limit": self.memory_limit}
            reading = {name: value for name, value in reading.items() if value is not None}
            release = ask(Dataset(source, progress=progress, times=self.times, **reading, **who))
        print(shown(release, as_json=self.as_json, quiet=self.quiet))
        return 0

    def _paying(self) -> Ledger | None:
        if self.ledger is not None:
            from dpselect.cli.heard import HeardLedger

            return HeardLedger(self.ledger, anchor=self.anchor)
        if self.anchor is not None:
            raise InvalidParameterError("--anchor", Shown("<anchor>"), "--ledger and --account beside it")
        return None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Chosen:
    """Of questions that choose from a list."""

    candidates: Text
    """Public values to choose from, whether they occur or not: 1..100, red,green,blue, @file or @codes.csv:column."""

    candidates_as: CandidateKind | None = None
    """How to read the candidates. Default: as the column's type; in CSV, integers if all look like it; 007 does not."""

    yes: Flag = False
    """More than ten million candidates are meant."""

    def among(self, data: Dataset, column: str, source: str) -> dict[str, Any]:
        """As a question takes them."""
        kinds = data.candidate_kinds(column)
        listed = public.parsed(self.candidates, kind=self.candidates_as, fitting=kinds, private=source)
        return {"candidates": listed, "allow_many": self.yes}


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class InGroups:
    """Of questions that may be asked of several groups at once."""

    by: str | None = None
    """Column that says which group a row belongs to: an answer for each of the --groups."""

    groups: Text | None = None
    """The public list of groups, written like candidates."""

    groups_as: CandidateKind | None = None
    """How to read the groups; the default is that of --candidates-as."""

    max_groups_per_unit: Whole = 1
    """A unit with rows in more groups takes part in so many of them, chosen at random. The error grows with it."""

    def among(self, data: Dataset, source: str) -> dict[str, Any]:
        """As a question takes them."""
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
        except InvalidDataError as error:  # which speaks of a column
            raise InvalidDataError("by", error.got, error.expected, error.hint) from None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class OfRows:
    """Of questions about numbers."""

    max_rows_per_unit: Whole = 1
    """Most rows of one unit; of more, so many are chosen at random. The error grows with it."""


NO_GROUPS, ONE_ROW = InGroups(), OfRows()

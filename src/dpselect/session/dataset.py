"""A table that private questions can be asked of: by methods, or as they are described by mappings of words."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from dpselect import arguments
from dpselect.arguments import OF_VIEWS, REQUIRED, Argument
from dpselect.certificates.release import Release
from dpselect.checks import OTHER_WORDS, did_you_mean, members_in_order, memory_size
from dpselect.errors import InvalidParameterError, Shown, typed
from dpselect.formats import Format, declared
from dpselect.privacy import EachRow, Neighbours, Times, neighbouring_relation
from dpselect.questions.question import BY_NAME
from dpselect.questions.wording import html_table
from dpselect.rows.files import paths_of
from dpselect.rows.opening import identity_of, is_server, open_table
from dpselect.rows.table import Rows
from dpselect.session.answering import Forecast, Spending, TableQuestion
from dpselect.session.asking import Asking, PlainQuestions, planner

if TYPE_CHECKING:
    from dpselect.ledger import Ledger


class Dataset(PlainQuestions):
    """A table about people (or devices, or visits) that can be asked private questions.

    It is an immutable description, not a copy: each question reads the rows again. With a ledger every release is
    charged to the account before it is drawn, and refused if the account does not have enough left. Without one the
    costs of several releases add up all the same, and the caller has to keep the sum within what people were promised.

    Args:
        source: path of a CSV, TSV, Parquet, Arrow, ORC, Excel or JSON-lines file (text also compressed: ``.csv.gz``); a
            glob or a list of several with the same columns; a folder of partitions such as ``year=2026``, or of a Delta
            table; a frame of pandas, Polars or PyArrow, or anything else with ``__arrow_c_stream__``; a table of
            deltalake or pyiceberg; a dictionary of columns: one-dimensional arrays, or lists, as cells of CSV; a
            lazy frame of Polars, a DuckDB relation, a PySpark ``DataFrame`` or an Ibis table; or, with `table`,
            ``postgresql://user@host/database``. How rows are read: ``docs/files.md`` and ``docs/engines.md``.
        unit: name of the column that identifies whom a row belongs to: who is protected. All rows with the same value
            are one unit, in all files; rows without a value are left out. Or `dpselect.ROWS`: each row is another
            person, which only you can know.
        table: the table on a server, ``name`` or ``schema.name``; not for other sources.
        format: how the cells of a file are written if not as usual: a `dpselect.Format`.
        source_name: what certificates call the table, beside what was opened: ``"clicks of May"``. They hold the names
            of files without folders, or the name of a table or a kind of frame, and a hash of the names and types of
            the columns; never a path, a user or a server.
        progress: called from time to time during long scans with the fraction read, from 0 to 1. Not of Spark or a
            server.
        memory_limit: such as ``"2GiB"``, or a number of bytes: memory for grouping rows before they go to a temporary
            folder on disk. By default most of the machine's memory. The libraries and the rows being read come on top
            (``docs/files.md``). Not for Spark, a server or the query behind a lazy frame.
        ledger: a `dpselect.Ledger` or its URL. Requires `account`.
        account: name of the account to which all releases are charged; it has to protect the same unit, under the
            same relation.
        neighbours: which two tables the guarantee compares. ``"add_remove"``: one has all rows of one more unit; the
            number of units stays private. ``"replace_one"``: all rows of one unit are replaced by others; the number of
            units is treated as public. Most questions then need twice the noise.
        times: precision of the request time in a release: ``"day"`` or ``"hour"``, in UTC.

    With a ledger each question takes a `request`, under which the same question is answered again at no cost, and may
    also raise `ChargeRefusedError`, `InvalidAccountError`, `RequestReusedError` or `LedgerError`;
    nothing is drawn then. If something fails after the charge, it raises `AnswerLostError`. If only storing the answer
    fails, the answer is returned with an `AnswerNotStoredWarning` (``docs/ledger.md``).

    Raises:
        InvalidParameterError: an argument is invalid, or only one of `ledger` and `account` is given.
        TableUnavailableError: the server cannot be reached, now or when a question is asked.
        InvalidDataError: there is no such table or column, or a file is not what its name implies. No error ever
            depends on, or quotes, a row.

    >>> visits = Dataset("examples/data/clicks.parquet", unit="session")
    >>> visits.most_common("page", candidates=range(1, 41271), epsilon=1.0).value
    6
    """

    __slots__ = ("_is_named", "_spending")

    def __init__(
        self,
        source: object,
        *,
        unit: str | EachRow,
        table: str | None = None,
        format: Format | None = None,
        source_name: str | None = None,
        progress: Callable[[float], None] | None = None,
        memory_limit: str | int | None = None,
        ledger: Ledger | str | Path | None = None,
        account: str | None = None,
        neighbours: Neighbours | Literal["add_remove", "replace_one"] = Neighbours.ADD_REMOVE,
        times: Times | Literal["day", "hour"] = Times.DAY,
    ) -> None:
        self._is_named, self._groups = paths_of(source) is not None, None
        self._neighbours = neighbouring_relation(neighbours)
        self._spending = Spending(ledger, account, times)
        self._reply = self._spending.answers
        most = None if memory_limit is None else memory_size(memory_limit, "memory_limit")
        format = declared(format)
        opened = open_table(source, table=table, memory_limit=most, format=format)
        origin, named = identity_of(source, opened, table=table, name=source_name)
        self._rows = Rows(opened, origin=origin, unit=unit, progress=progress, format=format, named=named)

    def ask(self, questions: Iterable[Mapping[str, Any]]) -> list[Release[Any]]:
        """The answers to several questions, in their order; files and frames are read once where possible.

        All are checked, and all rows read, before the first is charged. With a ledger nothing is charged unless all of
        them fit into what the account has left: if each has a `request`, in one transaction, and asking again after an
        interruption costs nothing for those that were answered or not drawn (``docs/plans.md``).

        Args:
            questions: for each a dictionary: its name, as in ``"ask": "median"``, and its arguments by name.

        Raises:
            InvalidParameterError: one of them is invalid; the error names which, counted from 0, and its key.
            ChargeRefusedError: the account has not enough left for all of them.

        >>> people = Dataset("examples/data/adult.csv", unit="person_id")
        >>> years, retired = people.ask(
        ...     [
        ...         {"ask": "median", "column": "age", "bounds": (0, 120), "step": 1, "epsilon": 0.5},
        ...         {"ask": "count", "column": "age", "between": (65, 120), "epsilon": 0.5},
        ...     ]
        ... )
        >>> years.value, abs(retired.value - 1336) < 50  # in truth 37 and 1336
        (37.0, True)
        """
        table, asked = planner(self), list[TableQuestion]()
        for each in members_in_order(questions, "questions", expected="a list of dictionaries"):
            place = f"questions[{len(asked)}]"
            method = check_described(each, place)
            asked.append(reply(table, method, {name: each[name] for name in each if name != ASK}, place))
            request, before = asked[-1].request, [other.request for other in asked[:-1]]
            if request is not None and (not isinstance(cast(object, request), str) or request in before):
                raise InvalidParameterError(f"{place}.request", typed(request), "an id of its own, as text")
        return self._spending.answers(asked)

    def __repr__(self) -> str:
        return f"Dataset({self._rows.shown}, unit={self._rows.unit!r})"

    def _repr_html_(self) -> str:
        relation = "added or removed" if self._neighbours is Neighbours.ADD_REMOVE else "replaced"
        about = [
            ("table", self._rows.shown),
            ("protects", f"each {self._rows.unit}: one is {relation}"),
            ("account", self._spending.account or "none; the costs of releases add up"),
        ]
        return html_table(("data set", ""), about, "Its rows are not shown. Ask it: dir(dataset) lists the questions.")

    def __getstate__(self) -> object:
        """Pickle only a table in files, which is only named; other tables would take their rows with them."""
        if not self._is_named:
            raise TypeError(
                "This Dataset may hold rows and cannot be pickled or copied; make a new one from its source"
            )
        return object.__getstate__(self)


class DryRun(Asking, of="DryRun", returns="Forecast"):
    """The questions of a `dpselect.Dataset` without the data: what they would cost, and how accurate they would be.

    It reads no row and writes to no ledger: all follows from the arguments and the types of the columns.

    Args:
        unit, ledger, account, neighbours, format: as for `dpselect.Dataset`; the ledger is only read.
        source, table: likewise. Of a file or a frame the columns are then checked as for an answer: their names and,
            where the format has types, the types. A server is not asked. Needed only with a `request`, to find out
            whether it was answered.

    Attributes:
        unchecked: why no column is checked: there is no source, no such file, or it is on a server. Empty if they are.

    Raises:
        InvalidParameterError: only one of `ledger` and `account` is given, or `neighbours` is unknown.
        InvalidDataError: there is such a file, but it is not what its name implies, or has no such column.

    >>> forecast = DryRun(unit="session").most_common("page", candidates=range(1, 41271), epsilon=0.5)
    >>> print(forecast)
    Differentially private: epsilon = 0.5, when one session is added or removed.
    With 99% confidence the count of the released page is within 29 of the best.
    How many units (session) had usable rows would not be released: usable_epsilon=0.05 would tell.
    To be drawn by PermuteAndFlip, out of 41,270 candidates given by the caller. Nothing would be charged to a ledger;
    the costs of releases on the same data add up.
    """

    __slots__ = ("unchecked",)

    def __init__(
        self,
        *,
        unit: str | EachRow,
        ledger: Ledger | str | Path | None = None,
        account: str | None = None,
        neighbours: Neighbours | Literal["add_remove", "replace_one"] = Neighbours.ADD_REMOVE,
        source: object = None,
        table: str | None = None,
        format: Format | None = None,
    ) -> None:
        self._groups, self._neighbours = None, neighbouring_relation(neighbours)
        self._reply = Spending(ledger, account).forecasts
        said = declared(format)
        self.unchecked = _unchecked(source)
        opened = None if self.unchecked else open_table(source, table=table, format=said)
        origin, _ = identity_of(source, opened, table=table)
        self._rows = Rows(opened, origin=origin, unit=unit, format=said)

    if TYPE_CHECKING:

        def __getattr__(self, question: str) -> Callable[..., Forecast]: ...

    def __repr__(self) -> str:
        return f"DryRun(unit={self._rows.unit!r})"


def _unchecked(source: object) -> str:
    """Why there are no columns to check; empty if there are."""
    if source is None:
        return "no source is given"
    if not isinstance(source, str | Path) or "\0" in str(source):
        return ""  # a frame, or what is refused when it is opened
    text = str(source)
    if is_server(text):
        return "no server is asked"
    return "" if os.path.exists(text) or glob.glob(text, recursive=True) else "there is no such file"


ASK = "ask"  # the key of a described question that names its method; all others are arguments, under their own names


def arguments_of(method: str) -> dict[str, Argument]:
    """The arguments of a question, by name, with those of every question and of views."""
    own = arguments.arguments_of(BY_NAME[method])
    return {each.name: each for each in (*own, *arguments.OF_EVERY_QUESTION, *arguments.OF_VIEWS)}


def seen(data: Any, *, where: Any = None, by: Any = None, groups: Any = None, max_groups_per_unit: Any = 1) -> Any:
    """`data`, or what it is where conditions and groups are given. An interval may be written as a text: ``"18.."``."""
    if where is not None:
        from dpselect import public

        if isinstance(where, Mapping):  # else it is refused below
            conditions = cast("Mapping[str, Any]", where)
            where = {name: public.interval(given) or given for name, given in conditions.items()}
        data = data.where(where)
    if by is None and groups is None and max_groups_per_unit == 1:
        return data
    return data.by(by, groups=groups, max_groups_per_unit=max_groups_per_unit)


def check_keys(given: Iterable[object], known: Iterable[str], *, place: str = "", of: str) -> None:
    """Refuse a key of `of` that is not among `known`; the error names it after `place`."""
    known = tuple(known)
    for key in given:
        if key not in known:
            shown = key if isinstance(key, str) and len(key) <= 60 and key.isprintable() else "<a key>"
            name, expected = f"{place}.{shown}" if place else shown, f"one of the keys of {of}: {', '.join(known)}"
            hint = did_you_mean(key, known, said=OTHER_WORDS)
            raise InvalidParameterError(name, Shown("<unknown key>"), expected, hint)


def check_described(
    described: object, place: str, *, other: tuple[str, ...] = (), elsewhere: frozenset[str] = frozenset()
) -> str:
    """Check the keys of a described question, and return its method.

    It has `other` keys besides those of the method, and some arguments of the method are given `elsewhere`. Errors name
    the `place` and the key.
    """
    if not isinstance(described, Mapping):
        raise InvalidParameterError(place, described, 'keys and values such as {"ask": "median", "column": "age", ...}')
    described = cast("Mapping[str, Any]", described)
    method: object = described.get(ASK)
    if not isinstance(method, str) or method not in BY_NAME:
        hint = did_you_mean(method, BY_NAME, said=OTHER_WORDS)
        raise InvalidParameterError(f"{place}.{ASK}", typed(method), f"one of {', '.join(BY_NAME)}", hint)
    arguments = {name: each for name, each in arguments_of(method).items() if name not in elsewhere}
    check_keys(described, (ASK, *other, *arguments), place=place, of=f"a {method}")
    for name, each in arguments.items():
        if each.default is REQUIRED and name not in described:
            raise InvalidParameterError(f"{place}.{name}", None, f"a value, which {method} needs")
    return method


def reply(data: Any, method: str, given: Mapping[str, Any], place: str = "") -> Any:
    """What `data` replies to the question with these arguments, those of views among them; errors name a `place`."""
    own = dict(given)
    view = {each.name: own.pop(each.name) for each in OF_VIEWS if each.name in own}
    try:
        return getattr(seen(data, **view), method)(**own)
    except InvalidParameterError as error:
        if not place or error.name not in arguments_of(method):
            raise
        raise type(error)(f"{place}.{error.name}", error.got, error.expected, error.hint) from None

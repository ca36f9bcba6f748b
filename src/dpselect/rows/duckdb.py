"""Rows of any source, asked of DuckDB, on a thread of its own. Its messages quote rows, and are never passed on.

It is in memory, reads only what it is given, and spills rows to disk when memory is full.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, contextmanager, suppress
from contextvars import copy_context
from functools import cache, partial
from threading import Thread
from typing import Any, TypeVar

import numpy as np

from dpselect.errors import SelectionError
from dpselect.formats import Format
from dpselect.mechanisms.seeding import KEYS, key_of_a_choice
from dpselect.rows.arrow import BATCH_ROWS, of_numpy, pa
from dpselect.rows.columns import Holds, Progress, TranslatedErrors, unanswered
from dpselect.rows.row_rules import Dialect
from dpselect.rows.scan import Cell, Connection, Scan, Source, compared, literal
from dpselect.rows.statements import Cells, Engine, Found, Statement
from dpselect.summaries import CandidateKind, PublicCandidates


class DuckDB(Dialect):
    """The words of DuckDB, and what it has to be asked before it can answer, on a connection.

    The number of a unit's rows must not decide whether memory is sufficient. DuckDB can sort and group rows on disk,
    but no window with partitions: so all rows are sorted together, or only the smallest lot of each unit is kept.
    """

    amount = "BIGINT"  # sums have 128 bits
    matches = "regexp_full_match({}, '{}')"
    text_bytes = "strlen({})"
    half_even = "round_even({}, 0)"
    arrive_as_text = frozenset({Holds.TEXT, Holds.DECIMALS, Holds.NOTHING})

    def __init__(self, connection: Connection | None = None) -> None:
        self._connection = connection

    def unit_text(self, cell: str) -> str:
        return cell  # `scan.unit_names` has made it

    def written(self, text: str, kind: CandidateKind) -> str:
        return super().written(text, kind) if kind is CandidateKind.DATE else text  # `Cell.made` left out other numbers

    def lot(self, columns: Sequence[str]) -> str:
        """A hash of 64 bits of a new key and of the columns: all but the last, and then the last, a whole number >= 0.

        The second step is one-to-one, so that two lots with the same keys differ.
        """
        *keys, last = columns
        return f"hash(xor(hash({', '.join(keys)}, {int.from_bytes(key_of_a_choice())}::UBIGINT), ({last})::UBIGINT))"

    def first(self, keys: Sequence[str], value: str, kind: CandidateKind) -> str:
        """Whole numbers stand behind their lots, in 128 bits: `min` takes two thirds of the time of `arg_min`.

        Of texts with the same hash the smaller one is chosen; the hashes of other values differ.
        """
        lot = self.lot([*keys, f"hash({value})"])
        if kind is CandidateKind.INTEGER:
            both = f"({lot}::UHUGEINT << 64) + (({value})::HUGEINT + {2**63}::HUGEINT)::UHUGEINT"
            return f"CAST((min({both}) & {2**64 - 1}::UHUGEINT)::HUGEINT - {2**63}::HUGEINT AS BIGINT)"
        return f"arg_min({value}, {f'row({lot}, {value})' if kind is CandidateKind.TEXT else lot})"

    def one_bit(self, keys: Sequence[str], place: str) -> str:
        """The place is the last six bits of its lot: `min` of 64 bits takes three quarters of the time of 128."""
        return self.bit_of(f"(min(({self.lot([*keys, place])} & {2**64 - 64}::UBIGINT) | ({place})::UBIGINT) & 63)")

    def few(self, rows: str, keys: Sequence[str], by: str, kept: str, most: int) -> str:
        whose, lot = ", ".join(keys), self.lot([*keys, f"hash({by})"])
        drawn = f"SELECT *, {lot} AS lot FROM ({rows})"
        return f"SELECT {whose}, {kept} FROM ({drawn}) QUALIFY {_among_first(most, keys, ['lot', by])}"

    def few_rows(self, rows: str, keys: Sequence[str], most: int) -> str:
        """Only units with more rows draw lots: 64 bits of the operating system's randomness for each of their rows."""
        if KEYS.get() is not None:  # lots of keys, which do not depend on the order in which rows come
            return super().few_rows(rows, keys, most)
        assert self._connection is not None, "the rows are looked at before the statement is written"
        whose, ask = ", ".join(keys), self._connection.execute
        ask(f"CREATE OR REPLACE TEMP TABLE usable AS {rows}")
        many = f"SELECT {whose}, count(*) AS number FROM usable GROUP BY {whose} HAVING count(*) > {most}"
        ask(f"CREATE OR REPLACE TEMP TABLE crowds AS {many}")
        numbers = "SELECT (SELECT count(*) FROM usable), (SELECT coalesce(sum(number), 0)::BIGINT FROM crowds)"
        ((every, crowded),) = ask(numbers).fetchall()
        if crowded == 0:
            return f"SELECT {whose}, what FROM usable"
        self._connection.register("lots", _lots(crowded))
        crowd = "usable"
        if crowded < every:
            crowd = "crowded"
            ask(f"CREATE OR REPLACE TEMP TABLE crowded AS SELECT usable.* FROM usable SEMI JOIN crowds USING ({whose})")
        if most == 1:  # of two rows with the same lot the values decide, in a fixed order of all numbers
            lot = f"lot::HUGEINT * {2**64}::HUGEINT + hash(what)::HUGEINT"
            few = f"SELECT {whose}, arg_min(what, {lot}) AS what FROM {crowd} POSITIONAL JOIN lots GROUP BY {whose}"
        else:
            first = _among_first(most, keys, ["lot", "what"])
            few = f"SELECT {whose}, what FROM {crowd} POSITIONAL JOIN lots QUALIFY {first}"
        if crowded == every:
            return few
        return f"SELECT {whose}, what FROM usable ANTI JOIN crowds USING ({whose}) UNION ALL ({few})"


def _among_first(most: int, keys: Sequence[str], order: Sequence[str]) -> str:
    """SQL for whether a row is among the first `most`, by `order`, of the rows with the same `keys`."""
    over = f"OVER (ORDER BY {', '.join([*keys, *order])})"
    return "(" + " OR ".join(f"lag({key}, {most}) {over} IS DISTINCT FROM {key}" for key in keys) + ")"


def _lots(number: int) -> Any:
    """Random whole numbers of 64 bits: a stream of `number` rows."""
    drawn = (os.urandom(8 * min(BATCH_ROWS, number - begin)) for begin in range(0, number, BATCH_ROWS))
    arrays = (of_numpy(np.frombuffer(each, np.int64)) for each in drawn)
    batches = (pa.RecordBatch.from_arrays([each], names=["lot"]) for each in arrays)
    return pa.RecordBatchReader.from_batches(pa.schema([("lot", pa.int64())]), batches)


Answer = TypeVar("Answer")
Query = Callable[[Connection], Answer]

_POLL_SECONDS = 0.1


class Embedded(Engine):
    """DuckDB over a source of rows. It may use `memory_limit` bytes before it spills; None: most of the machine's."""

    def __init__(self, source: Source, memory_limit: int | None = None, format: Format | None = None) -> None:
        self.source, self.memory_limit, self.format = source, memory_limit, format
        self.shown, self.columns, self.listed = source.shown, source.columns, source.listed

    def answers(self, asked: Sequence[Statement], progress: Progress | None) -> list[Found]:
        """The results of all statements. For several, the engine keeps the rows that it has read.

        If these do not fit into memory and temporary disk space together, they are read for each statement.
        """
        names = dict[Cell, str]()  # alike cells are read once
        mine = [each.cells(Cell.of, names) for each in asked]
        scan = Scan(self.source, {name: cell for cell, name in names.items()}, format=self.format, kept=len(asked) > 1)
        query = partial(self._found, asked=asked, cells=mine)
        try:
            return answer(scan, query, progress=progress, memory_limit=self.memory_limit)
        except SelectionError as error:
            if len(asked) == 1 or type(error) is not SelectionError:  # what is said of rows depends on no way to read
                raise
        return [found for each in asked for found in self.answers([each], progress)]

    def _found(self, connection: Connection, asked: Sequence[Statement], cells: Sequence[Cells]) -> list[Found]:
        found: list[Found] = []
        for statement, names in zip(asked, cells, strict=True):
            for name, listed in statement.tables.items():
                connection.register(name, candidate_table(listed, self.format))
            sql = statement.sql(DuckDB(connection), names, "rows")
            if statement.named:
                table = connection.sql(sql).to_arrow_table()
                found.append(dict(zip(table.column_names, table.columns, strict=True)))
            else:
                found.append(connection.execute(sql).fetchnumpy())
        return found


def candidate_table(lists: Mapping[str, PublicCandidates], format: Format | None = None) -> Any:
    """Columns of candidates as an Arrow table, as cells are compared with them, and the ``place`` of each row."""
    found, size = dict[str, Any](), 0
    for name, candidates in lists.items():
        values = candidates.values if format is None else compared(candidates, format).values
        size = len(values)
        if isinstance(values, range):
            values = np.fromiter(values, np.int64, size)
        type_ = pa.large_string() if candidates.kind is CandidateKind.TEXT else None
        found[name] = of_numpy(values) if isinstance(values, np.ndarray) else pa.array(values, type_)
    return pa.table({**found, "place": of_numpy(np.arange(size))})


def answer(scan: Scan, query: Query[Answer], *, progress: Progress | None, memory_limit: int | None) -> Answer:
    """The result of `query`, run on a thread of its own so that this thread can report progress and receive Ctrl-C.

    The query sees the rows as the table ``rows``. Progress is reported about ten times a second. Whether rows can be
    read to their end never depends on what is in one, but memory or temporary disk space may run out.
    """
    import duckdb

    running = _ask(scan, query, progress, memory_limit)
    if scan.paths and not isinstance(running.exception(), duckdb.OutOfMemoryException | MemoryError | None):
        scan.paths = ()  # the engine cannot read the files: the stream may succeed, or give a precise error
        running = _ask(scan, query, progress, memory_limit)

    def said(error: BaseException) -> SelectionError:
        ran_out = isinstance(error, duckdb.OutOfMemoryException | duckdb.IOException)  # of memory or of disk
        return scan.failure or unanswered(MemoryError() if ran_out else error, scan.shown, hint="")

    if running.exception() is None:
        return running.result()
    with TranslatedErrors(said):
        try:
            return running.result()
        finally:
            del running  # it holds a reference to the engine's error


def _ask(scan: Scan, query: Query[Answer], progress: Progress | None, memory_limit: int | None) -> Future[Answer]:
    """Run one pass to its end."""
    running: Future[Answer] = Future()
    is_long = False
    with suppress(_UsedUpError), connected(memory_limit=memory_limit, paths=scan.paths) as connection:
        given = _fulfil, running, connection, scan, query
        worker = Thread(target=copy_context().run, args=given, daemon=True)  # knows of a seeded block
        try:
            worker.start()
            while True:
                with suppress(TimeoutError):
                    running.exception(timeout=_POLL_SECONDS)
                    break
                is_long = True
                if progress is not None:
                    progress(scan.fraction(connection))
        except BaseException:  # mainly Ctrl-C, which only this thread receives, also while the other one starts
            scan.stopped = True
            _outlast(running, connection)
            raise
        finally:
            with suppress(RuntimeError):  # it was never started
                worker.join()
        if is_long or running.exception() is not None:
            raise _UsedUpError
    return running


class _UsedUpError(Exception):
    """A question that failed leaves things behind, and a long one memory: the next one opens a new database."""


def _fulfil(running: Future[Answer], connection: Connection, scan: Scan, query: Query[Answer]) -> None:
    if not running.set_running_or_notify_cancel():
        return
    try:
        scan.attach(connection)
        running.set_result(query(connection))
    except BaseException as error:  # noqa: BLE001 - raised where it is waited for
        running.set_exception(error)


def _outlast(running: Future[Any], connection: Connection) -> None:
    """Stop the query and wait for its end in any case: a thread that outlives the interpreter would crash it."""
    while not running.cancel() and not running.done():
        with suppress(KeyboardInterrupt):
            connection.interrupt()  # repeated, because between two statements it has no effect
            wait([running], timeout=_POLL_SECONDS / 5)


try:
    import fcntl
except ImportError:  # on Windows there is no such lock, and a process removes only its own folders
    fcntl: Any = None

_PREFIX, _LOCK = "dpselect-", "lock"


@contextmanager
def spill_folder() -> Generator[str]:
    """An empty folder, removed at the end, with a file in it that is locked until then, and named only once locked."""
    remove_abandoned(tempfile.gettempdir())
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder, ExitStack() as held:
        if fcntl is not None:
            with suppress(OSError):  # a file system without locks: only this process removes the folder
                unlocked = os.path.join(folder, "lock-not-yet")
                lock = os.open(unlocked, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
                held.callback(os.close, lock)
                fcntl.flock(lock, fcntl.LOCK_EX)
                os.rename(unlocked, os.path.join(folder, _LOCK))
        yield folder


@cache
def remove_abandoned(place: str) -> None:
    """Remove, once, the folders of this user in `place` whose process has ended, but none without a lock: just made."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(place) as found:  # a failed cleanup must not stop a question
        for each in found:
            if not each.name.startswith(_PREFIX) or not each.is_dir(follow_symlinks=False):
                continue
            with suppress(OSError), ExitStack() as held:
                folder = os.lstat(each.path)
                if folder.st_uid != os.geteuid() or folder.st_mode & 0o077:  # somebody else's, or writable by others
                    continue
                lock = os.open(os.path.join(each.path, _LOCK), os.O_RDWR | os.O_NOFOLLOW)
                held.callback(os.close, lock)
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(each.path)


SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "preserve_insertion_order": "false",
    # The candidates are the small side of the join; the planner cannot know this for a stream of rows.
    "disabled_optimizers": "join_order,build_side_probe_side",
}

_CLOSED = (
    "SET GLOBAL python_enable_replacements = false; SET enable_external_access = false; SET lock_configuration = true"
)

_idle: dict[str, tuple[Connection, ExitStack]] = {}
"""An empty database without files, for the next question: to open and close one takes longer than most questions."""


@atexit.register
def end_idle() -> None:
    """Close it: at the end, and before the process forks, as a child has none of its threads."""
    if waiting := _idle.pop("plain", None):
        waiting[1].close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=end_idle)


@contextmanager
def connected(*, memory_limit: int | None = None, paths: Sequence[str] = ()) -> Generator[Connection]:
    """An empty database in memory, for one question at a time.

    It may use `memory_limit` bytes, or else four fifths of the machine's memory, before it spills to a folder that only
    this user can read, and which goes with the database or, after a kill, with the next process. It can reach no files
    but `paths`.
    """
    is_plain = memory_limit is None and not paths
    with ExitStack() as held:
        database, opened = (_idle.pop("plain", None) if is_plain else None) or _opened(memory_limit, paths)
        held.enter_context(opened)
        if not is_plain:
            yield database
            return
        with database.cursor() as connection:  # with it goes all that a question leaves
            yield connection
        held.pop_all()
        if _idle.setdefault("plain", (database, opened))[1] is not opened:  # another thread's is there
            opened.close()


def _opened(memory_limit: int | None, paths: Sequence[str]) -> tuple[Connection, ExitStack]:
    import duckdb

    limit = {} if memory_limit is None else {"memory_limit": f"{memory_limit}B"}
    with ExitStack() as held:
        spill = held.enter_context(spill_folder())
        opening = duckdb.connect(":memory:", config={**SETTINGS, **limit, "temp_directory": spill})
        connection = held.enter_context(opening)
        try:
            with suppress(duckdb.InvalidInputException):  # in a notebook without ipywidgets no progress is known
                connection.execute("SET enable_progress_bar_print = false; SET enable_progress_bar = true")
            connection.execute(f"SET allowed_paths = [{', '.join(map(literal, paths))}]; {_CLOSED}")
        except RuntimeError:  # not one of the engine's own errors: it raises this for Ctrl-C while it is busy
            raise KeyboardInterrupt from None
        return connection, held.pop_all()

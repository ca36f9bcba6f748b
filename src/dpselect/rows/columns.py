"""What may be said of a table: the names and types of its columns, and, where something fails, sanitized errors.

Names and types are public, and refusals depend on them alone. Messages and frames of other libraries' errors contain
rows, and must not reach the caller; ``raise ... from None`` is not enough: reporters print the ``__context__``, and
local variables of frames in tracebacks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from traceback import walk_tb

from dpselect.checks import did_you_mean
from dpselect.errors import FaultError, InvalidDataError, SelectionError, Shown, typed
from dpselect.privacy import EACH_ROW, is_each_row
from dpselect.summaries import CandidateKind


class Holds(StrEnum):
    """Types of columns, as far as they matter for matching candidates."""

    ANYTHING = "untyped values (CSV)"
    INTEGERS = "whole numbers"
    UNSIGNED = "unsigned 64-bit whole numbers"
    FLOATS = "floating-point numbers"
    SHORT_FLOATS = "32-bit floating-point numbers"
    DECIMALS = "decimal numbers"
    TEXT = "text"
    DATES = "dates"
    BOOLEANS = "booleans"
    NOTHING = "only missing values"
    TIMES = "times"
    BYTES = "bytes"
    NESTED = "nested values"
    OTHER = "values of a type that no question can use"
    UNLIKE = "other values in another file"


_NUMERIC = frozenset({Holds.INTEGERS, Holds.UNSIGNED, Holds.FLOATS, Holds.SHORT_FLOATS, Holds.DECIMALS})
_MATCHING = {
    CandidateKind.INTEGER: _NUMERIC,
    CandidateKind.NUMBER: frozenset({Holds.FLOATS, Holds.DECIMALS}),
    CandidateKind.TEXT: frozenset({Holds.TEXT}),
    CandidateKind.DATE: frozenset({Holds.DATES}),
    CandidateKind.BOOLEAN: frozenset({Holds.BOOLEANS}),
}
_MATCHED = frozenset[Holds]().union(*_MATCHING.values())

_CAST = "Convert it first, for example to numbers or text."
_DATES = (
    "If they are timestamps, and only the date matters: `as_date=True`, for files and frames; tables on servers and of"
    " Spark need a cast to dates."
)
_MEDIANS = "Of dates there are medians and quantiles, with the first and the last date as bounds."


@dataclass(frozen=True, slots=True)
class Column:
    """One column."""

    name: str  # as spelled in the table
    holds: Holds
    hint: str = field(default="", compare=False)  # how its own library converts it if its type does not fit
    wide: bool = field(default=False, compare=False)  # only whole numbers, of more than 64 bits or as decimals
    stamp: bool = field(default=False, compare=False)  # whether its type is for timestamps
    each_row: bool = False  # whether it is read only to number the rows: each of them is another unit
    of: Column | None = None  # that it is read from in another way: to number the rows, or timestamps as dates

    @property
    def shown(self) -> str:
        """What sentences call it."""
        return EACH_ROW if self.each_row else self.name

    @property
    def is_whole(self) -> bool:
        """Whether the type holds only whole numbers."""
        return self.wide or self.holds in (Holds.INTEGERS, Holds.UNSIGNED)

    def refused(self, argument: str, expected: str, otherwise: str) -> InvalidDataError:
        """The error about a column of another type than expected, with its hint or else another."""
        return InvalidDataError(argument, Shown(repr(self.name)), expected, self.described(otherwise))

    def described(self, otherwise: str = "") -> str:
        return f"This one holds {self.holds}. {self.hint or otherwise}".strip()


LINE = Column("", Holds.INTEGERS, each_row=True)
"""If it is asked for, it has the numbers of lines of text, or else of rows, from 0; no source has it as a column."""


def check_names(names: Sequence[object], *, shown: str, capitals_count: bool = True) -> None:
    """Refuse a frame without columns, or with two of the same name for its engine, or a name that is not text."""
    if not names:
        raise InvalidDataError("source", Shown(shown), "a table with columns")
    texts = [name for name in names if isinstance(name, str)]
    if len(texts) < len(names):
        raise InvalidDataError("source", Shown(shown), "columns whose names are text", "Rename the others first.")
    if len({name if capitals_count else name.casefold() for name in texts}) < len(texts):
        hint = "Two of them have the same" + ("." if capitals_count else ", as capitals do not count here.")
        raise InvalidDataError("source", Shown(shown), "columns with different names", hint)


def unit_of(columns: Sequence[Column], name: object, *, listed: bool) -> Column:
    """The column called `name`, if its type can identify units; or what numbers the rows, for `ROWS`."""
    if is_each_row(name, (each.name for each in columns)):
        if not columns:
            raise InvalidDataError("unit", Shown("ROWS"), "a table with at least one column")
        plain = (each for each in columns if each.holds is Holds.ANYTHING or each.holds in _MATCHED)
        read = next(plain, columns[0])
        return replace(read, each_row=True, of=read)
    column = next((each for each in columns if isinstance(name, str) and each.name == name), None)
    if column is None:
        raise not_found([each.name for each in columns], name, argument="unit", listed=listed)
    if column.holds in (Holds.NESTED, Holds.OTHER, Holds.UNLIKE, Holds.TIMES):  # not compared alike in every file
        raise column.refused("unit", "a column of identifiers: numbers, text, bytes or dates", _CAST)
    return column


def not_found(names: Sequence[str], name: object, *, argument: str, listed: bool) -> InvalidDataError:
    """The error for a column that is not there, which helps to spell it.

    It does so if the names may be `listed`: a CSV file without a header line has the first person's row there, and a
    suggestion would confirm a guess at it.
    """
    if not isinstance(name, str):
        return InvalidDataError(argument, name, "the name of a column, as text")
    if listed:
        shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
        hint = f"{did_you_mean(name, names)} The columns are: {shown}.".lstrip()
    else:
        hint = "The first line has to hold the names of the columns; it is not shown, as it might be somebody's row;"
        hint += " dpselect columns shows it. If a title stands above: `skip_lines=1`. Capitals and outer blanks count."
    if argument == "unit":
        hint += " If each row is a different person: --unit rows, in Python dpselect.ROWS."
    return InvalidDataError(argument, typed(name), "a column of the data", hint)


def candidate_kinds(column: Column) -> tuple[CandidateKind, ...]:
    """The kinds of candidates that the column's type can match; empty if the type does not tell."""
    return tuple(kind for kind, held in _MATCHING.items() if column.holds in held)


def check_match(column: Column, kind: CandidateKind, *, argument: str = "candidates") -> None:
    """Refuse candidates (or groups or dates, as named by `argument`) that no value of the column could equal."""
    if column.holds in (Holds.ANYTHING, Holds.NOTHING) or column.holds in _MATCHING[kind]:
        return
    if argument == "dates":
        hint = _DATES if column.holds is Holds.TIMES else "Convert it to dates first."
        raise column.refused("column", "a column of dates", hint)
    if column.holds not in _MATCHED:
        expected = "a column of whole numbers, numbers, text, dates or booleans"
        hint = _DATES if column.holds is Holds.TIMES else _CAST
        raise column.refused("by" if argument == "groups" else "column", expected, hint)
    fitting = " or ".join(map(str, candidate_kinds(column)))
    hint = f"Column {column.name!r} holds {column.holds}: give {fitting}."
    if column.holds is Holds.SHORT_FLOATS and kind is CandidateKind.NUMBER:
        hint += " In it 0.7 is 0.69999998...: convert it to doubles first, rounded to the decimals that you mean."
    elif column.hint:
        hint += f" {column.hint}"
    what = "values" if argument == "where" else argument
    raise InvalidDataError(argument, Shown(f"<{kind}>"), f"{what} of the column's type", hint)


def check_numeric(column: Column, *, argument: str = "column") -> None:
    """Refuse a column whose type has no numbers."""
    if column.holds in (Holds.ANYTHING, Holds.NOTHING) or column.holds in _NUMERIC:
        return
    hint = _MEDIANS if column.holds is Holds.DATES else "Convert it to numbers first."
    raise column.refused(argument, "a column of numbers", hint)


EXACT = 2**53  # below it, doubles tell all whole numbers apart


def check_near(column: Column, *numbers: float | Fraction, argument: str = "column") -> None:
    """Refuse public numbers that are compared as doubles, if numbers of the column may be rounded to them."""
    doubles = (Holds.FLOATS, Holds.SHORT_FLOATS, Holds.NOTHING)
    if column.holds in doubles or all(-EXACT < each < EXACT for each in numbers):
        return
    expected = "a column of doubles, or bounds, prices and decimal candidates below 2^53"
    hint = "From there on doubles skip whole numbers, and numbers would be taken for their neighbours. Whole numbers as"
    hint += " candidates or in `between` may be larger; else divide by a public number in the table first."
    raise InvalidDataError(argument, Shown(repr(column.name)), expected, hint)


Progress = Callable[[float], None]
"""Called from time to time on the caller's thread with the fraction of the input that was read, from 0 to 1."""


_FAULTS = (AttributeError, TypeError, NameError, UnboundLocalError, AssertionError)
"""Errors that come from bugs in the code, whatever the rows are."""


class TranslatedErrors:
    """Turns every error in a block into an error of this package, from which the first cannot be reached.

    What to raise, `say` makes of the error that was caught. Errors of this package, Ctrl-C and the like pass through,
    but without the frames of the block and without the errors being handled there. If `kinds` of errors are given,
    others pass through, too; if not, a bug in this package is reported as a `FaultError`.
    """

    __slots__ = ("_kinds", "_say")

    def __init__(self, say: Callable[[BaseException], SelectionError], *kinds: type[BaseException]) -> None:
        self._say, self._kinds = say, kinds

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        if error is None:
            return
        fault = None if self._kinds else _our_fault(error)
        is_meant = isinstance(error, self._kinds or Exception) or type(error).__name__ == "PanicException"  # of Rust
        said = self._say(error) if is_meant and not isinstance(error, SelectionError) else error
        failure = without_trace(fault or said)
        del kind, error, traceback, said  # this frame can be reached as well
        try:
            raise failure
        finally:
            without_trace(failure)  # raised while the other was handled, which became its context


def _our_fault(error: BaseException) -> FaultError | None:
    """The error for a bug in this package, which names the line of code; None if `error` does not come from one."""
    if type(error) not in _FAULTS:  # engines have their own errors that inherit from these
        return None
    for frame, line in reversed([*walk_tb(error.__traceback__)]):
        module = str(frame.f_globals.get("__name__", ""))
        package = module.partition(".")[0]
        if package == "dpselect":
            return FaultError(type(error).__name__, f"{module}, line {line}")
        if package not in ("pyarrow", "numpy"):  # which raise such errors if this package calls them wrongly
            break
    return None


def without_trace(error: BaseException) -> BaseException:
    """`error` without its traceback, context and cause."""
    error.__context__ = error.__cause__ = error.__traceback__ = None
    return error


cut_off = TranslatedErrors(lambda error: SelectionError(f"An unforeseen {type(error).__name__}."))
"""Passes errors of this package on without the frames inside, which contain names that may be private."""


ASK = "Its engine could not answer; ask it for the first and the last rows to see why."
_WHOLE = "a table that can be read to its end"


def reading(shown: str, *, hint: str = ASK, expected: str = _WHOLE) -> TranslatedErrors:
    """A block in which every error of an engine, or of a caller's frame, is what `unanswered` says."""
    return TranslatedErrors(lambda error: unanswered(error, shown, hint=hint, expected=expected))


def unanswered(error: BaseException, shown: str, *, hint: str = ASK, expected: str = _WHOLE) -> SelectionError:
    """The error to raise for an engine's error. It reveals only whether memory was full."""
    if isinstance(error, MemoryError):
        return SelectionError("Reading the table needs more memory or temporary disk space than there is.")
    return InvalidDataError("source", Shown(shown), expected, hint)


def changed(shown: str) -> InvalidDataError:
    """The error for a table whose columns changed since it was opened, whatever its rows are."""
    expected = "a table with the columns that it had when it was opened, of the same types"
    return InvalidDataError("source", Shown(shown), expected, "It was changed since; make a new Dataset.")

"""Sanitized errors: messages and frames of other libraries' errors contain rows, and must not reach the caller.

``raise ... from None`` is not enough: reporters print the ``__context__``, and local variables of frames in tracebacks.
"""

from __future__ import annotations

from collections.abc import Callable
from traceback import walk_tb
from types import TracebackType

from dpselect.errors import FaultError, InvalidDataError, SelectionError, Shown

_FAULTS = (AttributeError, TypeError, NameError, UnboundLocalError, AssertionError)
"""Errors that come from bugs in the code, whatever the rows are."""


class TranslatedErrors:
    """Turns every error in a block into an error of this package, from which the first cannot be reached.

    What to raise, `say` makes of the error that was caught. Errors of this package, Ctrl-C and the like pass through,
    but without the frames of the block and without the errors being handled there. If `kinds` of errors are given,
    others pass through, too; if not, a bug in this package is reported as a `FaultError`.

    >>> try:
    ...     with TranslatedErrors(lambda error: SelectionError("The table could not be read.")):
    ...         int("somebody's secret")
    ... except SelectionError as error:
    ...     print(error, error.__cause__, error.__context__)
    The table could not be read. None None
    """

    __slots__ = ("_kinds", "_say")

    def __init__(self, say: Callable[[BaseException], SelectionError], *kinds: type[BaseException]) -> None:
        self._say, self._kinds = say, kinds

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
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

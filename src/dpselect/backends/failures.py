"""Errors of code that is not ours: what they say, and the frames they come from, hold rows; none of it goes further.

``raise ... from None`` only hides the first error from sight: it stays the ``__context__`` of the second, and what
reports errors prints contexts, and the local variables of every frame that a traceback can reach.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from dpselect.errors import FaultError, SelectionError

_FAULTS = (AttributeError, TypeError, NameError, UnboundLocalError, AssertionError)
"""What wrong code raises, whatever the rows are."""

_OURS, _HANDED_ON = "dpselect", ("pyarrow", "numpy", "narwhals")
"""This package, and libraries that raise such errors for how they are called, which is this package's doing."""


class TranslatedErrors:
    """Turns every error raised inside into an error of this package, from which nothing of the first can be reached.

    Errors of this package pass, and so do Ctrl-C and the like; but without the frames inside and without whatever was
    being handled there. Where no `kinds` are named, a fault in the code of this package is said to be one.

    Args:
        say: the error of this package to raise for the one given.
        kinds: of errors that are meant, also where this package raised them; others pass. None: all.

    >>> try:
    ...     with TranslatedErrors(lambda error: SelectionError("The table could not be read.")):
    ...         int("somebody's secret")
    ... except SelectionError as error:
    ...     print(error, error.__cause__, error.__context__)
    The table could not be read. None None
    """

    __slots__ = ("_kinds", "_say")

    def __init__(self, say: Callable[[BaseException], SelectionError], *kinds: type[BaseException]) -> None:
        self._say = say
        self._kinds = kinds

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            return
        fault = None if self._kinds else _our_fault(error)
        failure = without_trace(fault or (self._say(error) if self._is_meant(error) else error))
        del kind, error, traceback  # this frame, too, can be reached
        try:
            raise failure
        finally:
            without_trace(failure)  # raised while the other is still handled, which made it its context

    def _is_meant(self, error: BaseException) -> bool:
        """By default whatever says more than that somebody wants to stop; panics of Rust are no `Exception`."""
        if isinstance(error, SelectionError):
            return False
        return isinstance(error, self._kinds or Exception) or type(error).__name__ == "PanicException"


def _our_fault(error: BaseException) -> FaultError | None:
    """What is said of an error that code of this package made; None if it is no such error.

    Where it was raised is a place in the code, and has no row in it; the error's text might, and is left out.
    """
    if type(error) not in _FAULTS:  # engines have errors of their own that inherit from these
        return None
    at, frames = error.__traceback__, list[TracebackType]()
    while at is not None:
        frames.append(at)
        at = at.tb_next
    for each in reversed(frames):
        module = str(each.tb_frame.f_globals.get("__name__", ""))
        package = module.partition(".")[0]
        if package == _OURS:
            return FaultError(type(error).__name__, f"{module}, line {each.tb_lineno}")
        if package not in _HANDED_ON:
            break
    return None


def without_trace(error: BaseException) -> BaseException:
    """`error` itself, cut off from where it was raised and what was handled there."""
    error.__context__ = error.__cause__ = error.__traceback__ = None
    return error


cut_off = TranslatedErrors(lambda error: SelectionError(f"An unforeseen {type(error).__name__}."))
"""What this package says leaves as it is, but without the frames inside, which hold names that may be private."""

"""Errors of code that is not ours: what they say, and the frames they come from, hold rows; none of it goes further.

``raise ... from None`` only hides the first error from sight: it stays the ``__context__`` of the second, and what
reports errors prints contexts, and the local variables of every frame that a traceback can reach.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from dpselect.errors import SelectionError


class InOurWords:
    """Whatever goes wrong inside leaves as a new error, from which nothing of the first can be reached.

    Errors of this package pass, and so do Ctrl-C and the like; but without the frames inside and without whatever was
    being handled there.

    Args:
        say: our words for an error.
        kinds: of errors that are meant; others pass as well.

    >>> try:
    ...     with InOurWords(lambda error: SelectionError("The table could not be read.")):
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
        failure = without_trace(self._say(error) if self._is_meant(error) else error)
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


def cut_off() -> InOurWords:
    """What this package says leaves as it is, but without the frames inside, which hold names that may be private."""
    return InOurWords(lambda error: SelectionError(f"An unforeseen {type(error).__name__}."))


def without_trace(error: BaseException) -> BaseException:
    """`error` itself, cut off from where it was raised and what was handled there."""
    error.__context__ = error.__cause__ = error.__traceback__ = None
    return error

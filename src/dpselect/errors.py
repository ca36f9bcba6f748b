"""Every error the package raises on purpose.

Messages mention only arguments, schema and public facts, never a score, a row or a candidate: an error travels further
(logs, tickets, screens) than the release it prevented.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from numbers import Integral
from typing import Any

from dpselect.server_urls import HIDDEN, may_tell_password


class SelectionError(Exception):
    """Base of all errors of this package: ``except dpselect.SelectionError`` catches them all."""


class InvalidParameterError(SelectionError, ValueError):
    """An argument is invalid; nothing was drawn, charged or released.

    Args:
        name: the argument's name, as the caller writes it.
        got: the value passed. Only a number, ``None`` or a `Shown` text is shown, else its type; never what may contain
            a password.
        expected: what would have been accepted. Other arguments stand in backticks, as Python has them: each surface
            spells them in its own way, see `remedy`.
        hint: one sentence on how to fix it, likewise; or empty.

    >>> str(InvalidParameterError("epsilon", -1.0, "a finite number > 0"))
    'epsilon=-1.0: expected a finite number > 0.'
    >>> str(InvalidParameterError("epsilon", [41, 3], "a finite number > 0", "Try `delta=1e-6`."))
    'epsilon=<list>: expected a finite number > 0. Try delta=1e-6.'
    """

    def __init__(self, name: str, got: object, expected: str, hint: str = "") -> None:
        shown = got if isinstance(got, Shown) else Shown(describe(got))
        if may_tell_password(shown):  # an address of a server in the wrong place
            shown = Shown(HIDDEN)
        super().__init__(name, shown, expected, hint)
        self.name, self.got, self.expected, self.hint = name, shown, expected, hint

    def __str__(self) -> str:
        return f"{self.name}={self.got}: expected {self.remedy()}"

    def remedy(self, spelled: Callable[[str, str], str] | None = None) -> str:
        """What would have been accepted, and the hint; other arguments are `spelled` by name and value."""
        said = f"{self.expected}. {self.hint}".rstrip()
        if spelled is None:
            return said.replace("`", "")
        return _NAMED.sub(lambda found: spelled(found[1], found[2] or ""), said)


_NAMED = re.compile("`([a-z_]+)(?:=([^`]*))?`")
"""An argument that a sentence names."""


class InvalidScoresError(InvalidParameterError):
    """The scores are invalid: empty, not finite, not one-dimensional or not numbers."""


class InvalidCandidatesError(InvalidParameterError):
    """The candidates are invalid: missing, of a different length than the scores, duplicated or of a wrong type."""


class InvalidDataError(InvalidParameterError):
    """The data source does not fit the question: no such file or column, or not the format that its name implies."""


class TableUnavailableError(SelectionError):
    """There is no such server, no permission, or the connection broke before the answer arrived; nothing was drawn."""

    def __init__(self, source: str, what: str) -> None:
        super().__init__(source, what)
        self.source, self.what = source, what

    def __str__(self) -> str:
        return f"table at {self.source}: {self.what}"


class FaultError(SelectionError):
    """A bug in this package, found while rows were read; neither the rows nor the arguments are the cause."""

    def __init__(self, kind: str, place: str) -> None:
        super().__init__(kind, place)
        self.kind, self.place = kind, place

    def __str__(self) -> str:
        return f"this is a bug in dpselect, please report it: {self.kind} in {self.place}"


class InvalidEventError(InvalidParameterError):
    """A stored event cannot be read: an unknown kind or version, a missing or extra field, or a changed number."""


class LimitExceededError(SelectionError):
    """A privacy filter does not have enough left for an event; nothing was added to it."""

    def __init__(self, epsilon: float, delta: float, spent: float) -> None:
        super().__init__(epsilon, delta, spent)
        self.epsilon, self.delta, self.spent = epsilon, delta, spent

    def __str__(self) -> str:
        within = f"epsilon = {self.epsilon!r}, delta = {self.delta!r}"
        return f"the event does not fit within {within}; the epsilons spent so far add up to {self.spent!r}"


class InsufficientMemoryError(SelectionError, MemoryError):
    """There is not enough memory for the index of so many scores, or for so many answers; nothing was drawn."""


class StreamEndedError(SelectionError):
    """A stream of questions may not answer any more; nothing was drawn. Another stream has to be paid for anew."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what

    def __str__(self) -> str:
        return f"{self.what}: begin another one, and charge it anew"


class MissingExtraError(SelectionError, ImportError):
    """A feature needs an optional package that is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(what, extra)
        self.what, self.extra = what, extra

    def __str__(self) -> str:
        install = f"in a checkout of dpselect: pip install '.[{self.extra}]'"
        return f"{self.what}: this needs the extra {self.extra!r}; {install}"


def optional(module: str, what: str, extra: str) -> Any:
    """The module, or a `MissingExtraError` that names `what` needs it, and the `extra` that installs it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(what, extra) from None


class InvalidAccountError(InvalidParameterError):
    """The ledger has no such account, already has one of this name, or the account is closed; nothing was charged."""


class InvalidLimitError(InvalidParameterError):
    """The limit is below what is already spent, or the account is closed; nothing was changed."""


class WrongAccountError(InvalidParameterError):
    """The account protects a different unit, or uses a different neighbouring relation, than the charge."""


class RequestReusedError(InvalidParameterError):
    """The request id already belongs to another question; nothing was charged."""


class InvalidCertificateError(InvalidParameterError):
    """A release's certificate was edited, is incomplete, or does not match the ledger."""


def wrong(field: str, expected: str, hint: str = "") -> InvalidCertificateError:
    """The error for a field of a certificate. It never quotes what the field holds: that may be the answer."""
    return InvalidCertificateError("certificate", Shown(f"<{field}>"), expected, hint)


class LedgerError(SelectionError):
    """Base of all ledger errors that are not caused by an argument.

    Messages name the ledger without its password, and no answer.
    """

    def __init__(self, ledger: str, what: str) -> None:
        super().__init__(ledger, what)
        self.ledger, self.what = ledger, what

    def __str__(self) -> str:
        return f"ledger {self.ledger}: {self.what}"


class ChargeRefusedError(LedgerError):
    """The account does not have enough left; nothing was charged and nothing drawn.

    Attributes:
        left: the largest epsilon that is still certain to be accepted.
    """

    def __init__(self, ledger: str, what: str, left: float) -> None:
        super().__init__(ledger, what)
        self.args = (ledger, what, left)
        self.left = left


class LedgerBusyError(LedgerError):
    """Others held the ledger's lock, or all connections, for longer than the timeout; nothing was written."""


class LedgerReadOnlyError(LedgerError):
    """The ledger is read-only; nothing was written."""


class LedgerFullError(LedgerError):
    """The ledger has no room for another entry; nothing was written."""


class LedgerUnavailableError(LedgerError):
    """There is no such file, server or database, no permission, no answer in time, or the connection broke."""


class LedgerVersionError(LedgerError):
    """Another version of this package wrote the ledger; nothing was written."""


class LedgerDamagedError(LedgerError):
    """This is not a ledger, the file is damaged, or its entries are not the ones once written."""


class LedgerRolledBackError(LedgerError):
    """An anchor or a receipt shows entries that the ledger lacks: an older copy, a lost log, or a truncation."""


class LedgerForkedError(LedgerError):
    """An entry differs from what an anchor or a receipt shows: two copies diverged, or the ledger was rewritten."""


class AnchorError(LedgerError):
    """An anchor is missing, cannot be read or written, is damaged, or belongs to another ledger.

    Messages name its location, without a password.

    Attributes:
        sequence: number of the entry that was recorded in the ledger and could not be noted here, or None.
    """

    def __init__(self, anchor: str, what: str, sequence: int | None = None) -> None:
        super().__init__(anchor, what)
        self.anchor, self.sequence = anchor, sequence

    def __str__(self) -> str:
        return f"anchor {self.anchor}: {self.what}"


class AnchorUnavailableError(AnchorError):
    """An anchor cannot be read or written at this moment: its lock is held, the disk failed, or files ran out."""


class AnswerLostError(SelectionError):
    """Something failed after the charge: no answer was shown, and the charge stands.

    Attributes:
        account: the account that was charged.
        sequence: number of the entry.
    """

    def __init__(self, account: str, sequence: int, why: str) -> None:
        super().__init__(account, sequence, why)
        self.account, self.sequence, self.why = account, sequence, why

    def __str__(self) -> str:
        charged = f"charged as entry {self.sequence} of account {self.account!r}"
        return f"{charged}, but no answer was shown, and the charge stands. {self.why}"


class AnswerNotStoredWarning(UserWarning):
    """An answer was charged and returned, but the ledger could not store it for its request id.

    The process that warns keeps the answer, returns it again under the same id at no cost, and stores it as soon as
    that is possible. Another process would be charged again.
    """

    def __init__(self, ledger: str, account: str, sequence: int, why: str) -> None:
        super().__init__(ledger, account, sequence, why)
        self.ledger, self.account, self.sequence, self.why = ledger, account, sequence, why

    def __str__(self) -> str:
        charged = f"charged as entry {self.sequence} of account {self.account!r}, and answered"
        keep = "Keep it: this process returns the same answer again, but another process would charge again."
        return f"ledger {self.ledger}: {charged}, but the answer is not stored: {self.why}. {keep}"


class Shown(str):
    """Public text that may appear unchanged in an error (the name of an option or a column, a shape)."""

    __slots__ = ()


def typed(value: object) -> Shown:
    """How an error shows an argument that is the caller's own word and never data: short text unchanged.

    >>> typed("dask"), typed("x" * 99), typed([41, 3])
    ("'dask'", '<99 characters>', '<list>')
    """
    if not isinstance(value, str):
        return Shown(describe(value))
    return Shown(repr(value) if len(value) <= 60 else f"<{len(value)} characters>")


def one_of_several(value: object, place: int, count: int) -> Shown:
    """How an error shows a member of a list of public numbers, with its place: ``<-2, number 2 of 3>``."""
    return Shown(f"<{describe(value).strip('<>')}, number {place + 1:,} of {count:,}>")


def printable(text: str) -> str:
    """`text` on one line, with anything that would move the cursor, or worse, written as Python writes it."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def describe(value: object) -> str:
    """How an error shows `value`: a plain number or ``None`` as itself, anything else as its type.

    An argument in the wrong place is often the data itself, so the content of a container is never quoted.

    >>> describe(0.5), describe(None), describe({"ann": 3})
    ('0.5', 'None', '<dict>')
    >>> describe(10**400)
    '<int of 1329 bits>'
    """
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, float):  # NumPy's float64 is one; its own repr would say so
        return repr(float(value))
    if isinstance(value, Integral) and hasattr(value, "__index__"):  # NumPy's durations have none
        number = int(value)
        return repr(number) if number.bit_length() <= 64 else f"<int of {number.bit_length()} bits>"
    return f"<{type(value).__name__}>"


OTHER_WORDS = {
    "most_common": "mode argmax most_frequent",
    "least_common": "rarest argmin",
    "mean": "avg average",
    "variance": "var spread",
    "std": "stddev stdev sd spread",
    "quantile": "percentile percentile_cont percentile_disc max maximum min minimum",
    "quantiles": "percentiles describe",
    "upper_bound": "max maximum",
    "sum": "total",
    "count": "size len nunique",
    "histogram": "value_counts hist counts frequencies",
    "density": "distribution kde",
    "values": "value_counts unique distinct nunique count_distinct candidates where filter query isin",
    "top_k": "topk top nlargest",
    "candidates": "values categories keys choices",
    "between": "where filter query range bounds clip",
    "bounds": "range between clip limits",
    "clip": "range between bounds limits",
    "by": "groupby group_by partition_by",
    "epsilon": "eps budget privacy_budget",
    "k": "n top",
    "level": "q quantile percentile",
    "levels": "q quantiles percentiles",
    "unit": "private_key privacy_key privacy_id privacy_unit id user user_id",
    "neighbours": "neighbors neighbouring neighboring adjacency",
    "max_values_per_unit": "max_contributions contributions max_partitions_contributed",
    "table": "source data file path",
    "best_price": "price",
    "ledger": "budget account accounts",
    "open": "create new add init",
    "show": "list ls accounts status info balance remaining",
    "history": "log entries charges",
}
"""Arguments, questions and commands, each with what pandas, SQL, OpenDP or another question here calls it."""

LONGEST_WORD = 100
"""A longer one is compared with no name: that takes the square of its length."""


def words_meant(given: object, known: Iterable[object], *, said: Mapping[str, str] = {}) -> list[str]:
    """Those of the `known` names that `given` may stand for, by its letters, or as `said` has other words for some.

    >>> words_meant("epsilom", ["epsilon", "delta"]), words_meant("avg", ["sum", "mean"], said=OTHER_WORDS)
    (['epsilon'], ['mean'])
    """
    if not isinstance(given, str) or len(given) > LONGEST_WORD:
        return []
    from difflib import get_close_matches

    names = {_plain(each): each for each in known if isinstance(each, str) and len(each) <= LONGEST_WORD}
    word = _plain(given)
    meant = [word] if word in names else [each for each in names if word in said.get(each, "").split()]
    return [names[each] for each in meant or get_close_matches(word, names, n=1) if names[each] != given]


def did_you_mean(given: object, known: Iterable[object], *, said: Mapping[str, str] = {}) -> str:
    """The hint of an error at what `words_meant` finds; empty if that is nothing."""
    meant = words_meant(given, known, said=said)
    return f"Did you mean {' or '.join(map(repr, meant))}?" if meant else ""


def _plain(word: str) -> str:
    return word.strip().casefold().replace("-", "_").replace(" ", "_")

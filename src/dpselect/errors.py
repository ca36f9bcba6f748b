"""Every error the package raises on purpose, and how one shows an argument, or the URL of a server.

Messages mention only arguments, schema and public facts, never a score, a row or a candidate: an error travels further
(logs, tickets, screens) than the release it prevented.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from numbers import Integral
from typing import Any, ClassVar, dataclass_transform


class SelectionError(Exception):
    """Base of all errors of this package: ``except dpselect.SelectionError`` catches them all."""


@dataclass_transform(eq_default=False)
class _FactsError(SelectionError):
    """An error whose facts are fields, given in order: what Python itself keeps of these in `args` is pickled."""

    _says: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__module__ == __name__:  # others may add what they like
            dataclass(eq=False, repr=False)(cls)

    def __str__(self) -> str:
        return self._says.format_map(vars(self))


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


_NAMED = re.compile("`([a-z_]+)(?:=([^`]*))?`")  # an argument that a sentence names


class InvalidScoresError(InvalidParameterError):
    """The scores are invalid: empty, not finite, not one-dimensional or not numbers."""


class InvalidCandidatesError(InvalidParameterError):
    """The candidates are invalid: missing, of a different length than the scores, duplicated or of a wrong type."""


class InvalidDataError(InvalidParameterError):
    """The data source does not fit the question: no such file or column, or not the format that its name implies."""


class TableUnavailableError(_FactsError):
    """There is no such server, no permission, or the connection broke before the answer arrived; nothing was drawn."""

    source: str
    what: str
    _says = "table at {source}: {what}"


class FaultError(_FactsError):
    """A bug in this package, found while rows were read; neither the rows nor the arguments are the cause."""

    kind: str
    place: str
    _says = "this is a bug in dpselect, please report it: {kind} in {place}"


class InvalidEventError(InvalidParameterError):
    """A stored event cannot be read: an unknown kind or version, a missing or extra field, or a changed number."""


class LimitExceededError(_FactsError):
    """A privacy filter does not have enough left for an event; nothing was added to it."""

    epsilon: float
    delta: float
    spent: float
    _says = (
        "the event does not fit within epsilon = {epsilon!r}, delta = {delta!r};"
        " the epsilons spent so far add up to {spent!r}"
    )


class InsufficientMemoryError(SelectionError, MemoryError):
    """There is not enough memory for the index of so many scores, or for so many answers; nothing was drawn."""


class StreamEndedError(_FactsError):
    """A stream of questions may not answer any more; nothing was drawn. Another stream has to be paid for anew."""

    what: str
    _says = "{what}: begin another one, and charge it anew"


class MissingExtraError(_FactsError, ImportError):
    """A feature needs an optional package that is not installed."""

    what: str
    extra: str
    _says = "{what}: this needs the extra {extra!r}: pip install '.[{extra}]' in a checkout, or 'FILE.whl[{extra}]'"


def import_extra(module: str, what: str, extra: str) -> Any:
    """The module, or a `MissingExtraError` that names `what` needs it, and the `extra` that installs it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(what, extra) from None


class InvalidAccountError(InvalidParameterError):
    """The account does not allow that, whatever is left of it; nothing was charged or changed.

    The ledger has no such account, already has one of this name, the account is closed, has spent more than its new
    limit, or protects another unit, or under another neighbouring relation, than the charge.
    """


class RequestReusedError(InvalidParameterError):
    """The request id already belongs to another question; nothing was charged."""


class InvalidCertificateError(InvalidParameterError):
    """A release's certificate was edited, is incomplete, or does not match the ledger."""


def wrong(field: str, expected: str, hint: str = "") -> InvalidCertificateError:
    """The error for a field of a certificate. It never quotes what the field holds: that may be the answer."""
    return InvalidCertificateError("certificate", Shown(f"<{field}>"), expected, hint)


class LedgerError(_FactsError):
    """Base of all ledger errors that are not caused by an argument.

    Messages name the ledger without its password, and no answer.
    """

    ledger: str
    what: str
    _says = "ledger {ledger}: {what}"


class ChargeRefusedError(LedgerError):
    """The account does not have enough left; nothing was charged and nothing drawn.

    Attributes:
        left: the largest epsilon that is still certain to be accepted.
    """

    left: float


class LedgerUnavailableError(LedgerError):
    """The ledger cannot be used at this moment: no such file, server or database, no permission, no answer in time, or
    the connection broke. This may pass, and earlier charges are not in doubt.
    """


class LedgerBusyError(LedgerUnavailableError):
    """Others held the ledger's lock, or all connections, for longer than the timeout; nothing was written."""


class LedgerReadOnlyError(LedgerUnavailableError):
    """The ledger is read-only; nothing was written."""


class LedgerFullError(LedgerUnavailableError):
    """The ledger has no room for another entry; nothing was written."""


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

    Attributes:
        ledger: the anchor's location, without a password.
        sequence: number of the entry that was recorded in the ledger and could not be noted here, or None.
    """

    sequence: int | None = None
    _says = "anchor {ledger}: {what}"


class AnchorUnavailableError(AnchorError, LedgerUnavailableError):
    """An anchor cannot be read or written at this moment: its lock is held, the disk failed, or files ran out."""


class AnswerLostError(_FactsError):
    """Something failed after the charge: no answer was shown, and the charge stands.

    Attributes:
        account: the account that was charged.
        sequence: number of the entry.
    """

    account: str
    sequence: int
    why: str
    _says = "charged as entry {sequence} of account {account!r}, but no answer was shown, and the charge stands. {why}"


@dataclass(eq=False, repr=False)
class AnswerNotStoredWarning(UserWarning):
    """An answer was charged and returned, but the ledger could not store it for its request id.

    The process that warns keeps the answer, returns it again under the same id at no cost, and stores it as soon as
    that is possible. Another process would be charged again.
    """

    ledger: str
    account: str
    sequence: int
    why: str

    def __str__(self) -> str:
        charged = f"charged as entry {self.sequence} of account {self.account!r}, and answered"
        keep = "Keep it: this process returns the same answer again, but another process would charge again."
        return f"ledger {self.ledger}: {charged}, but the answer is not stored: {self.why}. {keep}"


class Shown(str):
    """Public text that may appear unchanged in an error (the name of an option or a column, a shape)."""

    __slots__ = ()


def typed(value: object) -> Shown:
    """How an error shows an argument that is the caller's own word and never data: short text unchanged."""
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
    """
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, float):  # NumPy's float64 is one; its own repr would say so
        return repr(float(value))
    if isinstance(value, Integral) and hasattr(value, "__index__"):  # NumPy's durations have none
        number = int(value)
        return repr(number) if number.bit_length() <= 64 else f"<int of {number.bit_length()} bits>"
    return f"<{type(value).__name__}>"


# Libraries do not agree on where a password in a URL with #, ? or / ends: only what none takes for a part is shown.
_HOST = r"(?:[\w.-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"
HOSTS = f"{_HOST}(?:,{_HOST})*"  # hosts and ports of a URL, such as ``db:5432`` or ``h1:1,[::1]:2``

_PLAIN = re.compile(
    r"postgres(?:ql)?(?:\+\w+)?://"
    r"(?:(?P<user>[\w.%+~-]*)(?P<password>:[^@/?#:\[\]\s]*)?@)?"
    rf"(?P<server>{HOSTS}(?:/[\w.%+~-]*)?)"
    r"(?P<options>\?[^@#]*)?"
)
"""Without an ``@`` but the one before the host: what is before it is the user and the password, to every reader."""

UNKNOWN = "postgresql://..."
HIDDEN = "<text that may hold a password>"

_KEYWORD = re.compile(r"(?:pass(?:w(?:or)?d|phrase|file)|pwd)\s*=", re.IGNORECASE)
_SCHEME = re.compile(r"\W*(?:\w[\w+.-]*://|[A-Za-z]:\\)")  # or a drive of Windows


def without_password(url: str) -> str:
    """`url` as it may be shown: without its options, because any of them may also contain a password."""
    parts = _PLAIN.fullmatch(url)
    if parts is None:
        return UNKNOWN
    user = f"{parts['user']}@" if parts["user"] else ""
    return f"postgresql://{user}{parts['server']}"


def table_name(url: str, name: str) -> str:
    """The name of a table on a server in messages, and in the identity of a question."""
    return f"{without_password(url)!r}, table={name!r}"


def may_hold_password(url: str) -> bool:
    """Whether `url` contains, or may contain, a password."""
    parts = _PLAIN.fullmatch(url)
    return parts is None or parts["password"] is not None or "password" in (parts["options"] or "").lower()


def may_tell_password(text: str) -> bool:
    """Whether `text`, given for something else, may be where a server is, with a password: a URL or libpq's words."""
    # Of a long text the scheme stays, as to look for it takes the square of the length: too much is hidden then.
    rest = text if len(text) > 1000 else _SCHEME.sub("", text, count=1)
    return _KEYWORD.search(text) is not None or 0 <= rest.find(":") < rest.rfind("@")


def is_login(text: str) -> bool:
    """Whether `text` can hardly be anything else than where a server is, with a password."""
    return _KEYWORD.search(text) is not None or ("://" in text and may_tell_password(text))

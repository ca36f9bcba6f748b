"""What the *ledger* page does to an account, always in two steps: say what would change, then change it.

An account that has changed between the steps is left alone: what was confirmed would be something else.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpselect.accounting.rounding import fraction_down
from dpselect.errors import InvalidAccountError, InvalidLimitError, InvalidParameterError, Shown
from dpselect.ledger import Account, Ledger
from dpselect.ledger.arguments import exact_fraction
from dpselect.ledger.records import as_written
from dpselect.web.planning import left_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of an account as it is now.

    Attributes:
        account: as it is before the change.
        limit: the new limit as it was typed; empty: the account is to be closed.
        reason: why; the ledger keeps it with a new limit.
    """

    account: Account
    limit: str = ""
    reason: str = ""

    @property
    def question(self) -> str:
        """What is asked before anything changes."""
        if self.limit:
            return f"Lower the limit of {self.account.name} from {_shown(self.account.epsilon)} to {self.limit}?"
        return f"Close {self.account.name} for ever?"

    @property
    def consequence(self) -> str:
        """What it would mean."""
        if self.limit:
            left = _limit(self.limit) - self.account.spent
            return (
                f"{left_text(fraction_down(left))} will be left, instead of {left_text(self.account.left)}. "
                "To raise it again weakens a promise, and takes the command line."
            )
        return (
            f"Nothing more can be asked on it; the epsilon that is left ({left_text(self.account.left)}) is lost. "
            "Its history stays. It cannot be opened again."
        )


def lower(account: Account, limit: str, reason: str) -> Change:
    """Ask for a lower limit.

    Raises:
        InvalidAccountError: the account is closed.
        InvalidLimitError: it would be below what is spent, or not below the limit now.
        InvalidParameterError: it is no number.
    """
    exact = _limit(limit)
    _refuse_closed(account)
    if exact < account.spent:
        raise InvalidLimitError("limit", float(exact), f"at least {_shown(account.spent)}, what is spent")
    if exact >= account.epsilon:
        hint = "Raising a limit takes the consent of those it protects: dpselect ledger limit does it."
        raise InvalidLimitError("limit", float(exact), f"less than {_shown(account.epsilon)}, the limit now", hint)
    return Change(account=account, limit=limit.strip(), reason=reason.strip())


def close(account: Account) -> Change:
    """Ask for the end of the account.

    Raises:
        InvalidAccountError: it is closed already.
    """
    _refuse_closed(account)
    return Change(account=account)


def make(change: Change, ledger: Ledger, *, seen: str) -> Account:
    """Make a change that was confirmed.

    Args:
        change: what was confirmed.
        ledger: where the account is.
        seen: the account's head when the change was asked for.

    Raises:
        InvalidAccountError: the account has changed since, or is closed.
        InvalidLimitError: more is spent than the new limit.
        LedgerError: the ledger cannot be written to.
    """
    if change.account.head != seen:
        hint = "Nothing was changed. Look at it again."
        raise InvalidAccountError("account", Shown(repr(change.account.name)), "the account that was shown", hint)
    if change.limit:
        return ledger.set_limit(change.account.name, epsilon=_limit(change.limit), reason=change.reason)
    return ledger.close(change.account.name)


def _limit(text: str) -> Fraction:
    """The double that a decimal means as the epsilon of a question, so that a question with all of it fits."""
    try:
        value = float(text)
    except ValueError:
        raise InvalidParameterError("limit", Shown("<text>"), "a number, such as 0.5") from None
    return exact_fraction(value, "limit")


def _refuse_closed(account: Account) -> None:
    if not account.is_open:
        raise InvalidAccountError("account", Shown(repr(account.name)), "an open account; this one is closed")


def _shown(exact: Fraction) -> str:
    return f"{as_written(exact):.12g}"

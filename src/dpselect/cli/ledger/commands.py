"""``dpselect ledger open|show|history|limit|close|export``; `checks.py` has the others."""

from __future__ import annotations

from cyclopts import App

from dpselect.cli.ledger.output import show_accounts, show_history
from dpselect.cli.options import Exact, Flag, Json, Whole, exact, in_one_piece
from dpselect.privacy import Neighbours

ledger_app = App(
    name="ledger",
    help="Keep accounts of privacy budgets: what was promised, and how much is spent.\n\n"
    "LEDGER is a file on a local disk, such as sqlite:///budget.db,\n"
    "or a database, such as postgresql://user@host/database.",
    help_format="plaintext",
    version_flags=[],
)


@ledger_app.command(name="open")
@in_one_piece
def open_account(
    ledger: str,
    account: str,
    /,
    *,
    epsilon: Exact,
    delta: Exact = "0",
    set_aside: Exact = "0",
    unit: str | None = None,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    anchor: str | None = None,
    quiet: Flag = False,
    as_json: Json = False,
) -> None:
    """Open an account: all answers charged to it stay within epsilon.

    dpselect ledger open sqlite:///budget.db clicks \\
        --epsilon 3 --unit session

    Args:
        ledger: File or database of the ledger. A file is created if there is none.
        account: Name of the new account.
        epsilon: Limit, compared exactly. A fraction such as 1/10 is exact. A decimal counts as the nearest double, as
            it does for a question's epsilon: 0.5 and 0.25 are exact, 0.1 is a little more than a tenth. So one 0.1
            fits into 0.1 but not into 1/10, and ten of them fit into 1.000001 but not into 1.
        delta: Probability with which epsilon may fail, written like epsilon. Above 0, it allows more answers, from
            about ten on.
        set_aside: Part of delta reserved for mechanisms that have a delta of their own.
        unit: Column that identifies who is protected. Default: that of the first answer.
        neighbours: Which tables the guarantee compares: add-remove, or replace-one if the number of units is public.
        anchor: File that records the latest entry of each account.
        quiet: Print nothing on success.
        as_json: Print a JSON object instead of a table.
    """
    from dpselect.ledger import Ledger

    with Ledger(ledger, anchor=anchor) as opened:
        account_opened = opened.open_account(
            account,
            epsilon=exact(epsilon, "epsilon"),
            delta=exact(delta, "delta"),
            set_aside=exact(set_aside, "set_aside"),
            unit=unit,
            neighbours=neighbours,
        )
    show_accounts([account_opened], as_json=as_json, quiet=quiet)


@ledger_app.command
def show(ledger: str, account: str | None = None, /, *, as_json: Json = False) -> None:
    """Show what is left of an account, or of all accounts.

    Args:
        ledger: File or database of the ledger.
        account: Name of an account. Default: all.
        as_json: Print one JSON object per line instead of a table.
    """
    from dpselect.ledger import Ledger

    with Ledger(ledger) as opened:
        found = opened.accounts() if account is None else [opened.account(account)]
    show_accounts(found, as_json=as_json)


@ledger_app.command
def history(ledger: str, account: str, /, *, last: Whole | None = None, as_json: Json = False) -> None:
    """Show the entries of an account, in order.

    Args:
        ledger: File or database of the ledger.
        account: Name of the account.
        last: Number of entries, counted from the end. Default: all.
        as_json: Print one JSON object per line instead of a table.
    """
    from dpselect.ledger import Ledger

    with Ledger(ledger) as opened:
        show_history(opened.entries(account, last=last), as_json=as_json)


@ledger_app.command
def limit(
    ledger: str,
    account: str,
    /,
    *,
    epsilon: Exact,
    reason: str = "",
    anchor: str | None = None,
    quiet: Flag = False,
    as_json: Json = False,
) -> None:
    """Raise or lower the limit of an account; the change is an entry of its own.

    Args:
        ledger: File or database of the ledger.
        account: Name of the account.
        epsilon: New limit, a decimal or a fraction such as 1/3; at least what is spent.
        reason: Why the limit changes, and who allowed it. The entry contains it.
        anchor: File that records the latest entry of each account.
        quiet: Print nothing on success.
        as_json: Print a JSON object instead of a table.
    """
    from dpselect.ledger import Ledger

    with Ledger(ledger, anchor=anchor) as opened:
        changed = opened.set_limit(account, epsilon=exact(epsilon, "epsilon"), reason=reason)
    show_accounts([changed], as_json=as_json, quiet=quiet)


@ledger_app.command
def close(
    ledger: str, account: str, /, *, anchor: str | None = None, quiet: Flag = False, as_json: Json = False
) -> None:
    """Close an account permanently: nothing more can be charged to it.

    Args:
        ledger: File or database of the ledger.
        account: Name of the account.
        anchor: File that records the latest entry of each account.
        quiet: Print nothing on success.
        as_json: Print a JSON object instead of a table.
    """
    from dpselect.ledger import Ledger

    with Ledger(ledger, anchor=anchor) as opened:
        closed = opened.close(account)
    show_accounts([closed], as_json=as_json, quiet=quiet)


@ledger_app.command
def export(ledger: str, account: str | None = None, /) -> None:
    """Print all entries as JSON, one per line, with the text that each hash is computed from.

    Args:
        ledger: File or database of the ledger.
        account: Name of an account. Default: all.
    """
    from dpselect.ledger import Ledger

    with Ledger(ledger) as opened:
        for line in opened.export(account):
            print(line)

"""The pages of the ledger: its accounts, what is left, their history, whether it is intact, and changes of an account.

A change is asked for on one page and made on the next, and only if the account is then as it was shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dpselect.accounting.rounding import fraction_up
from dpselect.errors import InvalidAccountError, SelectionError
from dpselect.ledger import Account, Entry, Ledger, Verified
from dpselect.ledger.records import as_written, with_few_digits
from dpselect.questions.words import as_text
from dpselect.web import account_changes
from dpselect.web.pages import Pages, route
from dpselect.web.planning import left_text
from dpselect.web.releasing import PREFIX

MOST_ENTRIES = 100
"""Of a history on the page; ``dpselect ledger history`` shows all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """An account in texts, for a line and a bar.

    Attributes:
        account: what it is about.
        limit, spent, left: epsilons.
        part: of 100, how much is spent.
        link: address of its page.
    """

    account: Account
    limit: str
    spent: str
    left: str
    part: float
    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """An entry of a history in texts; `release` is the id of the page of its answer, or ""."""

    number: int
    time: str
    kind: str
    what: str
    epsilon: str
    note: str
    release: str


def balance(account: Account) -> Balance:
    """The texts of an account."""
    return Balance(
        account=account,
        limit=as_text(as_written(account.epsilon)),
        spent=as_text(with_few_digits(fraction_up(account.spent), up=True)),
        left=left_text(account.left),
        part=round(min(float(100 * account.spent / account.epsilon), 100.0), 2),
        link="/ledger/account?" + urlencode({"name": account.name}),
    )


def _line(entry: Entry) -> Line:
    request = entry.request or ""
    asked = _question_of(entry.release)
    is_page = request.startswith(PREFIX) and entry.release is not None
    return Line(
        number=entry.sequence,
        time=entry.time.partition(".")[0].replace("T", " "),
        kind=entry.kind,
        what=f"{asked} ({entry.what})" if asked else entry.what,
        epsilon="" if entry.kind == "close" else f"{entry.epsilon:.6g}",
        note=entry.note,
        release=request.removeprefix(PREFIX) if is_page else "",
    )


def _question_of(release: str | None) -> str:
    """What a stored answer says that was asked, such as "median of age"; empty if it does not say it."""
    try:
        question = json.loads(release or "{}").get("question", {})
        ask, column = question.get("ask"), question.get("column")
    except (ValueError, AttributeError, RecursionError):
        return ""  # `verify` tells that it is damaged
    if not isinstance(ask, str):
        return ""
    named = ask.replace("_", " ")
    return f"{named} of {column}" if isinstance(column, str) else named


def accounts(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """All accounts."""
    return _overview(pages)


def verify(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """Lead on to what is found, on a page that can be loaded again."""
    return RedirectResponse("/ledger/verified", status_code=303)


def verified(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """All accounts, and whether all of their entries are those that were written."""
    ledger = pages.site.ledger
    if ledger is None:
        return _overview(pages)
    try:
        found = ledger.verify()
    except SelectionError as error:
        return _overview(pages, broken=str(error), status=409)
    return _overview(pages, intact={each.account: each for each in found})


def _overview(
    pages: Pages, *, intact: Mapping[str, Verified] | None = None, broken: str = "", status: int = 200
) -> Response:
    ledger = pages.site.ledger
    found = [] if ledger is None or broken else [balance(each) for each in ledger.accounts()]
    return pages.shown("ledger.html", status=status, balances=found, intact=intact, broken=broken)


def account(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """One account with its history."""
    return _one(pages, request.query_params.get("name", ""))


def _one(pages: Pages, name: str, *, typed: Mapping[str, str] | None = None, refused: str = "") -> Response:
    ledger = pages.site.ledger
    if ledger is None:
        return _overview(pages)
    try:
        held = ledger.account(name)
    except InvalidAccountError as error:
        return pages.error(404, "No such account", str(error))
    history = [_line(each) for each in reversed(ledger.history(name, last=MOST_ENTRIES))]
    return pages.shown(
        "account.html",
        status=400 if refused else 200,
        balance=balance(held),
        history=history,
        earlier=held.entries - len(history),
        typed=typed or {},
        refused=refused,
    )


def lower(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """Ask whether to lower the limit of an account."""
    return _proposed(pages, request.query_params, closes=False)


def close(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """Ask whether to close an account."""
    return _proposed(pages, request.query_params, closes=True)


def _proposed(pages: Pages, typed: Mapping[str, str], *, closes: bool) -> Response:
    ledger, name = pages.site.ledger, typed.get("name", "")
    if ledger is None:
        return _overview(pages)
    if not name:
        return RedirectResponse("/ledger", status_code=303)
    try:
        change = _change(ledger, name, typed, closes=closes)
    except SelectionError as error:
        return _one(pages, name, typed=typed, refused=str(error))
    return pages.shown("change.html", change=change, link=balance(change.account).link)


def make(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """Make the change that was confirmed."""
    ledger, name = pages.site.ledger, typed.get("name", "")
    if ledger is None:
        return _overview(pages)
    try:
        change = _change(ledger, name, typed, closes="limit" not in typed)
        account_changes.make(change, ledger, seen=typed.get("seen", ""))
    except SelectionError as error:
        return _one(pages, name, typed=typed, refused=str(error))
    return RedirectResponse(balance(change.account).link, status_code=303)


def _change(ledger: Ledger, name: str, typed: Mapping[str, str], *, closes: bool) -> account_changes.Change:
    held = ledger.account(name)
    if closes:
        return account_changes.close(held)
    return account_changes.lower(held, typed.get("limit", ""), typed.get("reason", ""))


ROUTES = (
    route("/ledger", accounts),
    route("/ledger/account", account),
    route("/ledger/verify", verify, "POST"),
    route("/ledger/verified", verified),
    route("/ledger/change", make, "POST"),
    route("/ledger/lower", lower),
    route("/ledger/close", close),
)

"""The page of the account that pays: what is left, and what was charged. Changes take the command line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from dpselect.ledger import Entry
from dpselect.web.pages import Pages, route
from dpselect.web.planning import budget_of
from dpselect.web.releasing import PREFIX

MOST_ENTRIES = 100
"""Of a history on the page; ``dpselect ledger history`` shows all."""


def account(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """The account with its history; without one, where it is opened."""
    ledger, held = pages.site.ledger, pages.site.held
    if ledger is None or held is None:
        return pages.shown("account.html", budget=None)
    history = [_line(each) for each in reversed(ledger.history(held.name, last=MOST_ENTRIES))]
    earlier = held.entries - len(history)
    return pages.shown("account.html", account=held, budget=budget_of(held), history=history, earlier=earlier)


def _line(entry: Entry) -> dict[str, Any]:
    """An entry in texts; `release` is the id of the page of its answer, or empty."""
    request, asked = entry.request or "", _question_of(entry.release)
    is_page = request.startswith(PREFIX) and entry.release is not None
    return {
        "number": entry.sequence,
        "time": entry.time.partition(".")[0].replace("T", " "),
        "kind": entry.kind,
        "what": f"{asked} ({entry.what})" if asked else entry.what,
        "epsilon": "" if entry.kind == "close" else f"{entry.epsilon:.6g}",
        "note": entry.note,
        "release": request.removeprefix(PREFIX) if is_page else "",
    }


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


ROUTES = (route("/ledger", account),)

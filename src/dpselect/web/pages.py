"""What all pages need: what they are about, what was asked so far, and the templates that show it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from dpselect import __version__
from dpselect.ledger import Account
from dpselect.questions.question import as_text
from dpselect.questions.wording import rounded_up
from dpselect.session import Forecast
from dpselect.web.forms import in_few_words, title
from dpselect.web.planning import Budget, Curves, Latest, budget_of, left_text
from dpselect.web.releasing import Questions
from dpselect.web.site import Site

_MOST_FIELDS = 200
"""Of a form."""

_HTMX = {
    "allowEval": False,
    "allowScriptTags": False,
    "attributesToSettle": ["class", "width", "height"],  # a style would be refused by the policy
    "historyCacheSize": 0,
    "includeIndicatorStyles": False,
    "selfRequestsOnly": True,
}
"""What htmx must not do."""


@dataclass(frozen=True, slots=True)
class Pages:
    """What all pages need: what they are about, and what was asked and planned so far."""

    site: Site
    questions: Questions = field(default_factory=Questions)
    curves: Curves = field(default_factory=Curves)
    pictures: Latest[str] = field(default_factory=Latest[str])

    def shown(self, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """A template as a page, or as a part of one. All values are escaped."""
        text = _templates().get_template(template).render(site=self.site, **values)
        return HTMLResponse(text, status_code=status)

    @property
    def account(self) -> Account | None:
        """The account that pays, as it is now."""
        ledger, name = self.site.ledger, self.site.account
        return None if ledger is None or name is None else ledger.account(name)

    def budget(self, forecast: Forecast) -> Budget | None:
        """What an answer would leave of the account; None without one."""
        held = self.account
        return None if held is None else budget_of(held, forecast)

    def error(self, status: int, title: str, text: str) -> HTMLResponse:
        """A page that says what went wrong."""
        return self.shown("error.html", status=status, title=title, text=text)


Handler = Callable[[Pages, Request, Mapping[str, str]], Response]
"""Answers a request from the pages' state, with what was typed into the form."""


def route(path: str, handler: Handler, *methods: str) -> Route:
    """A page. It is made on a thread of its own, because planning computes and ledgers wait."""

    async def answer(request: Request) -> Response:
        typed: dict[str, str] = {}
        if request.method == "POST":
            text = (await request.body()).decode("utf-8", errors="replace")
            try:
                typed = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS))
            except ValueError:
                raise HTTPException(400) from None
        return await run_in_threadpool(handler, request.app.state.pages, request, typed)

    return Route(path, answer, methods=list(methods or ("GET",)))


@cache
def _templates() -> Environment:
    found = Environment(
        loader=PackageLoader("dpselect.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    known: dict[str, Any] = {"version": __version__, "htmx_config": json.dumps(_HTMX)}
    found.globals.update(known)
    found.filters.update(
        as_text=as_text,
        rounded_up=rounded_up,
        title_of=title,
        in_few_words=in_few_words,
        left=left_text,
        shell=shlex.quote,
    )
    return found

"""What all pages need: what they are about, what was asked so far, and the templates that show it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from dpselect import __version__
from dpselect.ledger.accounts import left_shown
from dpselect.questions.question import BY_NAME
from dpselect.questions.words import as_text
from dpselect.web.releasing import PageRequest, Questions
from dpselect.web.site import Folder, Site
from dpselect.web.words import GROUPS, does, label, options_in_words, title

_MOST_FIELDS = 200
"""Of a form."""

_HTMX = {
    "allowEval": False,
    "allowScriptTags": False,
    "historyCacheSize": 0,
    "includeIndicatorStyles": False,
    "selfRequestsOnly": True,
}
"""What htmx must not do."""

Typed = Mapping[str, str]
"""What was typed into a form, or what the address of a page says after its question mark."""


@dataclass(slots=True)
class Pages:
    """What all pages need.

    Attributes:
        site: what they are about now.
        folder: whose tables can be chosen; None: the table was named in the command.
        questions: what was asked so far.
        picture: of the latest answer that was looked at, with its id: a page and its picture come one after the other.
        start: what the command said of every table.
    """

    site: Site
    folder: Folder | None = None
    questions: Questions = field(default_factory=Questions)
    picture: tuple[str, str] = "", ""
    start: Site = field(init=False)

    def __post_init__(self) -> None:
        self.start = self.site

    def shown(self, template: str, *, status: int = 200, site: Site | None = None, **values: Any) -> HTMLResponse:
        """A template as a page, or as a part of one, about `site`, by default the one now. All values are escaped."""
        about = {"site": site or self.site, "folder": self.folder, "answered": self.answered}
        return HTMLResponse(_templates().get_template(template).render(**about, **values), status_code=status)

    @property
    def answered(self) -> list[PageRequest]:
        """The questions about the table of now that have an answer, the latest first."""
        return [each for each in self.questions.answered if each.form.site.subject == self.site.subject]

    def error(self, status: int, title: str, text: str) -> HTMLResponse:
        """A page that says what went wrong."""
        return self.shown("error.html", status=status, title=title, text=text)


def led_to(address: str) -> Response:
    """Leads the browser on to another page."""
    return RedirectResponse(address, status_code=303)


def route(path: str, handler: Callable[..., Response], method: str = "GET") -> Route:
    """A page: a function of the pages' state, of what was typed, and by name of the parts of the address.

    It runs on a thread of its own, because planning computes and ledgers wait.
    """

    async def answer(request: Request) -> Response:
        typed = dict(request.query_params)
        if request.method == "POST":
            text = (await request.body()).decode("utf-8", errors="replace")
            try:
                typed = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS))
            except ValueError:
                raise HTTPException(400) from None
        return await run_in_threadpool(handler, request.app.state.pages, typed, **request.path_params)

    return Route(path, answer, methods=[method])


@cache
def _templates() -> Environment:
    loader = PackageLoader("dpselect.web")
    found = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    groups = {head: [(BY_NAME[name], called) for name, called in named.items()] for head, named in GROUPS.items()}
    known: dict[str, Any] = {"version": __version__, "htmx_config": json.dumps(_HTMX), "groups": groups}
    found.globals.update(known)
    found.filters.update(as_text=as_text, title_of=title, label_of=label, does=does)
    found.filters.update(options_in_words=options_in_words, left=left_shown)
    return found

"""The pages as one application: its routes, its files, and what is shown when something goes wrong."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import files

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dpselect.errors import SelectionError
from dpselect.web import answering, choosing, ledger_pages
from dpselect.web.guards import Guard, Guarded
from dpselect.web.pages import Pages, route
from dpselect.web.site import Site

_PATIENCE_SECONDS = 10.0
"""At the end, for charges in progress."""

_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_FILES = ("style.css", "page.js", "htmx.min.js", "icon.svg")


def application(site: Site, guard: Guard) -> Guarded:
    """All pages about `site`, behind `guard`.

    >>> application(Site(), Guard("127.0.0.1", 8123)).guard.address
    'http://127.0.0.1:8123/'
    """
    pages = Pages(site)

    @asynccontextmanager
    async def until_the_end(app: Starlette) -> AsyncGenerator[None]:
        yield
        await run_in_threadpool(pages.questions.stop, _PATIENCE_SECONDS)

    app = Starlette(
        routes=[
            *choosing.ROUTES,
            *answering.ROUTES,
            *ledger_pages.ROUTES,
            route("/static/{name}", _file),
        ],
        exception_handlers={HTTPException: _not_found, SelectionError: _refused, Exception: _unforeseen},
        lifespan=until_the_end,
    )
    app.state.pages = pages
    return Guarded(app, guard)


def _file(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """One of the files that the pages use; no other one has a name here."""
    name = request.path_params["name"]
    if name not in _FILES:
        return pages.error(404, "No such page", "There is no page of this name.")
    return Response(_content(name), media_type=_TYPES[name.rpartition(".")[2]])


@cache
def _content(name: str) -> bytes:
    return files("dpselect.web").joinpath("static", name).read_bytes()


async def _not_found(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    if status == 405 and request.method in ("GET", "HEAD"):  # a form was sent there: its page is the one above
        above = request.url.path.rpartition("/")[0]
        return RedirectResponse("/" if above.startswith("/looked") else above, status_code=303)
    if status != 404:
        return request.app.state.pages.error(status, "Not understood", "There is no such form or page.")
    return request.app.state.pages.error(status, "No such page", "There is no page of this name.")


async def _refused(request: Request, error: Exception) -> Response:
    return request.app.state.pages.error(400, "That did not work", str(error))


async def _unforeseen(request: Request, error: Exception) -> Response:
    text = f"unexpected {type(error).__name__}; nothing was shown. Please report it."
    return request.app.state.pages.error(500, "A fault", text)

"""Visits pages without a network: requests as a browser would send them, and some that none would."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from dpselect.web import Folder, Guard, Site, application

PORT = 8123
OWN = f"127.0.0.1:{PORT}"


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def words(self) -> str:
        """What is read of a page, without its marks."""
        return " ".join(html.unescape(re.sub("<[^>]*>", " ", self.text)).split())


def guard_of(host: str, port: int = PORT) -> Guard:
    """What keeps everybody out of a server at this address but those who were given it."""
    return Guard(host, port)


@dataclass
class Visitor:
    """One browser; its cookies are kept."""

    site: Site
    guard: Guard = field(default_factory=lambda: guard_of("127.0.0.1"))
    cookies: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self.app: Any = application(self.site, self.guard)

    @property
    def pages(self) -> Any:
        return self.app.inner.state.pages

    def enter(self) -> Visitor:
        """Open the one-time address."""
        assert self.get("/?" + self.guard.first_address.partition("?")[2]).status == 200
        return self

    def get(self, path: str, **headers: str) -> Answer:
        return self.send("GET", path, headers=headers)

    def post(self, path: str, form: Mapping[str, str] | None = None, **headers: str) -> Answer:
        """Send a form as a page of this server does; `headers` replace those of a browser, empty ones are left out."""
        usual = {"origin": f"http://{OWN}", "content-type": "application/x-www-form-urlencoded"}
        return self.send("POST", path, urlencode(form or {}).encode(), usual | headers)

    def send(self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
        named = {"host": OWN} | {name.replace("_", "-"): value for name, value in (headers or {}).items()}
        if self.cookies:
            named.setdefault("cookie", "; ".join(f"{name}={value}" for name, value in self.cookies.items()))
        if body:
            named.setdefault("content-length", str(len(body)))
        route, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": route,
            "raw_path": route.encode(),
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in named.items() if value],
            "server": ("127.0.0.1", PORT),
            "client": ("127.0.0.1", 5000),
        }
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        # On a thread of its own: browsers of other tests have a loop in this one.
        with ThreadPoolExecutor(1) as apart:
            apart.submit(asyncio.run, self.app(scope, receive, send)).result()
        (head, *parts) = sent
        found = {name.decode().lower(): value.decode() for name, value in head["headers"]}
        if (cookie := found.get("set-cookie")) is not None:
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        body = b"".join(part.get("body", b"") for part in parts)
        assert not re.search(b"&lt;(bound method|function|class|[^&]* object at 0x)", body), "a page shows code"
        return Answer(head["status"], found, body)

    def submit(self, path: str, form: Mapping[str, str]) -> Answer:
        """Send a form, and load the page that it leads to; or the form again, if something is wrong with it."""
        came = self.post(path, form)
        if came.status == 422:
            return came
        assert came.status == 303, came.words
        return self.get(came.headers["location"])

    def confirm(self, question: str, **form: str) -> str:
        """Fill in a form and go on to the confirmation; its address."""
        came = self.post(f"/ask/{question}/confirm", {name.replace("__", "."): text for name, text in form.items()})
        assert came.status == 303, came.words
        return came.headers["location"]

    def release(self, question: str, **form: str) -> Answer:
        """The page with the answer."""
        address = self.confirm(question, **form)
        assert self.post(address).status == 303
        self.pages.asked[address.rpartition("/")[2]].wait(30)
        return self.get(address)


def visit(source: str | None = None, unit: str | None = None, *, folder: str | None = None, **about: Any) -> Visitor:
    """One who has opened the page about a table, or about the tables of a folder."""
    site = Site(source=source, unit=unit, folder=None if folder is None else Folder(folder), **about)
    return Visitor(site).enter()


MEDIAN = {"column": "age", "bounds__lower-end": "0", "bounds__upper-end": "120", "step": "1", "epsilon": "0.5"}
COMMON = {"column": "education_num", "candidates": "1..16", "epsilon": "1"}

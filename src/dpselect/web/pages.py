"""What all pages need: what they are about, what was asked so far, and the templates that show it.

Each question has an id, made when its confirmation is shown: however often that is sent, it is paid for once. With a
ledger it is the request id, so the ledger, too, answers the second time at no cost; else this process keeps the answer.
"""

from __future__ import annotations

import json
import secrets
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
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
from dpselect.certificates.release import Release
from dpselect.errors import AnswerLostError, AnswerNotStoredWarning, SelectionError
from dpselect.ledger.accounts import left_shown
from dpselect.questions.question import BY_NAME
from dpselect.questions.words import as_text
from dpselect.web.forms import Form, error_in_words, label, options_in_words
from dpselect.web.site import Folder, Site

PREFIX = "page-"  # of the request ids in a ledger
# Confirmations that were not used, and looks that are over, with exact numbers: older ones are forgotten.
_MOST_OPEN, _MOST_LOOKED = 1000, 50
_SCANNING = threading.Lock()  # scans would share the disk and the memory, and warnings are of a process

_FORBIDDEN = {"allowEval": False, "allowScriptTags": False, "historyCacheSize": 0, "includeIndicatorStyles": False}
_HTMX = {**_FORBIDDEN, "selfRequestsOnly": True}
"""What htmx must not do."""

Typed = Mapping[str, str]
"""What was typed into a form, or what the address of a page says after its question mark."""


class Stage(StrEnum):
    """How far a question is."""

    OPEN = "open"
    READING = "reading"
    ANSWERED = "answered"
    STOPPED = "stopped"
    REFUSED = "refused"
    LOST = "lost"


class StoppedError(Exception):
    """Raised within a scan that nobody waits for any more."""


@dataclass(eq=False, slots=True)
class Work:
    """Something that reads the rows: how far, what came out, why nothing did, or what went wrong all the same."""

    id: str = field(default_factory=lambda: secrets.token_hex(8))
    stage: Stage = Stage.OPEN
    fraction: float = 0.0
    result: Any = None
    refused: str = ""
    note: str = ""
    _stop: threading.Event = field(default_factory=threading.Event)
    _lock: Any = field(default_factory=threading.Lock)
    _thread: threading.Thread | None = None

    def start(self, act: Callable[[Callable[[float], None]], Any]) -> bool:
        """Begin, unless it runs or has ended well or for good; whether it began."""
        with self._lock:
            if self.stage in (Stage.READING, Stage.ANSWERED, Stage.LOST):
                return False
            self.stage, self.fraction, self.refused, self.note = Stage.READING, 0.0, "", ""
            self._stop.clear()
            self._thread = threading.Thread(target=self._run, args=(act,), daemon=True)
            self._thread.start()
            return True

    def stop(self, seconds: float = 0.0) -> None:
        """Stop reading, and wait for the end as long as this. What has been charged by now is answered all the same."""
        self._stop.set()
        self.wait(seconds)

    def wait(self, seconds: float) -> None:
        """Wait for its end, but no longer than this."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _advance(self, fraction: float) -> None:
        if self._stop.is_set():
            raise StoppedError
        self.fraction = fraction

    def _run(self, act: Callable[[Callable[[float], None]], Any]) -> None:
        stage, said = Stage.REFUSED, ""
        try:
            while not _SCANNING.acquire(timeout=0.1):
                self._advance(0.0)
            try:
                self._advance(0.0)
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always", AnswerNotStoredWarning)
                    self.result = act(self._advance)
            finally:
                _SCANNING.release()
            stage = Stage.ANSWERED
            self.note = " ".join(str(each.message) for each in caught if each.category is AnswerNotStoredWarning)
        except StoppedError:
            stage = Stage.STOPPED
        except AnswerLostError as error:
            stage, said = Stage.LOST, str(error)
        except SelectionError as error:
            said = error_in_words(error)
        except Exception as error:  # noqa: BLE001 - its text may quote a row
            said = f"unexpected {type(error).__name__}; nothing was shown. Please report it."
        with self._lock:
            self.refused, self.stage = said, stage


@dataclass(eq=False, slots=True, kw_only=True)
class PageRequest(Work):
    """One question, from its confirmation, with the stamp that the table had then, to its answer."""

    form: Form
    epsilon: float
    stamp: str

    @property
    def release(self) -> Release[Any] | None:
        """The answer, if there is one."""
        return self.result if self.stage is Stage.ANSWERED else None

    @property
    def is_outdated(self) -> bool:
        """Whether the table was written after the confirmation had been shown: it can only be asked anew."""
        return self.form.site.stamp != self.stamp

    def answer(self, progress: Callable[[float], None]) -> Release[Any]:
        """Read the rows, charge and draw."""
        site = self.form.site
        if self.is_outdated:
            why = "The table was written after this page had been opened: its files differ in size or time. Nothing was"
            raise SelectionError(f"{why} read or charged. See whether the question still fits, and ask again.")
        more = {} if site.ledger is None else {"request": PREFIX + self.id}
        release = self.form.reply(site.data(progress), self.epsilon, **more)
        counted = None if release.usable is None or release.where else release.usable.count
        if isinstance(counted, int):  # was released, and is better than a guess
            site.people = str(max(counted, 1))
        return release


@dataclass(slots=True)
class Pages:
    """What all pages need: what they are about now, and all questions of this process."""

    site: Site
    folder: Folder | None = None  # whose tables can be chosen; None: the table was named in the command
    asked: dict[str, PageRequest] = field(default_factory=dict[str, PageRequest])
    looked: dict[str, Work] = field(default_factory=dict[str, Work])  # what reads rows for the holder's eyes
    picture: tuple[str, str] = "", ""  # of the latest answer, with its id: a page and its picture follow each other
    start: Site = field(init=False)  # what the command said of every table
    _lock: Any = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.start = self.site

    def shown(self, template: str, *, status: int = 200, site: Site | None = None, **values: Any) -> HTMLResponse:
        """A template as a page, or as a part of one, about `site`, by default the one now. All values are escaped."""
        about = {"site": site or self.site, "folder": self.folder, "answered": self.answered}
        return HTMLResponse(_templates().get_template(template).render(**about, **values), status_code=status)

    def error(self, status: int, title: str, text: str) -> HTMLResponse:
        """A page that says what went wrong."""
        return self.shown("error.html", status=status, title=title, text=text)

    @property
    def answered(self) -> list[PageRequest]:
        """The questions about the table of now that have an answer, the latest first."""
        with self._lock:
            asked = [*reversed(self.asked.values())]
        return [each for each in asked if each.release is not None and each.form.site.subject == self.site.subject]

    def confirm(self, form: Form, epsilon: float) -> PageRequest:
        """A question that waits for its confirmation."""
        asked = PageRequest(form=form, epsilon=epsilon, stamp=form.site.stamp)
        self._keep(self.asked, asked, _MOST_OPEN, lambda stage: stage is Stage.OPEN)
        return asked

    def look(self, act: Callable[[Callable[[float], None]], Any]) -> str:
        """Begin to read the rows for the holder's eyes; the id of the work."""
        work = Work()
        self._keep(self.looked, work, _MOST_LOOKED, lambda stage: stage not in (Stage.OPEN, Stage.READING))
        work.start(act)
        return work.id

    def _keep(self, held: dict[str, Any], new: Work, most: int, is_unused: Callable[[Stage], bool]) -> None:
        """Keep what is new, and of what is not used any more the latest."""
        with self._lock:
            held[new.id] = new
            for id in [id for id, work in held.items() if is_unused(work.stage)][:-most]:
                del held[id]

    def stop(self, seconds: float) -> None:
        """Stop all reading, and wait for what is being charged."""
        with self._lock:
            every = [*self.asked.values(), *self.looked.values()]
        for patience in (0.0, seconds):
            for work in every:
                work.stop(patience)


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
                typed = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=200))
            except ValueError:
                raise HTTPException(400) from None
        return await run_in_threadpool(handler, request.app.state.pages, typed, **request.path_params)

    return Route(path, answer, methods=[method])


@cache
def _templates() -> Environment:
    loader = PackageLoader("dpselect.web")
    found = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    known: dict[str, Any] = {"version": __version__, "htmx_config": json.dumps(_HTMX), "questions": BY_NAME}
    found.globals.update(known)
    found.filters.update(as_text=as_text, label_of=label, options_in_words=options_in_words, left=left_shown)
    return found

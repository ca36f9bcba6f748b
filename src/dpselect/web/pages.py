"""What all pages need; and those of one question from its confirmation to its answer, and of what was spent.

Each question has an id, made when its confirmation is shown: however often that is sent, it is paid for once. With a
ledger it is the request id, so the ledger, too, answers the second time at no cost; else this process keeps the answer.
"""

from __future__ import annotations

import csv
import io
import json
import re
import secrets
import threading
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qsl

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from dpselect import __version__
from dpselect.certificates.checking import read_certificate
from dpselect.certificates.release import Release, columns
from dpselect.errors import AnswerLostError, AnswerNotStoredWarning, MissingExtraError, SelectionError
from dpselect.ledger import Entry
from dpselect.ledger.accounts import UNREADABLE, left_shown
from dpselect.plans.answers import only_value, picture_of, report
from dpselect.privacy import as_text
from dpselect.questions import wording
from dpselect.questions.question import QUESTIONS
from dpselect.web.forms import Form, accuracy_of, budget_of, error_in_words, label, options_in_words
from dpselect.web.site import Site

PREFIX, BODY = "page-", "dpselect.body"  # of the request ids in a ledger; where a request has its form, once it is read
# Confirmations that were not used, and looks that are over, with exact numbers: older ones are forgotten.
_MOST_OPEN, _MOST_LOOKED = 1000, 50
_SCANNING = threading.Lock()  # scans would share the disk and the memory, and warnings are of a process

Typed = Mapping[str, str]  # what was typed into a form, or what the address of a page says after its question mark

Stage = Literal["open", "reading", "answered", "stopped", "refused", "lost"]


@dataclass(eq=False, slots=True)
class Work:
    """Something that reads the rows: how far, what came out, and what is said: a warning, or why nothing came."""

    id: str = field(default_factory=lambda: secrets.token_hex(8))
    stage: Stage = "open"
    fraction: float = 0.0
    result: Any = None
    said: str = ""
    _stop: threading.Event = field(default_factory=threading.Event)
    _lock: Any = field(default_factory=threading.Lock)
    _thread: threading.Thread | None = None

    def start(self, act: Callable[[Callable[[float], None]], Any]) -> None:
        """Begin, unless it runs or has ended well or for good."""
        with self._lock:
            if self.stage in ("open", "stopped", "refused"):
                self.stage, self.fraction, self.said = "reading", 0.0, ""
                self._stop.clear()
                self._thread = threading.Thread(target=self._run, args=(act,), daemon=True)
                self._thread.start()

    def stop(self, seconds: float = 0.0) -> None:
        """Stop reading, and wait for the end as long as this. What has been charged by now is answered all the same."""
        self._stop.set()
        self.wait(seconds)

    def wait(self, seconds: float) -> None:
        if self._thread is not None:
            self._thread.join(seconds)

    def _advance(self, fraction: float) -> None:
        if self._stop.is_set():
            raise CancelledError
        self.fraction = fraction

    def _run(self, act: Callable[[Callable[[float], None]], Any]) -> None:
        stage: Stage = "refused"
        result, said = None, ""
        try:
            while not _SCANNING.acquire(timeout=0.1):
                self._advance(0.0)
            try:
                self._advance(0.0)
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always", AnswerNotStoredWarning)
                    result = act(self._advance)
            finally:
                _SCANNING.release()
            stage = "answered"
            said = " ".join(str(each.message) for each in caught if each.category is AnswerNotStoredWarning)
        except CancelledError:
            stage = "stopped"
        except AnswerLostError as error:
            stage, said = "lost", str(error)
        except SelectionError as error:
            said = error_in_words(error)
        except Exception as error:  # noqa: BLE001 - its text may quote a row
            said = f"unexpected {type(error).__name__}; nothing was shown. Please report it."
        with self._lock:
            self.result, self.said, self.stage = result, said, stage


@dataclass(eq=False, slots=True, kw_only=True)
class PageRequest(Work):
    """One question, from its confirmation, with the stamp that the table had then, to its answer."""

    form: Form
    stamp: str

    @property
    def is_outdated(self) -> bool:
        """Whether the table was written after the confirmation had been shown: it can only be asked anew."""
        return self.form.site.stamp != self.stamp

    def answer(self, progress: Callable[[float], None]) -> Release[Any]:
        site = self.form.site
        if self.is_outdated:
            why = "The table was written after this page had been opened: its files differ in size or time. Nothing was"
            raise SelectionError(f"{why} read or charged. See whether the question still fits, and ask again.")
        more = {} if site.ledger is None else {"request": PREFIX + self.id}
        release = self.form.reply(site.data(progress), **more)
        counted = None if release.usable is None or release.where else release.usable.count
        if isinstance(counted, int):  # was released, and is better than a guess
            site.people = str(max(counted, 1))
        return release


@dataclass(slots=True)
class Pages:
    """What all pages need: what they are about now, and all questions of this process."""

    start: Site  # what the command said of every table
    site: Site
    asked: dict[str, PageRequest] = field(default_factory=dict[str, PageRequest])
    looked: dict[str, Work] = field(default_factory=dict[str, Work])  # what reads rows for the holder's eyes
    picture: tuple[str, str] = "", ""  # of the latest answer, with its id: a page and its picture follow each other
    _lock: Any = field(default_factory=threading.Lock)

    def shown(self, template: str, *, status: int = 200, site: Site | None = None, **values: Any) -> HTMLResponse:
        """A template as a page, or as a part of one, about `site`, by default the one now. All values are escaped."""
        about = {"site": site or self.site, "answered": self.answered}
        return HTMLResponse(_PAGES.get_template(template).render(**about, **values), status_code=status)

    def error(self, status: int, title: str, text: str) -> HTMLResponse:
        return self.shown("error.html", status=status, title=title, text=text)

    @property
    def answered(self) -> list[PageRequest]:
        """The questions about the table of now that have an answer, the latest first."""
        with self._lock:
            asked = [*reversed(self.asked.values())]
        return [each for each in asked if each.result is not None and each.form.site.subject == self.site.subject]

    def confirm(self, form: Form) -> PageRequest:
        asked = PageRequest(form=form, stamp=form.site.stamp)
        self._keep(self.asked, asked, _MOST_OPEN, lambda stage: stage == "open")
        return asked

    def look(self, act: Callable[[Callable[[float], None]], Any]) -> str:
        """Begin to read the rows for the holder's eyes; the id of the work."""
        work = Work()
        self._keep(self.looked, work, _MOST_LOOKED, lambda stage: stage not in ("open", "reading"))
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


def route(path: str, handler: Callable[..., Response], method: str = "GET") -> Route:
    """A page: a function of the pages' state, of what was typed, and by name of the parts of the address.

    It runs on a thread of its own, because planning computes and ledgers wait.
    """

    async def answer(request: Request) -> Response:
        typed = dict(request.query_params)
        if request.method == "POST":
            text = request.scope[BODY].decode("utf-8", errors="replace")
            try:
                typed = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=200))
            except ValueError:
                raise HTTPException(400) from None
        return await run_in_threadpool(handler, request.app.state.pages, typed, **request.path_params)

    return Route(path, answer, methods=[method])


_PAGES: Any = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
_PAGES.loader = PackageLoader("dpselect.web")
_PAGES.globals.update(version=__version__, questions=QUESTIONS, loud=wording.LOUD)
_PAGES.globals.update(accuracy_of=accuracy_of, budget_of=budget_of, ends_shown=wording.ends_shown, scope=wording.scope)
_PAGES.filters.update(as_text=as_text, left=left_shown, in_words=wording.in_words)
_PAGES.filters.update(label_of=label, options_in_words=options_in_words)

_MOST_ENTRIES, _MOST_ROWS = 100, 200
"""Of a history and of an answer on a page; ``dpselect ledger history`` and the table to download have all."""


def question(pages: Pages, typed: Typed, id: str) -> Response:
    """The confirmation, the progress or the answer: whichever it has come to; or one of an earlier process."""
    asked, release = _found(pages, id)
    if release is not None:
        return _answer(pages, id, release, asked)
    if asked is None:
        text = "There is no question under this address. If the server was started again, ask anew."
        return pages.error(404, "No such question", text)
    site, stage = asked.form.site, asked.stage
    if stage in ("reading", "answered"):  # a moment ago: its progress leads to the answer
        return pages.shown("reading.html", site=site, asked=asked)
    if stage != "open":
        return pages.shown("refused.html", site=site, asked=asked, stage=stage)
    form = Form.read(asked.form.about, site, asked.form.typed)  # the account may be another one now
    plan = form.plan()
    if plan is None:
        return pages.error(400, "That did not work", " ".join(form.errors.values()))
    cost = plan.cost()
    return pages.shown("confirm.html", site=site, asked=asked, form=form, plan=plan, cost=cost)


def start(pages: Pages, typed: Typed, id: str) -> Response:
    if (asked := pages.asked.get(id)) is not None:
        asked.start(asked.answer)
        asked.wait(0.3)  # most tables are read by then
    return RedirectResponse(f"/release/{id}", 303)


def progress(pages: Pages, typed: Typed, id: str) -> Response:
    """How much is read; when it is over, the browser is sent to the page anew."""
    asked = pages.asked.get(id)
    if asked is None or asked.stage != "reading":
        return Response(status_code=204, headers={"HX-Redirect": f"/release/{id}"})
    return pages.shown("progress.html", asked=asked)


def stop(pages: Pages, typed: Typed, id: str) -> Response:
    """Stop reading. What was charged by then is answered all the same."""
    if (asked := pages.asked.get(id)) is not None:
        asked.stop(2.0)
    return RedirectResponse(f"/release/{id}", 303)


def _found(pages: Pages, id: str) -> tuple[PageRequest | None, Release[Any] | None]:
    """The question of an address and its answer: of this process, or the answer that the ledger keeps for it."""
    asked, ledger, account = pages.asked.get(id), pages.site.ledger, pages.site.account
    if asked is not None or ledger is None or account is None:
        return asked, None if asked is None else asked.result
    kept = [each.release for each in ledger.under(account, PREFIX + id) if each.release is not None]
    return None, read_certificate(kept[0])[0] if kept else None


def _release(pages: Pages, id: str) -> Release[Any]:
    if (release := _found(pages, id)[1]) is None:
        raise HTTPException(404)
    return release


def _answer(pages: Pages, id: str, release: Release[Any], asked: PageRequest | None) -> Response:
    (heads, rows), svg = release.table(), _drawn(pages, id, release)
    size = re.search(r'<svg [^>]*?width="([0-9.]+)" height="([0-9.]+)"', svg or "")
    said = *release.sentences, release.basis_missing
    in_words = "0.05 as epsilon for the number of people, under More,"  # which `TO_COUNT_UNITS` says in Python
    return pages.shown(
        "answer.html",
        site=pages.site if asked is None else asked.form.site,
        id=id,
        asked=asked,
        release=release,
        only=only_value(release, rows),
        heads=heads,
        rows=rows,
        columns=columns(release),
        most_rows=_MOST_ROWS,
        sentences=[each.replace(wording.TO_COUNT_UNITS, in_words) for each in said if each],
        size=None if size is None else [round(float(each)) for each in size.groups()],
        can_draw=svg is not None,
        account=pages.site.held,
    )


def _drawn(pages: Pages, id: str, release: Release[Any]) -> str | None:
    """The picture of an answer, if it has one; None if what draws is not installed."""
    with suppress(MissingExtraError):
        if pages.picture[0] != id:
            pages.picture = id, picture_of(release)
        return pages.picture[1]
    return None


def chart(pages: Pages, typed: Typed, id: str) -> Response:
    if svg := _drawn(pages, id, _release(pages, id)):
        return Response(svg, media_type="image/svg+xml")
    raise HTTPException(404)


def certificate(pages: Pages, typed: Typed, id: str) -> Response:
    release = _release(pages, id)
    return _file(f"{release.task.replace('_', '-')}-{id}.json", f"{release.to_json()}\n", "application/json")


def csv_table(pages: Pages, typed: Typed, id: str) -> Response:
    """The answer as a table for other programs, with all digits."""
    release, written = _release(pages, id), io.StringIO()
    held = columns(release)
    csv.writer(written).writerows([[*held], *zip(*(map(as_text, each) for each in held.values()), strict=True)])
    return _file(f"{release.task.replace('_', '-')}-{id}.csv", written.getvalue(), "text/csv")


def answers_report(pages: Pages, typed: Typed) -> Response:
    """All answers about this table as one page, for people who were not there."""
    releases = [each.result for each in reversed(pages.answered)]
    if not releases:
        raise HTTPException(404)
    return _file("report.html", report(releases, title=f"Answers about {releases[0].opened}"), "text/html")


def _file(name: str, text: str, kind: str) -> Response:
    return Response(text, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})


def account(pages: Pages, typed: Typed) -> Response:
    """The account with its history; without one, where it is opened."""
    ledger, held = pages.site.ledger, pages.site.held
    if ledger is None or held is None:
        return pages.shown("account.html", budget=None)
    history = [_line(each) for each in reversed(ledger.history(held.name, last=_MOST_ENTRIES))]
    earlier = held.entries - len(history)
    return pages.shown("account.html", account=held, budget=budget_of(held), history=history, earlier=earlier)


def _line(entry: Entry) -> dict[str, Any]:
    """An entry, with what its answer says that was asked, and the id of the page of that answer, or empty."""
    request = entry.request or ""
    try:
        asked = json.loads(entry.release or "{}").get("question", {})
        ask, column, by, rows = *map(asked.get, ("ask", "column", "by")), wording.scope(asked.get("where"))
    except UNREADABLE:
        ask, column, by, rows = None, None, None, ""  # `verify` tells that it is damaged
    named = ask.replace("_", " ") if isinstance(ask, str) else ""
    what = f"{named} of {column}" if named and isinstance(column, str) else named or entry.what
    shown = request.removeprefix(PREFIX) if request.startswith(PREFIX) and entry.release is not None else ""
    return {"entry": entry, "what": what, "release": shown, "by": by, "rows": rows}


ROUTES = (
    route("/release/{id}", question),
    route("/release/{id}", start, "POST"),
    route("/release/{id}/progress", progress),
    route("/release/{id}/stop", stop, "POST"),
    route("/release/{id}/certificate.json", certificate),
    route("/release/{id}/table.csv", csv_table),
    route("/release/{id}/chart.svg", chart),
    route("/report.html", answers_report),
    route("/ledger", account),
)

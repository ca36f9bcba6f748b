"""The pages of one question from its confirmation to its answer, what of it can be taken along, and what was spent."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dpselect.certificates.checking import released
from dpselect.certificates.release import Release
from dpselect.certificates.tables import columns
from dpselect.errors import MissingExtraError
from dpselect.ledger import Entry
from dpselect.plans.report import in_words, only_value, picture_of, report
from dpselect.questions import wording
from dpselect.questions.question import QUESTIONS
from dpselect.questions.words import as_text
from dpselect.web.choosing import budget_of, planned
from dpselect.web.forms import Form
from dpselect.web.pages import Pages, route
from dpselect.web.releasing import PREFIX, PageRequest, Stage
from dpselect.web.words import on_page

_SIZE = re.compile(r'<svg [^>]*?width="([0-9.]+)" height="([0-9.]+)"')
"""Of a picture: so that a page knows it before the picture has come."""

MOST_ENTRIES = 100
"""Of a history on the page; ``dpselect ledger history`` shows all."""

MOST_ROWS = 200
"""Of an answer on the page; all are in its table."""


def question(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """The confirmation, the progress or the answer: whichever it has come to; or one of an earlier process."""
    id = request.path_params["id"]
    asked = pages.questions.find(id)
    stage = Stage.ANSWERED if asked is None else asked.work.stage  # once: it may be another one a moment later
    if asked is None or stage is Stage.ANSWERED:
        release = stored(pages, id) if asked is None else asked.work.result
        if release is None:
            text = "There is no question under this address. If the server was started again, ask anew."
            return pages.error(404, "No such question", text)
        return _answer(pages, id, release, asked)
    site = asked.form.site
    if stage is Stage.READING:
        return pages.shown("reading.html", site=site, asked=asked)
    if stage in (Stage.REFUSED, Stage.STOPPED, Stage.LOST):
        return pages.shown("refused.html", site=site, asked=asked, stage=stage)
    return _confirmation(pages, asked)


def _confirmation(pages: Pages, asked: PageRequest) -> Response:
    form = Form.read(asked.form.about, asked.form.site, asked.form.typed)  # the account may be another one now
    plan = planned(form)
    if plan is None:
        return pages.error(400, "That did not work", " ".join(form.errors.values()))
    cost = wording.cost(plan.forecast, plan.forecast.guarantee.epsilon)
    return pages.shown("confirm.html", site=asked.form.site, asked=asked, plan=plan, cost=cost)


def start(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """Spend and draw, once."""
    asked = pages.questions.find(request.path_params["id"])
    if asked is not None:
        asked.start()
        asked.work.wait(0.3)  # most tables are read by then
    return RedirectResponse(f"/release/{request.path_params['id']}", status_code=303)


def progress(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """How much is read; when it is over, the browser is sent to the page anew."""
    asked = pages.questions.find(request.path_params["id"])
    if asked is None or asked.work.stage is not Stage.READING:
        return Response(status_code=204, headers={"HX-Redirect": f"/release/{request.path_params['id']}"})
    return pages.shown("progress.html", asked=asked)


def stop(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """Stop reading. What was charged by then is answered all the same."""
    asked = pages.questions.find(request.path_params["id"])
    if asked is not None:
        asked.work.stop()
        asked.work.wait(2.0)
    return RedirectResponse(f"/release/{request.path_params['id']}", status_code=303)


def stored(pages: Pages, id: str) -> Release[Any] | None:
    """The answer that the ledger keeps for the request of this page, if there is one."""
    ledger, account = pages.site.ledger, pages.site.account
    if ledger is None or account is None:
        return None
    kept = [each.release for each in ledger.under(account, PREFIX + id) if each.release is not None]
    return released(kept[0])[0] if kept else None


def _release(pages: Pages, request: Request) -> Release[Any]:
    """The answer of the address, or no such page."""
    id = request.path_params["id"]
    asked = pages.questions.find(id)
    release = stored(pages, id) if asked is None else asked.release
    if release is None:
        raise HTTPException(404)
    return release


def _answer(pages: Pages, id: str, release: Release[Any], asked: PageRequest | None) -> Response:
    heads, rows = release.table()
    svg, no_chart = _drawn(pages, id, release)
    size, site = _SIZE.search(svg), pages.site if asked is None else asked.form.site
    only = only_value(release, rows)
    return pages.shown(
        "answer.html",
        site=site,
        id=id,
        asked=asked,
        release=release,
        only=only,
        interval=None if only is None else _interval(release),
        heads=heads,
        rows=rows[:MOST_ROWS],
        left_out=max(0, len(rows) - MOST_ROWS),
        sentences=[on_page(each) for each in (*release.sentences, release.basis_missing) if each],
        loud=wording.LOUD,
        promise=release.promise if release.seeded else in_words(release.guarantee),
        size=None if size is None else [round(float(each)) for each in size.groups()],
        has_picture=bool(svg),
        no_chart=no_chart,
        account=site.held,
    )


def _interval(release: Release[Any]) -> dict[str, Any] | None:
    """Where a single number is in its interval, from 0 to 1, and the ends as texts; None if there is no interval."""
    if release.interval is None:
        return None
    (lower, upper), number = release.interval, release.value if release.counts is None else release.counts
    share = round((number - lower) / (upper - lower), 4) if upper > lower else 0.5
    low, high = wording.ends_shown(lower, upper, is_amount=QUESTIONS[release.task].is_amount)
    return {"lower": low, "upper": high, "share": share}


def _drawn(pages: Pages, id: str, release: Release[Any]) -> tuple[str, str]:
    """The picture of an answer, and why there is none."""
    try:
        if pages.picture[0] != id:
            pages.picture = id, picture_of(release)
        return pages.picture[1], ""
    except MissingExtraError:
        return "", "The library of charts is not installed here."


def chart(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """The picture of an answer."""
    svg = _drawn(pages, request.path_params["id"], _release(pages, request))[0]
    if not svg:
        raise HTTPException(404)
    return Response(svg, media_type="image/svg+xml")


def certificate(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """The certificate as a file."""
    release = _release(pages, request)
    return _file(f"{_name(request, release)}.json", release.to_json() + "\n", "application/json")


def csv_table(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """The answer as a table for other programs, with all digits."""
    release, written = _release(pages, request), io.StringIO()
    held = columns(release)
    csv.writer(written).writerows([[*held], *zip(*(map(as_text, each) for each in held.values()), strict=True)])
    return _file(f"{_name(request, release)}.csv", written.getvalue(), "text/csv")


def answers_report(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """All answers about this table as one page, for people who were not there."""
    releases = [each.work.result for each in reversed(pages.answered)]
    if not releases:
        raise HTTPException(404)
    return _file("report.html", report(releases, title=f"Answers about {releases[0].opened}"), "text/html")


def _name(request: Request, release: Release[Any]) -> str:
    return f"{release.task.replace('_', '-')}-{request.path_params['id']}"


def _file(name: str, text: str, kind: str) -> Response:
    return Response(text, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})


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
        "what": asked or entry.what,
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


ROUTES = (
    route("/release/{id}", question, "GET"),
    route("/release/{id}", start, "POST"),
    route("/release/{id}/progress", progress),
    route("/release/{id}/stop", stop, "POST"),
    route("/release/{id}/certificate.json", certificate),
    route("/release/{id}/table.csv", csv_table),
    route("/release/{id}/chart.svg", chart),
    route("/report.html", answers_report),
    route("/ledger", account),
)

"""The pages of one question from its confirmation to its answer, and what of it can be taken along."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dpselect.certificates.release import Release
from dpselect.certificates.tables import columns
from dpselect.charts import svg_without_title
from dpselect.errors import InvalidParameterError, MissingExtraError
from dpselect.plans.report import in_words, is_drawn, report
from dpselect.questions import wording
from dpselect.questions.question import QUESTIONS
from dpselect.questions.words import as_text
from dpselect.web.pages import Pages, route
from dpselect.web.planning import accuracy_of, budget_of, why
from dpselect.web.releasing import PREFIX, PageRequest, Stage
from dpselect.web.words import on_page

_SIZE = re.compile(r'<svg [^>]*?width="([0-9.]+)" height="([0-9.]+)"')
"""Of a picture: so that a page knows it before the picture has come."""

MOST_ROWS = 200
"""Of an answer on the page; all are in its table."""


def question(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """The confirmation, the progress or the answer: whichever it has come to."""
    asked = pages.questions.find(request.path_params["id"])
    if asked is None:
        return _from_ledger(pages, request.path_params["id"])
    stage = asked.work.stage  # once: it may be another one a moment later
    if stage is Stage.ANSWERED:
        return _answer(pages, asked.id, asked.work.result, asked)
    site = asked.form.site
    if stage is Stage.READING:
        return pages.shown("reading.html", site=site, asked=asked)
    if stage in (Stage.REFUSED, Stage.STOPPED, Stage.LOST):
        return pages.shown("refused.html", site=site, asked=asked, stage=stage)
    return _confirmation(pages, asked)


def _confirmation(pages: Pages, asked: PageRequest) -> Response:
    form = asked.form
    forecast, held = form.forecast(asked.epsilon, paying=True), form.site.held
    if forecast is None:
        return pages.error(400, "That did not work", " ".join(form.errors.values()))
    within, accuracy = accuracy_of(form, forecast)
    return pages.shown(
        "confirm.html",
        site=form.site,
        asked=asked,
        forecast=forecast,
        cost=wording.cost(forecast, forecast.guarantee.epsilon),
        promise=in_words(forecast.guarantee),
        within=within,
        accuracy=accuracy,
        why=why(forecast),
        budget=None if held is None else budget_of(held, forecast),
    )


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


def _from_ledger(pages: Pages, id: str) -> Response:
    """An answer of an earlier process, which the ledger keeps under the same id."""
    release = stored(pages, id)
    if release is None:
        text = "There is no question under this address. If the server was started again, ask anew."
        return pages.error(404, "No such question", text)
    return _answer(pages, id, release, None)


def stored(pages: Pages, id: str) -> Release[Any] | None:
    """The answer that the ledger keeps for the request of this page, if there is one."""
    ledger, account = pages.site.ledger, pages.site.account
    if ledger is None or account is None:
        return None
    for entry in ledger.history(account):
        if entry.request == PREFIX + id and entry.release is not None:
            return Release.from_json(entry.release)
    return None


def _release(pages: Pages, request: Request) -> Release[Any]:
    """The answer of the address, or no such page."""
    id = request.path_params["id"]
    asked = pages.questions.find(id)
    release = stored(pages, id) if asked is None else asked.release
    if release is None:
        raise HTTPException(404)
    return release


def _answer(pages: Pages, id: str, release: Release[Any], asked: PageRequest | None) -> Response:
    heads, rows = table_of(release)
    svg, no_chart = _drawn(pages, id, release)
    size, site = _SIZE.search(svg), pages.site if asked is None else asked.form.site
    is_single = len(rows) == 1 and release.groups is None
    return pages.shown(
        "answer.html",
        site=site,
        id=id,
        asked=asked,
        release=release,
        single=_single(release) if is_single else None,
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


def number(value: object, within: float | None, *, up: bool | None = None, is_amount: bool = False) -> str:
    """A value with the digits that its error leaves to it; in quotes if blanks around or within it would not be seen.

    Args:
        value: what was released.
        within: how far it may be from the truth; None: unknown, and all digits are shown.
        up: round up or down, so that an interval still holds; None: to the nearest.
        is_amount: mark thousands.

    >>> number(38.58687816, 0.034), number(38.58687816, 0.034, up=True), number(186.0612, 2.5), number(37.0, None)
    ('38.59', '38.59', '186', '37')
    >>> number(1316684, 368.0, is_amount=True), number(" Paris", None), number("", None)
    ('1,316,684', '" Paris"', '""')
    """
    if isinstance(value, float) and within is not None and 0 < within < math.inf:
        digits = min(max(0, -math.floor(math.log10(within))), 17)
        rounding = {True: ROUND_CEILING, False: ROUND_FLOOR, None: ROUND_HALF_EVEN}[up]
        rounded = Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), rounding, Context(prec=400))
        return f"{rounded:{',' if is_amount else ''}f}"
    if is_amount and isinstance(value, int | float) and not isinstance(value, bool) and float(value).is_integer():
        return f"{int(value):,}"
    text = as_text(value)
    return text if text and text == " ".join(text.split()) else f'"{text}"'


def table_of(release: Release[Any], *, exact: bool = False) -> tuple[list[str], list[list[str]]]:
    """The answer as a table: headings, and a row for each value, with what it may be in truth where that is known.

    Args:
        release: the answer.
        exact: with all digits, for other programs.
    """
    kind, held = QUESTIONS[release.task], columns(release)
    measured = (kind.measure or release.column).format(unit=release.unit, column=release.column)
    named = {
        "group": "" if release.groups is None else as_text(release.groups["column"]),
        kind.label: release.column if kind.label in ("value", "bin") else kind.label,
        "released": measured,
        "units": wording.tally_head(release),
        "lower": "at least",
        "upper": "at most",
    }
    if kind.label == "answer":
        del held["answer"]
    rows = [dict(zip(held, row, strict=True)) for row in zip(*held.values(), strict=True)]
    if exact:
        return [named[each] for each in held], [[*map(as_text, row.values())] for row in rows]
    return [named[each] for each in held], [_shown(row, kind) for row in rows]


def _shown(row: Mapping[str, Any], kind: Any) -> list[str]:
    lower, upper = row.get("lower"), row.get("upper")
    within = None if lower is None or upper is None else (upper - lower) / 2
    counts = {"units", "lower", "upper"} if "units" in row else {"released", "lower", "upper"}

    def cell(name: str, value: Any) -> str:
        amount = name in counts and (kind.is_amount or "units" in row)
        up = {"lower": False, "upper": True}.get(name)
        value = kind.shown(value) if name == "released" else value
        return number(value, within if name in counts else None, up=up, is_amount=amount)

    return [cell(name, value) for name, value in row.items()]


def _single(release: Release[Any]) -> dict[str, Any]:
    """One answer in large digits: the value, its interval, and where in it the value is, from 0 to 1."""
    kind, held = QUESTIONS[release.task], columns(release)
    row = {name: values[0] for name, values in held.items()}
    shown = dict(zip(row, _shown(row, kind), strict=True))
    measured = row.get("units", row["released"])
    has_interval = "lower" in row and not isinstance(measured, str | date | bool)
    width = row["upper"] - row["lower"] if has_interval else 0
    return {
        "value": shown["released"],
        "of": release.column if "units" in row or not kind.measure else "",
        "units": shown.get("units", ""),
        "lower": shown["lower"] if has_interval else "",
        "upper": shown["upper"] if has_interval else "",
        "share": round(float((measured - row["lower"]) / width), 4) if width else 0.5,
    }


def _drawn(pages: Pages, id: str, release: Release[Any]) -> tuple[str, str]:
    """The picture of an answer, and why there is none."""
    if not is_drawn(release):
        return "", ""
    try:
        return pages.pictures.once(id, lambda: svg_without_title(release.plot())), ""
    except InvalidParameterError:
        return "", ""
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
    heads, rows = table_of(release, exact=True)
    csv.writer(written).writerows([heads, *rows])
    return _file(f"{_name(request, release)}.csv", written.getvalue(), "text/csv")


def answers_report(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """All answers about this table as one page, for people who were not there."""
    releases = [each.work.result for each in reversed(pages.answered)]
    if not releases:
        raise HTTPException(404)
    name = f"Answers about {pages.site.source_name or pages.site.shown_source}"
    return _file("report.html", report(releases, title=name), "text/html")


def _name(request: Request, release: Release[Any]) -> str:
    return f"{release.task.replace('_', '-')}-{request.path_params['id']}"


def _file(name: str, text: str, kind: str) -> Response:
    return Response(text, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})


ROUTES = (
    route("/release/{id}", question, "GET"),
    route("/release/{id}", start, "POST"),
    route("/release/{id}/progress", progress),
    route("/release/{id}/stop", stop, "POST"),
    route("/release/{id}/certificate.json", certificate),
    route("/release/{id}/table.csv", csv_table),
    route("/release/{id}/chart.svg", chart),
    route("/report.html", answers_report),
)

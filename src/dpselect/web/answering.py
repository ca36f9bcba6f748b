"""The pages of one question from its confirmation to its answer, its certificate, and the commands that do the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dpselect.certificates.release import Release
from dpselect.charts import svg_without_title
from dpselect.errors import InvalidParameterError, MissingExtraError
from dpselect.plans.report import in_words, is_drawn, rows_of
from dpselect.questions import wording
from dpselect.questions.words import as_text
from dpselect.web.pages import Pages, route
from dpselect.web.pictures import LOOKS, NARROW, in_the_dark, narrowed, size_of
from dpselect.web.planning import budget_of, on_page, why
from dpselect.web.releasing import PREFIX, PageRequest, Stage
from dpselect.web.same import in_python, on_the_command_line

MOST_ROWS = 200
"""Of an answer on the page; all are in the certificate."""


def question(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """The confirmation, the progress or the answer: whichever it has come to."""
    asked = pages.questions.find(request.path_params["id"])
    if asked is None:
        return _from_ledger(pages, request.path_params["id"])
    stage = asked.work.stage  # once: it may be another one a moment later
    if stage is Stage.ANSWERED:
        return _answer(pages, asked.id, asked.work.result, asked)
    if stage is Stage.READING:
        return pages.shown("reading.html", asked=asked)
    if stage in (Stage.REFUSED, Stage.STOPPED, Stage.LOST):
        return pages.shown("refused.html", asked=asked, stage=stage)
    return _confirmation(pages, asked)


def _confirmation(pages: Pages, asked: PageRequest) -> Response:
    forecast = asked.form.forecast(asked.epsilon, paying=True)
    if forecast is None:
        said = " ".join(asked.form.errors.values())
        return pages.error(400, "That did not work", said)
    return pages.shown(
        "confirm.html",
        asked=asked,
        forecast=forecast,
        cost=wording.cost(forecast, forecast.guarantee.epsilon),
        promise=in_words(forecast.guarantee),
        why=why(forecast),
        budget=budget_of(pages.site, forecast),
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


def _release(pages: Pages, id: str) -> Release[Any] | None:
    asked = pages.questions.find(id)
    return stored(pages, id) if asked is None else asked.release


def _answer(pages: Pages, id: str, release: Release[Any], asked: PageRequest | None) -> Response:
    heads, rows = rows_of(release)
    svg, no_chart = _drawn(pages, id, release)
    size = size_of(svg)
    account = None
    if pages.site.ledger is not None and pages.site.account is not None:
        account = pages.site.ledger.account(pages.site.account)
    return pages.shown(
        "answer.html",
        id=id,
        asked=asked,
        release=release,
        value="" if heads else _visible(rows[0][0]),
        heads=heads,
        rows=[[*map(_visible, row)] for row in rows[:MOST_ROWS]],
        left_out=max(0, len(rows) - MOST_ROWS),
        sentences=[on_page(each) for each in (*release.sentences, release.basis_missing) if each],
        loud=wording.LOUD,
        promise=release.promise if release.seeded else in_words(release.guarantee),
        size=size,
        narrow_size=narrowed(size),
        no_chart=no_chart,
        certificate=release.to_json(),
        python="" if asked is None else in_python(asked),
        command="" if asked is None else on_the_command_line(asked),
        account=account,
    )


def _visible(value: object) -> str:
    """A value of an answer as a text; in quotes if blanks around or within it would not be seen.

    >>> _visible("Paris"), _visible(" Paris"), _visible(""), _visible(0.5)
    ('Paris', '" Paris"', '""', '0.5')
    """
    text = as_text(value)
    return text if text and text == " ".join(text.split()) else f'"{text}"'


def _drawn(pages: Pages, id: str, release: Release[Any], *, is_narrow: bool = False) -> tuple[str, str]:
    """The picture of an answer, and why there is none."""
    if not is_drawn(release):
        return "", ""
    try:
        name, width = (f"{id}-narrow", NARROW) if is_narrow else (id, None)
        return pages.answers.once(name, lambda: svg_without_title(release.plot(), width=width)), ""
    except InvalidParameterError:
        return "", ""
    except MissingExtraError as missing:
        return "", str(missing)


def chart(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """The picture of an answer."""
    id = request.path_params["id"]
    release = _release(pages, id)
    look, _, suffix = request.path_params["look"].partition(".")
    if look not in LOOKS or suffix != "svg":
        release = None
    svg = "" if release is None else _drawn(pages, id, release, is_narrow=look.startswith("narrow"))[0]
    if not svg:
        raise HTTPException(404)
    return Response(in_the_dark(svg) if look.endswith("dark") else svg, media_type="image/svg+xml")


def certificate(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """The certificate as a file."""
    id = request.path_params["id"]
    release = _release(pages, id)
    if release is None:
        raise HTTPException(404)
    name = f"{release.task.replace('_', '-')}-{id}.json"
    about = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(release.to_json() + "\n", media_type="application/json", headers=about)


ROUTES = (
    route("/release/{id}", question, "GET"),
    route("/release/{id}", start, "POST"),
    route("/release/{id}/progress", progress),
    route("/release/{id}/stop", stop, "POST"),
    route("/release/{id}/certificate.json", certificate),
    route("/release/{id}/chart/{look}", chart),
)

"""The pages of one question from its confirmation to its answer, its certificate, and the command that asks it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dpselect import public
from dpselect.certificates.release import Release
from dpselect.charts import svg_without_title
from dpselect.errors import InvalidParameterError, MissingExtraError
from dpselect.formats import Format
from dpselect.plans.report import in_words, is_drawn, rows_of
from dpselect.privacy import Neighbours
from dpselect.public_time import Times
from dpselect.questions import wording
from dpselect.questions.words import as_text
from dpselect.web.forms import conditions
from dpselect.web.pages import Pages, route
from dpselect.web.planning import on_page, why
from dpselect.web.releasing import PREFIX, PageRequest, Stage
from dpselect.web.site import Site, shown_address

_SIZE = re.compile(r'<svg [^>]*?width="([0-9.]+)" height="([0-9.]+)"')
"""Of a picture: so that a page knows it before the picture has come."""

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
        budget=pages.budget(forecast),
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
    size = _SIZE.search(svg)
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
        size=None if size is None else [round(float(each)) for each in size.groups()],
        no_chart=no_chart,
        certificate=release.to_json(),
        command="" if asked is None else on_the_command_line(asked),
        account=pages.account,
    )


def _visible(value: object) -> str:
    """A value of an answer as a text; in quotes if blanks around or within it would not be seen.

    >>> _visible("Paris"), _visible(" Paris"), _visible(""), _visible(0.5)
    ('Paris', '" Paris"', '""', '0.5')
    """
    text = as_text(value)
    return text if text and text == " ".join(text.split()) else f'"{text}"'


def _drawn(pages: Pages, id: str, release: Release[Any]) -> tuple[str, str]:
    """The picture of an answer, and why there is none."""
    if not is_drawn(release):
        return "", ""
    try:
        return pages.pictures.once(id, lambda: svg_without_title(release.plot())), ""
    except InvalidParameterError:
        return "", ""
    except MissingExtraError as missing:
        return "", str(missing)


def chart(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """The picture of an answer."""
    id = request.path_params["id"]
    release = _release(pages, id)
    svg = "" if release is None else _drawn(pages, id, release)[0]
    if not svg:
        raise HTTPException(404)
    return Response(svg, media_type="image/svg+xml")


def certificate(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """The certificate as a file."""
    id = request.path_params["id"]
    release = _release(pages, id)
    if release is None:
        raise HTTPException(404)
    name = f"{release.task.replace('_', '-')}-{id}.json"
    about = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(release.to_json() + "\n", media_type="application/json", headers=about)


def on_the_command_line(asked: PageRequest) -> str:
    """The question as a command for a POSIX shell, on one line; empty if no command asks it.

    What was typed into the form is what is typed in a shell: one reader reads both.
    """
    form, site = asked.form, asked.form.site
    named, options = [shown_address(site.source or "")], _option("unit", form.unit)
    for each in form.fields:
        texts = [form.text(part) for part in each.parts]
        if each.name == "unit" or not (each.name in form.arguments or (each.name.endswith("_as") and texts[0])):
            continue
        if each.name == "where":
            options += [word for line in conditions(texts[0]) for word in _option("where", line)]
        elif each.kind == "flag":
            options += _option(each.name)
        else:
            words = [public.on_a_line(texts[0], each.name)] if each.is_list else texts
            is_named = each.name == "column" or each.name in form.about.positional
            (named if is_named else options).extend(words if is_named else _option(each.name, *words))
    options += _option("epsilon", as_text(asked.epsilon))
    for name, value in (_reading(site) | _format_words(site.format)).items():
        if value:
            words = [] if value is True else [str(value).replace("_", "-") if name == "neighbours" else str(value)]
            options += _option(name, *words)
    if site.ledger is not None:
        options += _option("request", asked.request)
    if any(map(_misread, named)) or any("\0" in word for word in (*named, *options)):
        return ""
    question = form.about.name.replace("_", "-")
    if any(word.startswith("-") for word in named):  # all words after -- are no options
        return shlex.join(["dpselect", question, *options, "--", *named])
    return shlex.join(["dpselect", question, *named, *options])


def _option(name: str, *words: str) -> list[str]:
    """An option with its value, in one word if the value looks like an option itself."""
    option = f"--{name.replace('_', '-')}"
    if len(words) == 1 and words[0].startswith("-"):
        return [f"{option}={words[0]}"]
    return [option, *words]


def _misread(word: str) -> bool:
    """Whether a name is taken for an option even after ``--``."""
    return word.partition("=")[0] in ("--help", "-h", "--help-all", "--version")


def _reading(site: Site) -> dict[str, Any]:
    """What a table is opened with, if not as usual."""
    return {
        "table": site.table,
        "memory_limit": site.memory_limit,
        "source_name": site.source_name,
        "neighbours": None if site.neighbours is Neighbours.ADD_REMOVE else str(site.neighbours),
        "times": None if site.times is Times.DAY else str(site.times),
        "ledger": None if site.ledger_url is None else shown_address(site.ledger_url),
        "account": site.account,
    }


def _format_words(format: Format) -> dict[str, Any]:
    held, usual = {each.name: getattr(format, each.name) for each in fields(format)}, Format()
    return {name: value for name, value in held.items() if value != getattr(usual, name)}


ROUTES = (
    route("/release/{id}", question, "GET"),
    route("/release/{id}", start, "POST"),
    route("/release/{id}/progress", progress),
    route("/release/{id}/stop", stop, "POST"),
    route("/release/{id}/certificate.json", certificate),
    route("/release/{id}/chart.svg", chart),
)

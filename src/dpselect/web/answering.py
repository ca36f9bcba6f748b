"""The pages of one question from its confirmation to its answer, what of it can be taken along, and what was spent."""

from __future__ import annotations

import csv
import io
import json
import re
from contextlib import suppress
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

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
from dpselect.web.pages import PREFIX, PageRequest, Pages, Stage, Typed, led_to, route

_SIZE = re.compile(r'<svg [^>]*?width="([0-9.]+)" height="([0-9.]+)"')
_COUNTED = "0.05 as epsilon for the number of people, under More,"
"""In place of `wording.TO_COUNT_UNITS`, which is Python."""

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
    if stage in (Stage.READING, Stage.ANSWERED):  # a moment ago: its progress leads to the answer
        return pages.shown("reading.html", site=site, asked=asked)
    if stage is not Stage.OPEN:
        return pages.shown("refused.html", site=site, asked=asked, stage=stage)
    form = Form.read(asked.form.about, site, asked.form.typed)  # the account may be another one now
    plan = planned(form)
    if plan is None:
        return pages.error(400, "That did not work", " ".join(form.errors.values()))
    cost = wording.cost(plan["forecast"], plan["forecast"].guarantee.epsilon)
    return pages.shown("confirm.html", site=site, asked=asked, plan=plan, cost=cost)


def start(pages: Pages, typed: Typed, id: str) -> Response:
    """Spend and draw, once."""
    if (asked := pages.asked.get(id)) is not None:
        asked.start(asked.answer)
        asked.wait(0.3)  # most tables are read by then
    return led_to(f"/release/{id}")


def progress(pages: Pages, typed: Typed, id: str) -> Response:
    """How much is read; when it is over, the browser is sent to the page anew."""
    asked = pages.asked.get(id)
    if asked is None or asked.stage is not Stage.READING:
        return Response(status_code=204, headers={"HX-Redirect": f"/release/{id}"})
    return pages.shown("progress.html", asked=asked)


def stop(pages: Pages, typed: Typed, id: str) -> Response:
    """Stop reading. What was charged by then is answered all the same."""
    if (asked := pages.asked.get(id)) is not None:
        asked.stop(2.0)
    return led_to(f"/release/{id}")


def _found(pages: Pages, id: str) -> tuple[PageRequest | None, Release[Any] | None]:
    """The question of an address and its answer: of this process, or the answer that the ledger keeps for it."""
    asked, ledger, account = pages.asked.get(id), pages.site.ledger, pages.site.account
    if asked is not None or ledger is None or account is None:
        return asked, None if asked is None else asked.release
    kept = [each.release for each in ledger.under(account, PREFIX + id) if each.release is not None]
    return None, released(kept[0])[0] if kept else None


def _release(pages: Pages, id: str) -> Release[Any]:
    if (release := _found(pages, id)[1]) is None:
        raise HTTPException(404)
    return release


def _answer(pages: Pages, id: str, release: Release[Any], asked: PageRequest | None) -> Response:
    heads, rows = release.table()
    svg, said = _drawn(pages, id, release), (*release.sentences, release.basis_missing)
    size, only = _SIZE.search(svg or ""), only_value(release, rows)
    return pages.shown(
        "answer.html",
        site=pages.site if asked is None else asked.form.site,
        id=id,
        asked=asked,
        release=release,
        only=only,
        interval=None if only is None or release.interval is None else _interval(release, *release.interval),
        heads=heads,
        rows=rows[:_MOST_ROWS],
        left_out=max(0, len(rows) - _MOST_ROWS),
        sentences=[each.replace(wording.TO_COUNT_UNITS, _COUNTED) for each in said if each],
        loud=wording.LOUD,
        promise=release.promise if release.seeded else in_words(release.guarantee),
        size=None if size is None else [round(float(each)) for each in size.groups()],
        can_draw=svg is not None,
        account=pages.site.held,
    )


def _interval(release: Release[Any], lower: float, upper: float) -> dict[str, Any]:
    """Where a single number is in its interval, from 0 to 1, and the ends as texts."""
    number: Any = release.value if release.counts is None else release.counts
    low, high = wording.ends_shown(lower, upper, is_amount=QUESTIONS[release.task].is_amount)
    share = round((number - lower) / (upper - lower), 4) if upper > lower else 0.5
    return {"lower": low, "upper": high, "share": share}


def _drawn(pages: Pages, id: str, release: Release[Any]) -> str | None:
    """The picture of an answer, if it has one; None if what draws is not installed."""
    with suppress(MissingExtraError):
        if pages.picture[0] != id:
            pages.picture = id, picture_of(release)
        return pages.picture[1]
    return None


def chart(pages: Pages, typed: Typed, id: str) -> Response:
    """The picture of an answer."""
    if svg := _drawn(pages, id, _release(pages, id)):
        return Response(svg, media_type="image/svg+xml")
    raise HTTPException(404)


def certificate(pages: Pages, typed: Typed, id: str) -> Response:
    """The certificate as a file."""
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
        ask, column = asked.get("ask"), asked.get("column")
    except (ValueError, AttributeError, RecursionError):
        ask = column = None  # `verify` tells that it is damaged
    named = ask.replace("_", " ") if isinstance(ask, str) else ""
    what = f"{named} of {column}" if named and isinstance(column, str) else named or entry.what
    is_of_page = request.startswith(PREFIX) and entry.release is not None
    return {"entry": entry, "what": what, "release": request.removeprefix(PREFIX) if is_of_page else ""}


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

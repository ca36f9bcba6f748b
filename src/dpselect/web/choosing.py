"""The pages where a question is chosen and planned, and where the holder has the rows looked at.

A plan says how accurate an answer would be, what it costs, and what an account has left, from public arguments alone:
no row is read for it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from inspect import signature
from typing import Any, cast

from starlette.exceptions import HTTPException
from starlette.responses import Response

from dpselect.accounting.rounding import fraction_down
from dpselect.arguments import OF_VIEWS
from dpselect.errors import SelectionError
from dpselect.ledger.accounts import Account, as_written, left_shown
from dpselect.plans.report import in_words
from dpselect.privacy import EACH_ROW
from dpselect.questions.question import BY_NAME, QUESTIONS
from dpselect.questions.wording import bound_shown, rounded_up
from dpselect.questions.words import as_text
from dpselect.session.check import WARNING, Check, check
from dpselect.session.dataset import seen
from dpselect.session.forecast import Forecast
from dpselect.web.forms import Form, in_two
from dpselect.web.pages import Pages, Typed, led_to, route


def home(pages: Pages, typed: Typed) -> Response:
    """What can be asked, and what was answered; before that, which table."""
    if pages.site.unit is None:
        return led_to("/tables" if pages.site.source is None else "/table")
    return pages.shown("home.html")


def _form(pages: Pages, question: str, typed: Typed | None) -> Form:
    """The form of the question of the address, about the table that was chosen; without `typed` as it is at first."""
    about = BY_NAME.get(question)
    if about is None or pages.site.unit is None:
        raise HTTPException(404)
    return Form.read(about, pages.site, typed)


def ask(pages: Pages, typed: Typed, question: str) -> Response:
    """The form of a question, empty, or as it was filled in for another answer."""
    asked = pages.asked.get(typed.get("from", ""))
    is_again = asked is not None and asked.form.about.name == question
    form = _form(pages, question, asked.form.typed | {"site": ""} if asked is not None and is_again else None)
    return pages.shown("ask.html", form=form, plan=planned(form))


def plan(pages: Pages, typed: Typed, question: str) -> Response:
    """The plan after a field was changed, with the sentences of errors beside their fields."""
    form = _form(pages, question, typed)
    return pages.shown("plan_update.html", form=form, plan=planned(form))


def confirm(pages: Pages, typed: Typed, question: str) -> Response:
    """Go on to the confirmation, under an id of its own; or the form again with what is wrong."""
    form = _form(pages, question, typed)
    if form.epsilon is not None and not form.errors:
        form.forecast(form.epsilon)
    for name in form.missing:
        form.errors.setdefault(name, "This is needed.")
    if form.epsilon is None or form.errors:
        return pages.shown("ask.html", status=422, form=form, plan=planned(form))
    form.site.people = form.text("people") or form.site.people
    return led_to(f"/release/{pages.confirm(form, form.epsilon).id}")


def look(pages: Pages, typed: Typed, question: str) -> Response:
    """Begin to count which rows the question would read, for the holder's eyes."""
    form = _form(pages, question, typed)
    views, known = (
        {name: value for name, value in form.arguments.items() if name in taken}
        for taken in ([each.name for each in OF_VIEWS], signature(check).parameters)
    )

    def work(progress: Callable[[float], None]) -> Check:
        if form.errors or "column" not in known:
            raise SelectionError("Fill in the form first." if form.errors else "Choose a column: it is looked at.")
        return check(seen(form.site.data(), **views), progress=progress, **known).as_options()

    return looked(pages, typed, pages.look(work))


def looked(pages: Pages, typed: Typed, id: str) -> Response:
    """What was found, or how far it is."""
    work = pages.looked.get(id)
    if work is None:
        raise HTTPException(404)
    work.wait(0.2)
    return pages.shown("looked.html", id=id, stage=work.stage, work=work, warning=WARNING)


def stop_looking(pages: Pages, typed: Typed, id: str) -> Response:
    """Stop reading."""
    if (work := pages.looked.get(id)) is not None:
        work.stop(2.0)
    return looked(pages, typed, id)


def planned(form: Form) -> dict[str, Any] | None:
    """What an answer would be worth and cost, in sentences; None, perhaps with errors in the form: there is no plan."""
    if form.epsilon is None or form.missing or form.errors or (forecast := form.forecast(form.epsilon)) is None:
        return None
    within, accuracy = accuracy_of(form, forecast)
    held, rounds = form.site.held, f", in {forecast.rounds} rounds" if forecast.rounds > 1 else ""
    return {
        "forecast": forecast,
        "within": within,
        "accuracy": accuracy,
        "promise": in_words(forecast.guarantee),
        "why": f"Drawn by {forecast.mechanism}{rounds}. {forecast.rule}".rstrip(),
        "budget": None if held is None else budget_of(held, forecast),
    }


def accuracy_of(form: Form, forecast: Forecast) -> tuple[str, str]:
    """How far an answer may be from the truth, as a number in its own unit, and in a sentence.

    The number is empty where the bound is about something else, such as ranks. It is for as many people as were
    guessed, if it depends on that; of a standard deviation it is that of a value of 0, which is the largest.
    """
    kind, people, unit = QUESTIONS[forecast.task], form.people, forecast.unit
    bound = kind.value_bound(forecast, people, 0.0) if kind.bounds_value else forecast.error_bound
    within = bound_shown(bound, kind.error_unit)
    many = "" if people is None else f"If {people:,} {'rows' if unit == EACH_ROW else f'units ({unit})'} are counted"
    many += "" if forecast.groups is None else f" in each {forecast.groups['column']}"
    if kind.bounds_value and forecast.error_bound is not None and kind.value_bound(forecast, None, 0.0) is None:
        name = cast(Any, kind).called
        if people is None:
            return "", f"How close the {name} comes depends on how many people have a value: guess their number."
        sure = f"with {forecast.confidence:.0%} confidence the {name} is within {within} of the true one"
        return within, f"{many}, {sure}."
    said, counts = forecast.accuracy, within and kind.error_unit in (None, "ranks")
    if people is not None and bound is not None and counts and forecast.arguments.get("max_rows_per_unit", 1) == 1:
        whole = math.ceil(bound) if kind.error_unit == "ranks" else math.floor(bound)
        said += f" {many}, that is {rounded_up(min(100.0, 100 * whole / people))}% of them."
    return within if kind.bounds_value else "", said


def budget_of(account: Account, forecast: Forecast | None = None) -> dict[str, Any]:
    """What an account has left, and what an answer would leave of it, as texts, and in hundredths for a bar.

    `refused` says why the account would refuse the answer, if it would; `is_free` is whether it was answered before.
    """
    limit, is_free = account.epsilon, forecast is not None and bool(forecast.is_answered)
    cost = Fraction(0) if forecast is None or is_free else Fraction(forecast.guarantee.epsilon)
    left = max(limit - account.spent, Fraction(0))
    spent, part = (round(float(100 * each / limit), 2) if limit else 0.0 for each in (limit - left, cost))
    refused = "" if forecast is None or forecast.fits else in_two(forecast.charge)[0]
    return {
        "account": account,
        "limit": as_text(as_written(limit)),
        "left": left_shown(account.left if forecast is None or forecast.left is None else forecast.left),
        "after": left_shown(fraction_down(max(left - cost, Fraction(0)))),
        "spent": spent,
        "cost": min(part, round(100 - spent, 2)),
        "refused": re.sub(r"(?<=[0-9])\.0(?= )", "", refused),  # as in 0.0
        "is_free": is_free,
    }


ROUTES = (
    route("/", home),
    route("/ask/{question}", ask),
    route("/ask/{question}/plan", plan, "POST"),
    route("/ask/{question}/look", look, "POST"),
    route("/ask/{question}/confirm", confirm, "POST"),
    route("/looked/{id}", looked),
    route("/looked/{id}/stop", stop_looking, "POST"),
)

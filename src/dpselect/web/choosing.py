"""The pages where a question is chosen and planned, and where the holder has the rows looked at."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

from anyio import from_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dpselect.errors import SelectionError
from dpselect.plans.report import in_words
from dpselect.questions.question import BY_NAME, Question
from dpselect.session.check import WARNING, check
from dpselect.session.forecast import Forecast
from dpselect.web import planning
from dpselect.web.forms import START, Form
from dpselect.web.pages import Pages, route
from dpselect.web.planning import (
    EPSILONS,
    Budget,
    ErrorCurve,
    curve_of,
    epsilon_reaching,
    error_unit,
    place_of,
    shown_error,
    why,
)
from dpselect.web.releasing import Stage

_STEPS = len(EPSILONS) - 1
"""The last place of both sliders."""

_CHECKED = frozenset(signature(check).parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPlan:
    """What the right side of a question's page shows.

    Attributes:
        epsilon: as text.
        place: of the slider.
        forecast: what it costs and how accurate it is; None if there is nothing to plan yet.
        promise, why: sentences.
        budget: what it leaves of the account.
        error: the bound on the error, as text; empty if there is none.
        unit: of the error.
        error_place: of the error's slider; None: no curve.
        curve: its picture and its table.
        point: where the answer is in the picture.
        is_later: whether the curve takes so long that the page asks for it by itself.
    """

    epsilon: str
    place: int
    forecast: Forecast | None = None
    promise: str = ""
    why: str = ""
    budget: Budget | None = None
    error: str = ""
    unit: str = ""
    error_place: int | None = None
    curve: ErrorCurve | None = None
    point: tuple[float, float] | None = None
    is_later: bool = False


def planned(pages: Pages, form: Form, go_on: Callable[[], bool] | None = None) -> ShownPlan:
    """The plan of what was typed; errors are kept in the form.

    Args:
        pages: what all pages need.
        form: what was typed.
        go_on: whether somebody still waits for the curve; None: a curve that takes long is left for later.
    """
    epsilon = form.epsilon
    text = form.typed["epsilon"]
    if epsilon is None:
        return ShownPlan(epsilon=text, place=place_of(float(START)))
    place = place_of(epsilon)
    if not form.is_complete:
        return ShownPlan(epsilon=text, place=place)
    began = time.perf_counter()
    forecast = form.forecast(epsilon, paying=True)
    if forecast is None:
        return ShownPlan(epsilon=text, place=place)
    bound = forecast.error_bound
    until = began + planning.AT_ONCE_SECONDS
    curve = curve_of(pages.curves, form, go_on or (lambda: time.perf_counter() < until))
    about: dict[str, Any] = {"is_later": go_on is None and form.key not in pages.curves}
    if curve is not None and bound is not None and math.isfinite(bound):
        about["unit"] = error_unit(forecast)
        about["error"] = shown_error(bound, forecast.accuracy)
        about["error_place"] = _error_place(bound, curve.lowest, curve.highest)
        about["curve"], about["point"] = curve, curve.place(epsilon, bound)
    return ShownPlan(
        epsilon=text,
        place=place,
        forecast=forecast,
        promise=in_words(forecast.guarantee),
        why=why(forecast),
        budget=pages.budget(forecast),
        **about,
    )


def _error_place(error: float, lowest: float, highest: float) -> int:
    if error <= 0:
        return 0
    share = math.log10(error / lowest) / math.log10(highest / lowest)
    return round(min(max(share, 0.0), 1.0) * _STEPS)


def _error_at(place: int, lowest: float, highest: float) -> float:
    return float(f"{lowest * (highest / lowest) ** (place / _STEPS):.2g}")


def _question(request: Request) -> type[Question]:
    """The question of the address."""
    about = BY_NAME.get(request.path_params["question"])
    if about is None:
        raise HTTPException(404)
    return about


def home(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """What can be asked, and what was answered."""
    return pages.shown("home.html", commands=BY_NAME.values(), answered=pages.questions.answered)


def ask(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """The form of a question, empty, or as it was filled in for another answer or with what is wrong."""
    about = _question(request)
    wrong = pages.questions.wrong(request.query_params.get("wrong", ""))
    if wrong is not None and wrong.about is about:
        form = Form.read(about, pages.site, wrong.typed)
        _is_right(pages, form)
        return _form_page(pages, form, status=422)
    earlier = pages.questions.find(request.query_params.get("from", ""))
    if earlier is not None and earlier.form.about is about:
        form = Form.read(about, pages.site, earlier.form.typed)
    else:
        form = Form.empty(about, pages.site)
    return _form_page(pages, form)


def _form_page(pages: Pages, form: Form, status: int = 200) -> Response:
    plan = planned(pages, form)
    return pages.shown("ask.html", status=status, form=form, plan=plan, steps=_STEPS, moved="", refused_within="")


def plan(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """The plan after a field or a slider was moved, with the sentences of errors beside their fields."""
    about = _question(request)
    moved = request.headers.get("hx-trigger-name", "")
    given, refused = dict(typed), ""
    if moved == "epsilon-place":
        given["epsilon"] = f"{EPSILONS[_index(typed.get(moved, ''))]:g}"
    form = Form.read(about, pages.site, given)
    if moved in ("error-place", "within") and form.is_complete:
        try:
            wanted = _target_error(pages, form, moved, typed.get(moved, ""))
            curve = curve_of(pages.curves, form) if form.key in pages.curves else None
            epsilon = epsilon_reaching(form, wanted, curve)
            form = Form.read(about, pages.site, given | {"epsilon": f"{epsilon:g}"})
        except (SelectionError, ValueError) as error:
            refused = str(error)
    shown = planned(pages, form)
    return pages.shown("plan_update.html", form=form, plan=shown, steps=_STEPS, moved=moved, refused_within=refused)


def curve(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """The curve of a plan that is shown already. Its points end with the connection: the question was changed."""
    about = _question(request)

    def go_on() -> bool:
        return not from_thread.run(request.is_disconnected)

    form = Form.read(about, pages.site, typed)
    shown = planned(pages, form, go_on)
    return pages.shown("curve_update.html", form=form, plan=shown, steps=_STEPS)


def _index(text: str) -> int:
    return min(int(text), _STEPS) if text.isascii() and text.isdigit() and len(text) < 6 else place_of(float(START))


def _target_error(pages: Pages, form: Form, moved: str, text: str) -> float:
    if moved == "within":
        try:
            return float(text)
        except ValueError:
            raise ValueError("error: expected a number, such as 20.") from None
    curve = curve_of(pages.curves, form)
    if curve is None:
        raise ValueError("No bound on the error holds for all data here, so none can be wanted.")
    return _error_at(_index(text), curve.lowest, curve.highest)


def confirm(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """Go on to the confirmation, under an id of its own; or back to the form with what is wrong.

    Both are pages that can be loaded again.
    """
    about = _question(request)
    form = Form.read(about, pages.site, typed)
    epsilon = form.epsilon
    if not _is_right(pages, form) or epsilon is None:
        return RedirectResponse(f"/ask/{about.name}?wrong={pages.questions.keep_wrong(form)}", status_code=303)
    asked = pages.questions.confirm(form, epsilon)
    return RedirectResponse(f"/release/{asked.id}", status_code=303)


def _is_right(pages: Pages, form: Form) -> bool:
    """Whether a form can be confirmed; what is wrong is kept in it."""

    def say_missing() -> None:
        for name in form.missing:
            form.errors.setdefault(name, "This is needed.")

    say_missing()
    epsilon = form.epsilon
    if pages.site.source is None:
        form.errors.setdefault("", "Without a table nothing is released: dpselect serve TABLE --unit COLUMN.")
    if epsilon is None or form.errors or form.forecast(epsilon, paying=True) is None:
        say_missing()
        return False
    return True


def look(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """Begin to count which rows the question would read, for the holder's eyes."""
    about = _question(request)
    if pages.site.source is None:
        raise HTTPException(404)
    form = Form.read(about, pages.site, typed)
    if not form.unit or form.errors:
        return _not_looked(pages, "Fill in the form first.")
    given = {name: value for name, value in form.arguments.items() if name in _CHECKED}
    column = given.pop("column", None)
    if column is None:
        return _not_looked(pages, "Choose a column first: it is the column that is looked at.")
    site, unit = pages.site, form.unit
    id = pages.questions.look(lambda progress: check(site.data(unit), column, progress=progress, **given).as_options())
    return _looked(pages, id)


def _not_looked(pages: Pages, refused: str) -> Response:
    return pages.shown(
        "looked.html", id="", stage=Stage.REFUSED, fraction=0.0, found=None, warning=WARNING, refused=refused
    )


def looked(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """What was found, or how far it is."""
    return _looked(pages, request.path_params["id"])


def stop_looking(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """Stop reading."""
    id = request.path_params["id"]
    if (work := pages.questions.looked(id)) is not None:
        work.stop()
        work.wait(2.0)
    return _looked(pages, id)


def _looked(pages: Pages, id: str) -> Response:
    work = pages.questions.looked(id)
    if work is None:
        raise HTTPException(404)
    work.wait(0.2)
    stage = work.stage  # once: it may be another one a moment later
    found = work.result if stage is Stage.ANSWERED else None
    about: dict[str, Any] = {"fraction": work.fraction, "found": found, "warning": WARNING, "refused": work.refused}
    return pages.shown("looked.html", id=id, stage=stage, **about)


ROUTES = (
    route("/", home),
    route("/ask/{question}", ask),
    route("/ask/{question}/plan", plan, "POST"),
    route("/ask/{question}/curve", curve, "POST"),
    route("/ask/{question}/look", look, "POST"),
    route("/ask/{question}/confirm", confirm, "POST"),
    route("/looked/{id}", looked),
    route("/looked/{id}/stop", stop_looking, "POST"),
)

"""The pages where a question is chosen and planned, and where the holder has the rows looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dpselect.arguments import OF_VIEWS
from dpselect.errors import SelectionError
from dpselect.questions.question import BY_NAME, Question
from dpselect.session.check import WARNING, Check, check
from dpselect.session.described import seen
from dpselect.web.forms import Form
from dpselect.web.pages import Pages, route
from dpselect.web.planning import planned

_CHECKED = frozenset(signature(check).parameters)


def _question(pages: Pages, request: Request) -> type[Question]:
    """The question of the address, about the table that was chosen."""
    about = BY_NAME.get(request.path_params["question"])
    if about is None or pages.site.unit is None:
        raise HTTPException(404)
    return about


def home(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """What can be asked, and what was answered; before that, which table."""
    if pages.site.unit is None:
        return RedirectResponse("/tables" if pages.site.source is None else "/table", status_code=303)
    return pages.shown("home.html")


def ask(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """The form of a question, empty, or as it was filled in for another answer."""
    about = _question(pages, request)
    earlier = pages.questions.find(request.query_params.get("from", ""))
    if earlier is not None and earlier.form.about is about:
        form = Form.read(about, pages.site, earlier.form.typed | {"site": ""})
    else:
        form = Form.empty(about, pages.site)
    return pages.shown("ask.html", form=form, plan=planned(form))


def plan(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """The plan after a field was changed, with the sentences of errors beside their fields."""
    form = Form.read(_question(pages, request), pages.site, typed)
    return pages.shown("plan_update.html", form=form, plan=planned(form))


def confirm(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """Go on to the confirmation, under an id of its own; or the form again with what is wrong."""
    about = _question(pages, request)
    form = Form.read(about, pages.site, typed)
    if form.epsilon is not None and not form.errors:
        form.forecast(form.epsilon, paying=True)
    for name in form.missing:
        form.errors.setdefault(name, "This is needed.")
    if form.epsilon is None or form.errors:
        return pages.shown("ask.html", status=422, form=form, plan=planned(form))
    form.site.people = form.text("people") or form.site.people
    asked = pages.questions.confirm(form, form.epsilon)
    return RedirectResponse(f"/release/{asked.id}", status_code=303)


def look(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """Begin to count which rows the question would read, for the holder's eyes."""
    form = Form.read(_question(pages, request), pages.site, typed)
    given = dict(form.arguments)
    view = {each.name: given.pop(each.name) for each in OF_VIEWS if each.name in given}
    site, column = form.site, given.pop("column", None)

    def work(progress: Callable[[float], None]) -> Check:
        if form.errors:
            raise SelectionError("Fill in the form first.")
        if column is None:
            raise SelectionError("Choose a column first: it is what is looked at.")
        known = {name: value for name, value in given.items() if name in _CHECKED}
        return check(seen(site.data(), **view), column, progress=progress, **known).as_options()

    return _looked(pages, pages.questions.look(work))


def looked(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """What was found, or how far it is."""
    return _looked(pages, request.path_params["id"])


def stop_looking(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """Stop reading."""
    if (work := pages.questions.looked(request.path_params["id"])) is not None:
        work.stop()
        work.wait(2.0)
    return looked(pages, request, typed)


def _looked(pages: Pages, id: str) -> Response:
    work = pages.questions.looked(id)
    if work is None:
        raise HTTPException(404)
    work.wait(0.2)
    return pages.shown("looked.html", id=id, stage=work.stage, work=work, warning=WARNING)


ROUTES = (
    route("/", home),
    route("/ask/{question}", ask),
    route("/ask/{question}/plan", plan, "POST"),
    route("/ask/{question}/look", look, "POST"),
    route("/ask/{question}/confirm", confirm, "POST"),
    route("/looked/{id}", looked),
    route("/looked/{id}/stop", stop_looking, "POST"),
)

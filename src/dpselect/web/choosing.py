"""The pages before a confirmation: which table, whom it protects and the account that pays; a question and its plan.

On request rows are looked at, for the holder's eyes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from inspect import signature
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from dpselect.arguments import OF_VIEWS, Argument, read
from dpselect.errors import InvalidDataError, SelectionError
from dpselect.formats import WORDS
from dpselect.ledger import Account, Ledger
from dpselect.privacy import ROWS
from dpselect.questions.question import BY_NAME
from dpselect.rows.files import named_kind
from dpselect.session.check import WARNING, Check, check
from dpselect.session.dataset import seen
from dpselect.web.forms import Field, Filled, Form
from dpselect.web.pages import Pages, Typed, route
from dpselect.web.site import Site

_LEDGER = "budget.db"  # the file of the ledger, in the folder that the server was started in

_ROWS, _NEW, _COLUMN, _ACCOUNT = "rows", "new", "column ", "account "
"""Chosen as the unit or the account; names have a prefix, because one may be such a word."""

_OF_ACCOUNT = (
    Argument("number", "Limit on the epsilons of all answers together.", "epsilon"),
    Argument("number", "The same limit for delta, if a question needs one.", "delta", None),
    Argument("any text", "The name of the new account.", "account_name", None),
)


def home(pages: Pages, typed: Typed) -> Response:
    """What can be asked, and what was answered; before that, which table."""
    if pages.site.unit is None:
        return RedirectResponse("/tables" if pages.site.source is None else "/table", 303)
    return pages.shown("home.html")


@dataclass(slots=True, kw_only=True)
class Opened(Filled):
    """A table that is being chosen, without a unit; its fields are the words of a format, and those of an account."""

    columns: list[str] = field(default_factory=list[str])  # none if the table cannot be read
    accounts: list[Account] | None = None  # open ones of the ledger in the folder; None: the command named one


def tables(pages: Pages, typed: Typed) -> Response:
    if pages.site.folder is None:
        raise HTTPException(404)
    return pages.shown("tables.html", names=pages.site.folder.names())


def table(pages: Pages, typed: Typed) -> Response:
    """One table: its columns, and what has to be said of it. Nothing is chosen yet."""
    opened = _opened(pages, typed)
    return pages.shown("table.html", site=opened.site, opened=opened, ledger_file=_LEDGER)


def choose(pages: Pages, typed: Typed) -> Response:
    """From now on the pages are about this table; or the page again, with what is wrong."""
    opened = _opened(pages, typed)
    unit = opened.text("unit")
    if not opened.errors:
        with opened.noting("unit"):
            if unit not in (_ROWS, *(_COLUMN + each for each in opened.columns)):
                raise SelectionError("This is needed: choose a column, or that each row is another person.")
            chosen = replace(opened.site, unit=ROWS if unit == _ROWS else unit.removeprefix(_COLUMN))
            chosen.check()
            with opened.noting("account"):
                pages.site = _with_account(chosen, opened)
    if opened.errors:
        return pages.shown("table.html", status=422, site=opened.site, opened=opened, ledger_file=_LEDGER)
    return RedirectResponse("/", 303)


def _with_account(site: Site, opened: Opened) -> Site:
    wanted = opened.text("account")
    if opened.accounts is None or not wanted:
        return site
    ledger, name = Ledger(f"sqlite:///{_ledger_of(site)}"), wanted.removeprefix(_ACCOUNT)
    if wanted == _NEW:
        name, delta = opened.text("account_name").strip(), opened.text("delta").strip()
        more = {each: read("number", "delta", delta) for each in ("delta", "set_aside")} if delta else {}
        epsilon = read("number", "epsilon", opened.text("epsilon").strip())
        ledger.open_account(name, epsilon=epsilon, unit=site.protects, neighbours=site.neighbours, **more)
    held = ledger.account(name)
    if (held.unit or site.protects, held.neighbours) != (site.protects, site.neighbours):
        raise SelectionError(f"This account protects each {held.unit}, and cannot pay for this table.")
    return replace(site, ledger=ledger, account=name)


def _opened(pages: Pages, typed: Typed) -> Opened:
    base = pages.start
    if base.folder is not None:
        base = replace(base, source=typed.get("file", ""))
    if base.source is None:
        raise InvalidDataError("source", None, "a table of the folder")
    _ = base.located  # before anything else is looked at
    kind = named_kind(base.source)
    words = [Field(each) for each in WORDS if kind is not None and each.name in kind.words]
    fields = [*words, *(Field(each, part="account") for each in _OF_ACCOUNT)]
    usual = {"epsilon": "1", "account_name": Path(base.shown_source).name.partition(".")[0]}
    opened = Opened(site=replace(base, unit=None), fields=fields, typed={**usual, **typed})
    opened.read_each(words)
    if not opened.errors:
        with opened.noting("source"):
            opened.site = replace(opened.site, format=replace(base.format, **opened.arguments))
            opened.columns = [each.name for each in opened.site.columns]
    if base.ledger is None:
        opened.accounts = []
        with suppress(SelectionError):  # said once it is to pay
            if os.path.exists(place := _ledger_of(base)):
                with Ledger(f"sqlite:///{place}") as ledger:
                    opened.accounts = [each for each in ledger.accounts() if each.is_open]
    return opened


def _ledger_of(site: Site) -> str:
    """Where the ledger is, or will be: a file, and no link to one elsewhere."""
    place = os.path.join("." if site.folder is None else site.folder.path, _LEDGER)
    if os.path.islink(place):
        raise InvalidDataError("source", None, f"a folder in which {_LEDGER} is no link")
    return place


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
    form = _form(pages, question, {**asked.form.typed, "site": ""} if asked is not None and is_again else None)
    return pages.shown("ask.html", form=form, plan=form.plan())


def plan(pages: Pages, typed: Typed, question: str) -> Response:
    """The plan after a field was changed, with the sentences of errors beside their fields."""
    form = _form(pages, question, typed)
    return pages.shown("plan_update.html", form=form, plan=form.plan())


def confirm(pages: Pages, typed: Typed, question: str) -> Response:
    """Go on to the confirmation, under an id of its own; or the form again with what is wrong."""
    form = _form(pages, question, typed)
    form.plan(if_missing=True)
    for name in form.missing:
        form.errors.setdefault(name, "This is needed.")
    if form.errors:
        return pages.shown("ask.html", status=422, form=form, plan=form.plan())
    form.site.people = form.text("people") or form.site.people
    return RedirectResponse(f"/release/{pages.confirm(form).id}", 303)


def look(pages: Pages, typed: Typed, question: str) -> Response:
    """Begin to count which rows the question would read, for the holder's eyes."""
    form = _form(pages, question, typed)
    views = {each.name: form.arguments[each.name] for each in OF_VIEWS if each.name in form.arguments}
    known = {name: value for name, value in form.arguments.items() if name in signature(check).parameters}

    def work(progress: Callable[[float], None]) -> Check:
        if form.errors or "column" not in known:
            raise SelectionError("Fill in the form first." if form.errors else "Choose a column: it is looked at.")
        return check(seen(form.site.data(), **views), progress=progress, **known).as_options()

    return looked(pages, typed, pages.look(work))


def looked(pages: Pages, typed: Typed, id: str) -> Response:
    work = pages.looked.get(id)
    if work is None:
        raise HTTPException(404)
    work.wait(0.2)
    return pages.shown("looked.html", id=id, stage=work.stage, work=work, warning=WARNING)


def stop_looking(pages: Pages, typed: Typed, id: str) -> Response:
    if (work := pages.looked.get(id)) is not None:
        work.stop(2.0)
    return looked(pages, typed, id)


ROUTES = (
    route("/", home),
    route("/tables", tables),
    route("/table", table),
    route("/table", choose, "POST"),
    route("/ask/{question}", ask),
    route("/ask/{question}/plan", plan, "POST"),
    route("/ask/{question}/look", look, "POST"),
    route("/ask/{question}/confirm", confirm, "POST"),
    route("/looked/{id}", looked),
    route("/looked/{id}/stop", stop_looking, "POST"),
)

"""The pages before the first question: which table, whom it protects, how it is written, and the account that pays."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from dpselect.arguments import Argument, read
from dpselect.errors import InvalidDataError, SelectionError
from dpselect.formats import WORDS
from dpselect.ledger import Account, Ledger
from dpselect.privacy import ROWS
from dpselect.rows.files.source import named_kind
from dpselect.web.forms import Field, error_in_words
from dpselect.web.pages import Pages, Typed, led_to, route
from dpselect.web.site import Site

_LEDGER = "budget.db"
"""The file of the ledger, in the folder that the server was started in."""

_ROWS, _NEW, _COLUMN, _ACCOUNT = "rows", "new", "column ", "account "
"""Chosen as the unit or the account; names have a prefix, because one may be such a word."""

_OF_ACCOUNT = (
    Argument("number", "Limit on the epsilons of all answers together.", "epsilon"),
    Argument("number", "Likewise of the deltas, if questions are to be asked that need one.", "delta", None),
    Argument("any text", "The name of the new account.", "account_name", None),
)


@dataclass(slots=True)
class Opened:
    """A table that is being chosen, without a unit, and what was typed so far."""

    site: Site
    typed: Typed
    words: list[Field]  # of a format that this kind of file has
    columns: list[str] = field(default_factory=list[str])  # none if the table cannot be read
    accounts: list[Account] | None = None  # open ones of the ledger in the folder; None: the command named one
    errors: dict[str, str] = field(default_factory=dict[str, str])  # by the names of fields
    limits: Sequence[Field] = tuple(map(Field, _OF_ACCOUNT))  # of a new account

    def text(self, name: str) -> str:
        """What an input shows."""
        usual = {"epsilon": "1", "account_name": Path(self.site.shown_source).name.partition(".")[0]}
        return self.typed.get(name, usual.get(name, ""))

    @contextmanager
    def noting(self, otherwise: str) -> Generator[None]:
        """Keep the sentence of an error beside the field that it is about, or beside another."""
        try:
            yield
        except SelectionError as error:
            name = getattr(error, "name", "")
            is_field = any(each.name == name for each in (*self.words, *self.limits))
            self.errors[name if is_field else otherwise] = error_in_words(error)


def tables(pages: Pages, typed: Typed) -> Response:
    """The tables of the folder."""
    if pages.folder is None:
        raise HTTPException(404)
    return pages.shown("tables.html", names=pages.folder.names())


def table(pages: Pages, typed: Typed) -> Response:
    """One table: its columns, and what has to be said of it. Nothing is chosen yet."""
    opened = _opened(pages, typed)
    return pages.shown("table.html", site=opened.site, opened=opened, ledger_file=_LEDGER)


def choose(pages: Pages, typed: Typed) -> Response:
    """From now on the pages are about this table; or the page again, with what is wrong."""
    opened = _opened(pages, typed)
    chosen = opened.site
    for place, choose_more in {"unit": _with_unit, "account": _with_account}.items():
        if not opened.errors:
            with opened.noting(place):
                chosen = choose_more(chosen, opened)
    if opened.errors:
        return pages.shown("table.html", status=422, site=opened.site, opened=opened, ledger_file=_LEDGER)
    pages.site = chosen
    return led_to("/")


def _with_unit(site: Site, opened: Opened) -> Site:
    unit = opened.text("unit")
    if unit not in (_ROWS, *(_COLUMN + each for each in opened.columns)):
        opened.errors["unit"] = "This is needed: choose a column, or that each row is another person."
        return site
    chosen = replace(site, unit=ROWS if unit == _ROWS else unit.removeprefix(_COLUMN))
    chosen.check()
    return chosen


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
        opened.errors["account"] = f"This account protects each {held.unit}, and cannot pay for this table."
    return replace(site, ledger=ledger, account=name)


def _opened(pages: Pages, typed: Typed) -> Opened:
    base = pages.start
    if pages.folder is not None:
        base = replace(base, source=typed.get("file", ""), folder=pages.folder)
    if base.source is None:
        raise InvalidDataError("source", None, "a table of the folder")
    _ = base.located  # before anything else is looked at
    kind = named_kind(base.source)
    words = [Field(each) for each in WORDS if kind is not None and each.name in kind.words]
    opened = Opened(replace(base, unit=None), typed, words)
    with opened.noting("source"):
        given: dict[str, Any] = {
            each.name: read(each.argument.kind, each.name, typed[each.name]) for each in words if typed.get(each.name)
        }
        opened.site = replace(opened.site, format=replace(base.format, **given))
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


ROUTES = (route("/tables", tables), route("/table", table), route("/table", choose, "POST"))

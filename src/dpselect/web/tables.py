"""The pages before the first question: which table, whom it protects, how it is written, and the account that pays."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dpselect.arguments import read
from dpselect.errors import InvalidDataError, InvalidParameterError, SelectionError
from dpselect.formats import DELIMITER_WORDS, ENCODINGS, THOUSANDS, Format
from dpselect.ledger import Account, Ledger
from dpselect.privacy import ROWS
from dpselect.rows.files.finding import named_kind
from dpselect.web.pages import Pages, route
from dpselect.web.site import NOBODY, Site
from dpselect.web.words import error_in_words

LEDGER = "budget.db"
"""The file of the ledger, in the folder that the server was started in."""

EACH_ROW = "rows"
"""Chosen as the unit; columns have a prefix, because one may have this name."""

_COLUMN, _ACCOUNT = "column ", "account "
NEW = "new"
"""Chosen as the account; others have a prefix."""

_WRITTEN: dict[str, tuple[str, tuple[str, ...]]] = {
    "delimiter": ("Between the cells of a line", (*DELIMITER_WORDS,)),
    "decimal": ("Decimal mark", (".", ",")),
    "thousands": ("Mark between thousands", (*THOUSANDS,)),
    "strip": ("Signs around numbers, such as $ or %", ()),
    "date_format": ("Dates, such as %d.%m.%Y (as they stand: 2026-01-31)", ()),
    "encoding": ("Encoding", ENCODINGS),
    "sheet": ("Name of the sheet", ()),
    "skip_lines": ("Lines above the names of the columns", ()),
}
"""The words of a format that pages have, each with a label and what can be chosen."""


@dataclass(slots=True)
class Opened:
    """A table that is being chosen.

    Attributes:
        site: the table, without a unit.
        typed: what was typed so far.
        errors: a sentence for each field that is wrong, by its name.
        columns: names of the columns; empty if the table cannot be read.
        words: the words of a format that this kind of file has.
        accounts: open accounts of the ledger in the folder.
        pays: whether the command named an account.
    """

    site: Site
    typed: dict[str, str]
    errors: dict[str, str]
    columns: list[str]
    words: tuple[str, ...]
    accounts: list[Account]
    pays: bool


def tables(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """The tables of the folder."""
    if pages.folder is None:
        raise HTTPException(404)
    return pages.shown("tables.html", names=pages.folder.names())


def table(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """One table: its columns, and what has to be said of it. Nothing is chosen yet."""
    return _shown(pages, _opened(pages, dict(request.query_params)))


def choose(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """From now on the pages are about this table; or the page again, with what is wrong."""
    if "plan" in typed:
        pages.site = Site(unit=NOBODY)
        return RedirectResponse("/", status_code=303)
    opened = _opened(pages, dict(typed))
    chosen, unit = None, opened.typed.get("unit", "")
    if not opened.errors and opened.columns:
        name = unit.removeprefix(_COLUMN)
        if unit not in (EACH_ROW, *(_COLUMN + each for each in opened.columns)):
            opened.errors["unit"] = "This is needed: choose a column, or that each row is another person."
        else:
            chosen = replace(opened.site, unit=ROWS if unit == EACH_ROW else name)
            chosen = _checked(chosen, opened)
    if chosen is None:
        return _shown(pages, opened, status=422)
    pages.site = chosen
    return RedirectResponse("/", status_code=303)


def _checked(site: Site, opened: Opened) -> Site | None:
    """The table with its account, if both can be asked; what is wrong is kept."""
    try:
        site.check()
    except SelectionError as error:
        opened.errors["unit"] = error_in_words(error)
        return None
    wanted, place = opened.typed.get("account", ""), _ledger_of(site)
    if opened.pays or not wanted:
        return site
    try:
        ledger, name = Ledger(f"sqlite:///{place}"), wanted.removeprefix(_ACCOUNT)
        if wanted == NEW:
            name = opened.typed.get("name", "").strip() or os.path.basename(site.source or "").partition(".")[0]
            limits = {each: _limit(opened.typed.get(each, ""), each) for each in ("epsilon", "delta")}
            given = {"delta": limits["delta"], "set_aside": limits["delta"]} if limits["delta"] else {}
            ledger.open_account(
                name, epsilon=limits["epsilon"], unit=site.protects, neighbours=site.neighbours, **given
            )
        paid = replace(site, ledger=ledger, account=name)
        held = ledger.account(name)
        if (held.unit or site.protects, held.neighbours) != (site.protects, site.neighbours):
            opened.errors["account"] = f"This account protects each {held.unit}, and cannot pay for this table."
            return None
        return paid
    except SelectionError as error:
        name = getattr(error, "name", "")
        opened.errors[name if name in ("epsilon", "delta", "name") else "account"] = error_in_words(error)
        return None


def _limit(text: str, name: str) -> float:
    if not text.strip():
        if name == "delta":
            return 0.0
        raise InvalidParameterError(name, None, "a number such as 1")
    return read("number", name, text.strip())


def _opened(pages: Pages, typed: dict[str, str]) -> Opened:
    base, name = pages.site, typed.get("name_of_table", "")
    if pages.folder is not None:
        pages.folder.place_of(name)  # before anything else is looked at
        base = replace(pages.start, source=name, folder=pages.folder)
    elif base.source is None:
        raise InvalidDataError("source", None, "a table of the folder")
    kind = named_kind(base.source or "")
    words = tuple(each for each in _WRITTEN if kind is not None and each in kind.words)
    opened = Opened(replace(base, unit=None), typed, {}, [], words, [], base.ledger is not None)
    given: dict[str, Any] = {each: typed[each] for each in words if typed.get(each)}
    try:
        if "skip_lines" in given:
            given["skip_lines"] = read("whole", "skip_lines", given["skip_lines"])
        opened.site = replace(opened.site, format=replace(base.format, **given))
        opened.columns = [each.name for each in opened.site.columns]
    except SelectionError as error:
        wrong = getattr(error, "name", "")
        opened.errors[wrong if wrong in words else "source"] = error_in_words(error)
    place = _ledger_of(base)
    if os.path.isfile(place) and not os.path.islink(place):
        with suppress(SelectionError), Ledger(f"sqlite:///{place}") as ledger:
            opened.accounts = [each for each in ledger.accounts() if each.is_open]
    return opened


def _ledger_of(site: Site) -> str:
    """Where the ledger is, or will be: a file, and no link to one elsewhere."""
    place = os.path.join("." if site.folder is None else site.folder.path, LEDGER)
    if os.path.islink(place):
        raise InvalidDataError("source", None, f"a folder in which {LEDGER} is no link")
    return place


def _shown(pages: Pages, opened: Opened, *, status: int = 200) -> Response:
    usual = Format()
    fields = [(name, *_WRITTEN[name], str(getattr(usual, name) or "")) for name in opened.words]
    return pages.shown("table.html", status=status, site=opened.site, opened=opened, fields=fields, ledger_file=LEDGER)


ROUTES = (route("/tables", tables), route("/table", table, "GET"), route("/table", choose, "POST"))

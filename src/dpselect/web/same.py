"""The command and the Python that ask the same question as a page."""

from __future__ import annotations

import shlex
from dataclasses import fields
from fractions import Fraction
from functools import partial
from typing import Any, cast

from dpselect import public
from dpselect.arguments import OF_VIEWS, REQUIRED
from dpselect.formats import Format
from dpselect.privacy import Neighbours
from dpselect.public_time import Times
from dpselect.questions.question import as_text
from dpselect.summaries import CandidateKind
from dpselect.web.forms import Form
from dpselect.web.releasing import PageRequest
from dpselect.web.site import Site, shown_address

_LISTS = frozenset({"candidates", "values", "groups", "prices", "dates"})


def in_python(asked: PageRequest) -> str:
    """The question as a program, line by line."""
    form, site = asked.form, asked.form.site
    table = {name: value for name, value in _reading(site).items() if value}
    opened = [repr(shown_address(site.source or "")), f"unit={form.unit!r}"]
    opened += [f"{name}={value!r}" for name, value in table.items()]
    if words := _format_words(site.format):
        opened.append(f"format=dps.Format({', '.join(f'{name}={value!r}' for name, value in words.items())})")
    arguments = dict(form.arguments)
    view = {each.name: arguments.pop(each.name) for each in OF_VIEWS if each.name in arguments}
    needs_column = form.about.argument("column").default is REQUIRED
    told = [repr(arguments.pop("column", None))] if "column" in arguments or needs_column else []
    told += [f"{name}={value!r}" for name, value in arguments.items()]
    told.append(f"epsilon={asked.epsilon!r}")
    if site.ledger is not None:
        told.append(f"request={asked.request!r}")
    lines = ["import dpselect as dps"]
    if any(map(_has_fraction, arguments.values())):
        lines.insert(0, "from fractions import Fraction\n")
    if "datetime.date(" in " ".join([*told, repr(view)]):
        lines.insert(0, "import datetime\n")
    data = "data"
    if where := view.pop("where", None):
        data = f"data.where({where!r})"
    if view:
        of_groups = ", ".join(f"{name}={value!r}" for name, value in view.items() if name != "by")
        data = f"{data}.by({view.get('by')!r}, {of_groups})"
    lines += ["", f"data = dps.Dataset({', '.join(opened)})", f"release = {data}.{form.about.name}({', '.join(told)})"]
    return "\n".join([*lines, "print(release)"])


def on_the_command_line(asked: PageRequest) -> str:
    """The question as a command for a POSIX shell, on one line; empty if no command asks it."""
    form, site = asked.form, asked.form.site
    arguments = dict(form.arguments)
    named = [shown_address(site.source or "")]
    if (column := arguments.pop("column", None)) is not None:
        named.append(str(column))
    options = _option("unit", form.unit)
    typed = {name: form.typed.get(f"{name}_as", "") for name in ("candidates", "groups")}
    positional = form.about.positional
    written: dict[str, list[str]] = {}
    conditions: dict[str, Any] = arguments.pop("where", {})
    for name, condition in conditions.items():
        if (found := public.written(condition, partial(form.condition, name))) is None:
            return ""
        options += _option("where", f"{name}={found}")
    for name, value in arguments.items():
        found = _written(form, name, value)
        if found is None:
            return ""
        written[name] = found
    for name in positional:
        named += written.pop(name)
    for name, words in written.items():
        options += _option(name) if arguments[name] is True else _option(name, *words)
        if typed.get(name):
            options += _option(f"{name}_as", CandidateKind(typed[name]).name.lower())
    options += _option("epsilon", as_text(asked.epsilon))
    for name, value in (_reading(site) | _format_words(site.format)).items():
        if value is True:
            options += [f"--{name.replace('_', '-')}"]
        elif value:
            options += _option(name, str(value).replace("_", "-") if name == "neighbours" else str(value))
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
    return word.partition("=")[0] in ("--help", "-h", "--version", "--show-columns")


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
    held = {each.name: getattr(format, each.name) for each in fields(format)}
    usual = Format()
    return {name: value for name, value in held.items() if value != getattr(usual, name)}


def _written(form: Form, name: str, value: Any) -> list[str] | None:
    """The words of a value on the command line; None if there are none that mean it."""
    if name in _LISTS:
        found = public.written(value, partial(form.listed, name))
        return None if found is None else [found]
    if isinstance(value, tuple):
        return [public.written_number(each) for each in cast("tuple[object, ...]", value)]
    if isinstance(value, list):  # levels
        return [",".join(map(public.written_number, cast("list[object]", value)))]
    return [public.written_number(value)]


def _has_fraction(value: object) -> bool:
    if isinstance(value, tuple):
        return any(map(_has_fraction, cast("tuple[object, ...]", value)))
    return isinstance(value, Fraction)

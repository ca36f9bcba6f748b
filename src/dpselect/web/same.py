"""The command and the Python that ask the same question as a page."""

from __future__ import annotations

import shlex
from dataclasses import fields
from fractions import Fraction
from typing import Any, cast

from dpselect import public
from dpselect.arguments import OF_VIEWS
from dpselect.formats import Format
from dpselect.privacy import Neighbours
from dpselect.public_time import Times
from dpselect.questions.words import as_text
from dpselect.web.forms import conditions
from dpselect.web.releasing import PageRequest
from dpselect.web.site import Site, shown_address


def in_python(asked: PageRequest) -> str:
    """The question as a program, line by line."""
    form, site = asked.form, asked.form.site
    given = dict(form.arguments)
    view = {each.name: given.pop(each.name) for each in OF_VIEWS if each.name in given}
    opened = [repr(shown_address(site.source or "")), f"unit={form.unit!r}"]
    opened += [f"{name}={value!r}" for name, value in _reading(site).items() if value]
    if words := _format_words(site.format):
        opened.append(f"format=dps.Format({', '.join(f'{name}={value!r}' for name, value in words.items())})")
    told = [repr(given.pop("column"))] if "column" in given else []
    told += [f"{name}={value!r}" for name, value in (given | {"epsilon": asked.epsilon}).items()]
    told += [] if site.ledger is None else [f"request={asked.request!r}"]
    data = f"data.where({view.pop('where')!r})" if "where" in view else "data"
    if view:
        data += f".by({view.pop('by', None)!r}, {', '.join(f'{name}={value!r}' for name, value in view.items())})"
    question = f"release = {data}.{form.about.name}({', '.join(told)})"
    lines = ["import dpselect as dps", "", f"data = dps.Dataset({', '.join(opened)})", question, "print(release)"]
    if any(map(_has_fraction, given.values())):
        lines.insert(0, "from fractions import Fraction\n")
    if "datetime.date(" in question:
        lines.insert(0, "import datetime\n")
    return "\n".join(lines)


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
    held, usual = {each.name: getattr(format, each.name) for each in fields(format)}, Format()
    return {name: value for name, value in held.items() if value != getattr(usual, name)}


def _has_fraction(value: object) -> bool:
    if isinstance(value, tuple):
        return any(map(_has_fraction, cast("tuple[object, ...]", value)))
    return isinstance(value, Fraction)

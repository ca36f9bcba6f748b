"""The command and the Python that ask the same question as a page."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any, cast

from dpselect.formats import Format
from dpselect.privacy import Neighbours
from dpselect.public_time import Times
from dpselect.questions.wording import as_text
from dpselect.web.forms import PRIVATE
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
    told = [repr(arguments.pop("column", None))] if "column" in arguments or form.about.needs_column else []
    told += [f"{name}={value!r}" for name, value in arguments.items()]
    told.append(f"epsilon={asked.epsilon!r}")
    if site.ledger is not None:
        told.append(f"request={asked.request!r}")
    lines = ["import dpselect as dps"]
    if any(map(_has_fraction, arguments.values())):
        lines.insert(0, "from fractions import Fraction\n")
    lines += ["", f"data = dps.Dataset({', '.join(opened)})", f"release = data.{form.about.name}({', '.join(told)})"]
    return "\n".join([*lines, "print(release)"])


def on_the_command_line(asked: PageRequest) -> str:
    """The question as a command for a POSIX shell, on one line."""
    form, site = asked.form, asked.form.site
    arguments = dict(form.arguments)
    words = ["dpselect", form.about.name.replace("_", "-"), shown_address(site.source or "")]
    if (column := arguments.pop("column", None)) is not None:
        words.append(str(column))
    for each in form.about.positional:
        words += _written(each.name, arguments.pop(each.name))
    words += ["--unit", form.unit]
    typed = {name: form.typed.get(f"{name}_as", "") for name in ("candidates", "groups")}
    for name, value in arguments.items():
        option = "yes" if name == "allow_many" else name.replace("_", "-")
        given = _written(name, value)
        words += [f"--{option}"] if value is True else [f"--{option}", *given]
        if typed.get(name):
            words += [f"--{option}-as", typed[name]]
    words += ["--epsilon", as_text(asked.epsilon)]
    for name, value in (_reading(site) | _format_words(site.format)).items():
        if value is True:
            words.append(f"--{name.replace('_', '-')}")
        elif value:
            shown = str(value).replace("_", "-") if name == "neighbours" else str(value)
            words += [f"--{name.replace('_', '-')}", shown]
    if site.ledger is not None:
        words += ["--request", asked.request]
    return shlex.join(words)


def _reading(site: Site) -> dict[str, Any]:
    """What a table is opened with, if not as usual."""
    return {
        "table": site.table,
        "engine": site.engine,
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


def _written(name: str, value: Any) -> list[str]:
    """The words of a value on the command line."""
    if value == PRIVATE:
        return [PRIVATE]
    if isinstance(value, tuple):
        return [_number(each) for each in cast("tuple[object, ...]", value)]
    if name == "levels":
        return [",".join(map(_number, cast("list[object]", value)))]
    if name in _LISTS:
        return [_list(value)]
    return [_number(value)]


def _list(value: range | Sequence[Any]) -> str:
    if isinstance(value, range):
        return f"{value[0]}..{value[-1]}"
    written = io.StringIO()
    csv.writer(written, lineterminator="").writerow(map(_number, value))
    return written.getvalue()


def _number(value: object) -> str:
    return f"{value.numerator}/{value.denominator}" if isinstance(value, Fraction) else as_text(value)


def _has_fraction(value: object) -> bool:
    if isinstance(value, tuple):
        return any(map(_has_fraction, cast("tuple[object, ...]", value)))
    return isinstance(value, Fraction)

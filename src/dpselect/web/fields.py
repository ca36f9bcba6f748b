"""The fields of a question's form, from the arguments that it declares."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from dpselect.arguments import OF_EVERY_QUESTION, OF_VIEWS, REQUIRED, Argument, arguments_of
from dpselect.questions.declared import Question
from dpselect.summaries import CandidateKind
from dpselect.web.site import NOBODY, Site

LOWER, UPPER = "lower-end", "upper-end"
"""The parts of a field that is two numbers."""

_MORE = frozenset({"lower", "units", "method", "sample_size", "scale", "kind", "max_rows_per_unit"})
"""Options that few need."""

Part = Literal["main", "more", "groups"]

KINDS = tuple(str(kind) for kind in CandidateKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a form.

    Attributes:
        name: of the argument.
        kind: how it is typed; see `Argument.kind`. Also "column" and "choice".
        help: one or two sentences.
        is_needed: whether it may not stay empty.
        default: what it shows at first.
        choices: what can be chosen, each with a label; empty: typed freely.
        part: where it stands.
    """

    name: str
    kind: str
    help: str
    is_needed: bool = False
    default: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    part: Part = "main"

    @property
    def label(self) -> str:
        """Its name in words."""
        return self.name.replace("_", " ")

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of its inputs."""
        if self.kind in ("bounds", "ends"):
            return f"{self.name}.{LOWER}", f"{self.name}.{UPPER}"
        return (self.name,)


def fields_of(about: type[Question], site: Site) -> list[Field]:
    """The fields of a question, in the order in which they are filled in."""
    found: list[Field] = []
    columns = tuple(
        (each.name, each.name if not site.is_typed else f"{each.name} ({each.holds})") for each in site.columns
    )
    if site.unit is None:
        about_unit = "Column that identifies whom a row belongs to: who is protected."
        default = NOBODY if site.source is None else ""
        found.append(
            Field(name="unit", kind="column", help=about_unit, is_needed=True, default=default, choices=columns)
        )
    column = about.argument("column")
    is_needed = column.default is REQUIRED
    default = "value" if site.source is None and is_needed else ""
    others = tuple(each for each in columns if each[0] != site.unit)
    found.append(
        Field(name="column", kind="column", help=column.help, is_needed=is_needed, default=default, choices=others)
    )
    examples = dict(zip(about.positional, about.example[0].split()[2:], strict=True))  # after table and column
    own = [each for each in arguments_of(about) if each.name not in ("column", "epsilon")]
    own.sort(key=lambda each: (each.name not in examples, each.default is not REQUIRED))
    found += [_field(each, columns, example=examples.get(each.name, "")) for each in own if each.name not in _MORE]
    found += [_field(each, columns, part="more") for each in own if each.name in _MORE]
    if about.chooses():
        found.append(_kind_of("candidates", "more"))
    found += [_field(each, columns, part="more") for each in OF_EVERY_QUESTION if each.name != "request"]
    for each in OF_VIEWS:
        found.append(_field(each, columns, part="more" if each.name == "where" else "groups"))
        if each.name == "groups":
            found.append(_kind_of("groups", "groups"))
    return found


_FOR_PAGES = ((re.compile(r"(or )?@file(( with one per line,)? or @codes\.csv:column)?(?=\.)"), "or one on each line"),)
"""Words of the command line, and the same on a page."""

_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)")


def _on_page(help: str) -> str:
    """The help of an option in the words of a page.

    >>> _on_page("Instead of --step: spend half of --epsilon, see --max-values-per-unit.")
    'Instead of step: spend half of epsilon, see max values per unit.'
    >>> _on_page("Public: a range 1..100, a list 4.99,9.99, @file with one per line, or @codes.csv:column. The rest")
    'Public: a range 1..100, a list 4.99,9.99, or one on each line. The rest'
    """
    for written, better in _FOR_PAGES:
        help = written.sub(better, help)
    return _OPTION.sub(lambda found: found[1].replace("-", " "), help)


def _field(option: Argument, columns: tuple[tuple[str, str], ...], part: Part = "main", example: str = "") -> Field:
    needed = option.default is REQUIRED
    default = example if needed or option.default in (None, False) else str(option.default).removesuffix(".0")
    kind, choices = option.kind, tuple[tuple[str, str], ...]()
    if not isinstance(kind, str):
        choices = tuple((str(each), str(each)) for each in kind)
        kind = "choice"
    elif kind == "text":  # every one of them names a column
        kind, choices, default = "column", columns, ""
    elif kind in ("values", "prices", "dates") or option.name in ("groups", "where"):
        kind = "list"
    help = _on_page(option.help)
    return Field(name=option.name, kind=kind, help=help, is_needed=needed, default=default, choices=choices, part=part)


def _kind_of(listed: str, part: Part) -> Field:
    help = f"Type of the {listed}. Default: the column's type; for CSV, integers if all look like it (007 does not)."
    return Field(
        name=f"{listed}_as", kind="choice", help=help, choices=tuple((each, each) for each in KINDS), part=part
    )

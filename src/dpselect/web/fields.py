"""The fields of a question's form, from what the registry says of its options."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from dpselect.questions.command import REQUIRED, Command, Option
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
        kind: how it is typed; see `Option.kind`. Also "column" and "list".
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


def fields_of(about: Command, site: Site) -> list[Field]:
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
    if about.needs_column or about.options:
        default = "value" if site.source is None and about.needs_column else ""
        others = tuple(each for each in columns if each[0] != site.unit)
        found.append(
            Field(
                name="column",
                kind="column",
                help=about.column,
                is_needed=about.needs_column,
                default=default,
                choices=others,
            )
        )
    examples = about.example[0].split()[2:]  # after the table and the column
    found += [_field(each, columns, example=example) for each, example in zip(about.positional, examples, strict=True)]
    if about.chooses:
        one = "Public values to choose from, whether or not they occur: 1..100, or red,green,blue, or one on each line."
        without = "" if about.needs_list else " Without them, give a delta."
        found.append(Field(name="candidates", kind="list", help=one + without, is_needed=about.needs_list))
    own = sorted(about.options, key=lambda option: option.default is not REQUIRED)
    found += [_field(option, columns) for option in own if option.name not in _MORE]
    found += [_field(option, columns, part="more") for option in own if option.name in _MORE]
    if about.chooses:
        found.append(_kind_of("candidates", "more"))
        many = Option("allow_many", "flag", "Allow more than ten million candidates.", False)
        found.append(_field(many, columns, part="more"))
    units = "Epsilon for the number of units that could be used, with noise, on top: a warning if it is small."
    found.append(_field(Option("usable_epsilon", "number", units, None), columns, part="more"))
    by = "Column with the group of each row, for one answer for each group."
    found.append(Field(name="by", kind="column", help=by, choices=columns, part="groups"))
    found.append(
        Field(name="groups", kind="list", help="Public list of groups, written like candidates.", part="groups")
    )
    found.append(_kind_of("groups", "groups"))
    most = "Groups per unit. A unit in more groups takes part in this many, chosen at random. The error grows with it."
    found.append(_field(Option("max_groups_per_unit", "whole", most, 1), columns, part="groups"))
    return found


_FILE = re.compile(r"(or )?@file( with one per line, or @codes\.csv:column)?(?=\.)")
"""A file in the words of the command line; a page has none."""

_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)")


def _on_page(help: str) -> str:
    """The help of an option in the words of a page.

    >>> _on_page("Instead of --step: see --max-values-per-unit.")
    'Instead of step: see max values per unit.'
    >>> _on_page("Public: a range 1..100, a list 4.99,9.99, @file with one per line, or @codes.csv:column. The rest")
    'Public: a range 1..100, a list 4.99,9.99, or one on each line. The rest'
    """
    return _OPTION.sub(lambda found: found[1].replace("-", " "), _FILE.sub("or one on each line", help))


def _field(option: Option, columns: tuple[tuple[str, str], ...], part: Part = "main", example: str = "") -> Field:
    needed = option.default is REQUIRED
    default = example if needed or option.default in (None, False) else str(option.default).removesuffix(".0")
    kind, choices = option.kind, tuple[tuple[str, str], ...]()
    if not isinstance(kind, str):
        choices = tuple((str(each), str(each)) for each in kind)
        kind = "choice"
    elif kind == "text":  # every one of them names a column
        kind, choices, default = "column", columns, ""
    elif kind in ("values", "prices", "dates"):
        kind = "list"
    help = _on_page(option.help)
    return Field(name=option.name, kind=kind, help=help, is_needed=needed, default=default, choices=choices, part=part)


def _kind_of(listed: str, part: Part) -> Field:
    help = f"Type of the {listed}. Default: the column's type; for CSV, integers if all look like it (007 does not)."
    return Field(
        name=f"{listed}_as", kind="choice", help=help, choices=tuple((each, each) for each in KINDS), part=part
    )

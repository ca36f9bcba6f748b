"""The reference of the command line, from the commands themselves: ``python docs/commands.py`` prints it as Markdown.

A part of ``docs/command-line.md``, kept up to date by ``make readme``; a test compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cyclopts import App

from dpselect.cli.app import QUESTIONS, app

Line = tuple[str, str]
"""An argument or an option, and what it means."""

_OPTION = re.compile(r"(?<![\w`-])(--[a-z][a-z-]*)")

_NAMED = {"int": "INTEGER", "float": "NUMBER", "str": "TEXT", "Path": "FILE"}
"""What a value of a type is called."""


def reference() -> str:
    """All commands: what the questions have in common, each question, then the others."""
    asked = {name: list(_lines(app[name])) for name in sorted(QUESTIONS)}
    common = [line for line in asked["median"] if all(line in lines for lines in asked.values())]
    listed = [line for line in asked["most-common"] if line not in common and line in asked["top-k"]]
    listed = [line for line in listed if line[0].startswith("`--")]
    parts = ["### Every question", _summary_of_common(), *map(_item, common)]
    parts += ["### Questions that choose from a list", ", ".join(_choosing(asked, listed)) + ".", *map(_item, listed)]
    for name in sorted(QUESTIONS):
        own = [line for line in asked[name] if line not in common and line not in listed]
        parts += [*_head(name, app[name]), *map(_item, own)]
    for name in ("check", "columns", "audit", "plan", "run", "serve", "verify", "doctor", "completion"):
        parts += [*_head(name, app[name]), *map(_item, _lines(app[name]))]
    for name in sorted(each for each in app["ledger"] if not each.startswith("-")):
        parts += [*_head(f"ledger {name}", app["ledger"][name]), *map(_item, _lines(app["ledger"][name]))]
    return "\n".join(_spaced(parts))


def _summary_of_common() -> str:
    files = "a CSV, TSV, Parquet, Arrow, ORC, JSON lines or Excel file, a quoted glob, the folder of a Delta table"
    files += ", or a PostgreSQL URL"
    return f"SOURCE is {files}; COLUMN is what is asked about."


def _choosing(asked: dict[str, list[Line]], listed: Sequence[Line]) -> list[str]:
    return [f"`{name}`" for name, lines in asked.items() if all(line in lines for line in listed)]


def _head(name: str, command: App) -> list[str]:
    arguments = [each for each in command.assemble_argument_collection() if each.is_positional_only()]
    positional = [each.name if each.required else f"[{each.name}]" for each in arguments]
    called = " ".join([name, *positional])
    return [f"### `{called}`", " ".join(command.help.partition("\n\n")[0].split())]


def _lines(command: App) -> Iterator[Line]:
    for argument in command.assemble_argument_collection(parse_docstring=True):
        if argument.name == "*" or argument.parameter.show is False:
            continue
        choices = argument.get_choices()
        value = "" if argument.is_flag() else f" {'|'.join(choices) if choices else _called(argument.hint)}"
        shown = argument.name if argument.is_positional_only() else argument.name + value
        default = argument.field_info.default
        said = " ".join(str(argument.parameter.help or "").split())  # Python 3.13 breaks lines of docstrings elsewhere
        if argument.required and not argument.is_positional_only():
            said += " Required."
        elif argument.show_default and default not in (None, "") and not argument.is_flag():
            said += f" Default: {str(default).replace('_', '-').removesuffix('.0')}."
        if argument.name != "SOURCE":  # said once
            yield f"`{shown}`", said


def _called(hint: object) -> str:
    """The values of a type: NUMBER NUMBER of a pair."""
    named = [_NAMED[word] for word in re.findall(r"\w+", str(hint)) if word in _NAMED]
    return " ".join(named) or _NAMED.get(getattr(hint, "__name__", ""), "TEXT")


def _item(line: Line) -> str:
    name, said = line
    return f"- {name}: " + _OPTION.sub(r"`\1`", said)


def _spaced(parts: Sequence[str]) -> Iterator[str]:
    """Blank lines around headings and paragraphs, none between the lines of a list."""
    for place, part in enumerate(parts):
        if place and not (part.startswith("- ") and parts[place - 1].startswith("- ")):
            yield ""
        yield part


if __name__ == "__main__":
    print(reference())

"""The reference of the command line, from the commands themselves: ``python docs/commands.py`` prints it as Markdown.

A part of ``docs/command-line.md``, kept up to date by ``make readme``; a test compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dpselect.arguments import REQUIRED
from dpselect.cli.commands import (
    NAMES,
    QUESTIONS,
    Command,
    Part,
    command,
    explained,
    free_name,
    option_name,
    summary,
    value_of,
)

Line = tuple[str, str]
"""An argument or an option, and what it means."""

_OPTION = re.compile(r"(?<![\w`-])(--[a-z][a-z-]*)")


def reference() -> str:
    """All commands: what the questions have in common, each question, then the others."""
    asked = {name: list(_lines(command(name))) for name in sorted(QUESTIONS)}
    common = [line for line in asked["median"] if all(line in lines for lines in asked.values())]
    listed = [line for line in asked["most-common"] if line not in common and line in asked["top-k"]]
    listed = [line for line in listed if line[0].startswith("`--")]
    parts = ["### Every question", _summary_of_common(), *map(_item, common)]
    parts += ["### Questions that choose from a list", ", ".join(_choosing(asked, listed)) + ".", *map(_item, listed)]
    for name in sorted(QUESTIONS):
        own = [line for line in asked[name] if line not in common and line not in listed]
        parts += [*_head(command(name)), *map(_item, own)]
    for name in [each for each in NAMES if each not in QUESTIONS]:
        parts += [*_head(command(name)), *map(_item, _lines(command(name)))]
    return "\n".join(_spaced(parts))


def _summary_of_common() -> str:
    files = "a CSV, TSV, Parquet, Arrow, ORC, JSON lines or Excel file, a quoted glob, the folder of a Delta table"
    files += ", or a PostgreSQL URL"
    return f"SOURCE is {files}; COLUMN is what is asked about."


def _choosing(asked: dict[str, list[Line]], listed: Sequence[Line]) -> list[str]:
    return [f"`{name}`" for name, lines in asked.items() if all(line in lines for line in listed)]


def _head(about: Command) -> list[str]:
    return [f"### `{' '.join([about.name, *map(free_name, about.positional)])}`", summary(about)]


def _lines(about: Command) -> Iterator[Line]:
    for each in about.positional:
        if each.name != "source":  # said once
            yield f"`{each.name.upper()}`", explained(each)
    for each in (each for part, options in about.parts.items() if part != Part.UNSHOWN for each in options):
        needed = " Required." if each.default is REQUIRED else ""
        yield f"`{f'{option_name(each)} {value_of(each)}'.rstrip()}`", explained(each) + needed


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

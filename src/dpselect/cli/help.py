"""``--help`` of each command, and what shells offer: from the commands as data."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from textwrap import fill, wrap

from dpselect.arguments import REQUIRED, Argument, words_for
from dpselect.cli.commands import NAMES, QUESTIONS, Command, Part, command, option_name

_WIDEST, _BESIDE = 100, 24
"""Characters of a line, and of a name whose explanation begins on the same line."""

_VALUES = {
    "whole": "INTEGER",
    **dict.fromkeys(("number", "exact"), "NUMBER"),
    **dict.fromkeys(("bounds", "numbers or dates"), "NUMBER NUMBER"),
    "ends": "DATE DATE",
    "levels": "NUMBERS",
    "flag": "",
    "json": "",
}


def listed(group: str = "") -> str:
    """The help above all commands, or those of a group."""
    start = f"{group} " if group else ""
    lines = {each.removeprefix(start): summary(command(each)) for each in NAMES if each.startswith(start)}
    if not group:
        what = _file("ledger.txt").splitlines()[2]
        lines = {name: said for name, said in lines.items() if " " not in name} | {"ledger": what}
    return "\n".join([_file(f"{group or 'about'}.txt"), "Commands:", *_in_columns(sorted(lines.items()))])


def help_of(about: Command, *, brief: bool) -> str:
    """The help of a command; `brief`, of a question, what it needs and takes itself, each in one sentence."""
    brief = brief and about.name in QUESTIONS
    needed = [f"{option_name(each)} {value_of(each)}" for each in about.options if each.default is REQUIRED]
    usage = " ".join(["Usage: dpselect", about.name, *map(free_name, about.positional), *needed, "[OPTIONS]"])
    parts: list[tuple[str, Sequence[Argument]]] = [("Arguments", about.positional), *about.parts.items()]
    rest = about.about.partition("\n\n")[2]
    lines = [fill(usage, _width(), subsequent_indent="  ", break_on_hyphens=False), "", fill(summary(about), _width())]
    lines += ["", rest] if rest else []
    for head, arguments in parts:
        if arguments and head != Part.UNSHOWN and not (brief and head in (Part.OF_GROUPS, Part.OF_ALL)):
            is_free = head == "Arguments"
            names = [each.name.upper() if is_free else f"{option_name(each)} {value_of(each)}" for each in arguments]
            said = [_said(each, brief) for each in arguments]
            lines += ["", f"{head}:", *_in_columns([*zip(map(str.rstrip, names), said, strict=True)])]
    if brief:
        lines += ["", f"--where, --by, --ledger, --json and others: dpselect {about.name} --help-all"]
    return "\n".join(lines)


def summary(about: Command) -> str:
    """What a command does."""
    return " ".join(about.about.partition("\n\n")[0].split())


def free_name(argument: Argument) -> str:
    """An argument that is typed without a name, in a line about usage."""
    name = argument.name.upper()
    return name if argument.default is REQUIRED else f"[{name}]"


def value_of(argument: Argument) -> str:
    """What is typed for it, in a line about usage; empty for a flag."""
    return _VALUES.get(argument.kind, "TEXT") if isinstance(argument.kind, str) else "|".join(words_for(argument.kind))


def explained(argument: Argument) -> str:
    """What it means, and its default."""
    default = argument.default
    if default in (REQUIRED, None, "") or default is False or "Default:" in argument.help:
        return argument.help
    return f"{argument.help} Default: {str(default).replace('_', '-').removesuffix('.0')}."


def _said(argument: Argument, brief: bool) -> str:
    if not brief:
        return explained(argument)
    if argument.name == "source":
        return "A file such as people.csv, or a table on a server."
    return argument.help.partition(". ")[0].removesuffix(".") + "."


def _in_columns(lines: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Names, and beside or below them what they mean."""
    beside = 4 + max((len(name) for name, _ in lines if len(name) <= _BESIDE), default=_BESIDE)
    for name, said in lines:
        head = f"  {name}".ljust(beside)
        if not head.endswith(" "):
            yield head
            head = ""
        first, *rest = wrap(said, _width() - beside, break_on_hyphens=False) or [""]
        yield f"{head:<{beside}}{first}".rstrip()
        yield from (" " * beside + line for line in rest)


def _file(name: str) -> str:
    from importlib.resources import files  # which the help of a question does not need

    return files("dpselect.cli").joinpath(name).read_text(encoding="utf-8")


def _width() -> int:
    return min(shutil.get_terminal_size((80, 24)).columns, _WIDEST)


def completion() -> None:
    """Print a script that makes bash complete commands, options and their values.

    source <(dpselect completion)

    In zsh, run autoload -U bashcompinit && bashcompinit before it.
    """
    first = sorted({each.partition(" ")[0] for each in NAMES})
    second = sorted(each.removeprefix("ledger ") for each in NAMES if each.startswith("ledger "))
    options = [f'    "") offered="{" ".join(first)}";;', f'    ledger) offered="{" ".join(second)}";;']
    choices: list[str] = []
    for each in map(command, NAMES):
        options.append(f'    "{each.name}") offered="{" ".join(map(option_name, each.options))}";;')
        for one in each.options:
            if not isinstance(one.kind, str):
                choices.append(f'    "{each.name} {option_name(one)}") offered="{" ".join(words_for(one.kind))}";;')
    print(
        _file("completion.bash").replace("@choices@", "\n".join(choices)).replace("@options@", "\n".join(options)),
        end="",
    )

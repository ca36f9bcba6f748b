"""The commands as data: what each takes, and what runs it; what was typed, read by them; their help, and completion.

The command of a question follows from what the question declares. Any other one is a function: each of its arguments
has a type, or an `Argument` as annotation, and its explanation there or in the docstring. The annotation of ``**given``
has further options, by parts of the help.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from importlib import import_module
from inspect import cleandoc, signature
from textwrap import fill, wrap
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from dpselect.arguments import REQUIRED, Argument, WrittenAs, explanations, words_for, words_of
from dpselect.arguments import read as read_value
from dpselect.checks import OTHER_WORDS, words_meant
from dpselect.errors import HIDDEN, InvalidParameterError, SelectionError, may_tell_password
from dpselect.privacy import Neighbours, Times
from dpselect.questions.question import BY_NAME

_IS_OPTION = re.compile(r"--?[A-Za-z].*", re.DOTALL)
"""Not a number below 0. A value that begins like this is typed as ``--name=value``."""

_BLANKS = "Put file patterns and anything with a blank in quotes; separate lists by commas without blanks."
_SHOWN, _SHOWN_OF_AN_OPTION = 40, 60  # largest number of characters that messages quote of a word

_WORDS = {Neighbours: Neighbours, Times: Times}
_KINDS: dict[object, WrittenAs] = {str: "any text", int: "whole", float: "number", bool: "flag", **_WORDS}
"""How the arguments of functions are written."""

_TABLE = (
    "A file such as people.csv, or a table on a server. CSV, TSV, Parquet, Arrow, ORC, JSON lines or Excel file,"
    " text also as .gz or .zst; a quoted glob such as 'clicks/*.parquet'; the folder of a Delta table;"
    " or a PostgreSQL URL."
)
Table = Annotated[str, Argument("any text", _TABLE)]
Json = Annotated[bool, Argument("json", "Print JSON instead of text.")]


class Part(StrEnum):
    """The parts of a help, in this order, after the arguments: what has to be given comes first."""

    NEEDED = "Required options"
    OPTIONS = "Options"
    OF_QUESTION = "Options of this question"
    OF_GROUPS = "Options for some rows, or one answer per group"
    OF_ALL = "Options of every question"
    UNSHOWN = ""


Parts = Mapping[Part, Sequence[Argument]]


@dataclass(frozen=True, slots=True)
class Command:
    """A command: what its name is, what its help says of it, what is typed without names, and its options, by parts.

    `run` takes all of them by name; its result is the exit status, None for 0.
    """

    name: str
    about: str
    positional: Sequence[Argument]
    parts: Parts
    run: Callable[..., int | None]

    @property
    def options(self) -> list[Argument]:
        return [each for part in self.parts.values() for each in part]

    @property
    def typed(self) -> dict[str, str]:
        """What is typed for each argument, by its name."""
        free = {each.name: each.name.upper() for each in self.positional}
        return free | {each.name: option_name(each) for each in self.options}


def option_name(option: Argument) -> str:
    return "--json" if option.kind == "json" else f"--{option.name.replace('_', '-')}"


def _declared(hint: Any) -> Argument:
    """What a function says of an argument: by an `Argument`, or by its type alone; perhaps beside None."""
    parts = (hint, *get_args(hint))
    said = [get_args(each)[1] for each in parts if get_origin(each) is Annotated]
    return said[0] if said else Argument(next(_KINDS[each] for each in parts if each in _KINDS), "")


def of_function(name: str, run: Callable[..., int | None]) -> Command:
    about, _, described = cleandoc(run.__doc__ or "").partition("\nArgs:\n")
    explained = explanations(described)
    hints, positional = get_type_hints(run, include_extras=True), list[Argument]()
    parts: dict[Part, list[Argument]] = {Part.NEEDED: [], Part.OPTIONS: []}
    more: Parts = {}
    for each in signature(run).parameters.values():
        if each.kind is each.VAR_KEYWORD:
            more = dict(*get_args(hints[each.name])[1:])
        elif each.kind is not each.POSITIONAL_ONLY:  # which nobody types
            said, default = _declared(hints[each.name]), REQUIRED if each.default is each.empty else each.default
            found = replace(said, name=each.name, help=explained.get(each.name, said.help), default=default)
            part = Part.NEEDED if default is REQUIRED else Part.OPTIONS
            (parts[part] if each.kind is each.KEYWORD_ONLY else positional).append(found)
    return Command(name, about.rstrip(), positional, {**parts, **more}, run)


QUESTIONS = tuple(name.replace("_", "-") for name in BY_NAME)  # the commands that ask a question of a table

_OF_LEDGER = [f"ledger {each}" for each in ("open", "show", "history", "limit", "close", "verify", "anchor", "backup")]
_MODULES = {  # the other commands, by the module of their functions, which is imported when one is called or listed
    "asking": ["check", "columns", "run", "serve"],
    "claims": ["audit", "verify", "doctor"],
    "budgets": ["plan", *_OF_LEDGER],
    "commands": ["completion"],
}

_PLACES = {each: module for module, names in _MODULES.items() for each in names}

NAMES = (*QUESTIONS, *_PLACES)


def command(name: str) -> Command:
    if name in QUESTIONS:
        return _found("asking", "of_question")(BY_NAME[name.replace("-", "_")])
    return of_function(name, _found(_PLACES[name], name.removeprefix("ledger ")))


def _found(module: str, function: str) -> Any:
    return getattr(import_module(f"dpselect.cli.{module}"), function)


def called(words: Sequence[str]) -> str:
    """The name of the command that the words begin with."""
    names = [" ".join(words[:count]) for count in (2, 1)]
    if found := [each for each in names if each in NAMES]:
        return found[0]
    group = "ledger " if words[0] == "ledger" else ""
    wrong, *_ = [*words[1 if group else 0 :], ""]
    known = [each.removeprefix(group).partition(" ")[0] for each in NAMES if each.startswith(group)]
    if meant := words_meant(wrong, known, said=OTHER_WORDS):
        hint = " or ".join(group + each for each in meant)
        raise SelectionError(f"There is no command {group}{wrong}. Did you mean {hint}?")
    raise SelectionError(f"Not understood: {_quoted([wrong])}. See --help.")


def read(command: Command, words: Sequence[str]) -> dict[str, Any]:
    """The value of each argument, by its name: as it was typed, or its default."""
    free, typed = _sorted(command, words)
    if surplus := free[len(command.positional) :]:
        raise SelectionError(f"Not understood: {_quoted(surplus)}. {_BLANKS} See --help.")
    given = typed | {each.name: [word] for each, word in zip(command.positional, free, strict=False)}
    values: dict[str, Any] = {}
    for each in (*command.positional, *command.options):
        if each.name in given:
            # Lists and conditions stay texts: they are read with the question, whose columns have types.
            words = given[each.name]
            values[each.name] = words if each.kind == "where" else read_value(each.kind, each.name, *words)
        elif each.default is REQUIRED:
            said = "To see the names of the columns: dpselect columns." if each.name == "column" else each.help
            raise SelectionError(f"{command.typed[each.name]} is required. {said} See --help.")
        else:
            values[each.name] = each.default
    return values


def _sorted(command: Command, words: Sequence[str]) -> tuple[list[str], dict[str, list[str]]]:
    """The words without a name, and those of each option."""
    named = {option_name(each): each for each in command.options}
    free, typed, rest = list[str](), dict[str, list[str]](), [*words]
    while rest:
        word = rest.pop(0)
        if word == "--":
            free += rest
            break
        if not _IS_OPTION.fullmatch(word):
            free.append(word)
            continue
        name, has_value, value = word.partition("=")
        if name not in named:
            raise SelectionError(_unknown(name, [*named]))
        option = named[name]
        if option.name in typed and option.kind != "where":
            listed = "Several values are one list, separated by commas without blanks, or @file with one per line. "
            raise SelectionError(f"{name} may be given once. {listed if option.names_members else ''}See --help.")
        following, wanted = [value] if has_value else [], words_of(option.kind)
        while len(following) < wanted and rest and not _IS_OPTION.fullmatch(rest[0]) and not has_value:
            following.append(rest.pop(0))
        if len(following) > wanted:
            raise SelectionError(f"{name} takes no value. See --help.")
        if len(following) < wanted == 2:
            what = "dates such as 2026-12-01 2026-12-31" if option.kind == "ends" else "numbers such as 0 120"
            raise SelectionError(f"{name} takes two {what}, not {'one' if following else 'none'}. {option.help}")
        if len(following) < wanted:
            raise SelectionError(f"{name} needs a value. See --help.")
        typed[option.name] = [*typed.get(option.name, []), *following]
    return free, typed


def _unknown(name: str, options: Sequence[str]) -> str:
    close = [each for each in options if each.startswith(name)] if name.startswith("--") else []
    if name.startswith("--") and not close:  # the dashes are not compared: two short options would be similar by them
        close = [f"--{each}" for each in words_meant(name[2:], [each[2:] for each in options], said=OTHER_WORDS)]
    hint = f"Did you mean {' or '.join(close)}?" if close else "See --help."
    return f"Unknown option: {name[:_SHOWN_OF_AN_OPTION]}. {hint}"


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(repr(each[:_SHOWN]) for each in words[:3]) + (", ..." if len(words) > 3 else "")


def in_words(error: SelectionError, command: Command | None) -> str:
    """The message of an error: an argument of the command is called what is typed for it."""
    if not isinstance(error, InvalidParameterError):
        return str(error)
    names = {} if command is None else command.typed
    name = names.get(error.name.replace("-", "_"), error.name)
    without_value = {"None": f"{name} is missing", "True": name}  # a flag has none
    came = without_value.get(error.got, f"{name}={error.got}")
    came = re.sub(r"=\((\S+?)(\.0)?, (\S+?)(\.0)?\)$", r" \1 \3", came)  # two numbers are typed as two words
    text = f"{came}: expected {error.remedy(partial(_in_sentence, names))}"
    return re.sub("'(add|replace)_(remove|one)'", r"'\1-\2'", text)


def _in_sentence(names: Mapping[str, str], name: str, value: str) -> str:
    """An argument with its value in Python, as both are typed."""
    if name not in names:
        return f"{name}={value}" if value else name
    if (ends := re.fullmatch(r"range\((\d+), (\d+)\)", value)) is not None:
        value = f"{ends[1]}..{int(ends[2]) - 1}"
    plain = "" if value == "True" else value.strip("()[]'").replace(", ", " " if value.startswith("(") else ",")
    plain = plain if not plain or plain[-1].isalnum() else f"'{plain}'"  # or the end of a sentence would belong to it
    return f"{names[name]} {plain.replace('_', '-') if name == 'neighbours' else plain}".rstrip()


def without_passwords(text: str, arguments: Sequence[str]) -> str:
    """`text` without those `arguments` that may contain a password, and without any word that looks like one."""
    parts = {part for each in arguments for part in (each, *each.partition("=")[::2]) if may_tell_password(part)}
    quoted = parts | {part[:_SHOWN] for part in parts}
    for form in sorted(quoted | {repr(each)[1:-1] for each in quoted}, key=len, reverse=True):
        text = text.replace(form, HIDDEN)
    return re.sub(r"\S+", lambda word: HIDDEN if may_tell_password(word[0]) else word[0], text)


_WIDEST, _BESIDE = 100, 24  # characters of a line, and of a name whose explanation begins on the same line

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
        what = _file("ledger.txt").split("\n\n")[1]  # what stands below its usage
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
            said = map(explained, arguments)
            said = (f"{each.partition('. ')[0].removesuffix('.')}." for each in said) if brief else said
            lines += ["", f"{head}:", *_in_columns([*zip(map(str.rstrip, names), said, strict=True)])]
    if brief:
        lines += ["", f"--where, --by, --ledger, --json and others: dpselect {about.name} --help-all"]
    return "\n".join(lines)


def summary(about: Command) -> str:
    return " ".join(about.about.partition("\n\n")[0].split())


def free_name(argument: Argument) -> str:
    """An argument that is typed without a name, in a line about usage."""
    name = argument.name.upper()
    return name if argument.default is REQUIRED else f"[{name}]"


def value_of(argument: Argument) -> str:
    """What is typed for it, in a line about usage; empty for a flag."""
    return _VALUES.get(argument.kind, "TEXT") if isinstance(argument.kind, str) else "|".join(words_for(argument.kind))


def explained(argument: Argument) -> str:
    default = argument.default
    if default in (REQUIRED, None, "") or default is False or "Default:" in argument.help:
        return argument.help
    return f"{argument.help} Default: {str(default).replace('_', '-').removesuffix('.0')}."


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
    offered: dict[str, Iterable[str]] = {"": sorted({each.partition(" ")[0] for each in NAMES})}
    offered["ledger"] = sorted(each.removeprefix("ledger ") for each in NAMES if each.startswith("ledger "))
    chosen: dict[str, Iterable[str]] = {}
    for each in map(command, NAMES):
        offered[each.name] = map(option_name, each.options)
        for one in each.options:
            if not isinstance(one.kind, str):
                chosen[f"{each.name} {option_name(one)}"] = words_for(one.kind)
    text = _file("completion.bash")
    for mark, held in (("@choices@", chosen), ("@options@", offered)):
        lines = (f'    "{name}") offered="{" ".join(words)}";;' for name, words in held.items())
        text = text.replace(mark, "\n".join(lines))
    print(text, end="")

"""What was typed, read; and errors in the words of the command line, which name what is typed for an argument."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from dpselect.arguments import REQUIRED, words_of
from dpselect.arguments import read as read_value
from dpselect.cli.commands import NAMES, Command, option_name
from dpselect.errors import OTHER_WORDS, InvalidParameterError, SelectionError, words_meant
from dpselect.server_urls import HIDDEN, may_tell_password

_IS_OPTION = re.compile(r"--?[A-Za-z].*", re.DOTALL)
"""Not a number below 0. A value that begins like this is typed as ``--name=value``."""

_BLANKS = "Put file patterns and anything with a blank in quotes; separate lists by commas without blanks."
_RANGE = re.compile(r"range\((\d+), (\d+)\)")
_SHOWN, _SHOWN_OF_AN_OPTION = 40, 60
"""Largest number of characters that messages quote of a word."""


def called(words: Sequence[str]) -> str:
    """The name of the command that the first of the words call.

    >>> called(["ledger", "open", "budget.db"]), called(["count", "adult.csv"])
    ('ledger open', 'count')
    """
    names = [" ".join(words[:count]) for count in (2, 1)]
    if found := [each for each in names if each in NAMES]:
        return found[0]
    group = "ledger " if words[0] == "ledger" else ""
    wrong, *_ = [*words[1 if group else 0 :], ""]
    known = [each.removeprefix(group) for each in NAMES if each.startswith(group)]
    first = {each.partition(" ")[0]: each for each in known}
    meant = words_meant(wrong, first, said=OTHER_WORDS)
    if meant:
        hint = " or ".join(group + each for each in meant)
        raise SelectionError(f"There is no command {group}{wrong}. Did you mean {hint}?")
    raise SelectionError(f"Not understood: {_quoted([wrong])}. See --help.")


def read(command: Command, words: Sequence[str]) -> dict[str, Any]:
    """The value of each argument, by its name: as it was typed, or its default.

    >>> from dpselect.cli.commands import command
    >>> given = read(command("count"), ["adult.csv", "--unit", "person_id", "--epsilon", "0.5"])
    >>> given["source"], given["column"], given["epsilon"], given["quiet"]
    ('adult.csv', None, 0.5, False)
    """
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
            raise SelectionError(f"{_typed_as(command)[each.name]} is required. {said} See --help.")
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
            said = f"two {'dates' if option.kind == 'ends' else 'numbers'}, not {'one' if following else 'none'}"
            raise SelectionError(f"{name} takes {said}. {option.help} See --help.")
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


def _typed_as(command: Command) -> dict[str, str]:
    """What is typed for each argument, by its name."""
    free = {each.name: each.name.upper() for each in command.positional}
    return free | {each.name: option_name(each) for each in command.options}


def in_words(error: SelectionError, command: Command | None) -> str:
    """The message of an error: an argument of the command is called what is typed for it."""
    if not isinstance(error, InvalidParameterError):
        return str(error)
    names = {} if command is None else _typed_as(command)
    name = names.get(error.name.replace("-", "_"), error.name)
    came = f"{name} is missing" if error.got == "None" else f"{name}={error.got}"
    if error.got == "True":  # a flag has no values
        came = name
    return f"{came}: expected {error.remedy(partial(_in_sentence, names))}"


def _in_sentence(names: Mapping[str, str], name: str, value: str) -> str:
    """An argument with its value in Python, as both are typed."""
    if name not in names:
        return f"{name}={value}" if value else name
    if (ends := _RANGE.fullmatch(value)) is not None:
        value = f"{ends[1]}..{int(ends[2]) - 1}"
    plain = "" if value == "True" else value.strip("[]'").replace(", ", ",")
    return f"{names[name]} {plain.replace('_', '-') if name == 'neighbours' else plain}".rstrip()


def without_passwords(text: str, arguments: Sequence[str]) -> str:
    """`text` without those `arguments` that may contain a password, and without any word that looks like one.

    >>> without_passwords("Not understood: 'host=db password=a b'. See --help.", ["host=db password=a b"])
    "Not understood: '<text that may hold a password>'. See --help."
    >>> without_passwords("ledger postgresql://ann@db/shop: it is gone; nobody:secret@db", [])
    'ledger postgresql://ann@db/shop: it is gone; <text that may hold a password>'
    """
    forms = {form for each in arguments for form in _forms(each)}
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, HIDDEN)
    return re.sub(r"\S+", lambda word: HIDDEN if may_tell_password(word[0]) else word[0], text)


def _forms(argument: str) -> Iterator[str]:
    """The ways in which messages quote it: whole, or one side of its equals sign; unchanged, or as Python writes it."""
    for part in (argument, *argument.partition("=")[::2]):
        if may_tell_password(part):
            for cut in (part, part[:_SHOWN]):
                yield cut
                yield repr(cut)[1:-1]

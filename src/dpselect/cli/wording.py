"""Error messages of the command line: an argument is called what is typed for it, and its help says what it is for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from cyclopts import App, CoercionError, CycloptsError, MissingArgumentError, UnknownOptionError
from cyclopts.exceptions import RepeatArgumentError, UnknownCommandError, UnusedCliTokensError

from dpselect.errors import LONGEST_WORD, OTHER_WORDS, InvalidParameterError, SelectionError, words_meant
from dpselect.server_urls import HIDDEN, may_tell_password

Helps = Mapping[str, str]
"""What is typed for each argument of a command, and its help."""

_COLUMNS = "To see the names of the columns: dpselect columns."
_BLANKS = "Put file patterns and anything with a blank in quotes; separate lists by commas without blanks."
_OPTION = re.compile(r"--[a-z]+(-[a-z]+)*|-[a-z]")
_PAIRS = ("--bounds", "--clip", "--between")
_LISTS = ("--candidates", "--groups", "--prices", "--dates")
_RANGE = re.compile(r"range\((\d+), (\d+)\)")
_SHOWN_OF_EACH = 40
"""Largest number of characters of an argument that messages quote before they cut it off."""

_WORD = re.compile(r"\S+")


def error_in_words(error: CycloptsError | SelectionError, arguments: Sequence[str], app: App) -> str:
    """The message of an error of the command that `arguments` call."""
    _, apps, _ = app.parse_commands(list(arguments))
    try:
        taken = [*apps[-1].assemble_argument_collection(parse_docstring=True)]
    except (CycloptsError, ValueError, NameError):  # no command, or the parser's own, whose types it cannot name
        taken = []
    if isinstance(error, CycloptsError):
        return _misread(error, arguments, {each.name: each.parameter.help or "" for each in taken}, apps[-1])
    return in_words(error, {each.field_info.name: each.name for each in taken})


def in_words(error: SelectionError, names: Mapping[str, str]) -> str:
    """The message of `error`.

    Args:
        error: what went wrong.
        names: the arguments of the command as typed, by their names in Python.
    """
    if not isinstance(error, InvalidParameterError):
        return str(error)
    name = names.get(error.name.replace("-", "_"), error.name)
    came = f"{name} is missing" if error.got == "None" else f"{name}={error.got}"
    if error.got == "True":  # a flag has no values
        came = name
    return f"{came}: expected {error.remedy(partial(_typed, names))}"


def _typed(names: Mapping[str, str], name: str, value: str) -> str:
    """An argument with its value in Python, as both are typed."""
    if name not in names:
        return f"{name}={value}" if value else name
    if (ends := _RANGE.fullmatch(value)) is not None:
        value = f"{ends[1]}..{int(ends[2]) - 1}"
    plain = "" if value == "True" else value.strip("[]'").replace(", ", ",")
    return f"{names[name]} {plain.replace('_', '-') if name == 'neighbours' else plain}".rstrip()


def _misread(error: CycloptsError, arguments: Sequence[str], helps: Helps, app: App) -> str:
    """What is wrong with `arguments`, for cases where the parser's own text would mislead."""
    may_be_unknown = isinstance(error, MissingArgumentError | CoercionError | UnknownOptionError)
    if may_be_unknown and (unknown := _unknown(arguments, helps)):
        return unknown
    if isinstance(error, UnknownCommandError) and (meant := words_meant(_first(error), [*app], said=OTHER_WORDS)):
        group = "ledger " if app.name[0] == "ledger" else ""
        return f"There is no command {group}{_first(error)}. Did you mean {group}{' or '.join(meant)}?"
    for option in _PAIRS:
        if (given := _after(option, arguments)) is not None and len(given) < 2:
            two = "two dates" if arguments[0] == "best-date" else "two numbers"
            said = f"{option} takes {two}, not {'one' if given else 'none'}. {helps.get(option, '')}"
            return f"{said.rstrip()} See --help."
    if isinstance(error, RepeatArgumentError):
        listed = "Several values are one list, separated by commas without blanks, or @file with one per line. "
        option = str(error.token.keyword)
        return f"{option} may be given once. {listed if option in _LISTS else ''}See --help."
    if isinstance(error, UnusedCliTokensError):
        return f"Not understood: {_quoted(error.unused_tokens or [])}. {_BLANKS} See --help."
    if isinstance(error, CoercionError) and error.token is not None and error.token.keyword is None:
        expected = "a whole number" if error.target_type is int else "a decimal number such as 0.5"
        if error.argument is not None and error.target_type in (int, float):
            came = f"{error.argument.name.upper()}={error.token.value[:40]!r}"
            return f"{came}: expected {expected}. See --help."
    argument = error.argument if isinstance(error, MissingArgumentError) else None
    if argument is None or not argument.name or list(argument.tokens):
        return _quickly(error)
    if not argument.required:
        return f"{argument.name} needs a value. See --help."
    said = _COLUMNS if argument.name == "COLUMN" else helps.get(argument.name, "")
    return f"{f'{argument.name} is required. {said}'.rstrip()} See --help."


def _first(error: UnknownCommandError) -> str:
    return (error.unused_tokens or [""])[0]


def _quickly(error: CycloptsError) -> str:
    """The parser's own text, which compares a wrong word with all that there are: in the square of its length."""
    token = getattr(error, "token", None)
    words = (error.unused_tokens or [])[:1] if token is None else [token.keyword or "", token.value]
    long = [each for each in words if len(each) > LONGEST_WORD]
    of = f"{words[0]}: not" if words[1:] and words[0] and words[0] not in long else "Not"
    return f"{of} understood: {_quoted(long)}. See --help." if long else str(error)


def _unknown(arguments: Sequence[str], helps: Helps) -> str:
    """The first unknown option; the parser would instead report that another one is missing."""
    options = [name for name in helps if name.startswith("--")]
    for each in arguments:
        name = each.partition("=")[0]
        if _OPTION.fullmatch(name) and options and name not in (*options, "--help", "-h"):
            close = " or ".join(_alike(name, options))
            return f"Unknown option: {name[:60]}. " + (f"Did you mean {close}?" if close else "See --help.")
    return ""


def _alike(name: str, options: Sequence[str]) -> list[str]:
    """The options that start with `name`, else the most similar one; empty if none is close."""
    if not name.startswith("--"):
        return []
    if longer := [each for each in options if each.startswith(name)]:
        return longer
    # The dashes are not compared: two short options would be similar by them alone.
    return [f"--{each}" for each in words_meant(name[2:], [each[2:] for each in options], said=OTHER_WORDS)]


def _quoted(values: Sequence[str]) -> str:
    return ", ".join(repr(each[:40]) for each in values[:3]) + (", ..." if len(values) > 3 else "")


def _after(option: str, arguments: Sequence[str]) -> list[str] | None:
    """The values typed after `option`, at most two; None if it was not typed."""
    for place, each in enumerate(arguments):
        if each == option or each.startswith(option + "="):
            following = [each.partition("=")[2]] if "=" in each else []
            for value in arguments[place + 1 : place + 3]:
                if value.startswith("--"):
                    break
                following.append(value)
            return following[:2]
    return None


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
    return _WORD.sub(lambda word: HIDDEN if may_tell_password(word[0]) else word[0], text)


def _forms(argument: str) -> Iterator[str]:
    """The ways in which messages quote it: whole, or one side of its equals sign; unchanged, or as Python writes it."""
    for part in (argument, *argument.partition("=")[::2]):
        if may_tell_password(part):
            for cut in (part, part[:_SHOWN_OF_EACH]):
                yield cut
                yield repr(cut)[1:-1]

"""Error messages of the command line: the one place where names of arguments become names of options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from cyclopts import App, CoercionError, CycloptsError, MissingArgumentError, UnknownOptionError
from cyclopts.exceptions import UnknownCommandError, UnusedCliTokensError

from dpselect.errors import LONGEST_WORD, OTHER_WORDS, InvalidParameterError, SelectionError, words_meant
from dpselect.questions.question import BY_NAME
from dpselect.server_urls import HIDDEN, may_tell_password

_USE = {
    "Use most-common: the value that the most units have.": "mode argmax",
    "Use mean: the mean of one value per unit.": "average avg",
    "Use density: the share of the units in each bin of a column of numbers.": "distribution",
    "It would show the value of one unit. Use quantile with a level near the end, such as 0.01 or 0.99.": "min max",
    "Use histogram: the number of units with each value; or count: the number of units.": "hist counts frequencies",
    "Use sum: what the numbers of a column add up to, a bounded amount for each unit.": "total",
    "Use values: the values that enough units have, without a public list.": "unique distinct",
    "Use std: the standard deviation; or quantiles, such as 0.25,0.75.": "stddev spread",
    "Use quantile: its level is from 0 to 1, so the 90th percentile is at 0.9.": "percentile",
    "Use quantiles: their levels are from 0 to 1, such as 0.25,0.5,0.75.": "percentiles",
    "Use top-k: the most common values, best first.": "top",
    "Use least-common: the value that the fewest units have.": "rarest",
    "Use best-price: the price at which the units would pay most in all.": "price",
    "Use ledger: ledger open makes an account, and ledger show says what is left of it.": "budget",
}
MEANT = {word: said for said, words in _USE.items() for word in words.split()}
"""Other words for a command that there is."""

_SHOW = "Use ledger show: all accounts, what is spent and what is left; or ledger history ACCOUNT: each charge."
_NEW = "Use ledger open: it makes an account, and the ledger if there is none."
MEANT_OF_LEDGER = {
    **dict.fromkeys(("list", "ls", "accounts", "status", "info", "balance", "remaining"), _SHOW),
    **dict.fromkeys(("log", "entries", "charges"), _SHOW),
    **dict.fromkeys(("create", "new", "add", "init"), _NEW),
}
"""Other words for a command of the ledger."""


def instead(error: UnknownCommandError, arguments: Sequence[str]) -> str:
    """What to use instead of the command that `arguments` begin with; empty if that is not known."""
    unknown = (error.unused_tokens or [""])[0]
    word = unknown.lower()
    if list(arguments[:2]) == ["ledger", unknown] and word in MEANT_OF_LEDGER:
        return f"There is no command ledger {word}. {MEANT_OF_LEDGER[word]}"
    if list(arguments[:1]) != [unknown]:
        return ""
    return f"There is no command {word}. {MEANT[word]}" if word in MEANT else ""


Names = Mapping[str, str]
"""The names of a command's arguments as typed, by their names in Python."""

_ELSEWHERE = {"kind": "--candidates-as"}
_HINTS = {
    "--candidates": "They are public values, never read from the column. Without a list use values, or top-k with "
    "--delta.",
    "--delta": "It is the probability with which the guarantee may fail: far below one over the number of units, such "
    "as 1e-6 for up to about 10,000.",
    "K": "It is how many values to select, such as 10.",
    "LEVEL": "It is from 0 to 1; 0.5 is the median.",
    "LEVELS": "They are from 0 to 1, such as 0.25,0.5,0.75.",
    "SUM": "It is the column that is added up for each value.",
    "--unit": "It is the column that identifies whom a row belongs to; if every row is a different person, number the "
    "rows (docs/choosing.md).",
    "--bins": "It is the number of bins of equal width.",
    "COLUMN": "To see the names of the columns: dpselect columns.",
    "--prices": "They are public, such as 5,10,20 or 1..100.",
}
_FIRST_LINE = "it is not shown, as it might be somebody's row."
"""What is said of the names of columns where errors must not list them."""
_FIRST_LINE_FOR_YOU = f"{_FIRST_LINE[:-1]}; dpselect columns shows it to you."
_BLANKS = "Put file patterns and anything with a blank in quotes; separate lists by commas without blanks."
_LISTED = re.compile(r"(?<=\bThey take )[a-z_]+(, [a-z_]+)*(?=\.)")
_OPTION = re.compile(r"--[a-z]+(-[a-z]+)*|-[a-z]")
_PAIRS = ("--bounds", "--clip", "--between")
_GIVEN = re.compile(r"\b([a-z_]+)=(True\b|range\([0-9, ]+\)|\[[0-9., ]+\]|'[^']*'|-?[0-9.]*[0-9])")
_RANGE = re.compile(r"range\((\d+), (\d+)\)")
_FRACTION = re.compile(r"\bFraction\((\d+), (\d+)\)")
_QUOTED = re.compile(r"`([a-z_]+)`")
_NOTHING = re.compile(r"\bNone\b")
_IN_PYTHON = ", datetime.date, or timestamps at midnight without a time zone"
_UNDERSCORED = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
_SHOWN_OF_EACH = 40
"""Largest number of characters of an argument that messages quote before they cut it off."""

_WORD = re.compile(r"\S+")


def names_of(app: App, arguments: Sequence[str]) -> Names:
    """The names of the command that `arguments` call."""
    _, apps, _ = app.parse_commands(list(arguments))
    try:
        found = apps[-1].assemble_argument_collection()
    except (CycloptsError, ValueError, NameError):  # no command, or the parser's own, whose types it cannot name
        return _ELSEWHERE
    named = {argument.field_info.name: argument.name for argument in found}
    named |= {name: typed for name, typed in _ELSEWHERE.items() if typed in named.values()}
    return named


def error_in_words(error: CycloptsError | SelectionError, arguments: Sequence[str], app: App) -> str:
    """The message of an error of the command that `arguments` call."""
    names = names_of(app, arguments)
    return misread(error, arguments, names) if isinstance(error, CycloptsError) else in_words(error, names, arguments)


def in_words(error: SelectionError, names: Names, arguments: Sequence[str] = ()) -> str:
    """The message of `error`, with options in place of arguments."""
    if not isinstance(error, InvalidParameterError):
        return str(error)
    if error.name == "candidates" and error.got == "None" and (delta := _after("--delta", arguments)):
        return f"--delta {delta[0][:40]}: expected a number above 0, because --candidates are missing. {error.hint}"
    name = names.get(error.name.replace("-", "_"), error.name)
    came, expected = f"{name} is missing" if error.got == "None" else f"{name}={error.got}", error.expected
    if error.got == "True" and expected.startswith("False,"):  # a flag has no values
        came, expected = name, f"nothing{expected.removeprefix('False')}"
    said = f"{came}: expected {_translated(f'{expected}. {error.hint}', names)}".rstrip()
    return said.replace(_FIRST_LINE, _FIRST_LINE_FOR_YOU)


def misread(error: CycloptsError, arguments: Sequence[str], names: Names) -> str:
    """What is wrong with `arguments`, for cases where the parser's own text would mislead."""
    may_be_unknown = isinstance(error, MissingArgumentError | CoercionError | UnknownOptionError)
    if may_be_unknown and (unknown := _unknown(arguments, names)):
        return unknown
    if isinstance(error, UnknownCommandError) and (other := instead(error, arguments)):
        return other
    for option in _PAIRS:
        if (given := _after(option, arguments)) is not None and len(given) < 2:
            two = "two dates" if arguments[0] == "best-date" else "two numbers"
            return f"{option} takes {two}, not {'one' if given else 'none'}.{_hint(option, arguments)} See --help."
    if isinstance(error, UnusedCliTokensError):
        return f"Not understood: {_quoted(error.unused_tokens or [])}. {_BLANKS} See --help."
    if isinstance(error, CoercionError) and error.token is not None and error.token.keyword is None:
        expected = "a whole number" if error.target_type is int else "a decimal number such as 0.5"
        if error.argument is not None and error.target_type in (int, float):
            came = f"{error.argument.name.upper()}={error.token.value[:40]!r}"
            return f"{came}: expected {expected}. See --help."
    if not isinstance(error, MissingArgumentError):
        return _quickly(error)
    argument = error.argument
    name = argument.name if argument is not None else ""
    if argument is None or not name or list(argument.tokens):
        return str(error)
    if not argument.required:
        return f"{name} needs a value. See --help."
    return f"{name} is required.{_hint(name, arguments)} See --help."


def _quickly(error: CycloptsError) -> str:
    """The parser's own text, which compares a wrong word with all that there are: in the square of its length."""
    token = getattr(error, "token", None)
    words = (error.unused_tokens or [])[:1] if token is None else [token.keyword or "", token.value]
    long = [each for each in words if len(each) > LONGEST_WORD]
    return f"Not understood: {_quoted(long)}. See --help." if long else str(error)


def _unknown(arguments: Sequence[str], names: Names) -> str:
    """The first unknown option; the parser would instead report that another one is missing."""
    options = [name for name in names.values() if name.startswith("--")]
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
            inline = [each.partition("=")[2]] if "=" in each else []
            following: list[str] = []
            for value in arguments[place + 1 : place + 3]:
                if value.startswith("--"):
                    break
                following.append(value)
            return [*inline, *following][:2]
    return None


def _hint(name: str, arguments: Sequence[str]) -> str:
    """What an argument is for, with a blank before it; of two numbers the help of the command says it."""
    about = BY_NAME.get(arguments[0].replace("-", "_"))
    options = about.options() if about is not None and name in _PAIRS else ()
    said = [each.help for each in options if f"--{each.name}" == name]
    return f" {said[0] if said else _HINTS.get(name, '')}".rstrip()


def _translated(text: str, names: Names) -> str:
    def option(found: re.Match[str]) -> str:
        name, value = found.groups()
        if name not in names:
            return found[0]
        return names[name] if value == "True" else f"{names[name]} {_typed(value, name)}"

    text = text.replace(_IN_PYTHON, "")
    text = _LISTED.sub(lambda found: ", ".join(names.get(each, each) for each in found[0].split(", ")), text)
    text = _FRACTION.sub(r"\1/\2", _GIVEN.sub(option, text))
    text = _NOTHING.sub("nothing", text)
    text = _QUOTED.sub(lambda found: names.get(found[1], found[0]), text)
    return _UNDERSCORED.sub(lambda found: names.get(found[0], found[0]), text)


def _typed(value: str, name: str) -> str:
    """A Python value as it is typed after an option."""
    if (ends := _RANGE.fullmatch(value)) is not None:
        return f"{ends[1]}..{int(ends[2]) - 1}"
    plain = value.strip("[]'").replace(", ", ",")
    return plain.replace("_", "-") if name == "neighbours" else plain


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

"""A question of a table, from what was typed to what is printed.

The parser takes a tenth of a second to import. So a question that is typed without a mistake is read here. Whatever is
not typed in the plainest way is left to the parser: ``--help``, what is missing, unknown, repeated or not a number,
other names of commands, ``--name=value``, and values that begin with a dash. Where both read, they find the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from dpselect.arguments import OF_EVERY_QUESTION, OF_VIEWS, REQUIRED, arguments_of, words_of
from dpselect.arguments import read as read_value
from dpselect.cli.shared_options import filled, format_of, option_name, options_of
from dpselect.cli.streams import refuse_unread, say, scan_progress
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown
from dpselect.questions.question import BY_NAME

if TYPE_CHECKING:
    from dpselect.arguments import Argument
    from dpselect.ledger import Ledger
    from dpselect.questions.question import Question
    from dpselect.session.dataset import Dataset
    from dpselect.summaries import CandidateKind

REFUSED = 2
"""Exit status for bad input, and for a question that is or would be refused."""

Asked = tuple["type[Question]", str, str | None, dict[str, Any]]
"""A question as it was typed: the arguments of `ask`."""


class _NotPlainError(Exception):
    """The parser has to read it."""


def read(arguments: Sequence[str]) -> Asked | None:
    """The question, or None if the parser has to read it.

    >>> about, *asked = read(["count", "adult.csv", "--unit", "person_id", "--epsilon", "0.5"])
    >>> about.name, asked
    ('count', ['adult.csv', None, {'unit': 'person_id', 'epsilon': 0.5}])
    >>> read(["count", "adult.csv", "--unit", "person_id"]), read(["count", "--help"])
    (None, None)
    """
    name = arguments[0].replace("-", "_") if arguments else ""
    if name not in BY_NAME or "_" in arguments[0]:
        return None
    with suppress(_NotPlainError, InvalidParameterError):
        return _read(BY_NAME[name], list(arguments[1:]))
    return None


def _read(about: type[Question], rest: list[str]) -> Asked:
    options = [each for part in options_of(about).values() for each in part]
    named = {option_name(each): each for each in options}
    positional, given = list[str](), dict[str, Any]()
    while rest:
        first = rest.pop(0)
        option = named.get(first) if first == "--where" else named.pop(first, None)
        if option is not None:
            value = _value(option, rest)
            given[option.name] = [*given.get(option.name, []), value] if option.kind == "where" else value
        elif first and not first.startswith("-"):
            positional.append(first)
        else:
            raise _NotPlainError
    if any(each.default is REQUIRED and each.name not in given for each in options):
        raise _NotPlainError
    if len(positional) == 1 and about.argument("column").default is not REQUIRED:
        return about, positional[0], None, given
    if len(positional) != 2 + len(about.positional):
        raise _NotPlainError
    source, column, *texts = positional
    own = {name: _value(about.argument(name), [text]) for name, text in zip(about.positional, texts, strict=True)}
    return about, source, column, given | own


def _value(option: Argument, rest: list[str]) -> Any:
    """The value that follows an option; it is taken from `rest`."""
    count = words_of(option.kind)
    taken = [rest.pop(0) for _ in range(min(count, len(rest)))]
    if len(taken) < count or any(not each or each.startswith("-") for each in taken):
        raise _NotPlainError
    # Levels are read with the question, whose errors name them.
    return taken[0] if option.kind == "levels" else read_value(option.kind, option.name, *taken)


def ask(about: type[Question], source: str, column: str | None, options: Mapping[str, Any]) -> int:
    """Ask the question and print the answer; the exit status is `REFUSED` if an account would refuse it.

    Args:
        about: the question.
        source: the table.
        column: the column, if there is one.
        options: the values of its options, with those that have no name after the column.
    """
    given = filled([each for part in options_of(about).values() for each in part], options)
    from dpselect.cli.output import forecast_shown, shown, warning
    from dpselect.session.dataset import Dataset
    from dpselect.session.described import seen

    own = [each for each in (*arguments_of(about), *OF_EVERY_QUESTION) if each.name != "column"]
    who: dict[str, Any] = {"unit": given["unit"], "neighbours": given["neighbours"]}
    who |= {"ledger": _paying(given), "account": given["account"], "format": format_of(given)}
    as_json, quiet = given["as_json"], given["quiet"]

    def question_of(data: Any) -> Any:
        values = values_of(own, given, data, source, column)
        view = seen(data, **values_of(OF_VIEWS, given, data, source))
        return getattr(view, about.name)(column, **values)

    if given["dry_run"]:
        from dpselect.session.forecast import DryRun

        dry: Any = DryRun(source=source, table=given["table"], **who)
        forecast = question_of(dry)
        if dry.unchecked:
            # The source is not quoted, as it may hold a password.
            say(f"{dry.unchecked}: computed from the arguments alone, no column is checked.")
        print(forecast_shown(forecast, as_json=as_json, quiet=quiet))
        return REFUSED if forecast.fits is False else 0
    refuse_unread()  # also if nothing is charged, because reading may take long
    with scan_progress(wanted=not quiet) as progress:
        reading = {name: given[name] for name in ("table", "memory_limit", "source_name")}
        reading = {name: value for name, value in reading.items() if value is not None}
        release = question_of(Dataset(source, progress=progress, times=given["times"], **reading, **who))
    print(shown(release, as_json=as_json, quiet=quiet))
    if quiet and not as_json and (said := warning(release)):
        say(said)
    return 0


def values_of(
    options: Sequence[Argument], given: Mapping[str, Any], data: Dataset, source: str, column: str | None = None
) -> dict[str, Any]:
    """The values of options by name, with lists and conditions in place of their texts.

    Args:
        options: which.
        given: what was typed for all.
        data: the table, whose columns may say of which type they are.
        source: the same as it was typed, from which no list may come.
        column: of the question.
    """
    found: dict[str, Any] = {}
    for each in options:
        value, kind = given[each.name], given.get(f"{each.name}_as")
        if value is None and kind is not None:
            raise InvalidParameterError(f"{each.name}_as", Shown(repr(str(kind))), f"`{each.name}` together with it")
        if value is not None and (each.names_members or each.kind in ("levels", "where")):
            from dpselect import public

            words, about = value if each.kind == "where" else [value], given["by"] if each.name == "groups" else column
            kinds = partial(_kinds, data, argument={"groups": "by", "where": "where"}.get(each.name, "column"))
            value = public.value_of(each, words, kinds, about, kind=kind, private=source)
        found[each.name] = value
    return found


def _kinds(data: Dataset, column: str, *, argument: str) -> tuple[CandidateKind, ...]:
    try:
        return data.candidate_kinds(column)
    except InvalidDataError as error:  # whose text is about the column of the question
        raise InvalidDataError(argument, error.got, error.expected, error.hint) from None


def _paying(given: Mapping[str, Any]) -> Ledger | None:
    """The ledger; it charges nothing once nobody can read the answer any more."""
    if given["ledger"] is None:
        if given["anchor"] is not None:
            raise InvalidParameterError("anchor", Shown("<anchor>"), "`ledger` and `account` together with it")
        return None
    from dpselect.ledger import Ledger, Receipt

    class ChargingIfRead(Ledger):
        __slots__ = ()

        def charge(self, *given: Any, **named: Any) -> Receipt:
            refuse_unread()
            return super().charge(*given, **named)

    return ChargingIfRead(given["ledger"], anchor=given["anchor"])

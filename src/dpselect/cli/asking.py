"""A question of a table, from what was typed to what is printed."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from dpselect import arguments
from dpselect.arguments import OF_EVERY_QUESTION, arguments_of
from dpselect.cli.shared_options import filled, format_of, options_of
from dpselect.cli.streams import refuse_unread
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown

if TYPE_CHECKING:
    from dpselect.arguments import Argument
    from dpselect.ledger import Ledger
    from dpselect.questions.question import Question
    from dpselect.session.dataset import Dataset
    from dpselect.summaries import CandidateKind

REFUSED = 2
"""Exit status for bad input, and for a question that is or would be refused."""


def ask(about: type[Question], source: str, column: str | None, options: Mapping[str, Any]) -> int:
    """Ask the question and print the answer; the exit status is `REFUSED` if an account would refuse it.

    Args:
        about: the question.
        source: the table.
        column: the column, if there is one.
        options: the values of its options, with those that have no name after the column.
    """
    given = filled([each for part in options_of(about).values() for each in part], options)
    if given["show_columns"]:  # typed as --show-columns=true; otherwise the command is another one
        from dpselect.cli.columns import show_columns

        show_columns(source, table=given["table"], format=format_of(given))
        return 0
    from dpselect.cli.output import forecast_shown, shown, warning
    from dpselect.cli.progress import scan_progress
    from dpselect.session.dataset import Dataset
    from dpselect.session.described import seen

    own = [each for each in arguments_of(about) if each.name != "column"]
    values = {each.name: _read(each, given[each.name], source) for each in own}
    who: dict[str, Any] = {"unit": given["unit"], "neighbours": given["neighbours"]}
    who |= {"ledger": _paying(given), "account": given["account"], "format": format_of(given)}
    as_json, quiet = given["as_json"], given["quiet"]

    def question_of(data: Any) -> Any:
        values.update(_candidates(about, data, column, source, given))
        values.update({each.name: given[each.name] for each in OF_EVERY_QUESTION})
        view = seen(data, **groups_among(data, source, given))
        return getattr(view, about.name)(column, **values)

    if given["dry_run"]:
        from dpselect.session.forecast import DryRun

        dry: Any = DryRun(source=source, table=given["table"], **who)
        forecast = question_of(dry)
        if dry.unchecked:
            _say_unchecked(dry.unchecked)
        print(forecast_shown(forecast, as_json=as_json, quiet=quiet))
        return REFUSED if forecast.fits is False else 0
    refuse_unread()  # also if nothing is charged, because reading may take long
    with scan_progress(wanted=not quiet) as progress:
        reading = {name: given[name] for name in ("table", "memory_limit", "source_name")}
        reading = {name: value for name, value in reading.items() if value is not None}
        release = question_of(Dataset(source, progress=progress, times=given["times"], **reading, **who))
    print(shown(release, as_json=as_json, quiet=quiet))
    if quiet and not as_json and (said := warning(release)):
        with suppress(OSError):  # the answer is on standard output
            print(said, file=sys.stderr)
    return 0


def groups_among(data: Dataset, source: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a question about its groups."""
    by, listed, kind = given["by"], given["groups"], given["groups_as"]
    where = None if given["where"] is None else _conditions(given["where"], data, source)
    if listed is None:
        if kind is not None:
            raise InvalidParameterError("groups_as", Shown(repr(str(kind))), "--groups together with it")
    else:
        fitting = () if by is None else _kinds(data, by)
        from dpselect import public

        listed = public.listed(listed, "groups", kind=kind, fitting=fitting, private=source)
    return {"where": where, "by": by, "groups": listed, "max_groups_per_unit": given["max_groups_per_unit"]}


def _conditions(written: Sequence[str], data: Dataset, source: str) -> dict[str, Any]:
    from dpselect import public

    return public.conditions(written, partial(_kinds, data, argument="where"), private=source)


def _kinds(data: Dataset, column: str, *, argument: str = "by") -> tuple[CandidateKind, ...]:
    try:
        return data.candidate_kinds(column)
    except InvalidDataError as error:  # whose text is about a column
        raise InvalidDataError(argument, error.got, error.expected, error.hint) from None


def _candidates(
    about: type[Question], data: Dataset, column: str | None, source: str, given: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of a question about its list."""
    if not about.chooses():
        return {}
    listed, kind = given["candidates"], given["candidates_as"]
    if listed is None:
        if kind is not None:
            raise InvalidParameterError("candidates_as", Shown(repr(str(kind))), "--candidates with it")
        return {"candidates": None}
    from dpselect import public

    fitting = () if column is None else data.candidate_kinds(column)  # refused by the question
    alone = not about.needs_several
    return {"candidates": public.listed(listed, kind=kind, fitting=fitting, private=source, may_be_one=alone)}


def _read(option: Argument, given: Any, source: str) -> Any:
    """The value of an option as the question takes it."""
    if given is None or option.kind not in ("levels", "prices", "dates"):
        return given
    if option.kind == "levels":
        return arguments.read("levels", option.name, given)
    from dpselect import public

    return public.listed(given, option.name, private=source)


def _paying(given: Mapping[str, Any]) -> Ledger | None:
    if given["ledger"] is not None:
        from dpselect.cli.charging import LedgerChargingIfRead

        return LedgerChargingIfRead(given["ledger"], anchor=given["anchor"])
    if given["anchor"] is not None:
        raise InvalidParameterError("--anchor", Shown("<anchor>"), "--ledger and --account together with it")
    return None


def _say_unchecked(why: str) -> None:
    """Say on standard error that no column was checked; the source is not quoted, as it may hold a password."""
    with suppress(OSError):  # the forecast is the same if nobody can read it
        print(f"dpselect: {why}: computed from the arguments alone, no column is checked.", file=sys.stderr)

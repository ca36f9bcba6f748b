"""Ask one question of a table, all of a plan, or any on a page; and print answers for people, pipes and programs.

For the holder of a table alone: its columns, and what a question would read of it, exactly.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any

import dpselect as dps
from dpselect.arguments import OF_EVERY_QUESTION, OF_VIEWS, REQUIRED, TYPES, Argument, arguments_of
from dpselect.cli.commands import Command, Json, Part, Parts, Table, of_function, option_name
from dpselect.cli.process import BAD_INPUT, last_charge, printable_lines, refuse_unread, say, scan_progress
from dpselect.errors import InvalidParameterError, Shown, printable
from dpselect.formats import WORDS, Format, declared
from dpselect.privacy import Neighbours, Times, as_text
from dpselect.questions.question import BY_NAME, Question
from dpselect.questions.wording import LOUD, TO_COUNT_UNITS, text_table

if TYPE_CHECKING:
    from dpselect.certificates.release import Release
    from dpselect.ledger import Ledger
    from dpselect.session.answering import Forecast
    from dpselect.session.asking import Asking

_NUMBER = re.compile(r"-?[0-9][0-9,]*(\.[0-9]+)?")


def ask(
    about: type[Question],
    /,
    source: Table,
    *,
    unit: str,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    table: str | None = None,
    memory_limit: str | None = None,
    source_name: str | None = None,
    ledger: str | None = None,
    account: str | None = None,
    anchor: str | None = None,
    times: Times = Times.DAY,
    dry_run: bool = False,
    quiet: bool = False,
    as_json: Json = False,
    **given: Any,
) -> int:
    """Ask the question with its command's arguments, and print the answer or, if it is to be planned, the forecast.

    Args:
        unit: Column that identifies whom a row belongs to: who is protected; or rows, if each is a different person.
        neighbours: Which tables the guarantee compares: one unit added or removed, or the rows of one unit replaced.
        table: For PostgreSQL: name of the table, or schema.table.
        memory_limit: Memory for grouping rows, such as 2GiB, before they go to a temporary folder. Reading takes 400
            MiB more.
        source_name: What the certificate calls the table, beside the names of its files without folders.
        ledger: Ledger to charge before the answer is drawn, such as sqlite:///budget.db.
        account: Ledger account to charge.
        anchor: File that records the latest entry of each account, so that an older ledger copy is refused.
        times: Precision of the request time in the certificate, in UTC. A finer time would reveal something about the
            rows.
        dry_run: Print cost and error bound; read no row, charge nothing. Exit status 2: the account would refuse it.
        quiet: Print only the answer, without a progress bar; with --dry-run, only epsilon.
        as_json: Print the certificate as JSON instead of a table.
    """
    from dpselect.session.dataset import Dataset, DryRun, reply

    own = (*arguments_of(about), *OF_EVERY_QUESTION, *OF_VIEWS)
    alike: dict[str, Any] = {"unit": unit, "neighbours": neighbours, "table": table, "format": format_of(given)}
    alike |= {"ledger": ledger_of(ledger, anchor, if_read=True), "account": account}
    if dry_run:
        dry = DryRun(source=source, **alike)
        forecast = reply(dry, about.name, values_of(own, given, dry, source=source))
        if dry.unchecked:
            # The source is not quoted, as it may hold a password.
            say(f"{dry.unchecked}: computed from the arguments alone, no column is checked.")
        print(forecast.to_json() if as_json else forecast_shown(forecast, quiet=quiet))
        return BAD_INPUT if forecast.fits is False else 0
    refuse_unread()  # also if nothing is charged, because reading may take long
    before = last_charge()
    with scan_progress(wanted=not quiet) as progress:
        reading: dict[str, Any] = {"memory_limit": memory_limit, "source_name": source_name, "times": times}
        data = Dataset(source, progress=progress, **reading, **alike)
        release = reply(data, about.name, values_of(own, given, data, source=source))
    print(release.to_json() if as_json else shown(release, quiet=quiet, is_new=last_charge() is not before))
    if quiet and not as_json and (said := warning(release)):
        say(said)
    return 0


ASKED = of_function("", ask)  # what every question takes, besides what it declares

OF_EVERY = (*OF_EVERY_QUESTION, *ASKED.parts[Part.OPTIONS], *WORDS)  # the options among it, and the words of a format


GROUPS = (*OF_VIEWS, TYPES["groups"])  # of questions that are answered for several groups


def shared(names: str) -> tuple[Argument, ...]:
    """Those of these names that commands without a question take, too."""
    return tuple(each for each in OF_EVERY if each.name in names.split())


def of_question(about: type[Question]) -> Command:
    """The command of a question: what `ask` takes for every one, and what the question declares."""
    name, (free, options) = about.name.replace("_", "-"), about.example
    own = [*about.options(), *([TYPES["candidates"]] if about.chooses() else [])]
    parts = {
        Part.NEEDED: [*ASKED.parts[Part.NEEDED], *(each for each in own if each.default is REQUIRED)],
        Part.OF_QUESTION: [each for each in own if each.default is not REQUIRED],
        Part.OF_GROUPS: GROUPS,
        Part.OF_ALL: OF_EVERY,
    }
    positional = [*ASKED.positional, *(about.argument(each) for each in ("column", *about.positional))]
    typed = ("column", *about.positional)  # which stand in capitals
    does = re.sub("`(.+?)`", lambda each: each[1].upper() if each[1] in typed else each[1], about.does())
    text = f"{does}\n\ndpselect {name} {free} \\\n    {options}"
    return Command(name, text, positional, parts, partial(ask, about))


_BOUNDS = "Bounds of the question: two numbers, or the first and the last date."


@cache  # not at import: it loads all questions, and no other command needs them
def _parts_of_check() -> Parts:
    """Its options: which values are meant, which rows, how they are read; and those that it only understands."""
    known = {each.name: replace(each, default=None) for about in BY_NAME.values() for each in about.options()}
    known["candidates"] = replace(known["candidates"], may_be_one=True)
    known["bounds"] = Argument("numbers or dates", _BOUNDS, "bounds", None)
    taken = [known.pop(name) for name in ("candidates", "between", "dates", "step", "clip", "bounds")]
    reading = (*shared("memory_limit"), *WORDS)
    others = [*known.values(), *(each for each in OF_EVERY if each not in reading and each.kind != "json")]
    # They change no row that it reads. So only the word for the question is replaced in a command.
    ignored = [replace(each, kind="flag" if each.kind == "flag" else "any text", default=None) for each in others]
    own = {Part.OF_QUESTION: (*taken, TYPES["candidates"]), Part.OF_GROUPS: GROUPS}
    return {**own, Part.OF_ALL: reading, Part.UNSHOWN: ignored}


def check(
    source: Table,
    column: Annotated[str, Argument("text", "Column of the question.")],
    sum: Annotated[str | None, Argument("text", "For best-by: the column that it adds up.")] = None,
    *,
    unit: Annotated[str, Argument("text", "Column that identifies whom a row belongs to.")],
    **given: Annotated[Any, _parts_of_check()],
) -> None:
    """Count what a question would read of a table and what it would leave out, and why. For the holder only.

    dpselect check adult.csv age --unit person_id --bounds 0 120 --step 1

    The numbers are exact, not private: nothing is charged, and nothing is part of
    a certificate. Without candidates and dates it is about numbers. Cells of the
    table are shown: what is written to a file or a pipe, keep to yourself. Rows
    on a server are not looked at.
    """
    from dpselect.session.dataset import seen

    reading = {name: given[name] for name in ("table", "memory_limit")}
    data = dps.Dataset(source, unit=unit, format=format_of(given), **reading)
    parts = _parts_of_check()
    taken = (*parts[Part.OF_QUESTION][:-1], *OF_VIEWS)
    values = values_of(taken, given | {"column": column}, data, source=source)
    view = seen(data, **{each.name: values.pop(each.name) for each in OF_VIEWS})
    with scan_progress() as progress:
        found = dps.check(view, column, sum=sum, progress=progress, **values)
    _warn_in_a_pipe("It holds exact numbers and cells of the table")
    print(found.as_options())
    if ignored := [option_name(each) for each in parts[Part.UNSHOWN] if given[each.name]]:
        say(f"check draws and charges nothing: {', '.join(ignored)} made no difference.")


def columns(source: Table, **given: Annotated[Any, {Part.OF_ALL: (*shared("table"), *WORDS)}]) -> None:
    """Show what the columns are called, and their types where the format has types.

    dpselect columns adult.csv

    For the holder only: a CSV file without a header line has somebody's row in the
    first line.
    """
    from dpselect.rows.opening import open_table

    found = open_table(source, table=given["table"], format=declared(format_of(given))).columns
    _warn_in_a_pipe("Its first line may be somebody's row")
    rows = [(each.name, "" if each.holds is each.holds.ANYTHING else each.holds) for each in found]
    first, *others = [(name if name == name.strip() else repr(name), holds) for name, holds in rows]
    print(text_table(first, others))


def _warn_in_a_pipe(what: str) -> None:
    if not sys.stdout.isatty():
        say(f"the output is not a terminal. {what}: keep it to yourself.")


def run(plan: str, *, out: str | None = None, dry_run: bool = False, quiet: bool = False, as_json: Json = False) -> int:
    """Ask the questions of a plan, with one budget for all of them, and report.

    dpselect run examples/questions.toml --dry-run

    The file names the table, the unit, the epsilon of all answers together and, if an
    account is to be charged, the ledger and the account. Each [questions.NAME] in it
    asks one question: ask = "median", and the arguments of it.

    All rows are read before the first charge, and all questions are charged, or none.
    Run it again after an interruption: what was answered or not drawn costs nothing.

    Args:
        plan: File in TOML. Paths in it start from its own folder.
        out: Folder for answers.json, report.html and the certificates. Default: a folder called like the file, with
            -answers at its end, in the folder you are in.
        dry_run: Print what each question would cost and how accurate it would be; read no row, charge nothing. Exit
            status 2: the account would refuse it.
        quiet: Print nothing but where the answers are, without a progress bar; with --dry-run, only epsilon.
    """
    from pathlib import Path

    planned = dps.Plan.from_toml(plan)
    if dry_run:
        forecast = planned.forecast()
        if forecast.unchecked and (quiet or as_json):  # otherwise it is one of the sentences
            say(f"{forecast.unchecked}: computed from the arguments alone, no column is checked.")
        print(forecast.to_json() if as_json else printable_lines(f"{forecast.epsilon!r}" if quiet else str(forecast)))
        return BAD_INPUT if forecast.fits is False else 0
    refuse_unread()
    folder = f"{Path(plan).stem}-answers" if out is None else out
    with scan_progress(wanted=not quiet) as progress:
        answers = planned.run(out=folder, progress=progress)
    if as_json:
        print(answers.to_json())
        return 0
    if not quiet:
        print(printable_lines(_as_typed(f"{answers}\n")))
    print(f"Written to {printable(folder)}: answers.json, report.html and certificates.")
    return 0


_OF_SITE = "neighbours table memory_limit source_name times account"
_SERVED: Parts = {Part.OF_ALL: (*shared(f"{_OF_SITE} ledger anchor"), *WORDS)}


def serve(
    source: Table | None = None,
    *,
    unit: str | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    no_browser: bool = False,
    i_know_who_can_reach_this: bool = False,
    **given: Annotated[Any, _SERVED],
) -> None:
    """Open a page on which questions are chosen, planned and released.

    dpselect serve
    dpselect serve adult.csv --unit person_id

    The page is on this machine alone, and opens in your browser by an address that
    works once. Nothing on it comes from elsewhere, and nothing leaves the machine.
    Without a table it lists those of the folder it is started in; no other file can be
    opened. Ctrl-C ends it.

    Args:
        unit: Column that identifies whom a row belongs to: who is protected. Default: chosen on the page.
        host: Address to listen at.
        port: Port to listen at. Default: any that is free.
        no_browser: Print the address, and open no browser.
        i_know_who_can_reach_this: Allow a --host that other machines can reach.
    """
    from dpselect.web import Folder, Site
    from dpselect.web import serve as serve_pages

    alike = {name: given[name] for name in _OF_SITE.split()}
    alike |= {"ledger": ledger_of(given["ledger"], given["anchor"]), "format": format_of(given)}
    site = Site(source=source, unit=unit, folder=Folder() if source is None else None, **alike)
    serve_pages(site, host=host, port=port, reachable=i_know_who_can_reach_this, browser=not no_browser)


def format_of(given: Mapping[str, Any]) -> Format:
    return Format(**{each.name: given[each.name] for each in WORDS})


def values_of(options: Sequence[Argument], given: Mapping[str, Any], data: Asking, *, source: str) -> dict[str, Any]:
    """The values of options by name, with lists and conditions in place of their texts, of the types of the columns."""
    found: dict[str, Any] = {}
    for each in options:
        value, kind = given[each.name], given.get(f"{each.name}_as")
        if value is None and kind is not None:
            raise InvalidParameterError(f"{each.name}_as", Shown(repr(str(kind))), f"`{each.name}` together with it")
        if value is not None and (each.names_members or each.kind == "where"):
            from dpselect import public
            from dpselect.session.asking import rows_of

            words = value if each.kind == "where" else [value]
            value = public.value_of(each, words, given, rows_of(data).candidate_kinds, private=source)
        found[each.name] = value
    return found


def ledger_of(url: str | None, anchor: str | None, *, if_read: bool = False) -> Ledger | None:
    """The ledger that was named; `if_read`, it charges nothing once nobody can read standard output any more."""
    if url is None:
        if anchor is not None:
            raise InvalidParameterError("anchor", Shown("<anchor>"), "`ledger` and `account` together with it")
        return None
    from dpselect.ledger import Ledger, Receipt

    class ChargingIfRead(Ledger):
        __slots__ = ()

        def charge(self, *given: Any, **named: Any) -> Receipt:
            refuse_unread()
            return super().charge(*given, **named)

    return (ChargingIfRead if if_read else Ledger)(url, anchor=anchor)


def shown(release: Release, *, quiet: bool = False, is_new: bool = True) -> str:
    from dpselect.certificates.release import lines

    if quiet:
        return "\n".join(map(printable, lines(release)))
    heads, rows = release.table()
    right = {place for place, cells in enumerate(zip(*rows, strict=True)) if all(map(_NUMBER.fullmatch, cells))}
    charge = "Nothing was charged to a ledger; the costs of releases on the same data add up."
    if release.receipt is not None:
        charged = "Charged" if is_new else "Answered before under this request; nothing was charged now. Charged then"
        charge = f"{charged} to account {release.receipt['account']}, entry {release.receipt['sequence']}."
    last = f"Drawn by {release.provenance}. {charge}"
    sentences = release.promise, *release.sentences, _as_typed(release.basis_missing), last
    return "\n".join([text_table(heads, rows, right=right), "", *map(printable, filter(None, sentences))])


def warning(release: Release) -> str:
    """A sentence for standard error if the answer alone is printed and may mislead; else an empty text."""
    return release.promise if release.seeded else printable(release.basis) * (LOUD in release.basis)


def forecast_shown(forecast: Forecast, *, quiet: bool = False) -> str:
    if quiet:
        return as_text(forecast.guarantee.epsilon)
    text = _as_typed(str(forecast))
    for name in (forecast.unit, forecast.column):
        text = text.replace(name, printable(name))
    return printable_lines(text)


def _as_typed(text: str) -> str:
    """With an option in place of the argument of Python that `TO_COUNT_UNITS` names."""
    return text.replace(TO_COUNT_UNITS, "--usable-epsilon 0.05")

"""``dpselect run``: the questions of a file, with one budget for all."""

from __future__ import annotations

from dpselect.cli.asking import REFUSED
from dpselect.cli.streams import escaped, escaped_lines, refuse_unread, say, scan_progress


def run(
    plan: str,
    *,
    out: str | None = None,
    dry_run: bool = False,
    quiet: bool = False,
    as_json: bool = False,
) -> int:
    """Ask the questions of a plan, with one budget for all of them, and report.

    dpselect run examples/questions.toml --dry-run

    The file says the table, the unit, the epsilon of all answers together and, if an
    account is to be charged, the ledger and the account. Each [questions.NAME] in it
    asks one question: ask = "median", and the arguments of it. See docs/plans.md.

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

    import dpselect as dps

    planned = dps.Plan.from_toml(plan)
    if dry_run:
        forecast = planned.forecast()
        if forecast.unchecked and (quiet or as_json):  # otherwise it is one of the sentences
            say(f"{forecast.unchecked}: computed from the arguments alone, no column is checked.")
        print(forecast.to_json() if as_json else escaped_lines(f"{forecast.epsilon!r}" if quiet else str(forecast)))
        return REFUSED if forecast.fits is False else 0
    refuse_unread()
    folder = f"{Path(plan).stem}-answers" if out is None else out
    with scan_progress(wanted=not quiet) as progress:
        answers = planned.run(out=folder, progress=progress)
    if as_json:
        print(answers.to_json())
        return 0
    if not quiet:
        print(escaped_lines(f"{answers}\n"))
    print(f"Written to {escaped(folder)}: answers.json, report.html and certificates.")
    return 0

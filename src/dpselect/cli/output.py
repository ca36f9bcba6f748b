"""A release on standard output: a table for people, plain columns for pipes, the certificate for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpselect.cli.streams import escaped, printable, table
from dpselect.questions import wording
from dpselect.questions.question import QUESTIONS
from dpselect.questions.words import as_text

if TYPE_CHECKING:
    from dpselect.certificates.release import Release
    from dpselect.session.forecast import Forecast

_TO_COUNT_UNITS = "--usable-epsilon 0.05"
"""`wording.TO_COUNT_UNITS` as it is typed."""


def shown(release: Release, *, as_json: bool, quiet: bool = False) -> str:
    """What is printed of the release; nothing else is written to standard output."""
    if as_json:
        return release.to_json()
    heads, rows = release.table()
    lines = [tuple(printable(as_text(cell)) for cell in row) for row in rows]
    if quiet:
        is_labelled = release.groups is not None or QUESTIONS[release.task].label == "value"
        return "\n".join("  ".join(line if is_labelled else line[1:]) for line in lines)
    missing = release.basis_missing.replace(wording.TO_COUNT_UNITS, _TO_COUNT_UNITS)
    sentences = release.promise, *release.sentences, missing, _provenance(release)
    return "\n".join(
        [table([*map(printable, heads)], lines, right={0, 2}, bold=1), "", *map(escaped, filter(None, sentences))]
    )


def warning(release: Release) -> str:
    """A sentence for standard error if the answer alone is printed and may mislead; else an empty text."""
    if release.seeded:
        return release.promise
    return escaped(release.basis) if wording.LOUD in release.basis else ""


def forecast_shown(forecast: Forecast, *, as_json: bool, quiet: bool = False) -> str:
    """What is printed for a question that was only planned."""
    if as_json:
        return forecast.to_json()
    if quiet:
        return as_text(forecast.guarantee.epsilon)
    text = str(forecast).replace(wording.TO_COUNT_UNITS, _TO_COUNT_UNITS)
    for name in (forecast.unit, forecast.column):
        text = text.replace(name, escaped(name))
    return "\n".join(map(escaped, text.split("\n")))


def _provenance(release: Release) -> str:
    drawn = release.mechanism + (f", {release.rounds} rounds" if release.rounds > 1 else "")
    origin = wording.provenance(QUESTIONS[release.task], release)
    charge = "Nothing was charged to a ledger; the costs of releases on the same data add up."
    if release.receipt is not None:
        charge = f"Charged to account {release.receipt['account']}, entry {release.receipt['sequence']}."
    return f"Drawn by {drawn}, {origin}. {charge}"

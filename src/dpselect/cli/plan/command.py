"""The command that plans a selection, from public arguments alone."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Sequence

from dpselect.cli.options import Flag, Json, Number, Numbers, Whole, in_one_piece
from dpselect.cli.plan.findings import Findings
from dpselect.cli.plan.text import PaddedColumn, columns, conclusions, introduction
from dpselect.errors import InvalidParameterError, Shown

_WIDEST = 100
"""Width of a paragraph, however wide the window is."""


def show_plan(findings: Findings, *, as_json: bool) -> None:
    """Print the plan; nothing else is written to standard output."""
    if as_json:
        print(json.dumps(findings.to_dict(), sort_keys=True, allow_nan=False, ensure_ascii=False))
        return
    before, table, after = list(introduction(findings.setup)), columns(findings), list(conclusions(findings))
    for sentence in before:
        print(_wrapped(sentence))
    if sys.stdout.isatty():
        _show_table(table)
    else:
        lines = zip(*([*column.heads, *column.cells] for column in table), strict=True)
        print("", *("   ".join(line).rstrip() for line in lines), "", sep="\n")
    for sentence in after:
        print(_wrapped(sentence))


def _wrapped(sentence: str) -> str:
    width = min(shutil.get_terminal_size((_WIDEST, 24)).columns, _WIDEST)
    kept_together = sentence.replace(" = ", "\xa0=\xa0").replace(" %", "\xa0%")
    lines = textwrap.fill(kept_together, max(width, 20), break_long_words=False, break_on_hyphens=False)
    return lines.replace("\xa0", " ")


def _show_table(table: Sequence[PaddedColumn]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(table):
        shown.add_column(Text("\n".join(column.heads)), no_wrap=True, style="dim" if number == 0 else "")
    for cells in zip(*(column.cells for column in table), strict=True):
        shown.add_row(*map(Text, cells))
    console = Console()
    # A narrow window wraps the lines itself; figures that are cut off would be missing.
    needed = sum(len(column.heads[0]) + 3 for column in table)
    Console(width=max(console.width, needed)).print(shown)


@in_one_piece
def plan(
    *,
    candidates_count: Whole | None = None,
    scores: str | None = None,
    sensitivity: Number = 1.0,
    monotonic: Flag = False,
    epsilon: Numbers | None = None,
    confidence: Number = 0.99,
    selections: Whole = 1,
    delta: Number = 0.0,
    expected_error: Number | None = None,
    within: Number | None = None,
    plot: str | None = None,
    as_json: Json = False,
) -> None:
    """Compute how accurate an answer will be at each epsilon, before any epsilon is spent.

    dpselect plan --candidates-count 41270 --monotonic \\
        --within 20

    Never plan with private scores: the plan, epsilon and the mechanism would depend
    on them, and reveal them without any noise. So no option takes a table. Plan
    with the number of candidates, which covers all scores, or with numbers that
    are already public, such as last year's published counts.

    Args:
        candidates_count: Number of candidates; the errors then hold for any scores.
        scores: File of public scores instead: text, one number per line.
        sensitivity: Largest change of any score by one unit. With the default, errors are in multiples of this change.
        monotonic: One unit changes all scores in the same direction, as for counts when a unit is added or removed.
            Halves the epsilon needed for a given error.
        epsilon: Privacy loss to plan for; repeat the option for several. Default: 0.01 0.03 0.1 0.3 1 3 10.
        confidence: Confidence level of the error bound.
        selections: Number of selections that share epsilon; each error is that of a single selection.
        delta: Probability with which the guarantee of all selections may fail.
        expected_error: Find the epsilon that brings the expected error down to this.
        within: Find the epsilon that keeps the error within this, at the confidence level.
        plot: Plot the error bound of each mechanism against epsilon to this file: .svg, .png, .html or .json.
        as_json: Print all inputs and results as one JSON object instead.
    """
    from dpselect.cli.plan.command import show_plan
    from dpselect.cli.plan.findings import Findings
    from dpselect.cli.plan.setup import DEFAULT_EPSILONS, Setup

    if plot is not None:
        if selections != 1 or delta != 0:
            hint = "The chart shows the epsilon of one selection; the table would show the total."
            raise InvalidParameterError("plot", Shown(repr(plot)), "no --selections or --delta together with it", hint)
        from dpselect.cli.plan.chart import check_chart_file

        check_chart_file(plot)
    setup = Setup.checked(
        candidates_count=candidates_count,
        scores=scores,
        sensitivity=sensitivity,
        monotonic=monotonic,
        epsilons=epsilon or DEFAULT_EPSILONS,
        confidence=confidence,
        selections=selections,
        delta=delta,
    )
    findings = Findings(setup=setup, expected_error=expected_error, within=within)
    findings.work_out()
    if plot is not None:
        from dpselect.cli.plan.chart import draw

        draw(findings, plot)
    show_plan(findings, as_json=as_json)

"""The command that plans a selection, from public arguments alone."""

from __future__ import annotations

from dpselect.cli.options import Flag, Json, Number, Numbers, Whole
from dpselect.errors import InvalidParameterError, Shown


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
    """How good an answer will be at which epsilon, before any is spent.

    dpselect plan --candidates-count 41270 --monotonic \\
        --within 20

    Never plan on the private scores: table, epsilon and mechanism would depend
    on them, and tell about them without any noise. So no option takes a table.
    Plan on the number of candidates, which covers all scores, or on numbers
    that are public already, such as last year's published counts.

    Args:
        candidates_count: How many candidates; the errors then hold for any scores.
        scores: File of public scores instead: text, one number a line.
        sensitivity: The most that one unit changes any score. With the default, errors are in multiples of what one
            unit can change.
        monotonic: One unit changes all scores in the same direction, as it does with counts when a unit is added or
            removed; halves the epsilon that an error takes.
        epsilon: Privacy loss to look at; repeat for several. Default: 0.01 0.03 0.1 0.3 1 3 10.
        confidence: Of the bound on the error.
        selections: How many selections share epsilon; the errors are those of a single one.
        delta: Probability with which the guarantee of all selections may fail.
        expected_error: Say which epsilon brings the expected error down to this.
        within: Say which epsilon keeps the error within this, with the confidence.
        plot: Draw the expected errors into this file: .svg, .png, .html or .json.
        as_json: Print all inputs and figures as one JSON object instead.
    """
    from dpselect.cli.plan.findings import Findings
    from dpselect.cli.plan.output import show_plan
    from dpselect.cli.plan.setup import DEFAULT_EPSILONS, Setup

    if plot is not None:
        if selections != 1 or delta != 0:
            hint = "The chart is about the epsilon of one selection, the table then about the total."
            raise InvalidParameterError("plot", Shown(repr(plot)), "no --selections or --delta beside it", hint)
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

        draw(setup, plot)
    show_plan(findings, as_json=as_json)

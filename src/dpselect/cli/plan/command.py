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
        plot: Plot expected errors and bounds, with the wanted error marked, to this file: .svg, .png, .html or .json.
        as_json: Print all inputs and results as one JSON object instead.
    """
    from dpselect.cli.plan.findings import Findings
    from dpselect.cli.plan.output import show_plan
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

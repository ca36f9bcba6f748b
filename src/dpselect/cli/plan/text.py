"""A plan for people: what is planned, the table, the advice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dpselect.cli.plan.figures import aligned, exact, figure, percent
from dpselect.cli.plan.findings import Findings
from dpselect.cli.plan.setup import CHOICES, Setup


@dataclass(frozen=True, slots=True)
class PaddedColumn:
    """A column of the table: heading lines and cells, padded to one width."""

    heads: tuple[str, str]
    cells: tuple[str, ...]

    @classmethod
    def fitted(cls, heads: tuple[str, str], cells: Sequence[str], *, end: bool = False) -> PaddedColumn:
        """Padded to the widest, at the left or, with `end`, at the right."""
        width = max(map(len, (*heads, *cells)))
        pad = str.rjust if end else str.ljust
        return cls((pad(heads[0], width), pad(heads[1], width)), tuple(pad(cell, width) for cell in cells))


def columns(findings: Findings) -> list[PaddedColumn]:
    """Epsilon, and for each mechanism its expected error and bound side by side."""
    setup = findings.setup
    name = "total" if setup.is_shared else ""
    epsilons = PaddedColumn.fitted((name, "epsilon"), aligned([exact(each) for each in setup.epsilons]), end=True)
    bound = f"{percent(setup.confidence)} bound"
    groups = [epsilons]
    for key, choice in CHOICES.items():
        rows = findings.table[key]
        left = PaddedColumn.fitted(("", "expected"), aligned([figure(row.expected) for row in rows]), end=True)
        right = PaddedColumn.fitted(("", bound), aligned([figure(row.bound, up=True) for row in rows]), end=True)
        cells = [f"{one}  {other}" for one, other in zip(left.cells, right.cells, strict=True)]
        groups.append(PaddedColumn.fitted((choice.name, f"{left.heads[1]}  {right.heads[1]}"), cells))
    return groups


def introduction(setup: Setup) -> Iterator[str]:
    """What is planned, and what the figures mean."""
    among = f"{setup.n:,} candidate{'s' if setup.n != 1 else ''}"
    if setup.source is None:
        where = f"among {among}, in the worst case over all scores"
    else:
        source = setup.source if setup.source.isprintable() else repr(setup.source)
        where = f"among {among}, on the public scores of {source}"
    if not setup.is_shared:
        yield f"One selection {where}."
    elif setup.selections == 1:
        yield f"One selection {where}; epsilon holds together with delta = {exact(setup.delta)}."
    else:
        yield (
            f"{setup.selections:,} selections {where}. They share the total epsilon and delta = {exact(setup.delta)}; "
            "each error is that of a single one of them."
        )
    alike = ", all in the same direction (monotonic)" if setup.monotonic else ""
    yield (
        "An error is how far the selected score is below the best. One unit (a person, a session) changes each score "
        f"by at most {exact(setup.sensitivity)}{alike}."
    )


def conclusions(findings: Findings) -> Iterator[str]:
    """The advice, the epsilons of target errors, and notes on the table."""
    setup = findings.setup
    for advice in findings.advice:
        name = CHOICES[advice.mechanism].phrase
        use = f"In the table use {name} at epsilon = {_listed(advice.epsilons)}"
        yield f"{use if len(findings.advice) > 1 else f'Use {name}'}. {advice.reason}"
    if not findings.advice:
        yield "With one candidate no mechanism can err."
    for key, epsilons in findings.better_on_average.items():
        yield (
            f"This advice minimises the error bound in the worst case. The expected error in the table is lower with "
            f"{CHOICES[key].phrase} at epsilon = {_listed(epsilons)}."
        )
    for target in findings.targets:
        each = " in each selection" if setup.selections > 1 else ""
        if "within" in target.wanted:
            distance = exact(target.wanted["within"])
            wanted = f"Staying within {distance} of the best with {percent(setup.confidence)} confidence"
        else:
            wanted = f"An expected error of at most {exact(target.wanted['expected_error'])}"
        prices = [
            f"{figure(price, up=True) if price > 0 else '0 (delta alone covers it)'} with {CHOICES[key].phrase}"
            for key, price in target.epsilon.items()
        ]
        yield f"{wanted}{each} takes {'the total ' if setup.is_shared else ''}epsilon = {', '.join(prices)}."
    if setup.scores is None and setup.n > 1:
        yield "For Laplace noise the expected errors are the worst known, but not proved to be the worst."
    yield "Planned from public arguments only; nothing was spent."


def _listed(epsilons: Sequence[float]) -> str:
    return ", ".join(map(exact, epsilons))

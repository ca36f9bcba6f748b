"""Figure 2: how far the two mechanisms are from the best one on a bounded lattice of scores, by linear programming."""

from __future__ import annotations

from typing import Any

from examples.figures.charts import marked_lines
from examples.figures.figure import Figure, Finding
from examples.figures.table import Table
from examples.paper.findings_2 import SOLVED, THRESHOLD, far_from_one, limit, near_one, optimal_from
from examples.paper.mechanisms import EXPONENTIAL, MECHANISMS, PERMUTE_AND_FLIP

from dpselect.charts import Axis, Series
from dpselect.planning.optimal import optimal_error, optimal_ratio

_EVERYWHERE = {10 ** (tenth / 10) for tenth in range(-20, 11)}
_AT_THE_PEAK = {10 ** (fortieth / 40) for fortieth in range(-30, 0)}
EPSILONS = sorted({*_EVERYWHERE, *_AT_THE_PEAK, 0.999 * THRESHOLD, THRESHOLD, 1.001 * THRESHOLD})
CANDIDATES, STEPS = 4, 4
COUNTS = (3, 4, 5, 6)
LATTICES = (2, 4, 6, 8)

_BY_COUNT = {f"ratio_{n}_candidates": (n, STEPS) for n in COUNTS}
_BY_STEPS = {f"ratio_{steps}_steps": (CANDIDATES, steps) for steps in LATTICES}


def _ratio(mechanism: str, n: int, steps: int, epsilon: float) -> float:
    return float(optimal_ratio(MECHANISMS[mechanism], n=n, levels=steps, epsilon=epsilon))


def _table(mechanism: str, columns: dict[str, tuple[int, int]]) -> Table:
    ratios = {
        name: [_ratio(mechanism, n, steps, epsilon) for epsilon in EPSILONS] for name, (n, steps) in columns.items()
    }
    return Table({"epsilon": EPSILONS, **ratios})


def table_2a() -> Table:
    """Permute-and-flip's ratio for different numbers of candidates."""
    return _table(PERMUTE_AND_FLIP, _BY_COUNT)


def table_2b() -> Table:
    """Permute-and-flip's ratio for different lattices."""
    return _table(PERMUTE_AND_FLIP, _BY_STEPS)


def table_2c() -> Table:
    """The exponential mechanism's ratio for different lattices."""
    return _table(EXPONENTIAL, _BY_STEPS)


def findings_2a(table: Table) -> tuple[Finding, ...]:
    """The paper's claims, checked in the numbers."""
    return near_one(table, "the number of candidates")


def findings_2b(table: Table) -> tuple[Finding, ...]:
    """The paper's claims, checked in the numbers."""
    return near_one(table, "the number of steps")


def findings_2c(table: Table) -> tuple[Finding, ...]:
    """The paper's claims, checked in the numbers."""
    return far_from_one(table)


def figure_2a() -> Figure:
    """Permute-and-flip, for different numbers of candidates."""
    table = table_2a()
    lattice = f"Scores at most {STEPS} steps below the best; a step is twice the sensitivity."
    widest = max(optimal_error(n=n, levels=STEPS, epsilon=epsilon).gap for n in COUNTS for epsilon in EPSILONS)
    beyond = (
        "Each optimum is between two bounds that hold whatever the tolerances of the solver are. Here they differ by "
        f"at most {widest:.0e} of the optimum."
    )
    return _figure("2a", PERMUTE_AND_FLIP, table, findings_2a(table), lattice, beyond)


def figure_2b() -> Figure:
    """Permute-and-flip, for different lattices."""
    table = table_2b()
    starts = "; ".join(f"{_optimal_from(table, name):.3f} with {_BY_STEPS[name][1]} steps" for name in _BY_STEPS)
    beyond = (
        f"On these lattices permute-and-flip is already optimal from a smaller epsilon than in theorem 3 on: {starts}."
    )
    return _figure("2b", PERMUTE_AND_FLIP, table, findings_2b(table), _LATTICE, beyond)


def figure_2c() -> Figure:
    """The exponential mechanism, for different lattices."""
    table = table_2c()
    limits = "; ".join(f"{limit(CANDIDATES, steps):.4f} with {steps} steps" for steps in LATTICES)
    beyond = (
        "Where k scores tie for the best, the error of the exponential mechanism tends to (k + 1)/k times that of "
        f"permute-and-flip, which is the optimum. So for large epsilon the ratio on the lattice tends to {limits}: "
        "it approaches 2 only with more and more steps, because ties for the best become rarer."
    )
    return _figure("2c", EXPONENTIAL, table, findings_2c(table), _LATTICE, beyond)


_LATTICE = f"{CANDIDATES} candidates, scores some steps below the best; a step is twice the sensitivity."


def _optimal_from(table: Table, name: str) -> float:
    last = max((table[name] > 1 + SOLVED).nonzero()[0])
    low, high = table["epsilon"][last : last + 2]
    n, steps = _BY_STEPS[name]
    return optimal_from(lambda epsilon: _ratio(PERMUTE_AND_FLIP, n, steps, epsilon), low, high)


def _figure(
    name: str, mechanism: str, table: Table, findings: tuple[Finding, ...], lattice: str, beyond: str = ""
) -> Figure:
    article = "the " if mechanism == EXPONENTIAL else ""
    title = f"Expected error of {article}{mechanism}, as a multiple of the least possible"
    columns = [column for column in table.columns if column != "epsilon"]

    def draw() -> Any:
        labels = {column: " ".join(column.split("_")[1:]) for column in columns}
        curves = [Series(name=label, x=table["epsilon"], y=table[column].round(9)) for column, label in labels.items()]
        x = Axis(title="epsilon (sensitivity 1)", log=True, lowest=0.01, highest=10.0)
        y = Axis(title="ratio of expected errors")
        marks = {THRESHOLD: f"theorem 3: {THRESHOLD:.4f}"}
        return marked_lines(curves, x=x, y=y, title=title, subtitle=lattice, marks=marks)

    return Figure(
        name=name,
        title=title,
        setting=f"{lattice} The mechanism's expected errors, summed over all such vectors with the best score at 0, "
        "are divided by the optimum of the linear program, from `planning.optimal_ratio`. A ratio has no unit. The "
        f"line marks ln((3 + √5)/2) = {THRESHOLD:.4f}.",
        table=table,
        findings=findings,
        draw=draw,
        beyond=beyond,
    )

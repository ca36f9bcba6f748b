"""The study of where selection is used: committed numbers are those of a run, and claims can be refuted."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples.figures.charts import Panel, alike
from examples.figures.figure import Finding
from examples.figures.page import PAGE
from examples.figures.table import Table, read
from examples.recipes import __main__ as run
from examples.recipes import data, growing, paired, synthetic, trees

from dpselect.charts import Axis, Series

FOLDER = Path(run.__file__).parent
COMMITTED = {name: read(FOLDER / f"figure_{name}.csv") for name in "123456"}
README = (FOLDER / PAGE).read_text(encoding="utf-8")


def test_the_run_makes_these_figures() -> None:
    assert [make.__name__ for make in run.FIGURES] == [f"figure_{name}" for name in COMMITTED]


def test_codes_are_within_their_bins() -> None:
    codes, bins, labels = data.income()
    assert (codes.max(axis=0) < np.array(bins)).all()
    assert codes.min() == 0
    assert set(labels) == {0, 1}
    codes, sizes, names = data.attributes()
    assert tuple(codes.max(axis=0) + 1) == sizes
    assert len(names) == len(sizes)


def test_the_published_scale_is_twice_the_monotone_one() -> None:
    for criterion in growing.CRITERIA:
        ours, theirs = (growing.tree(criterion, 1.0, splits=splits) for splits in (1.0, 0.5))
        assert theirs.selecting.scale == pytest.approx(2 * ours.selecting.scale)
        assert theirs.counting.epsilon == pytest.approx(ours.counting.epsilon)


def _same(committed: Table, row: int, fresh: dict[str, Any], names: list[str]) -> bool:
    return all(math.isclose(committed[name][row], fresh[name], rel_tol=1e-6) for name in names)


@pytest.mark.slow
def test_committed_histograms_are_those_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    last = len(synthetic.EPSILONS) - 1
    monkeypatch.setattr(synthetic, "EPSILONS", synthetic.EPSILONS[-1:])
    fresh: Any = synthetic.histogram_rows("HEPTH")[0]
    assert _same(COMMITTED["4"], last, fresh, list(synthetic.WAYS))
    assert not _same(COMMITTED["4"], 0, fresh, list(synthetic.WAYS))


@pytest.mark.slow
def test_committed_trees_are_those_of_a_run() -> None:
    fresh: Any = trees.scale_rows(growing.EPSILONS[0])[0]
    names = ["monotone", "published", "gained", "gained_half_interval"]
    assert _same(COMMITTED["1"], 0, fresh, names)
    assert not _same(COMMITTED["1"], 1, fresh, names)


def test_trees_are_the_same_every_time() -> None:
    first = growing.accuracies(growing.tree("max", growing.EPSILONS[0]), seeds=2)
    again = growing.accuracies(growing.tree("max", growing.EPSILONS[0]), seeds=2)
    assert first.tolist() == again.tolist()
    committed = COMMITTED["1"].where("criterion", "max")["monotone"][0]
    assert abs(first.mean() - committed) < 0.1


def _findings(tables: dict[str, Table]) -> list[Finding]:
    return [
        *trees.scale_findings(tables["1"]),
        *trees.depth_findings(tables["2"]),
        *trees.mechanism_findings(tables["3"]),
        *synthetic.comparison(tables["4"], sign=1.0, what="error"),
        synthetic.falling(tables["4"]),
        *synthetic.comparison(tables["5"], sign=1.0, what="error"),
        synthetic.scores_compared(tables["6"]),
        *synthetic.comparison(tables["6"], sign=-1.0, what="bits"),
    ]


def test_what_was_found_is_on_the_page() -> None:
    for each in _findings(COMMITTED):
        assert each.claim in README
        assert each.found in README


def _turned(table: Table) -> Table:
    """The other way round: every difference has the other sign."""
    signed = ("gained", "minus_gini", "exponential_minus", "exponential_twice_minus", "exponential_delta_minus")
    columns = dict(table.columns)
    for name in (*signed, "minus_other", "change"):
        if name in columns:
            columns[name] = -table[name]
    return Table(columns)


def test_other_numbers_would_refute_the_claims() -> None:
    after = _findings({name: _turned(table) for name, table in COMMITTED.items()})
    assert all(before.found != each.found for before, each in zip(_findings(COMMITTED), after, strict=True))
    alike = [each.claim for each in _without_delta(after) if NEITHER in each.found]
    assert [each.claim for each in after if each.holds] == alike


NEITHER = f"{paired.NEITHER}. "
"""Of which no difference is found the other way round, too."""


def _without_delta(findings: list[Finding]) -> list[Finding]:
    return [each for each in findings if "permute-and-flip" in each.claim and " not " in each.claim]


def test_a_clearly_better_exponential_mechanism_would_refute_permute_and_flip() -> None:
    better = {"3": 1.0, "4": -1.0, "5": -1.0, "6": 1.0}
    spoiled = {
        name: Table({**table.columns, "exponential_minus": np.full(len(table), better[name])})
        if name in better
        else table
        for name, table in COMMITTED.items()
    }
    before, after = (_without_delta(_findings(tables)) for tables in (COMMITTED, spoiled))
    assert [each.holds for each in before] == [True] * 4
    assert [each.holds for each in after] == [False] * 4


def test_the_words_on_what_to_use_follow_the_verdicts() -> None:
    findings = _findings(COMMITTED)
    alike = [NEITHER in each.found for each in _without_delta(findings)]
    assert alike == [True, True, True, False]  # trees, MWEM, marginals; better with parents
    delta = [each.found for each in findings if "delta = 1e-6" in each.claim]
    assert ["better. " in each for each in delta] == [True, False, True]  # MWEM, marginals, parents


def test_what_is_compared_has_one_range() -> None:
    small, large = (
        Panel(
            name=name,
            curves=[Series(name="a", x=np.array([1.0, 2.0]), y=np.array([0.0, top]))],
            halves=[np.array([0.1, 0.1])],
            y=Axis(title="y"),
        )
        for name, top in (("small", 1.0), ("large", 4.0))
    )
    first, second = alike([small, large])
    assert (first.y.lowest, first.y.highest) == (second.y.lowest, second.y.highest)
    assert first.y.lowest <= -0.1
    assert first.y.highest >= 4.1


def test_verdicts_are_those_of_the_interval() -> None:
    ahead = np.array([1.0, 2.0, 3.0, 4.0])
    mean, half = paired.mean_and_half(ahead)
    assert half == pytest.approx(3.182446 * ahead.std(ddof=1) / 2.0, rel=1e-6)
    assert paired.verdict(mean, half) == paired.BETTER
    assert paired.verdict(mean, half, sign=-1.0) == paired.WORSE
    assert paired.verdict(mean - 1.0, half) == paired.NEITHER

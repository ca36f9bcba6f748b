"""The study of where selection is used: committed numbers are those of a run, and claims can be refuted."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples.figures.page import PAGE
from examples.figures.table import Table, read
from examples.recipes import __main__ as run
from examples.recipes import data, synthetic, trees

FOLDER = Path(run.__file__).parent
COMMITTED = {name: read(FOLDER / f"figure_{name}.csv") for name in "12345"}
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
    for criterion in trees.CRITERIA:
        ours, theirs = (trees.tree(criterion, 1.0, splits=splits) for splits in (1.0, 0.5))
        assert theirs.splitting.scale == pytest.approx(2 * ours.splitting.scale)
        assert theirs.counting.epsilon == pytest.approx(ours.counting.epsilon)


def _same(committed: Table, row: int, fresh: dict[str, Any], names: list[str]) -> bool:
    return all(math.isclose(committed[name][row], fresh[name], rel_tol=1e-6) for name in names)


@pytest.mark.slow
def test_committed_histograms_and_networks_are_those_of_a_run() -> None:
    names = ["permute_and_flip_error", "exponential_error", "exponential_delta_error"]
    last = len(synthetic.EPSILONS) - 1
    fresh = synthetic.histogram_row("HEPTH", synthetic.EPSILONS[last])
    assert _same(COMMITTED["3"], last, fresh, names)
    assert not _same(COMMITTED["3"], 0, fresh, names)


def test_committed_trees_are_those_of_a_run() -> None:
    first = trees.accuracies(trees.tree("max", trees.EPSILONS[0]), seeds=2)
    again = trees.accuracies(trees.tree("max", trees.EPSILONS[0]), seeds=2)
    assert first.tolist() == again.tolist()
    assert abs(first.mean() - COMMITTED["1"]["monotone_accuracy"][0]) < 0.1


def _findings(tables: dict[str, Table]) -> list[Any]:
    found = [*trees.scale_findings(tables["1"]), *trees.mechanism_findings(tables["2"])]
    for name, sign in (("3", 1.0), ("4", 1.0), ("5", -1.0)):
        found += synthetic._finding(tables[name], sign=sign, what="error" if sign > 0 else "bits")
    return found


def test_what_was_found_is_on_the_page() -> None:
    for each in _findings(COMMITTED):
        assert each.claim in README
        assert each.found.replace("e-0", "e-") in README


def test_other_numbers_would_refute_the_claims() -> None:
    def swapped(table: Table, first: str, second: str) -> Table:
        columns = dict(table.columns)
        for end in ("accuracy", "error"):
            a, b = f"{first}_{end}", f"{second}_{end}"
            if a in columns and b in columns:
                columns[a], columns[b] = columns[b], columns[a]
        if "gained" in columns:
            columns["gained"] = [-float(each) - 1.0 for each in table["gained"]]
        return Table(columns)

    spoiled = {
        "1": swapped(COMMITTED["1"], "monotone", "published"),
        "2": swapped(COMMITTED["2"], "permute_and_flip", "exponential_twice"),
        **{name: swapped(COMMITTED[name], "permute_and_flip", "exponential_delta") for name in "345"},
    }
    before = [each.holds for each in _findings(COMMITTED)]
    after = [each.holds for each in _findings(spoiled)]
    assert sum(after) < sum(before)

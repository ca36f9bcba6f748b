"""Two runs of one plan at the same time, each with an engine of its own."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import dpselect as dps
from tests.plans.test_crashes import COSTS, planned
from tests.plans.test_plan import folder  # noqa: F401 - a fixture


def test_two_runs_at_once_give_the_same_answers_and_share_their_charges(folder: Path) -> None:  # noqa: F811
    ledger = dps.Ledger(folder / "budget.db")
    ledger.open_account("both", epsilon=2.0, unit="who")
    found: list[dict[str, Any]] = []
    runs = [threading.Thread(target=lambda: found.append(dict(planned(folder, "both").run()))) for _ in range(2)]
    for each in runs:
        each.start()
    for each in runs:
        each.join()
    assert {name: each.value for name, each in found[0].items()} == {n: e.value for n, e in found[1].items()}
    assert 2.0 - ledger.remaining("both") <= sum(COSTS.values()) + max(COSTS.values())
    ledger.verify()

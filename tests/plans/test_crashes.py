"""A run that is stopped at any step is begun again, and pays for no question twice that cannot have been seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpselect as dps
from dpselect.ledger import store
from dpselect.questions.query import Query
from dpselect.session import answering
from tests.ledger.remembered import forget
from tests.plans.test_plan import folder, left  # noqa: F401 - a fixture
from tests.slow import SLOW

PLAN = {
    "a": {"ask": "count", "column": "age", "between": (0, 40), "epsilon": 0.125},
    "b": {"ask": "count", "column": "age", "between": (30, 60), "epsilon": 0.25},
    "c": {"ask": "histogram", "column": "town", "candidates": ["A", "B"], "epsilon": 0.0625},
}
COSTS = {name: float(each["epsilon"]) for name, each in PLAN.items()}  # pyright: ignore


class Killed(BaseException):
    """The process ends here."""


class Steps:
    """Counts the steps of a run, notes what is drawn, and ends the run at one of them."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.ends_at, self.taken = 0, list[str]()
        for owner, name in (
            (dps.Ledger, "charge_ahead"),
            (dps.Ledger, "charge"),
            (dps.Ledger, "store_release"),
            (store.Book, "append"),
            (store.Book, "store"),
            (Query, "released"),
        ):
            patch.setattr(owner, name, self._watched(name, getattr(owner, name)))

    def _step(self, name: str) -> None:
        self.taken.append(name)
        if len(self.taken) == self.ends_at:
            raise Killed

    def _watched(self, name: str, act: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*given: Any, **named: Any) -> Any:
            self._step(f"before {name}")
            found = act(*given, **named)
            self._step(f"after {name}")
            return found

        return watched

    def run(self, plan: dps.Plan, *, ends_at: int) -> bool:
        """Whether the run came to its end; a new process remembers nothing of it."""
        self.taken, self.ends_at = [], ends_at
        try:
            plan.run()
        except Killed:
            return False
        finally:
            forget()
        return True


def planned(folder: Path, name: str) -> dps.Plan:  # noqa: F811
    about: dict[str, Any] = {"ledger": folder / "budget.db", "account": name, "name": name}
    return dps.Plan(table=str(folder / "people.csv"), unit="who", epsilon=1.0, questions=PLAN, **about)


def test_a_run_that_is_stopped_anywhere_pays_again_for_one_draw_at_most(
    folder: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ledger, steps = dps.Ledger(folder / "budget.db"), Steps(monkeypatch)
    paid_twice: list[str] = []
    for ends_at in range(1, 200, 1 if SLOW else 11):
        name = f"stopped-at-{ends_at}"
        ledger.open_account(name, epsilon=2.0, unit="who")
        ended = steps.run(planned(folder, name), ends_at=ends_at)
        before, spent = steps.taken, 2.0 - ledger.remaining(name)
        assert spent in (0.0, sum(COSTS.values()))  # everything or nothing
        drawn = before.count("before released")
        assert drawn == 0 or spent > 0
        assert steps.run(planned(folder, name), ends_at=0)
        again = 2.0 - ledger.remaining(name) - sum(COSTS.values())
        begun = sum(1 for each in ledger.history(name) if each.kind == "begin")
        charges = sum(1 for each in ledger.history(name) if each.kind == "charge")
        assert begun == charges  # each is drawn for at most once
        assert drawn + steps.taken.count("before released") <= charges
        if again:
            assert again in COSTS.values()
            paid_twice.append(before[-1])
        assert steps.run(planned(folder, name), ends_at=0)
        assert steps.taken == []  # what is stored is read without a lock, also where nothing can be written
        assert 2.0 - ledger.remaining(name) == sum(COSTS.values()) + again
        if ended:
            break
    assert ended
    assert not SLOW or set(paid_twice) == {
        "after charge",
        "before released",
        "after released",
        "before store_release",
        "before store",
        "after store",
    }
    assert ends_at > 3 * 8
    ledger.verify()


def test_what_was_charged_on_another_day_is_not_charged_again(
    folder: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ledger, steps = dps.Ledger(folder / "budget.db"), Steps(monkeypatch)
    ledger.open_account("days", epsilon=2.0, unit="who")
    assert not steps.run(planned(folder, "days"), ends_at=1 + 10)
    spent = ledger.remaining("days")
    real = answering.public_time
    monkeypatch.setattr(answering, "public_time", lambda moment, times: real(moment, times).replace(year=2031))
    answers = planned(folder, "days").run()
    assert ledger.remaining("days") == spent
    assert all(each.time.year < 2031 for each in answers.values())


def test_a_plan_that_does_not_fit_charges_nothing(folder: Path) -> None:  # noqa: F811
    ledger = dps.Ledger(folder / "budget.db")
    ledger.open_account("small", epsilon=0.4, unit="who")
    with pytest.raises(dps.errors.ChargeRefusedError, match="the sum of its parts"):
        planned(folder, "small").run()
    assert (ledger.remaining("small"), len(ledger.history("small"))) == (0.4, 1)
    assert left(folder) == 1.5

"""Arguments of a wrong type, given to everything that is public: refused by an error of the package, in one line, soon,
and without a word of what is in them."""

from __future__ import annotations

import functools
import inspect
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa  # pyright: ignore[reportMissingTypeStubs]
import pytest

import dpselect as dps
from dpselect import accounting, mechanisms, planning, recipes
from dpselect.accounting import PureEvent

SOON = 10.0
"""Seconds of processor time that no refusal takes."""


class Thing:
    """A class that takes anything, and does nothing."""

    def __init__(self, *given: object, **named: object) -> None: ...


WRONG: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "bytes": lambda: b"Ann 7919",
    "text": lambda: "a",
    "empty text": lambda: "",
    "five": lambda: 5,
    "minus one": lambda: -1,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "no double": lambda: 10**400,
    "empty list": list,
    "empty dictionary": dict,
    "list of lists": lambda: [[7919]],
    "dictionary": lambda: {"a": ["Ann", 7919]},
    "set": lambda: {7919},
    "object": object,
    "array": lambda: np.array([7919, 2]),
    "array of text": lambda: np.array(["Ann 7919"]),
    "array of no dimension": lambda: np.array("Ann 7919"),
    "class": lambda: Thing,
    "function": lambda: lambda *given, **named: None,
    "fraction": lambda: Fraction(1, 3),
    "decimal": lambda: Decimal("NaN"),
    "complex": lambda: 1j,
    "boolean": lambda: True,
    "no time": lambda: np.datetime64("NaT"),
    "generator": lambda: (each for each in [7919]),
}

PEOPLE = {
    "who": [1, 2, 3, 4],
    "name": ["x", "y", "x", "y"],
    "n": [1, 2, 3, 4],
    "m": [0.5, 1.5, 2.5, 3.5],
    "day": np.array(["2026-11-21"] * 4, "datetime64[D]"),
    "true": [True, False, True, True],
}
EXAMPLES: dict[str, Any] = {
    "account": "n",
    "above": [3, 1],
    "bins": 4,
    "bits": [True, False, True],
    "bounds": (0, 10),
    "breakpoints": [0.0, 1.0, 2.0],
    "candidates": ["x", "y", "z"],
    "ceiling": 9.0,
    "chance": 0.5,
    "clip": (0, 10),
    "codes": np.array([[0, 1], [1, 0]]),
    "column": "n",
    "confidence": 0.9,
    "configurations": [1, 2],
    "count": 3,
    "counts": [30, 1, 4],
    "delta": 1e-6,
    "epsilon": 1.0,
    "epsilon_per_run": 0.5,
    "epsilons": [0.5, 1.0],
    "event": PureEvent(epsilon=0.1),
    "events": [PureEvent(epsilon=0.1)],
    "eta": 1.0,
    "expected_runs": 4.0,
    "gamma": 0.25,
    "groups": ["x", "y"],
    "k": 2,
    "level": 0.5,
    "levels": [0.25, 0.75],
    "marginals": [(0, 1)],
    "matrix": [[3.0, 1.0], [2.0, 5.0]],
    "mechanism": dps.PermuteAndFlip,
    "n": 3,
    "noise": 1,
    "name": "n",
    "center": 1,
    "fall": 1.0,
    "queries": 3,
    "n_candidates": 3,
    "offers": [1.0, 5.0, 7.0],
    "points": [0.5, 1.0],
    "prices": [1, 2, 5],
    "questions": [{"ask": "count", "epsilon": 1.0}],
    "releases": [dps.Dataset(pa.table(PEOPLE), unit="who").count(epsilon=1.0)],
    "responses": [True, False],
    "rounds": 2,
    "rows": 3,
    "run": lambda configuration: (0.5, configuration),
    "scores": [3.0, 1.0, 2.0],
    "score": lambda candidate: 1.0,
    "sensitivities": [1.0, 2.0, 1.0],
    "sensitivity": 1.0,
    "share": 0.5,
    "size": 3,
    "sizes": (2, 2),
    "slopes": [1.0, -1.0],
    "source": PEOPLE,
    "step": 1,
    "sum": "n",
    "threshold": 5.0,
    "unit": "who",
    "value": 3.0,
    "values": [1.0, 2.0, 3.0],
    "widths": [1.0, 1.0, 1.0],
}

MADE_INSIDE = {
    *("BestRun", "Lead", "Release", "Answers", "PlanForecast", "Forecast"),
    *("Composition", "OrderNoise", "Recommendation"),
    *("Bounds", "GrownTree", "CountEstimate", "Mechanism"),
}
"""Classes whose values the package makes, or a subclass; nobody else calls them."""

INTERNAL = {
    *("probabilities", "distance", "worst_size", "gaps", "scaled", "scores"),
    *("first_noise", "at", "contains", "counts", "tail_bound", "difference_bound", "one_sided_bound"),
    "reaches",
    "check",
}
"""Methods that only the package calls, with what it has checked."""

LISTED = {"column": "name", "candidates": ["x", "y"]}
FLIP = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1)
HOME = tempfile.TemporaryDirectory()
RUN = accounting.Run(event=PureEvent(epsilon=0.001), mechanism="m", neighbours=dps.Neighbours.ADD_REMOVE, unit="who")
CEILING = dps.mechanisms.IntegerCeiling(center=1, fall=1, height=5, lower=0)
CODED = {"source": pa.table({"n": [1, 2, 3]})}
ONE_ASKED = (RUN, "request", "question", "1" * 64, datetime(2026, 11, 25, tzinfo=UTC))
CURVE = {"breakpoints": [0.0, 1.0, 2.0], "slopes": [2.0, 1.0, -1.0]}

SPECIAL: dict[str, dict[str, Any]] = {
    "mechanisms.BestOfRuns": {"epsilon_per_run": 0.5, "expected_runs": 2.0},
    **{f"mechanisms.ConcaveMechanism.{each}": CURVE for each in ("draw", "draw_many", "law")},
    "dpselect.DiscreteGaussianMechanism": {"squared_sensitivity": 1},
    **{f"dpselect.GeometricMechanism.{each}": {"value": 3, "points": np.array([0, 1])} for each in ("draw", "pmf")},
    "dpselect.GeometricMechanism.draw_many": {"values": [1, 2]},
    **{f"mechanisms.IntegerMechanism.{each}": {"ceiling": CEILING} for each in ("draw", "expected_calls")},
    "mechanisms.IntegerMechanism.pmf": {"ceiling": CEILING, "points": np.array([0, 1])},
    "dpselect.AboveThreshold.pmf": {"queries": [1.0, 9.0]},
    "dpselect.ExponentialMechanism": {"weights": [1, 2, 3]},
    "dpselect.DiscreteGaussianMechanism.draw_many": {"values": [1, 2]},
    "mechanisms.MeanMechanism.error_bound": {"n": 3},
    "mechanisms.NoisyOrder": {"max_values_per_unit": 1},
    "mechanisms.QuantileMechanism": {"step": 1},
    "mechanisms.TopKPlan": {"mechanism": FLIP, "n_candidates": 3},
    "dpselect.best_of_runs": {"epsilon_per_run": 0.5, "expected_runs": 2.0},
    "dpselect.candidates_from": CODED,
    "dpselect.audit": {
        "sampler": lambda rows: len(rows),
        "neighbours": ([1], [1, 2]),
        "claimed_epsilon": 1.0,
        "draws": 50,
    },
    "dpselect.verify": {"text": dps.Dataset(PEOPLE, unit="who").count(epsilon=1.0).to_json()},
    "accounting.from_json": {"text": accounting.to_json(PureEvent(epsilon=0.5))},
    "dpselect.check": {"unit": "who", "bounds": (0, 9)},
    "dpselect.Plan": {
        "table": PEOPLE,
        "questions": {"age": {"ask": "median", "column": "n", "bounds": (0, 9), "step": 1}},
    },
    "dpselect.Plan.from_toml": {"path": str(Path("examples/questions.toml").resolve())},
    "dpselect.Ledger": {"url": f"{HOME.name}/another.db"},
    "dpselect.Ledger.anchor": {"to": f"{HOME.name}/anchor"},
    "dpselect.Ledger.backup": {"to": f"{HOME.name}/nowhere/copy.db"},
    "dpselect.Ledger.charge": {"what": RUN},
    "dpselect.Ledger.charge_ahead": {"questions": [ONE_ASKED]},
    "dpselect.Ledger.find": {"sequence": 0},
    "dpselect.Ledger.look": {"questions": [ONE_ASKED[:3]]},
    "dpselect.Ledger.open_account": {"name": "new"},
    "dpselect.Ledger.store_release": {"receipt": None, "release": "text"},
    "dpselect.Ledger.under": {"request": "a"},
    "accounting.LossIntervalEvent": {"below": 0.5, "above": 0.5},
    "accounting.Run": {"mechanism": "m", "neighbours": "add_remove", "unit": "who"},
    "accounting.calibrate": {"sensitivity": 1},
    **{f"planning.{each}": {"scores": [3.0, 1.0, 2.0]} for each in ("epsilon_for", "error_curve", "plot_error")},
    "planning.lead_shown": {"mechanism": FLIP, "gap": 1.0},
    "planning.plot_pmf": {"mechanism": FLIP, "scores": [3.0, 1.0, 2.0]},
    "planning.epsilon_for": {"scores": [3.0, 1.0, 2.0], "expected_error": 0.5},
    **{f"planning.{each}": {"levels": 3} for each in ("optimal_error", "optimal_ratio")},
    "planning.recommendation": {"selections": 3},
    "recipes.Entropy": {"most_rows": 10},
    "recipes.ParentChoice.choose": {"codes": np.array([[0, 1], [1, 0], [1, 1]])},
    "recipes.MWEM.fit": {"queries": np.array([[True, False, True]]), "counts": [3, 1, 2]},
    "recipes.DecisionTree": {"classes": 2, "bins": (2, 2), "depth": 1},
    "recipes.DecisionTree.grow": {"codes": np.array([[0, 1], [1, 0]]), "labels": np.array([0, 1])},
}
for _kind in ("Dataset", "DryRun"):
    for _each in ("best_by", "histogram", "least_common", "most_common", "top_k", "values"):
        SPECIAL[f"dpselect.{_kind}.{_each}"] = LISTED if _each != "values" else {"column": "name"}
    SPECIAL[f"dpselect.{_kind}.best_date"] = {"column": "day", "dates": ["2026-11-21", "2026-11-22"]}
    SPECIAL[f"dpselect.{_kind}.by"] = {"by": "name", "groups": ["x", "y"]}
    SPECIAL[f"dpselect.{_kind}.best_price"] = {"prices": [1, 2, 5]}
    for _each in ("median", "quantile", "quantiles", "upper_bound"):
        SPECIAL[f"dpselect.{_kind}.{_each}"] = {"step": 1}
SPECIAL["dpselect.Dataset.ask"] = {"questions": [{"ask": "count", "epsilon": 1.0}]}


def _ledger() -> dps.Ledger:
    ledger = dps.Ledger(f"{HOME.name}/budget.db", wait=0.0)
    if not Path(HOME.name, "budget.db").exists():
        ledger.open_account("n", epsilon=10.0)
    return ledger


PUBLIC = {"events", "levels", "marginals", "questions"}
"""Lists of public numbers, which errors may show."""


def walked() -> dict[str, Callable[[], Callable[..., Any]]]:
    """What is public, by name, and how it is come by: each time anew, as some of it has a state."""
    found, seen = dict[str, Callable[[], Callable[..., Any]]](), set[int]()
    for module in (dps, accounting, mechanisms, planning, recipes):
        for name in module.__all__:
            each, label = getattr(module, name), f"{module.__name__.rpartition('.')[2]}.{name}"
            is_class = isinstance(each, type)
            is_alias = not is_class and not inspect.isfunction(each)
            if is_alias or id(each) in seen or name in MADE_INSIDE or (is_class and issubclass(each, (Exception, str))):
                continue
            seen.add(id(each))
            found[label] = functools.partial(getattr, module, name)
            for method in dir(each) if is_class else []:
                if not method.startswith("_") and callable(getattr(each, method)) and method not in INTERNAL:
                    found[f"{label}.{method}"] = functools.partial(_method, each, label, method)
    return found


def _method(kind: type, label: str, method: str) -> Callable[..., Any]:
    if isinstance(inspect.getattr_static(kind, method), (classmethod, staticmethod)):
        return getattr(kind, method)
    return getattr(_ledger() if kind is dps.Ledger else kind(**examples(kind, label)), method)


def examples(call: Callable[..., Any], label: str) -> dict[str, Any]:
    """Valid arguments: all that have no default, and those that are special."""
    parameters = inspect.signature(call).parameters
    is_open = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    given = {name: value for name, value in SPECIAL.get(label, {}).items() if name in parameters or is_open}
    for name, each in parameters.items():
        if each.default is each.empty and each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            given = {name: EXAMPLES[name]} | given if name not in given else given
    return given


WALKED = walked()
assert SPECIAL.keys() <= WALKED.keys(), SPECIAL.keys() - WALKED.keys()


def arguments_of(label: str) -> list[str]:
    call = WALKED[label]()
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [name for name, each in inspect.signature(call).parameters.items() if each.kind in kinds]


def faults(label: str, argument: str) -> Iterator[str]:
    """What is wrong with how the call answers to wrong values of the argument."""
    for kind, wrong in WRONG.items():
        call = WALKED[label]()
        given = examples(call, label) | {argument: wrong()}
        started = time.process_time()
        try:
            outcome = call(**given)
            if isinstance(outcome, Iterator):
                next(outcome, None)
        except dps.SelectionError as error:
            said = str(error)
            tells = "Ann" in said or ("7919" in said and argument not in PUBLIC)
            if "\n" in said or tells or len(said) > 1000:
                yield f"{kind}: {said[:300]!r}"
        except Exception as error:  # noqa: BLE001 - each is a finding
            yield f"{kind}: {type(error).__name__}: {str(error)[:120]!r} at {_place(error)}"
        if time.process_time() - started > SOON:
            yield f"{kind}: took long"


def _place(error: Exception) -> str:
    at = error.__traceback__
    places = list[str]()
    while at is not None:
        places.append(f"{Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}")
        at = at.tb_next
    return " ".join(places[-4:])


CASES = [(label, argument) for label in WALKED for argument in arguments_of(label)]


@pytest.mark.sampled(60)
@pytest.mark.parametrize(("label", "argument"), CASES)
def test_a_wrong_argument_is_refused(
    label: str, argument: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a wrong value may be taken for the name of a file to write
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert list(faults(label, argument)) == []


def test_the_walk_notices_what_takes_a_wrong_value_for_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def naive(value: Any) -> float:
        if isinstance(value, dict):
            raise dps.SelectionError(f"{value} is no number")
        return float(value)

    monkeypatch.setitem(WALKED, "naive", lambda: naive)
    found = {each.partition(":")[0] for each in faults("naive", "value")}
    assert {"text", "array", "object", "dictionary", "no double"} <= found
    assert not {"five", "fraction", "boolean"} & found

"""Arguments of a wrong type, given to everything that is public: refused by an error of the package, in one line, soon,
and without a word of what is in them."""

from __future__ import annotations

import functools
import inspect
import random
import time
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect import accounting, planning, recipes
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
    "dictionary": lambda: {"Ann": [7919]},
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
UNIFORM = functools.partial(random.Random(7).choice, [0, 1])

EXAMPLES: dict[str, Any] = {
    "above": [3, 1],
    "answer": [1.0],
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
    "distance": 1.0,
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
    "n_candidates": 3,
    "offers": [1.0, 5.0, 7.0],
    "orders": np.array([2.0, 4.0]),
    "points": [0.5, 1.0],
    "prices": [1, 2, 5],
    "questions": [{"ask": "count", "epsilon": 1.0}],
    "responses": [True, False],
    "rounds": 2,
    "rows": 3,
    "run": lambda configuration: (0.5, configuration),
    "scores": [3.0, 1.0, 2.0],
    "score": lambda candidate: 1.0,
    "sensitivities": [1.0, 2.0, 1.0],
    "sensitivity": 1.0,
    "share": 0.5,
    "significance": 0.05,
    "size": 3,
    "sizes": (2, 2),
    "slopes": [1.0, -1.0],
    "source": PEOPLE,
    "step": 1,
    "sum": "n",
    "threshold": 5.0,
    "unit": "who",
    "units": 4,
    "value": 3.0,
    "values": [1.0, 2.0, 3.0],
    "widths": [1.0, 1.0, 1.0],
}

MADE_INSIDE = {
    *("BestRun", "Lead", "Leads", "Release", "Answers", "PlanForecast", "Forecast", "IntegerCeiling"),
    *("Bound", "Composition", "Explanation", "OrderNoise", "NamingNoise", "UnknownNoise", "Optimum", "Recommendation"),
    *("TopKRecommendation", "Bounds", "WorstCaseScores", "GrownTree"),
}
"""Classes whose values the package makes; nobody else calls them."""

INTERNAL: set[str] = set()
"""Methods that only the package calls."""

SPECIAL: dict[str, dict[str, Any]] = {}
"""Examples that differ from those above, by what is called."""


def walked() -> dict[str, Callable[[], Callable[..., Any]]]:
    """What is public, by name, and how it is come by: each time anew, as some of it has a state."""
    found = dict[str, Callable[[], Callable[..., Any]]]()
    for module in (dps, accounting, planning, recipes):
        for name in module.__all__:
            each, label = getattr(module, name), f"{module.__name__.rpartition('.')[2]}.{name}"
            is_class = isinstance(each, type)
            if not callable(each) or name in MADE_INSIDE or (is_class and issubclass(each, (Exception, str))):
                continue
            found[label] = functools.partial(getattr, module, name)
            for method in dir(each) if is_class else []:
                is_public = not method.startswith("_") and callable(getattr(each, method))
                if is_public and f"{label}.{method}" not in INTERNAL:
                    found[f"{label}.{method}"] = functools.partial(_method, each, label, method)
    return found


def _method(kind: type, label: str, method: str) -> Callable[..., Any]:
    return getattr(kind(**examples(kind, label)), method)


def examples(call: Callable[..., Any], label: str) -> dict[str, Any]:
    """Valid arguments: all that have no default, and those that are special."""
    given = dict[str, Any](SPECIAL.get(label, {}))
    for name, each in inspect.signature(call).parameters.items():
        if each.default is each.empty and each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            given.setdefault(name, EXAMPLES[name])
    return {name: value() if name == "generator" else value for name, value in given.items()}


WALKED = walked()


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
            if "\n" in said or "7919" in said or len(said) > 1000:
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
def test_a_wrong_argument_is_refused(label: str, argument: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert list(faults(label, argument)) == []

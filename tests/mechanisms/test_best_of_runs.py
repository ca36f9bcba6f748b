"""The best of a secret number of runs: the law of their number, what is kept, what it costs and what it refuses."""

from __future__ import annotations

import itertools
import logging
import math
import random
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

import dpselect as dps
from dpselect.accounting import (
    ApproximateEvent,
    ComposedEvent,
    LossIntervalEvent,
    PrivateCandidatesEvent,
    PureEvent,
    from_json,
    to_json,
)
from dpselect.accounting.events import expected_runs
from dpselect.errors import ChargeRefusedError, InvalidCandidatesError, InvalidEventError, InvalidParameterError
from dpselect.mechanisms.best_of_runs import RunCount, gamma_for
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.slow import SLOW

RISING = LossIntervalEvent(below=0.5, above=1.0)
DRAWS = 8000 if SLOW else 2000


def exact_law(eta: float, gamma: float, most: int) -> np.ndarray:
    """Of 1 to `most` runs and of more, in doubles."""
    first = -(1.0 - gamma) / math.log(gamma) if eta == 0.0 else eta * (1.0 - gamma) / (gamma**-eta - 1.0)
    chances = [first]
    for k in range(1, most):
        chances.append(chances[-1] * (1.0 - gamma) * (k + eta) / (k + 1))
    return np.array([*chances, 1.0 - sum(chances)])


def drawn(law: RunCount, most: int, first: int = 1) -> np.ndarray:
    tally = np.zeros(most + 1, int)
    for _ in range(DRAWS):
        count = law.draw(at_most=most - 1 + first)
        tally[most if count is None else count - first] += 1
    return tally


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("eta", "gamma"), [(1.0, 0.25), (0.0, 0.1), (0.5, 0.3), (-0.5, 0.05), (3.0, 0.5)])
def test_the_number_of_runs_has_its_law(eta: float, gamma: float) -> None:
    tally = drawn(RunCount(eta, gamma), 6)
    assert p_value(tally, exact_law(eta, gamma, 6)) > NEVER
    assert p_value(tally, exact_law(eta, min(0.9, 8.0 * gamma), 6)) < NEVER


def test_large_numbers_are_drawn_too() -> None:
    assert sum(RunCount(1.0, 0.01).draw() or 0 for _ in range(40)) < 40 * 400


@pytest.mark.parametrize("eta", [-0.5, 0.0, 0.5, 3.0])
def test_bounds_close_in_on_the_probabilities(eta: float) -> None:
    """Bounds at more digits lie within those at fewer."""
    law = np.cumsum(exact_law(eta, 0.1, 9)[:9])
    coarse, fine = (itertools.islice(RunCount(eta, 0.1).reached(digits), 9) for digits in (60, 300))
    for (low, high), (lower, higher), chance in zip(coarse, fine, law, strict=True):
        assert (low << 240) <= lower <= higher <= (high << 240)
        assert higher - lower < 2**10
        assert low / 2.0**60 == pytest.approx(chance, rel=1e-12)


@pytest.mark.parametrize("eta", [1e-100, -1e-100, 1e-300, 5e-324])
def test_at_a_tiny_eta_they_are_those_of_the_logarithmic_law(eta: float) -> None:
    for one, other in zip(RunCount(eta, 0.1).reached(192), RunCount(0.0, 0.1).reached(192), strict=False):
        assert one == other
        if one[0] > 0.99 * 2**192:
            break
    assert expected_runs(eta, 0.1) == expected_runs(0.0, 0.1)


def test_where_one_run_is_unlikely_enough_digits_are_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 2^-14,383 for one run, 192 digits more at a time would be tried 75 times."""
    asked: list[int] = []
    law, reached = RunCount(1e6, gamma_for(1e4, 1e6)), RunCount.reached
    monkeypatch.setattr(RunCount, "reached", lambda self, digits: asked.append(digits) or reached(self, digits))
    assert law.draw(at_most=3) is None
    assert asked == [14_400]


@pytest.mark.parametrize(("first", "then", "count"), [(-1, 5, 1), (0, 1, 2)])
def test_digits_that_do_not_decide_are_followed_by_more(
    first: int, then: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P(K <= 1) is 1/4, which the first digits of U are beside: only in those that follow its bounds are closer."""

    def reached(_: object, digits: int) -> list[tuple[int, int]]:
        quarter, one = 1 << (digits - 2), 1 << digits
        return [(quarter - 1, quarter + (digits < 300)), (one, one)]

    digits = iter([2**190 + first, then])
    monkeypatch.setattr("dpselect.mechanisms.best_of_runs.uniform_below", lambda _: next(digits))
    monkeypatch.setattr(RunCount, "reached", reached)
    assert RunCount(1.0, 0.25).draw() == count
    assert list(digits) == []


@pytest.mark.parametrize("eta", [-0.5, 0.0, 0.5, 1.0, 7.0])
@pytest.mark.parametrize("expected", [1.01, 3.0, 1000.0])
def test_gamma_gives_the_expected_number(eta: float, expected: float) -> None:
    assert expected_runs(eta, gamma_for(expected, eta)) == pytest.approx(expected, rel=1e-6)


def test_the_best_run_is_kept() -> None:
    """By an order that is public: numbers, then what is no number, then failures; of equals the first."""
    scores: dict[int, Any] = {0: 0.3, 1: 0.7, 2: math.nan, 3: None, 4: -math.inf}
    seen: list[int] = []

    def run(configuration: int) -> tuple[Any, str]:
        seen.append(configuration)
        if configuration == 3:
            raise ValueError("private: 41")
        return scores[configuration], f"model {len(seen)}"

    order = [3, 2, 4, 0, 1]
    for _ in range(200):
        seen.clear()
        best = dps.best_of_runs(run, range(5), epsilon_per_run=1.0, expected_runs=3)
        assert best is not None
        expected = max(seen, key=order.index)
        assert best.configuration == expected
        assert best.failed is (expected == 3)
        if expected == 3:
            assert math.isnan(best.score)
            assert best.output is None
        else:
            assert best.output == f"model {seen.index(expected) + 1}"


@pytest.mark.parametrize("returned", [None, 0.5, (0.5,), (0.5, 1, 2), ("no number", 1), "ab"])
def test_a_run_that_returns_no_score_is_a_failure(returned: Any) -> None:
    best = dps.best_of_runs(lambda _: returned, [1], epsilon_per_run=1.0, expected_runs=2)
    assert best is not None
    assert best.failed


def test_configurations_are_equally_likely() -> None:
    counts: Counter[str] = Counter()

    def run(configuration: str) -> tuple[float, None]:
        counts[configuration] += 1
        return 0.0, None

    while counts.total() < DRAWS:
        dps.best_of_runs(run, ["a", "b", "c"], epsilon_per_run=1.0, expected_runs=10)
    tally = np.array([counts[name] for name in "abc"])
    assert p_value(tally, np.full(3, 1 / 3)) > NEVER
    assert p_value(tally, np.array([0.6, 0.2, 0.2])) < NEVER


def test_nothing_is_released_beyond_the_cap() -> None:
    ran: list[int] = []
    found = [
        dps.best_of_runs(lambda c: (ran.append(c), c), [1], epsilon_per_run=1.0, expected_runs=50, cap=1)  # type: ignore[func-returns-value]
        for _ in range(100)
    ]
    assert sum(each is not None for each in found) == len(ran) < 20


def test_it_is_charged_before_the_first_run(tmp_path: Any) -> None:
    ledger = dps.Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.open_account("tuning", epsilon=4.0, unit="person")
    ran: list[float] = []

    def run(configuration: int) -> tuple[float, None]:
        ran.append(ledger.remaining("tuning"))
        return 0.0, None

    def best() -> object:
        return dps.best_of_runs(
            run, [1, 2], epsilon_per_run=1.0, expected_runs=4, charge=lambda event: ledger.charge("tuning", event)
        )

    best()
    first = list(ran)
    assert all(1.8 < left < 1.9 for left in first)
    with pytest.raises(ChargeRefusedError):
        best()
    assert ran == first
    ledger.disconnect()


def mark(configuration: dict[str, Any]) -> tuple[float, str]:
    """A run that leaves marks in its configuration, in all depths."""
    configuration["runs"] = configuration.get("runs", 0) + 1
    configuration["layers"].append(len(configuration["layers"]))
    configuration.pop("depth")  # the next run with this configuration would fail
    return float(configuration["runs"]), "a model"


class Known(NamedTuple):
    """A number of runs that is no secret."""

    runs: int

    def draw(self, *, at_most: int | None = None) -> int:
        return self.runs


def best_of(run: Any, configurations: Sequence[Any], runs: int) -> dps.mechanisms.BestRun[Any]:
    plan = dps.mechanisms.BestOfRuns(epsilon_per_run=1.0, expected_runs=2)
    plan._set(_count=Known(runs))
    best = plan.run(run, configurations)
    assert best is not None
    return best


def test_no_run_leaves_a_mark_in_the_configuration() -> None:
    """What is released is the same for any number of runs."""
    for configurations in (lambda given: given, lambda given: np.array(given, dtype=object)):
        given: Any = [{"depth": 3, "layers": [1]}]
        for runs in (1, 7):
            best = best_of(mark, configurations(given), runs)
            assert best == (1.0, "a model", {"depth": 3, "layers": [1]}, False)
            assert given == [{"depth": 3, "layers": [1]}]


def test_the_law_above_can_fail() -> None:
    shared = {"depth": 3, "layers": [1]}
    mark(shared)
    assert shared == {"layers": [1, 1], "runs": 1}
    with pytest.raises(KeyError):
        mark(shared)


def test_a_run_that_reaches_the_list_itself_changes_no_other_run() -> None:
    """Nor what is released: copies are taken before the first run."""
    given: list[dict[str, int]] = [{"depth": 3}]

    def run(configuration: dict[str, int]) -> tuple[float, int]:
        given[0]["depth"] += 1
        return 0.0, configuration["depth"]

    assert best_of(run, given, 5)[1:3] == (3, {"depth": 3})
    assert given == [{"depth": 8}]


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        (threading.Lock(), "deepcopy can copy"),
        ((number for number in range(3)), "deepcopy can copy"),
        (random.Random(3), "without a random generator"),
        (np.random.default_rng(3), "without a random generator"),
        ([np.random.RandomState(3)], "without a random generator"),
        (random.SystemRandom(), "deepcopy can copy"),
    ],
)
def test_what_cannot_be_copied_is_refused_before_it_is_charged(inside: Any, expected: str) -> None:
    done: list[Any] = []
    with pytest.raises(InvalidCandidatesError, match=rf"^configurations=<list>: .*{expected}.* inside the run"):
        dps.best_of_runs(done.append, [{"x": inside}], epsilon_per_run=1.0, expected_runs=3, charge=done.append)  # type: ignore[arg-type]
    assert done == []


def test_leaving_the_program_is_a_failure_too() -> None:
    """Its text and its status may depend on the data."""

    def run(_: int) -> tuple[float, None]:
        sys.exit("private: 41")

    best = best_of(run, [1], 3)
    assert best.failed
    assert best.output is None


def test_warnings_of_runs_are_not_shown() -> None:
    def run(_: int) -> tuple[float, None]:
        warnings.warn("private: 41", stacklevel=2)
        return 0.0, None

    for action in ("error", "always"):
        with warnings.catch_warnings(record=action == "always") as shown:
            warnings.simplefilter(action)  # type: ignore[arg-type]
            assert not best_of(run, [1], 3).failed
            with pytest.warns(UserWarning, match="41"):
                run(1)
        assert not shown


def test_what_runs_log_is_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    """The documents say that this is up to the caller."""

    def run(configuration: int) -> tuple[float, None]:
        logging.getLogger("tuning").warning("configuration %s", configuration)
        return 0.0, None

    best_of(run, [7], 2)
    assert caplog.messages == ["configuration 7"] * 2


def test_keyboard_interrupts_end_it() -> None:
    def run(_: int) -> tuple[float, None]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dps.best_of_runs(run, [1], epsilon_per_run=1.0, expected_runs=2)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"epsilon_per_run": 0}, "epsilon_per_run"),
        ({"epsilon_per_run": None}, "epsilon_per_run"),
        ({"event_per_run": PureEvent(epsilon=1)}, "epsilon_per_run"),
        ({"expected_runs": 1}, "expected_runs"),
        ({"expected_runs": math.inf}, "expected_runs"),
        ({"expected_runs": math.nan}, "expected_runs"),
        ({"expected_runs": 1e9}, "expected_runs"),
        ({"law": "fixed"}, "law"),
        ({"law": None}, "law"),
        ({"expected_runs": None}, "expected_runs"),
        ({"eta": 2.0}, "eta"),
        ({"law": "negative_binomial", "eta": -1}, "eta"),
        ({"law": "poisson"}, "law"),
        ({"cap": 0}, "cap"),
        ({"delta": 1e-6}, "delta"),
        ({"epsilon_per_run": None, "event_per_run": ApproximateEvent(epsilon=1, delta=1e-9)}, "delta"),
        ({"epsilon_per_run": None, "event_per_run": ApproximateEvent(epsilon=1, delta=1e-6), "delta": 1e-6}, "delta"),
        ({"epsilon_per_run": None, "event_per_run": "pure"}, "event"),
        ({"epsilon_per_run": None, "event_per_run": RISING}, "event_per_run=<LossIntervalEvent>"),
        ({"epsilon_per_run": None, "event_per_run": ComposedEvent(event=RISING, count=2)}, "without a LossInterval"),
        ({"epsilon_per_run": None, "event_per_run": RISING, "delta": 1e-6}, "without a LossInterval"),
        ({"run": 3}, "run"),
        ({"charge": "ledger"}, "charge"),
    ],
)
def test_bad_arguments_run_nothing(changed: dict[str, Any], named: str) -> None:
    ran: list[int] = []
    arguments: dict[str, Any] = {
        "run": ran.append,
        "configurations": [1, 2],
        "epsilon_per_run": 1.0,
        "expected_runs": 3,
    }
    with pytest.raises(InvalidParameterError, match=named):
        dps.best_of_runs(**{**arguments, **changed})
    assert ran == []


@pytest.mark.parametrize("score", ["3", b"3", bytearray(b"3")])
def test_text_is_no_score(score: Any) -> None:
    best = best_of(lambda c: (score, c), [1], 1)
    assert best.failed
    assert best.output is None


@pytest.mark.parametrize("configurations", [[], [1, 1], 3, {"a": 1}, range(0), np.array([2, 2])])
def test_bad_configurations(configurations: Any) -> None:
    with pytest.raises(InvalidCandidatesError, match=r"^configurations="):
        dps.best_of_runs(lambda _: (0, 0), configurations, epsilon_per_run=1.0, expected_runs=3)


def test_configurations_have_no_scores_to_match() -> None:
    with pytest.raises(InvalidCandidatesError) as caught:
        dps.best_of_runs(lambda _: (0, 0), {1, 2}, epsilon_per_run=1.0, expected_runs=3)  # type: ignore[arg-type]
    expected = "configurations=<set>: expected a list, tuple or one-dimensional array. A set has no order."
    assert str(caught.value) == expected


def test_plans_say_what_is_spent() -> None:
    plan = dps.mechanisms.BestOfRuns(epsilon_per_run=1.0, expected_runs=3.0, cap=9)
    assert plan.event == PrivateCandidatesEvent(epsilon=1.0, eta=1.0, gamma=1 / 3)
    assert plan.epsilon == plan.event.epsilon
    assert str(plan).endswith("More than 9 runs: nothing is released.")
    run = ApproximateEvent(epsilon=0.5, delta=1e-9)
    approximate = dps.mechanisms.BestOfRuns(event_per_run=run, expected_runs=10, law="logarithmic", delta=1e-6)
    assert isinstance(approximate.event, ApproximateEvent)
    assert approximate.event.delta == 1e-6
    assert 0.5 < approximate.epsilon < 1.2
    assert dps.mechanisms.BestOfRuns(event_per_run=PureEvent(epsilon=1), expected_runs=10, delta=1e-6).epsilon < 2.6


def test_events_are_written_and_read() -> None:
    event = PrivateCandidatesEvent(epsilon=0.1, eta=-0.25, gamma=0.01)
    text = to_json(event)
    assert from_json(text) == event
    with pytest.raises(InvalidEventError):
        from_json(text.replace("-0.25", "-1.0"))
    assert dps.accounting.compose([event] * 2).epsilon(0) == pytest.approx(2 * event.epsilon)

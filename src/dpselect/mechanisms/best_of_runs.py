"""The best of a secret number of private runs: tuning with an honest cost."""

from __future__ import annotations

import copy
import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Generic, Literal, NamedTuple, TypeVar, cast

from dpselect import checks
from dpselect.accounting import ApproximateEvent, Event, PrivateCandidatesEvent, compose
from dpselect.accounting.events import (
    basic_of,
    checked_event,
    expected_runs,
    gammas_beside,
    has_direction,
    shape_of_runs,
)
from dpselect.errors import InvalidCandidatesError, InvalidParameterError, Shown
from dpselect.mechanisms.mechanism import MechanismValue, explained
from dpselect.mechanisms.numbers import Enclosed, exp_minus_in_digits, log_in_digits, uniform_below
from dpselect.mechanisms.scores import Pick, all_candidates

Configuration = TypeVar("Configuration")
LawName = Literal["geometric", "logarithmic", "negative_binomial"]

_SHAPES: dict[LawName, float] = {"geometric": 1.0, "logarithmic": 0.0, "negative_binomial": 0.5}
_MOST_RUNS = 10**6  # expected at most
_GENERATORS = {("random", "Random"), ("numpy", "Generator"), ("numpy", "RandomState"), ("numpy", "BitGenerator")}


class BestRun(NamedTuple, Generic[Configuration]):
    """The best run, by its score.

    Attributes:
        score: that it returned; not a number if it returned none.
        output: what else it returned; None if it failed.
        configuration: that it ran with: a copy that no run has seen.
        failed: whether it raised an exception (`SystemExit` is one), or returned no pair of a number and an output.
    """

    score: float
    output: Any
    configuration: Configuration
    failed: bool = False


@dataclass(frozen=True, slots=True)
class RunCount:
    """The number K of runs, negative binomial without 0: logarithmic if `eta` is 0, geometric if it is 1.

    Proof: ``proofs/private_candidates.md``, claim 5.
    """

    eta: float
    gamma: float

    def draw(self, *, at_most: int | None = None) -> int | None:
        """The first k with U below P(K <= k), U uniform; None if it is above `at_most`."""
        least, _ = _first_chance(Fraction(self.eta), Fraction(self.gamma), _DIGITS)
        zeros = least.denominator.bit_length() - least.numerator.bit_length()  # the digits before decide nothing
        digits, place, more = 0, 0, _DIGITS * (1 + zeros // _DIGITS)
        while True:  # U has these binary digits, and is below the next number with as many
            place, digits = place << more | uniform_below(1 << more), digits + more
            for count, (low, high) in enumerate(self.reached(digits), 1):
                if place < low:
                    return count
                if place < high:
                    break
                if count == at_most:
                    return None

    def reached(self, digits: int) -> Iterator[tuple[int, int]]:
        """Bounds of P(K <= k) for k = 1, 2, ..., in whole numbers of 2^-digits."""
        start = _first_chance(Fraction(self.eta), Fraction(self.gamma), digits)
        (above, below), (more, of) = (1 - Fraction(self.gamma)).as_integer_ratio(), self.eta.as_integer_ratio()
        low, high = math.floor(start[0] * (1 << digits)), math.ceil(start[1] * (1 << digits))
        least = most = 0
        for k in itertools.count(1):
            least, most = least + low, most + high
            yield least, most
            grows, falls = above * (k * of + more), below * of * (k + 1)  # P(K = k + 1) over P(K = k)
            low, high = low * grows // falls, -(-high * grows // falls)


_DIGITS = 192  # of U, at first; few draws need more


@lru_cache(maxsize=64)
def _first_chance(eta: Fraction, gamma: Fraction, digits: int) -> Enclosed:
    """Bounds of P(K = 1), closer the more binary digits are asked for."""
    if eta == 1:
        return gamma, gamma
    # In decimal digits, with 62 beyond those that differences lose; a small eta loses digits below.
    digits = digits // 3 + 62 + eta.denominator.bit_length() // 3
    high, low = (-each for each in log_in_digits(gamma, digits))
    if eta == 0:
        return (1 - gamma) / high, (1 - gamma) / low
    ends = (eta * low, eta * high)
    grown = [exp_minus_in_digits(-end, digits) for end in (min(ends), max(ends))]
    found = [eta * (1 - gamma) / (each - 1) for each in (grown[0][0], grown[1][1])]
    return min(found), max(found)


def gamma_for(expected: float, eta: float) -> float:
    """The gamma at which about so many runs are expected: a multiple of 2^-60."""
    low, high = gammas_beside(expected, eta)
    if not 1.0 < expected <= _MOST_RUNS or expected_runs(eta, low) < expected:
        reachable = f"a number above 1, at most {_MOST_RUNS:,}"
        raise InvalidParameterError("expected_runs", expected, reachable, "The number of runs must be bounded.")
    return round((1.0 / expected if eta == 1.0 else high) * 2.0**60) / 2.0**60


@dataclass(frozen=True, slots=True, kw_only=True)
class BestOfRuns(MechanismValue):
    r"""Runs something private a secret number of times, each with a random configuration, and keeps the best run.

    The number K of runs is drawn exactly from a public distribution and never shown, so the whole costs less than about
    two or three runs, however many there are on average. ``print`` it to see the cost before anything is spent.

    Args:
        epsilon_per_run: each run is `epsilon_per_run`-DP, everything that it returns included. Or give `event_per_run`.
        event_per_run: what one run costs, if it has a delta or is made of several steps; then `delta` is needed.
        expected_runs: the mean of K.
        law: ``"geometric"``, ``"logarithmic"`` (cheaper, but often a single run), or ``"negative_binomial"`` with the
            shape `eta`, between both by default.
        eta: of the negative binomial, > -1; 0.5 by default.
        cap: if K is larger, nothing is released. Public; it costs no more.
        delta: of the whole, with `event_per_run`.

    Proof: ``proofs/private_candidates.md``. Sources: Liu & Talwar (2019), Papernot & Steinke (2022).

    >>> plan = BestOfRuns(epsilon_per_run=1.0, expected_runs=10)
    >>> print(plan)
    The best of 10 runs on average (geometric), each at epsilon = 1: epsilon = 2.59135 in total.
    """

    epsilon_per_run: float | None = None
    event_per_run: Event | None = None
    expected_runs: float | None = None
    law: LawName = "geometric"
    eta: float | None = None
    cap: int | None = None
    delta: float = 0.0
    _count: RunCount = field(init=False, repr=False, compare=False)
    _event: Event = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if (self.epsilon_per_run is None) == (self.event_per_run is None):
            expected = "exactly one of `epsilon_per_run` and `event_per_run`"
            raise InvalidParameterError("epsilon_per_run", self.epsilon_per_run, expected)
        if self.cap is not None:
            self._set(cap=checks.positive_count(self.cap, "cap", at_most=2**40))
        self._set(delta=checks.delta_below_one(self.delta))
        law = cast(LawName, checks.one_of(self.law, "law", _SHAPES))
        if self.eta is not None and law != "negative_binomial":
            raise InvalidParameterError("eta", self.eta, "none, except with law='negative_binomial'")
        shape = _SHAPES[law] if self.eta is None else shape_of_runs(self.eta)
        runs = float(checks.exact_number(self.expected_runs, "expected_runs", expected="a finite number above 1"))
        self._set(law=law, expected_runs=runs, _count=RunCount(shape, gamma_for(runs, shape)))
        self._set(_event=self._cost())

    def _cost(self) -> Event:
        eta, gamma = self._count.eta, self._count.gamma
        pure = partial(PrivateCandidatesEvent, eta=eta, gamma=gamma)
        if self.epsilon_per_run is not None:
            if self.delta:
                raise InvalidParameterError("delta", self.delta, "0 with `epsilon_per_run`: give `event_per_run`")
            self._set(epsilon_per_run=checks.positive_epsilon(self.epsilon_per_run, "epsilon_per_run"))
            return pure(epsilon=self.epsilon_per_run)
        run = checked_event(self.event_per_run, "event_per_run")
        if has_direction(run):  # which the cost of all runs would lose
            hint = "Give epsilon_per_run, if a unit is added or removed."
            got = Shown(f"<{type(run).__name__}>")
            raise InvalidParameterError("event_per_run", got, "an event without a LossIntervalEvent", hint)
        if not self.delta:
            if run.delta:
                raise InvalidParameterError("delta", self.delta, "a number above 0, because a run has one")
            return pure(epsilon=compose([run]).epsilon(0.0))
        total = candidates_epsilon(run, eta=eta, gamma=gamma, delta=self.delta)
        if math.isinf(total):
            hint = "A run's own delta times the expected number of runs has to be below it."
            raise InvalidParameterError("delta", self.delta, "a larger number", hint)
        if not run.delta and (event := pure(epsilon=run.epsilon)).epsilon <= total:
            return event
        return ApproximateEvent(epsilon=total, delta=self.delta)

    @property
    def event(self) -> Event:
        """What the whole costs: charge it before the first run."""
        return self._event

    @property
    def epsilon(self) -> float:
        """The whole, at `delta`."""
        return self._event.epsilon

    def run(
        self,
        run: Callable[[Configuration], tuple[float, object]],
        configurations: Sequence[Configuration],
        *,
        charge: Callable[[Event], object] | None = None,
    ) -> BestRun[Configuration] | None:
        """See `best_of_runs`."""
        checks.function(run, "run", expected="a function of a configuration")
        if charge is not None:
            checks.function(charge, "charge", expected="a function of the event, or None")
        count, configuration_of = all_candidates(configurations, "configurations")
        if not isinstance(configurations, range):
            configuration_of = _untouched([configuration_of(place) for place in range(count)], configurations)
        if charge is not None:
            charge(self._event)
        runs = self._count.draw(at_most=self.cap)
        if runs is None:
            return None
        outcomes = (_outcome(run, cast(Configuration, configuration_of(uniform_below(count)))) for _ in range(runs))
        # One that failed is the worst, then one whose score is not a number; of equal ones the first is kept.
        return max(outcomes, key=lambda each: (not each.failed, not math.isnan(each.score), each.score))

    def __str__(self) -> str:
        law = self.law.replace("_", " ")
        law += f", eta = {self._count.eta:g}" if self.law == "negative_binomial" else ""
        each = f"epsilon = {self.epsilon_per_run:g}" if self.epsilon_per_run is not None else repr(self.event_per_run)
        delta = f", delta = {self._event.delta:g}" if self._event.delta else ""
        cap = f" More than {self.cap:,} runs: nothing is released." if self.cap is not None else ""
        runs = f"The best of {self.expected_runs:g} runs on average ({law}), each at {each}"
        return f"{runs}: epsilon = {checks.in_digits(self.epsilon, 6, up=True):g}{delta} in total.{cap}"


@explained
def best_of_runs(
    run: Callable[[Configuration], tuple[float, object]],
    configurations: Sequence[Configuration],
    *,
    epsilon_per_run: float | None = None,
    event_per_run: Event | None = None,
    expected_runs: float | None = None,
    law: LawName = "geometric",
    eta: float | None = None,
    cap: int | None = None,
    delta: float = 0.0,
    charge: Callable[[Event], object] | None = None,
) -> BestRun[Configuration] | None:
    r"""The best of a secret number of private runs, each with a random one of `configurations`.

    For tuning: each run trains with a configuration, and returns a score and an output that are *both* covered by
    `epsilon_per_run`, with fresh randomness.

    Args:
        run: called with a configuration; returns a score, higher is better, and an output. It does not look at earlier
            runs.
        configurations: what to try, from public knowledge; each run gets a deep copy of one of them, drawn uniformly.
        charge: called with the event of the whole before the first run, such as ``lambda event:
            ledger.charge("tuning", event)``. If it raises an exception, nothing runs.
        epsilon_per_run, event_per_run, expected_runs, law, eta, cap, delta: see `dpselect.mechanisms.BestOfRuns`.

    Returns:
        The best run. A run that raised an exception, or returned no pair, is worse than one whose score is not a
        number, and that is worse than all others; of equal runs the first. None if there would be more runs than `cap`.

    Raises:
        InvalidParameterError: an argument is out of range. Nothing was drawn or charged, and nothing ran.
        InvalidCandidatesError: there are no configurations, or duplicates, or some that cannot be copied.

    The number of runs has to stay secret, and so has the time that they take: run them where nobody sees it. Warnings
    of runs are not shown; what they print, log or share outside of the configuration is up to you.

    Proof: ``proofs/private_candidates.md``.

    >>> def train(strength):
    ...     accuracy = 0.8 - (strength - 3) ** 2 / 100       # in truth with noise, at epsilon = 1
    ...     return accuracy, f"the model of strength {strength}"
    >>> best = best_of_runs(train, [1, 2, 3, 4, 5], epsilon_per_run=1.0, expected_runs=20)
    >>> best.output == f"the model of strength {best.configuration}"
    True
    """
    plan = BestOfRuns(
        epsilon_per_run=epsilon_per_run,
        event_per_run=event_per_run,
        expected_runs=expected_runs,
        law=law,
        eta=eta,
        cap=cap,
        delta=delta,
    )
    return plan.run(run, configurations, charge=charge)


def _untouched(given: list[Any], configurations: object) -> Pick:
    """Copies that no run sees: each gets a copy of a copy. Else marks left in them would count the runs."""
    expected = "configurations that copy.deepcopy can copy"
    hint = "Each run gets a copy of its own. Give settings, such as numbers and text, and make the rest inside the run."
    shown, copied = Shown(f"<{type(configurations).__name__}>"), dict[int, Any]()
    try:
        untouched = copy.deepcopy(given, copied)
    except Exception:  # noqa: BLE001 - whatever an object's own way to be copied raises
        raise InvalidCandidatesError("configurations", shown, expected, hint) from None
    if any(map(is_generator, copied.values())):
        hint = "Each run gets a copy, and a copy draws the same numbers again. Make the generator inside the run."
        raise InvalidCandidatesError("configurations", shown, "configurations without a random generator", hint)
    return untouched.__getitem__


def is_generator(value: object) -> bool:
    """Whether a copy of `value` would draw the same random numbers again."""
    return any((base.__module__.partition(".")[0], base.__name__) in _GENERATORS for base in type(value).__mro__)


def _outcome(
    run: Callable[[Configuration], tuple[float, object]], configuration: Configuration
) -> BestRun[Configuration]:
    """What came of one run. Why it failed is not shown, because that may depend on the data."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # each of them would count a run, and may depend on the data
            score, output = run(copy.deepcopy(configuration))
            if isinstance(cast(object, score), str | bytes | bytearray):
                raise TypeError
            return BestRun(score=float(score), output=output, configuration=configuration)
    except KeyboardInterrupt:  # from outside, and it ends everything
        raise
    except BaseException:  # noqa: BLE001 - SystemExit is one, and has a text too
        return BestRun(score=math.nan, output=None, configuration=configuration, failed=True)


_UP = 1.0 + 2.0**-46


def candidates_epsilon(event: Event, *, eta: float, gamma: float, delta: float) -> float:
    r"""Epsilon at `delta` of the best of K runs of `event`, K truncated negative binomial, rounded up.

    With :math:`\delta_Q` the profile of one run: :math:`(1 + \eta) \varepsilon_2` and the epsilon at which
    :math:`\delta_Q` is at most ``delta / E K``, where :math:`\varepsilon_2` is the smallest
    :math:`\max(e', \ln(1 + (1 - \gamma) \delta_Q(e') / \gamma))`.

    Infinite if the runs' own delta is too large.

    Proof: ``proofs/private_candidates.md``, claims 3 and 4. Sources: Liu & Talwar (2019), Papernot & Steinke (2022).
    """
    run = compose([event])
    each = checks.fraction_down(Fraction(delta) / Fraction(expected_runs(eta, gamma) * _UP))
    first = run.epsilon(each) if each > 0.0 else math.inf
    if math.isinf(first):
        return math.inf

    def second(epsilon: float) -> float:
        return math.log1p((1.0 - gamma) * run.delta(epsilon) / gamma * _UP) * _UP

    low, high = 0.0, checks.fraction_up(basic_of(run.counts))
    best = max(high, second(high))
    for _ in range(40):
        middle = low + (high - low) / 2.0
        reached = second(middle)
        best = min(best, max(middle, reached))
        low, high = (low, middle) if reached <= middle else (middle, high)
    return math.nextafter((first + (1.0 + eta) * best) * _UP, math.inf)

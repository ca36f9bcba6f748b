"""Before anything is spent: the error at each epsilon, the epsilon of a wanted error, and what an account has left.

Everything here follows from public arguments: no row is read.
"""

from __future__ import annotations

import bisect
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock
from typing import Generic, TypeVar

from dpselect.errors import InvalidParameterError
from dpselect.ledger.accounts import Account, as_written
from dpselect.ledger.records import with_few_digits
from dpselect.mechanisms.exact_coins import first_count
from dpselect.questions import wording
from dpselect.questions.wording import rounded_up
from dpselect.questions.words import as_text
from dpselect.session.forecast import Forecast
from dpselect.web.forms import START, Form

Made = TypeVar("Made")

EPSILONS = *(digits / 10**places for places in (3, 2, 1) for digits in range(10, 100)), 10.0
"""The places of the slider: two digits, from 0.01 to 10."""

_STRIDE = 6
"""From one point of the curve to the next."""

_KEPT = 64
"""Curves, and pictures of answers."""

_FEW = 8
"""Points of a curve whose points take long."""

AT_ONCE_SECONDS = 0.1
"""A plan whose curve takes longer is shown without it, and the curve follows."""

PATIENCE_SECONDS = 1.5
"""For a whole curve; if its points take long, there are fewer of them."""


_LEFT, _TOP, _RIGHT, _BOTTOM = 56.0, 10.0, 412.0, 204.0
"""The frame of the picture, in a view of 424 to 244."""

_MOST_TICKS = 6


@dataclass(frozen=True, slots=True)
class ErrorCurve:
    """The error at each of `EPSILONS` that are points of it, in the question's own unit: by epsilon, finite, above 0.

    Its picture is part of the page, in the colours of the page. Both axes are logarithmic.
    """

    errors: dict[float, float]

    @property
    def lowest(self) -> float:
        """A power of ten below all errors."""
        return 10.0 ** math.floor(math.log10(min(self.errors.values())))

    @property
    def highest(self) -> float:
        """A power of ten above all of them."""
        return max(10.0 ** math.ceil(math.log10(max(self.errors.values()))), 10 * self.lowest)

    def place_reaching(self, wanted: float) -> int:
        """About the first place of the slider with this error: between two points it is like a power of epsilon."""
        points = [*self.errors.items()]
        if all(error.is_integer() for error in self.errors.values()):  # rounded up: half more on average
            wanted = math.floor(wanted) + 0.5
        after = bisect.bisect_left(points, -wanted, key=lambda point: -point[1])
        if not 0 < after < len(points) or wanted <= 0:
            return place_of(EPSILONS[-1] if after else EPSILONS[0])
        (left, larger), (right, smaller) = points[after - 1 : after + 1]
        share = math.log(larger / wanted) / math.log(larger / smaller) if larger > smaller else 1.0
        return place_of(left * (right / left) ** share)

    def place(self, epsilon: float, error: float) -> tuple[float, float] | None:
        """Where a point is in the picture; None: outside."""
        if not (EPSILONS[0] <= epsilon <= EPSILONS[-1] and self.lowest <= error <= self.highest):
            return None
        across = math.log(epsilon / EPSILONS[0]) / math.log(EPSILONS[-1] / EPSILONS[0])
        up = math.log(error / self.lowest) / math.log(self.highest / self.lowest)
        return round(_LEFT + across * (_RIGHT - _LEFT), 1), round(_BOTTOM - up * (_BOTTOM - _TOP), 1)

    @property
    def points(self) -> str:
        """All points, as a line has them."""
        placed = (self.place(epsilon, error) for epsilon, error in self.errors.items())
        return " ".join(f"{each[0]},{each[1]}" for each in placed if each is not None)

    @property
    def across(self) -> list[tuple[float, str]]:
        """Where the axis of epsilon has its numbers."""
        powers = ((each, self.place(each, self.lowest)) for each in (0.01, 0.1, 1.0, 10.0))
        return [(place[0], as_text(each)) for each, place in powers if place is not None]

    @property
    def up(self) -> list[tuple[float, str]]:
        """Where the axis of errors has its numbers: powers of ten, or some of them."""
        low, high = round(math.log10(self.lowest)), round(math.log10(self.highest))
        powers = range(low, high + 1, 1 + (high - low) // _MOST_TICKS)
        return [(_BOTTOM - (each - low) / (high - low) * (_BOTTOM - _TOP), f"{10.0**each:,.9g}") for each in powers]

    @property
    def table(self) -> list[tuple[float, float]]:
        """About ten epsilons and errors, for those who cannot see the picture."""
        return [*self.errors.items()][:: max(1, len(self.errors) // 9)]


class Latest(Generic[Made]):
    """The latest of what takes longer to make than all the rest of a page: each is made once."""

    def __init__(self) -> None:
        self._held = OrderedDict[Hashable, Made]()
        self._lock = Lock()

    def __contains__(self, key: Hashable) -> bool:
        with self._lock:
            return key in self._held

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What was made for this key, or is made now."""
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
                return self._held[key]
        made = make()
        with self._lock:
            self._held[key] = made
            while len(self._held) > _KEPT:
                self._held.popitem(last=False)
        return made


Curves = Latest[ErrorCurve | None]
"""Curves by what they depend on; None: the question has no bound on its error."""


def curve_of(curves: Curves, form: Form, go_on: Callable[[], bool] = lambda: True) -> ErrorCurve | None:
    """The curve of a complete form.

    Args:
        curves: those that were made.
        form: the question.
        go_on: asked before each point; once it says no, there is no curve and nothing is kept.
    """
    try:
        return curves.once(form.key, lambda: _curve(form, go_on))
    except _LeftError:
        return None


class _LeftError(Exception):
    """Nobody waits for the curve any more."""


def place_of(epsilon: float) -> int:
    """The first place of the slider that is not below an epsilon, or the last."""
    return min(bisect.bisect_left(EPSILONS, epsilon), len(EPSILONS) - 1)


def _points() -> list[float]:
    """The epsilons of a curve: few that reach from end to end first, and then those between."""
    halved = (EPSILONS[:: _STRIDE * times] for times in (8, 4, 2, 1))
    return [*dict.fromkeys([EPSILONS[-1], *(each for row in halved for each in row)])]


def _curve(form: Form, go_on: Callable[[], bool]) -> ErrorCurve | None:
    errors: dict[float, float] = {}
    until = time.monotonic() + PATIENCE_SECONDS
    for place, epsilon in enumerate(_points()):
        if not go_on():
            raise _LeftError
        if place >= _FEW and time.monotonic() > until:
            break
        forecast = form.forecast(epsilon)
        if forecast is None:
            return None
        bound = forecast.error_bound
        if bound is not None and 0 < bound < math.inf:
            errors[epsilon] = bound
    if len(errors) < 2:
        return None
    return ErrorCurve(dict(sorted(errors.items())))


def epsilon_reaching(form: Form, wanted: float, curve: ErrorCurve | None = None) -> float:
    """The smallest place of the slider at which the error is at most `wanted`.

    Args:
        form: the question.
        wanted: the error.
        curve: of the same question: says where to look first, so that fewer plans are made.

    Raises:
        InvalidParameterError: none does, or there is no bound on the error.
    """
    name = "error"
    if not 0 <= wanted < math.inf:
        raise InvalidParameterError(name, wanted, "a number >= 0")

    def bound(at: int) -> float:
        forecast = form.forecast(EPSILONS[at])
        found = None if forecast is None else forecast.error_bound
        if found is None:
            raise InvalidParameterError(name, wanted, "no wanted error, as no bound holds for all data here")
        return found

    last = len(EPSILONS) - 1
    near = place_of(float(START)) if curve is None else curve.place_reaching(wanted)
    found = first_count(lambda at: at > last + 1 or bound(at - 1) <= wanted, lambda at: at > near) - 1
    if found > last:
        hint = f"At epsilon = {as_text(EPSILONS[-1])} the error is at most {rounded_up(bound(last))}."
        raise InvalidParameterError(name, wanted, "an error that an epsilon of the slider reaches", hint)
    return EPSILONS[found]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What an account has left, and what an answer would leave of it, for a bar of 100 units.

    Attributes:
        account: what it is about.
        limit, left, after: epsilon in all, before and after the answer; as text.
        spent, cost: parts of 100.
        fits: whether the account would accept the answer.
        is_free: whether it was answered before.
    """

    account: Account
    limit: str
    left: str
    after: str
    spent: float
    cost: float
    fits: bool
    is_free: bool


def budget_of(account: Account, forecast: Forecast | None = None) -> Budget:
    """The bar of an account, for a forecast that looked at it."""
    limit, is_free = account.epsilon, forecast is not None and bool(forecast.is_answered)
    cost = Fraction(0) if forecast is None or is_free else Fraction(forecast.guarantee.epsilon)
    left = max(limit - account.spent, Fraction(0))

    def part(of: Fraction) -> float:
        return round(float(100 * of / limit), 2) if limit else 0.0

    spent = part(limit - left)
    return Budget(
        account=account,
        limit=as_text(as_written(limit)),
        left=left_text(account.left if forecast is None or forecast.left is None else forecast.left),
        after=as_text(round(float(max(left - cost, Fraction(0))), 6)),
        spent=spent,
        cost=min(part(cost), round(100 - spent, 2)),
        fits=forecast is None or bool(forecast.fits),
        is_free=is_free,
    )


def on_page(sentence: str) -> str:
    """A sentence of the library, with a field's name in place of an argument."""
    return sentence.replace(wording.TO_COUNT_UNITS, "usable epsilon = 0.05, under More options,")


def error_unit(forecast: Forecast) -> str:
    """What the error is counted in."""
    return forecast.error_unit or f"units ({forecast.unit})"


def left_text(left: float) -> str:
    """An epsilon that is left, with six digits, never rounded up: a question that costs what is shown fits.

    >>> left_text(2.6999999999999997), left_text(0.25), left_text(0.0)
    ('2.69999', '0.25', '0')
    """
    return as_text(with_few_digits(left, up=False))


def shown_error(bound: float, sentence: str) -> str:
    """The bound on the error as the sentence about it has it: whole things are counted down, all else is rounded up.

    >>> shown_error(4.5, "the count is within 4 of the best"), shown_error(4.5, "within 4.5 of the true mean")
    ('4', '4.5')
    """
    whole = f"{math.floor(bound):,}"
    return (whole if f"within {whole} of" in sentence else rounded_up(bound)).replace(",", "")


def why(forecast: Forecast) -> str:
    """Which mechanism draws the answer, and by which rule, if there is a choice."""
    rounds = f", in {forecast.rounds} rounds" if forecast.rounds > 1 else ""
    return f"Drawn by {forecast.mechanism}{rounds}. {forecast.rule}".rstrip()

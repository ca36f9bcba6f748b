r"""Whether one more charge fits, decided in exact arithmetic and valid however the charges are chosen.

An account with delta = 0 adds up epsilons as fractions. One with delta > 0 also adds up Rényi divergences, at a few
orders that are fixed when it is opened. "The best order afterwards" would not do: which order is best may depend on
earlier answers. So each order has its own share of delta, most of it one order that suits many small charges.

Proof: ``proofs/ledger.md``. Sources: Feldman & Zrnic (2021) for filters; Canonne, Kamath & Steinke (2020) for the
conversion.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from dpselect.ledger.costs import UNIT, Cost

_CONTEXT = Context(prec=60)
_MARGIN = Fraction(1, 10**40)
"""Relative error allowed for; the error of logarithms with sixty digits is far smaller."""

_STEPS = (-3, -2, -1, 1, 2, 3, 4)
_MAIN_SHARE = Fraction(9, 10)
_OTHER_SHARE = (1 - _MAIN_SHARE) / len(_STEPS)
_FINEST = 2.0**-10


@dataclass(frozen=True, slots=True)
class Order:
    """An order > 1 and its share of delta; the shares of an account sum to 1."""

    order: float
    share: Fraction


@functools.lru_cache(maxsize=256)
def orders_for(epsilon: Fraction, delta: Fraction) -> tuple[Order, ...]:
    """The orders of a new account; empty if there is no delta for them.

    Any choice is valid. This one allows the most small charges at the main order. It adds higher orders, by powers of
    two, for large charges, and lower ones for limits that are raised later.

    >>> [each.order for each in orders_for(Fraction(1), Fraction(1, 10**6))][:3]
    [21.5, 3.5625, 6.125]
    """
    if not delta:
        return ()
    share = _MAIN_SHARE * delta  # may be below the smallest double, its logarithm is not
    limit, cost = float(min(epsilon, 10**6)), math.log(share.numerator) - math.log(share.denominator)

    def small_charges(above_one: float) -> float:
        order = 1.0 + above_one
        allowance = limit + (cost + math.log(order)) / above_one + math.log(order / above_one)
        return allowance / order

    grid = [_FINEST * 2.0 ** (step / 8.0) for step in range(8 * 40)]
    best = max(grid, key=small_charges)
    main = max(_FINEST, round(best / (unit := 2.0 ** (math.floor(math.log2(best)) - 5))) * unit)
    others = [Order(1.0 + main * 2.0**step, _OTHER_SHARE) for step in _STEPS]
    return (Order(1.0 + main, _MAIN_SHARE), *others)


@functools.lru_cache(maxsize=4096)
def conversion(order: Order, delta: Fraction) -> Fraction:
    r"""The difference between epsilon and the Rényi divergence at `order`, for its share of `delta`; rounded up.

    :math:`-\frac{\ln(w\delta) + \ln a}{a - 1} - \ln\frac{a}{a-1}`. Computed in decimals of sixty digits, which
    every machine rounds alike, so that all agree on whether a charge fits.
    """
    above_one = Fraction(order.order) - 1
    logs = (_ln(order.share * delta) + _ln(Fraction(order.order))) / above_one
    gain = _ln(1 + 1 / above_one)
    return -logs - gain + _MARGIN * (1 + abs(logs) + abs(gain))


def _ln(value: Fraction) -> Fraction:
    ratio = _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Fraction(ratio.ln(_CONTEXT))


def spent_epsilon(total: Cost, orders: tuple[Order, ...], delta: Fraction) -> Fraction:
    """The smallest epsilon for which the account's charges so far are within its limit, at `delta`; at least 0."""
    by_order = (
        Fraction(units, UNIT) + conversion(order, delta) for order, units in zip(orders, total.renyi, strict=True)
    )
    return max(Fraction(0), min(total.pure, *by_order)) if orders else total.pure


def allowances(orders: tuple[Order, ...], delta: Fraction, epsilon: Fraction) -> tuple[int, ...]:
    """The largest divergence at each order that keeps `spent_epsilon` at most `epsilon`; negative if none does."""
    return tuple(math.floor((epsilon - conversion(order, delta)) * UNIT) for order in orders)

"""Why an account has not enough left, in its own terms, and how much less would fit."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from dpselect.accounting.events import ComposedEvent, Event, NonAdaptiveEvent, SequenceEvent
from dpselect.accounting.rounding import fraction_up
from dpselect.errors import ChargeRefusedError, InvalidParameterError
from dpselect.ledger.accounts import AccountTerms, State, described
from dpselect.ledger.costs import Cost
from dpselect.ledger.records import as_written, epsilon_left

_FINEST = 1000
"""What would fit is told in thousandths."""

_FEW = Context(prec=5, rounding=ROUND_CEILING)
"""Of a sum of divergences, whose last digits say nothing to anybody."""


def refusal(event: Event, cost: Cost, terms: AccountTerms, state: State, *, ledger: str) -> ChargeRefusedError:
    """The error about `event`, which costs `cost` and does not fit."""
    account = described(terms, state, "")
    total = state.total + cost
    if event.delta and total.delta > terms.set_aside:
        text = f"account {terms.name!r} keeps no such delta for mechanisms that have one of their own"
    else:
        left = epsilon_left(account.left, equals="=")
        text = f"account {terms.name!r} has {left} left of {as_written(state.epsilon)!r}; "
        rounds = isinstance(event, (ComposedEvent, SequenceEvent, NonAdaptiveEvent))
        if terms.orders and rounds:
            text += f"with this, {_shown(terms.spent(total), _FEW)} would be spent"
        else:
            text += f"this would cost {_shown(cost.pure)}"
            text += ", the sum of its rounds" if rounds else ""
        share = sure_share(event, terms, state) if terms.orders else 0.0
        text += f". At {share!r} times its epsilon it would fit" if share else ""
    return ChargeRefusedError(ledger, f"{text}. Nothing was charged or drawn.", account.left)


def sure_share(event: Event, terms: AccountTerms, state: State) -> float:
    """A number below 1: at so many times its epsilon, the question of `event` fits; 0 if there is none to be told.

    Found for the epsilons of the event. A question of several rounds that was planned with a delta is another matter:
    its epsilon falls faster than those of its rounds, but no faster than their squares, as divided by a squared epsilon
    neither a Rényi divergence nor what converting it adds increases with epsilon. So of rounds the square is told, less
    the thousandth that the search for their epsilon may leave to it.
    """
    fits, too_much = 0, _FINEST
    while too_much - fits > 1:
        middle = (fits + too_much) // 2
        if _allows(terms, state, event, Fraction(middle, _FINEST)):
            fits = middle
        else:
            too_much = middle
    is_single = not isinstance(event, (ComposedEvent, SequenceEvent, NonAdaptiveEvent))
    return fits / _FINEST if is_single else max(0, fits * fits // _FINEST - 1) / _FINEST


def _allows(terms: AccountTerms, state: State, event: Event, factor: Fraction) -> bool:
    try:
        smaller = scaled(event, factor)
    except InvalidParameterError:  # no double is so small
        return False
    return terms.allow(state.epsilon, state.total + terms.cost(smaller))


def scaled(event: Event, factor: Fraction) -> Event:
    """`event` with every epsilon times `factor`.

    >>> from dpselect.accounting import PureEvent
    >>> scaled(ComposedEvent(event=PureEvent(epsilon=0.5), count=3), Fraction(1, 2))
    ComposedEvent(event=PureEvent(epsilon=0.25), count=3)
    """
    match event:
        case ComposedEvent():
            return replace(event, event=scaled(event.event, factor))
        case NonAdaptiveEvent():
            return replace(event, event=replace(event.event, epsilon=float(factor * Fraction(event.event.epsilon))))
        case SequenceEvent():
            return replace(event, events=tuple(scaled(part, factor) for part in event.events))
        case _:
            return replace(event, epsilon=float(factor * Fraction(event.epsilon)))


def _shown(spent: Fraction, rounding: Context | None = None) -> str:
    if rounding:
        price = float(rounding.divide(Decimal(spent.numerator), Decimal(spent.denominator)))
    else:
        price = fraction_up(spent)
    return repr(price) if math.isfinite(price) else f"more than {sys.float_info.max!r}"

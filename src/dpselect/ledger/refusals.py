"""The error for a charge that does not fit: what is left, what it would cost, and how much would fit; and for seeds."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from dpselect.accounting.events import (
    ComposedEvent,
    Event,
    LossIntervalEvent,
    NonAdaptiveEvent,
    PrivateCandidatesEvent,
    SequenceEvent,
)
from dpselect.accounting.rounding import fraction_up
from dpselect.errors import ChargeRefusedError, InvalidParameterError, Shown
from dpselect.ledger.accounts import AccountTerms, State, described
from dpselect.ledger.costs import Cost
from dpselect.ledger.records import as_written, epsilon_left, with_few_digits

_FINEST = 1000
"""The fraction that would fit is a multiple of 1/1000."""

_FEW = Context(prec=5, rounding=ROUND_CEILING)
"""For a sum of divergences, whose last digits mean nothing to a reader."""


def refusal(event: Event, cost: Cost, terms: AccountTerms, state: State, *, ledger: str) -> ChargeRefusedError:
    """The error for `event`, which costs `cost` and does not fit."""
    account = described(terms, state, "")
    total = state.total + cost
    if event.delta and total.delta > terms.set_aside:
        text = _no_delta(event.delta, terms, account.set_aside_left)
    else:
        left = epsilon_left(account.left, equals="=")
        text = f"account {terms.name!r} has {left} left of {as_written(state.epsilon)!r}; "
        rounds = isinstance(event, (ComposedEvent, SequenceEvent, NonAdaptiveEvent))
        if terms.orders and rounds:
            text += f"with this, {_shown(terms.spent(total), _FEW)} would be spent"
        else:
            text += f"this would cost {_shown(cost.pure)}"
            text += f", the sum of its {'parts' if isinstance(event, SequenceEvent) else 'rounds'}" if rounds else ""
        share = sure_share(event, terms, state) if terms.orders else 0.0
        whose = "each of its epsilons" if isinstance(event, SequenceEvent) else "its epsilon"
        text += f". At {share!r} times {whose} it would fit" if share else ""
    return ChargeRefusedError(ledger, f"{text}. Nothing was charged or drawn.", account.left)


def _no_delta(delta: float, terms: AccountTerms, left: float) -> str:
    """What is left of the delta that is set aside, and how to get more."""
    how = "an account is opened with a delta and a part of it set aside (set_aside, --set-aside)"
    if not terms.set_aside:
        return f"account {terms.name!r} has no delta set aside for questions that have one of their own: for them {how}"
    aside = f"{as_written(terms.set_aside)!r} that it sets aside for questions that have a delta of their own"
    text = f"account {terms.name!r} has {left!r} left of the delta of {aside}; this needs {delta!r}. "
    if left > 0:
        text += "Ask with a smaller delta. "
    return f"{text}To set more aside, open another account: {how}, and what both accounts spend adds up"


def sure_share(event: Event, terms: AccountTerms, state: State) -> float:
    """The largest fraction, below 1, of the question's epsilon that would fit; 0 if unknown.

    The search scales the epsilons of the event. The epsilon of a question of several rounds with a delta falls faster
    than those of its rounds, but no faster than their squares: divided by a squared epsilon, neither a Rényi divergence
    nor the term that converts it increases with epsilon. So for several rounds the square of the fraction is returned,
    less the thousandth by which the search for their epsilon may miss. The parts of a question that also releases
    numbers of units are single ones, as they were asked for: scaled by the fraction itself.
    """
    fits, too_much = 0, _FINEST
    while too_much - fits > 1:
        middle = (fits + too_much) // 2
        if _allows(terms, state, event, Fraction(middle, _FINEST)):
            fits = middle
        else:
            too_much = middle
    if not _has_rounds(event):
        return fits / _FINEST
    return max(0, fits * fits // _FINEST - 1) / _FINEST


def _has_rounds(event: Event) -> bool:
    if isinstance(event, SequenceEvent):
        return any(map(_has_rounds, event.events))
    return isinstance(event, ComposedEvent | NonAdaptiveEvent)


def _allows(terms: AccountTerms, state: State, event: Event, factor: Fraction) -> bool:
    try:
        smaller = scaled(event, factor)
    except InvalidParameterError:  # too small for a double
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
        case LossIntervalEvent():
            ends = (float(factor * Fraction(end)) for end in (event.below, event.above))
            return LossIntervalEvent(below=next(ends), above=next(ends))
        case PrivateCandidatesEvent():
            smaller = float(factor * Fraction(event.run_epsilon))
            return PrivateCandidatesEvent(epsilon=smaller, eta=event.eta, gamma=event.gamma)
        case _:
            return replace(event, epsilon=float(factor * Fraction(event.epsilon)))


def _shown(spent: Fraction, rounding: Context | None = None) -> str:
    if rounding:
        price = float(rounding.divide(Decimal(spent.numerator), Decimal(spent.denominator)))
    else:
        price = fraction_up(spent)
    return repr(with_few_digits(price, up=True)) if math.isfinite(price) else f"more than {sys.float_info.max!r}"


def refuse_seeded_release(release: str) -> None:
    """Refuse to store a certificate that says that it was drawn in a block of `dpselect.testing.seeded`."""
    try:
        held: object = json.loads(release) if '"seeded"' in release else None
    except (ValueError, RecursionError):
        return  # no certificate
    if isinstance(held, dict) and "seeded" in held:
        raise InvalidParameterError("release", Shown("<a seeded release>"), "one with the operating system's noise")

"""Whether several charges would fit together into a new account: for planning, in memory alone."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from fractions import Fraction

from dpselect.accounting.events import Event
from dpselect.ledger.accounts import AccountTerms
from dpselect.ledger.costs import Cost
from dpselect.privacy import Neighbours


class NewAccount:
    """What an account would accept that is opened with these limits, and not charged yet.

    Args:
        epsilon: its limit.
        delta: the probability with which epsilon may fail.
        set_aside: the part of delta for mechanisms that have a delta of their own.

    Proof: ``proofs/ledger.md``.

    >>> from dpselect.accounting import BoundedRangeEvent
    >>> account = NewAccount(epsilon=Fraction(1), delta=Fraction(1, 10**6))
    >>> small = BoundedRangeEvent(epsilon=0.08)
    >>> account.allows([small] * 20), account.allows([small] * 60), NewAccount(epsilon=Fraction(1)).allows([small] * 20)
    (True, False, False)
    """

    __slots__ = ("_epsilon", "_terms")

    def __init__(self, *, epsilon: Fraction, delta: Fraction = Fraction(0), set_aside: Fraction = Fraction(0)) -> None:
        relation = Neighbours.ADD_REMOVE  # costs are those of the events, whatever the relation
        self._epsilon = epsilon
        self._terms = AccountTerms.new(1, "", neighbours=relation, epsilon=epsilon, delta=delta, set_aside=set_aside)

    def allows(self, events: Sequence[Event]) -> bool:
        """Whether all of them fit together."""
        return self._terms.allow(self._epsilon, self._total(events))

    def spent(self, events: Sequence[Event]) -> Fraction:
        """The smallest epsilon that is proved for all of them together."""
        return self._terms.spent(self._total(events))

    def _total(self, events: Sequence[Event]) -> Cost:
        return functools.reduce(operator.add, [self._terms.cost(each) for each in events])

"""Limits compare exactly: a model in fractions, and the sums that fool floats."""

from __future__ import annotations

import tempfile
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dpselect.accounting import BoundedRangeEvent, ComposedEvent, LaplaceProfileEvent, PureEvent, SequenceEvent
from dpselect.errors import ChargeRefusedError, InvalidAccountError
from dpselect.ledger import Ledger


def accepted(ledger: Ledger, epsilon: float, *, most: int) -> int:
    """How many charges of `epsilon` go through, of at most so many."""
    for number in range(most):
        try:
            ledger.charge("clicks", PureEvent(epsilon=epsilon))
        except ChargeRefusedError:
            return number
    return most


@pytest.mark.parametrize(
    ("limit", "epsilon", "count"),
    [
        (1.0, 0.1, 9),  # the double 0.1 is a little more than a tenth, and so are ten of them more than 1
        (Decimal("1.0"), 0.1, 9),
        ("1.000000000000001", 0.1, 10),  # a limit with room for the rounding of what is written as 0.1
        (1.0, float(Fraction(0.1) - Fraction(1, 2**56)), 10),  # the largest double that is at most a tenth
        (0.3, 0.1, 2),  # float sums agree only by accident: 0.1 + 0.1 + 0.1 > 0.3 there, too
        (0.5, 0.1, 4),  # ... and here float sums let one too many through
        (1.0, 0.125, 8),
        (Fraction(1, 3), 1 / 3, 1),  # the double is below the third
        (1.0, 1 / 3, 3),
        (1e16, 1.0, 20),
        (5e-324, 5e-324, 1),
    ],
)
def test_what_fits_is_decided_as_if_on_paper(ledger: Ledger, limit: object, epsilon: float, count: int) -> None:
    ledger.open_account("clicks", epsilon=limit)
    assert accepted(ledger, epsilon, most=20) == count
    assert count * Fraction(epsilon) <= Fraction(limit) if isinstance(limit, float) else True
    assert ledger.verify()


def test_a_sum_of_floats_would_have_let_one_too_many_through() -> None:
    """The control: the case above is one that a float sum gets wrong."""
    assert 0.1 + 0.1 + 0.1 + 0.1 + 0.1 <= 0.5
    assert 5 * Fraction(0.1) > Fraction(0.5)
    swallowed = 1e16
    for _ in range(1000):
        swallowed += 1.0
    assert swallowed == 1e16


def test_a_charge_too_small_for_a_float_sum_still_counts(ledger: Ledger) -> None:
    ledger.open_account("clicks", epsilon=1e16)
    ledger.charge("clicks", PureEvent(epsilon=1e16 - 2))
    assert accepted(ledger, 0.75, most=5) == 2
    assert ledger.account("clicks").spent == Fraction(1e16) - Fraction(1, 2)


EPSILONS = st.sampled_from([0.1, 0.2, 0.3, 1 / 3, 0.7, 1e-9, 0.125])
EVENTS = st.recursive(
    st.builds(PureEvent, epsilon=EPSILONS)
    | st.builds(BoundedRangeEvent, epsilon=EPSILONS)
    | st.builds(LaplaceProfileEvent, epsilon=EPSILONS),
    lambda inner: (
        st.builds(ComposedEvent, event=inner, count=st.integers(1, 4))
        | st.builds(SequenceEvent, events=st.lists(inner, min_size=1, max_size=3))
    ),
    max_leaves=3,
)


def on_paper(event: object) -> Fraction:
    match event:
        case ComposedEvent():
            return event.count * on_paper(event.event)
        case SequenceEvent():
            return sum(map(on_paper, event.events), Fraction(0))
        case PureEvent() | BoundedRangeEvent() | LaplaceProfileEvent():
            return Fraction(event.epsilon)
    raise AssertionError(event)


class LedgerAgainstModel(RuleBasedStateMachine):
    """Any order of charges, requests, limits and restarts, beside a model that is a few fractions."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name, "budget.db")
        self.ledger = Ledger(self.path)
        self.spent, self.is_open, self.entries = Fraction(0), True, 1
        self.requests: dict[str, tuple[object, str | None]] = {}
        self.receipts: dict[int, str] = {}

    def teardown(self) -> None:
        self.ledger.disconnect()
        self.folder.cleanup()

    @initialize(limit=st.sampled_from([1.0, 0.3, Fraction(1, 3), "2.1"]))
    def open(self, limit: object) -> None:
        self.limit = Fraction(limit)  # type: ignore[arg-type]
        self.ledger.open_account("clicks", epsilon=limit)

    @rule(event=EVENTS, request=st.sampled_from([None, "a", "b"]), stored=st.booleans())
    def charge(self, event: object, request: str | None, stored: bool) -> None:
        asked, answer = self.requests.get(request or "", (event, None))
        if request is not None and asked != event:
            with pytest.raises(Exception, match="request="):
                self.ledger.charge("clicks", event, request=request)  # type: ignore[arg-type]
            return
        if answer is not None:
            assert self.ledger.charge("clicks", event, request=request).release == answer  # type: ignore[arg-type]
            return
        if not self.is_open or self.spent + on_paper(event) > self.limit:
            with pytest.raises(ChargeRefusedError if self.is_open else InvalidAccountError):
                self.ledger.charge("clicks", event, request=request)  # type: ignore[arg-type]
            return
        receipt = self.ledger.charge("clicks", event, request=request)  # type: ignore[arg-type]
        assert receipt.sequence == self.entries
        self.receipts[receipt.sequence] = receipt.hash
        self.entries += 1
        self.spent += on_paper(event)
        if request is not None:
            answer = self.ledger.store_release(receipt, f"answer {self.entries}") if stored else None
            self.requests[request] = (event, answer)

    @precondition(lambda self: self.is_open)
    @rule(limit=st.sampled_from([0.5, 1.0, 3.0]))
    def set_limit(self, limit: float) -> None:
        if Fraction(limit) < self.spent:
            with pytest.raises(InvalidAccountError):
                self.ledger.set_limit("clicks", epsilon=limit)
            return
        self.ledger.set_limit("clicks", epsilon=limit)
        self.limit, self.entries = Fraction(limit), self.entries + 1

    @rule()
    def restart(self) -> None:
        self.ledger.disconnect()
        self.ledger = Ledger(self.path)

    @precondition(lambda self: self.is_open and self.entries > 6)
    @rule()
    def close(self) -> None:
        self.ledger.close("clicks")
        self.is_open, self.entries = False, self.entries + 1

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "limit"):
            return
        account = self.ledger.account("clicks")
        assert (account.spent, account.epsilon, account.entries) == (self.spent, self.limit, self.entries)
        assert account.spent <= account.epsilon
        (verified,) = self.ledger.verify()
        assert verified.entries == self.entries
        kept = {entry.sequence: entry.hash for entry in self.ledger.history("clicks")}
        assert self.receipts.items() <= kept.items()


LedgerAgainstModel.TestCase.settings = settings(
    max_examples=6, stateful_step_count=12, suppress_health_check=list(HealthCheck)
)
TestLedgerAgainstModel = LedgerAgainstModel.TestCase

"""Closing an account and lowering its limit: asked first, made once, and only if the account is still the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import dpselect as dps
from dpselect.web import account_changes


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[dps.Ledger]:
    """An account of which a quarter is spent."""
    with dps.Ledger(f"sqlite:///{tmp_path / 'budget.db'}") as ledger:
        ledger.open_account("clicks", epsilon=1.0)
        spend(ledger, 0.25)
        yield ledger


def spend(ledger: dps.Ledger, epsilon: float) -> None:
    ledger.charge("clicks", dps.PermuteAndFlip(epsilon=epsilon, sensitivity=1.0).event)


def test_a_lower_limit_is_asked_for_in_words_and_then_made(ledger: dps.Ledger) -> None:
    before = ledger.account("clicks")
    change = account_changes.lower(before, " 0.5 ", "less was asked than we thought")
    assert change.question == "Lower the limit of clicks from 1 to 0.5?"
    assert change.consequence.startswith("0.25 will be left, instead of 0.75.")
    assert ledger.account("clicks") == before
    assert account_changes.make(change, ledger, seen=before.head).left == 0.25
    assert ledger.history("clicks")[-1].note == "less was asked than we thought"


def test_a_question_with_the_same_epsilon_as_the_new_limit_fits_into_it(tmp_path: Path) -> None:
    with dps.Ledger(f"sqlite:///{tmp_path / 'budget.db'}") as ledger:
        before = ledger.open_account("clicks", epsilon=1.0)
        account_changes.make(account_changes.lower(before, "0.1", ""), ledger, seen=before.head)
        spend(ledger, 0.1)  # as a double a little more than a tenth
        assert ledger.account("clicks").left == 0.0


def test_closing_is_asked_for_in_words_and_then_made(ledger: dps.Ledger) -> None:
    before = ledger.account("clicks")
    change = account_changes.close(before)
    assert (change.question, "0.75" in change.consequence) == ("Close clicks for ever?", True)
    assert ledger.account("clicks").is_open
    assert not account_changes.make(change, ledger, seen=before.head).is_open


@pytest.mark.parametrize("limit", ["1", "2", "0.2", "0", "-1", "", "nan", "half"])
def test_a_limit_that_is_no_lower_one_or_below_what_is_spent_is_refused(ledger: dps.Ledger, limit: str) -> None:
    with pytest.raises(dps.errors.InvalidParameterError) as refused:
        account_changes.lower(ledger.account("clicks"), limit, "")
    assert refused.value.name == "limit"


def test_what_was_confirmed_is_left_if_the_account_has_changed_since(ledger: dps.Ledger) -> None:
    before = ledger.account("clicks")
    spend(ledger, 0.5)
    now = ledger.account("clicks")
    with pytest.raises(dps.errors.InvalidAccountError, match="Nothing was changed"):
        account_changes.make(account_changes.close(now), ledger, seen=before.head)
    assert ledger.account("clicks") == now


def test_a_closed_account_can_be_neither_lowered_nor_closed(ledger: dps.Ledger) -> None:
    closed = ledger.close("clicks")
    with pytest.raises(dps.errors.InvalidAccountError):
        account_changes.lower(closed, "0.5", "")
    with pytest.raises(dps.errors.InvalidAccountError):
        account_changes.close(closed)

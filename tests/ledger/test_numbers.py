"""Numbers as people and programs write them: plain, tiny and huge."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from dpselect.accounting import ComposedEvent, PureEvent
from dpselect.errors import ChargeRefusedError, InvalidParameterError
from dpselect.ledger import Ledger


@pytest.fixture
def file(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "budget.db")


@pytest.mark.parametrize(
    "text", ["0_3", "\u0663", " 0.3 ", "0.3\n", "\uff13", "3,0", "1/3", "0x3", "", ".", "nan", "inf"]
)
def test_a_limit_is_written_in_plain_decimals(file: Ledger, text: str) -> None:
    with pytest.raises(InvalidParameterError, match="epsilon"):
        file.open_account("clicks", epsilon=text)


@pytest.mark.parametrize(
    ("text", "exact"), [("3", 3), ("0.30", Fraction(3, 10)), (".5", Fraction(1, 2)), ("3e-1", Fraction(3, 10))]
)
def test_plain_decimals_are_taken_exactly(file: Ledger, text: str, exact: Fraction) -> None:
    assert file.open_account("clicks", epsilon=text).epsilon == exact


@pytest.mark.parametrize("delta", ["1e-399", Fraction(1, 10**1100), 5e-324])
def test_a_delta_below_every_double_is_a_delta(file: Ledger, delta: object) -> None:
    account = file.open_account("clicks", epsilon=1, delta=delta)
    assert account.delta > 0
    file.charge("clicks", PureEvent(epsilon=0.5))
    assert file.account("clicks").spent == Fraction(1, 2)
    assert file.verify()


@pytest.mark.parametrize("sequence", [-1, 2, 10**30, -(10**30), 2**63])
def test_no_entry_is_at_a_number_that_none_has(file: Ledger, sequence: int) -> None:
    file.open_account("clicks", epsilon=1)
    assert file.find("clicks", sequence) is None


@pytest.mark.parametrize("sequence", [True, "1", 1.0, None])
def test_an_entry_is_looked_for_by_its_number(file: Ledger, sequence: object) -> None:
    file.open_account("clicks", epsilon=1)
    with pytest.raises(InvalidParameterError, match="sequence"):
        file.find("clicks", sequence)  # pyright: ignore[reportArgumentType]


def test_a_huge_price_is_not_said_to_be_infinite(file: Ledger) -> None:
    file.open_account("clicks", epsilon=1)
    with pytest.raises(ChargeRefusedError, match=r"would cost more than 1\.79\d*e\+308"):
        file.charge("clicks", ComposedEvent(event=PureEvent(epsilon=1e308), count=1000))

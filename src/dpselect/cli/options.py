"""The types of options, as all commands spell them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Annotated

from cyclopts import CoercionError, Parameter, Token

_MOST_DIGITS = 40


def _whole(kind: object, tokens: Sequence[Token]) -> int:
    """A whole number, also as 1e9; the parser on its own rounds 2.7 to 3."""
    text = tokens[0].value
    try:
        number = Decimal(text)
        if number.is_finite() and number.adjusted() < _MOST_DIGITS and number == number.to_integral_value():
            return int(number)
    except InvalidOperation:
        pass
    if tokens[0].keyword is None:  # only the parser knows the name of an argument without dashes
        raise CoercionError(token=tokens[0], target_type=int)
    raise ValueError(f"expected a whole number, not {text[:_MOST_DIGITS]!r}")


Whole = Annotated[int, Parameter(allow_leading_hyphen=True, converter=_whole)]
Text = Annotated[str, Parameter(allow_leading_hyphen=True)]
Number = Annotated[float, Parameter(allow_leading_hyphen=True)]
Numbers = Annotated[list[float], Parameter(allow_leading_hyphen=True, negative="")]
Bounds = Annotated[tuple[float, float], Parameter(allow_leading_hyphen=True, negative="")]
Flag = Annotated[bool, Parameter(negative="")]
Json = Annotated[bool, Parameter(name="--json", negative="")]

"""The types of options, as all commands spell them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Annotated

from cyclopts import CoercionError, Parameter, Token

from dpselect.errors import InvalidParameterError, Shown

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
Exact = Annotated[str, Parameter(allow_leading_hyphen=True)]
"""A decimal or a fraction, for what is compared exactly; `exact` reads it."""
Numbers = Annotated[list[float], Parameter(allow_leading_hyphen=True, negative="")]
Bounds = Annotated[tuple[float, float], Parameter(allow_leading_hyphen=True, negative="")]
Flag = Annotated[bool, Parameter(negative="")]
Json = Annotated[bool, Parameter(name="--json", negative="")]


def exact(text: str, name: str) -> Fraction | float:
    """A fraction such as 3/10, exactly; a decimal is the double that it is as the epsilon of a question.

    So a question with the epsilon of a limit fits into it, however both are written.

    Raises:
        InvalidParameterError: neither.
    """
    try:
        if re.fullmatch(r"[0-9]{1,1000}/[0-9]{1,1000}", text):
            return Fraction(text)
        if "_" not in text:
            return float(text)
    except (ValueError, ZeroDivisionError):
        pass  # said below
    raise InvalidParameterError(name, Shown("<text>"), "a decimal such as 0.3, or a fraction such as 3/10")

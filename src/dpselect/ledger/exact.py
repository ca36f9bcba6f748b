"""Reads exact numbers as a ledger writes them; any other text is refused."""

from __future__ import annotations

import re
from fractions import Fraction

_FRACTION = re.compile(r"-?[0-9]+(/[0-9]+)?")
_LONGEST = 8000
"""Characters. A limit has at most 4000 bits above and below the bar, a sum of doubles fewer."""


def fraction_of(text: object) -> Fraction:
    """The fraction that ``str`` wrote. Exponents are refused: ``1e99999999`` would take very long.

    Raises:
        ValueError: `text` is not what ``str`` writes for a fraction.

    >>> fraction_of("-3/10")
    Fraction(-3, 10)
    """
    if not isinstance(text, str) or len(text) > _LONGEST or not _FRACTION.fullmatch(text):
        raise ValueError("not a fraction of a ledger")
    return Fraction(text)

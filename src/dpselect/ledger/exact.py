"""Exact numbers as a ledger writes them, read back; whatever else somebody put there is no number."""

from __future__ import annotations

import re
from fractions import Fraction

_FRACTION = re.compile(r"-?[0-9]+(/[0-9]+)?")
_LONGEST = 8000
"""Characters. A limit has at most 4000 bits above and below the bar, a sum of doubles fewer."""


def fraction_of(text: object) -> Fraction:
    """What ``str`` wrote of a fraction; takes no longer than its few characters do, which ``1e99999999`` would.

    Raises:
        ValueError: it did not write this.

    >>> fraction_of("-3/10")
    Fraction(-3, 10)
    """
    if not isinstance(text, str) or len(text) > _LONGEST or not _FRACTION.fullmatch(text):
        raise ValueError("no fraction of a ledger")
    return Fraction(text)

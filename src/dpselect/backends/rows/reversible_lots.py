"""Lots from which the value can be computed: of each key's whole numbers, the one with the smallest lot.

The engine then keeps one number for each key, not a lot and a value; that takes half the time.
"""

from __future__ import annotations

from dpselect.mechanisms.seeding import key_of_a_choice

_HALF = 2**32
_MASK = _HALF - 1


def smallest_lots(rows: str, keys: tuple[str, ...]) -> str:
    """SQL for the value ``what`` of each of the `keys` in `rows` whose lot is the smallest.

    With the halves ``high`` and ``low`` of a number and a keyed hash ``h`` of 32 bits, its lot consists of ``a = high
    xor h(b)`` and ``b = low xor h(high)``. Both steps can be undone, whatever ``h`` is: so different numbers have
    different lots, and the choice depends on the key's own values alone. Every value is equally likely as far as the
    hash with a random key behaves like a random function, unless two values have the same ``b``: of n values, with a
    probability of at most n^2 / 2^33.

    Proof: ``proofs/unknown_candidates.md``, claim 1.

    Args:
        rows: a query in parentheses, with `keys` and ``what``, whole numbers of 64 bits without nulls.
        keys: whose values they are.
    """
    whose, secret = ", ".join(keys), f"hash({', '.join(keys)}, {int.from_bytes(key_of_a_choice())}::UBIGINT) AS secret"
    halves = f"SELECT {whose}, {secret}, (what >> 32) & {_MASK} AS high, what & {_MASK} AS low FROM {rows}"
    once = f"SELECT {whose}, secret, high, xor(low, {_first('high')}) AS low FROM ({halves})"
    high = f"xor(high, {_second('low')})"
    twice = f"SELECT {whose}, {_joined(high, 'low')} AS lot FROM ({once})"
    smallest = f"SELECT {whose}, min(lot) AS lot FROM ({twice}) GROUP BY {whose}"
    # And back. A half is unsigned; as the upper half of a signed number it counts from -2^31.
    halves = f"SELECT {whose}, {secret}, (lot >> 32) + {_HALF // 2} AS high, lot & {_MASK} AS low FROM ({smallest})"
    once = f"SELECT {whose}, secret, xor(high, {_second('low')}) AS high, low FROM ({halves})"
    low = f"xor(low, {_first('high')})"
    return f"SELECT {whose}, {_joined(f'xor(high, {_HALF // 2})', low)} AS what FROM ({once})"


def _joined(high: str, low: str) -> str:
    """The signed number of 64 bits whose halves these are, counted from the smallest number."""
    return f"({high} - {_HALF // 2}) * {_HALF} + {low}"


def _first(half: str) -> str:
    return f"(hash(xor(secret, {half}::UBIGINT)) >> 32)::BIGINT"


def _second(half: str) -> str:
    """Another function of a half: of numbers that the first one never sees."""
    return f"(hash(xor(secret, ({half} + {_HALF})::UBIGINT)) >> 32)::BIGINT"

"""Several summaries from one pass over the rows, grouped by unit once.

Proof: ``proofs/one_pass.md``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

Row = Mapping[str, object]
Place = Callable[[Row], int | None]
"""The place of a row in a summary, or None if it does not count there."""


def alone(rows: Sequence[Row], place: Place, places: int) -> list[int]:
    """How many different units have a row at each place, by the definition.

    >>> alone([{"unit": "ann", "x": 1}, {"unit": "ann", "x": 1}, {"unit": None, "x": 0}], lambda row: row["x"], 2)
    [0, 1]
    """
    known = [row for row in rows if row["unit"] is not None]
    return [len({row["unit"] for row in known if place(row) == each}) for each in range(places)]


def together(rows: Sequence[Row], asked: Sequence[tuple[Place, int]], *, bits: int = 63) -> list[list[int]]:
    """The same for several summaries, with a few words of so many `bits` for each unit."""
    begins = [sum(places for _, places in asked[:at]) for at in range(len(asked) + 1)]
    words: defaultdict[object, list[int]] = defaultdict(lambda: [0] * -(-begins[-1] // bits))
    for row in rows:
        if row["unit"] is None:
            continue
        held = words[row["unit"]]
        for (place, _), begin in zip(asked, begins, strict=False):
            found = place(row)
            if found is not None:
                held[(begin + found) // bits] |= 1 << (begin + found) % bits
    return [
        [sum(held[at // bits] >> at % bits & 1 for held in words.values()) for at in range(begin, begin + places)]
        for (_, places), begin in zip(asked, begins, strict=False)
    ]


def one_of(places: Sequence[int], lot: int) -> int:
    """The one of a unit's places, in ascending order, that its lot of 64 bits says."""
    return places[(lot >> 32) * len(places) >> 32]

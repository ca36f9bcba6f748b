"""Which bound gave an epsilon, in figures and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import Literal

BoundName = Literal["basic", "renyi", "tight", "non-adaptive", "pld"]

_WORDS: dict[BoundName, str] = {
    "basic": "the sum of all epsilons",
    "renyi": "Rényi divergence",
    "tight": "the exact adaptive recursion, rounded up on a grid",
    "non-adaptive": "the exact formula for draws fixed in advance",
    "pld": "privacy loss distributions",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """One way to bound a total.

    Attributes:
        name: ``"basic"`` (the sum), ``"renyi"``, ``"tight"``, ``"non-adaptive"`` or ``"pld"``.
        value: its value, rounded up; infinite if it gives none.
        order: of the divergence, where that is the bound.
        note: why it gives no value.

    >>> Bound(name="renyi", value=2.4, order=8.5).value
    2.4
    """

    name: BoundName
    value: float
    order: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """An epsilon and where it comes from, made by `Composition.explain`; ``print`` it.

    Attributes:
        delta: asked for.
        best: the bound with the smallest epsilon.
        others: the other bounds, the smaller first.

    >>> print(Explanation(delta=1e-6, best=Bound(name="renyi", value=2.4), others=(Bound(name="basic", value=10.0),)))
    epsilon = 2.4 at delta = 1e-06 by Rényi divergence. Others: the sum of all epsilons 10.
    """

    delta: float
    best: Bound
    others: tuple[Bound, ...]

    @property
    def epsilon(self) -> float:
        """The smallest epsilon."""
        return self.best.value

    @property
    def bound(self) -> BoundName:
        """The name of the bound that gave it."""
        return self.best.name

    def __str__(self) -> str:
        if math.isinf(self.epsilon):
            return f"No epsilon holds at delta = {self.delta:.4g}: {self.best.note or 'it is beyond all doubles'}."
        text = f"epsilon = {_up(self.epsilon)} at delta = {self.delta!r} by {_WORDS[self.bound]}."
        finite = [
            f"{_WORDS[bound.name].partition(',')[0]} {_up(bound.value)}" for bound in self.others if not bound.note
        ]
        notes = [
            f" Not by {_WORDS[bound.name].partition(',')[0]}: {bound.note}." for bound in self.others if bound.note
        ]
        return text + (f" Others: {', '.join(finite)}." if finite else "") + "".join(notes)


def _up(value: float) -> str:
    """Four digits, rounded up except for the last bits of a double: a sum of tenths that is 10 is shown as 10."""
    if math.isinf(value) or value == 0.0:
        return f"{value:g}"
    with localcontext(prec=4, rounding=ROUND_CEILING):
        return f"{float(+Decimal(value * (1.0 - 1e-12))):g}"

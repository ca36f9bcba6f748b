"""A selection that is drawn where the scores are, when its answer is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PendingSelection:
    """A selection that is drawn when it is read, where the scores are, so not before it was charged.

    Attributes:
        draw: makes a number of draws, one after another, each from the candidates that are left. Each call draws anew.
        close: releases the scores, which are kept until then; does not fail.

    >>> PendingSelection(lambda rounds: ["red", "blue", "green"][:rounds]).winner()
    'red'
    """

    draw: Callable[[int], list[Any]]
    close: Callable[[], object] = lambda: None

    def winner(self) -> Any:
        """Draw, and return the selected candidate, at the price of one selection.

        Raises:
            SelectionError: whatever keeps the engine from answering.
        """
        return self.draw(1)[0]

    def winners(self, k: int) -> list[Any]:
        """Draw, and return `k` different candidates in the order they were selected, at the price of `k` selections.

        Args:
            k: at most as many as there are candidates.

        Raises:
            SelectionError: whatever keeps the engine from answering.

        Proof: ``proofs/top_k.md`` (the rounds) and ``proofs/partial_selection.md`` (each of them).
        """
        return self.draw(k)

    def __repr__(self) -> str:
        return "PendingSelection(<not drawn yet>)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("PendingSelection is private and cannot be pickled or copied")

"""A selection drawn in parts, together with the names of its winners: what returns from where the scores are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from dpselect.mechanisms.partial import PartialSelection


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CandidateSelection:
    """The selection from all scores, drawn but not read, with the candidate that each part sent. Private.

    Attributes:
        selection: all parts merged.
        sent: the candidate of each part's own winner, by the part's number: that of a partition is
            ``number * 2**32`` and up.

    >>> from dpselect import PermuteAndFlip
    >>> drawn = PartialSelection.of(PermuteAndFlip(epsilon=1.0, sensitivity=1.0), [3.0], partition=5 * 2**32)
    >>> CandidateSelection(drawn, {5: "red"}).winner()
    'red'
    """

    selection: PartialSelection
    sent: Mapping[int, Any]

    def winner(self) -> Any:
        """The selected candidate, at the price of one selection.

        Raises:
            InvalidScoresError: there was no score in any part.
        """
        return self.sent[self.selection.winner().partition >> 32]

    def __repr__(self) -> str:
        return f"CandidateSelection(<{len(self.sent)} private winners>)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("CandidateSelection is private and cannot be pickled or copied")


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

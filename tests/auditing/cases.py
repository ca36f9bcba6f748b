"""One mechanism, its neighbours and its claim: what an audit is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpselect import audit
from dpselect.auditing.audit import AuditReport


@dataclass(frozen=True, slots=True)
class Case:
    """What is claimed of a mechanism, and two neighbours.

    Attributes:
        what: it is, in words.
        start: a sampler from a seed; samplers of the product take their randomness from elsewhere.
        proofs: the pages of ``proofs/`` whose claim is tried.
    """

    what: str
    start: Callable[[int], Callable[[Any], object]]
    neighbours: tuple[Any, Any]
    epsilon: float = 1.0
    delta: float = 0.0
    proofs: tuple[str, ...] = ()

    def audited(self, seed: int, draws: int, **options: Any) -> AuditReport:
        """The report on it."""
        claim: dict[str, Any] = {"claimed_epsilon": self.epsilon, "claimed_delta": self.delta} | options
        return audit(self.start(seed), self.neighbours, draws=draws, **claim)


def seeded(sampler: Callable[[Any, np.random.Generator], object]) -> Callable[[int], Callable[[Any], object]]:
    """A sampler from a seed, of a function of a neighbour and a generator."""

    def start(seed: int) -> Callable[[Any], object]:
        generator = np.random.default_rng(seed)
        return lambda neighbour: sampler(neighbour, generator)

    return start

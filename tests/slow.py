"""What `make test` leaves to `make test-slow`, which sets ``SLOW=1``; so do `make mutants` and the nightly run.

By day, without it, tests marked `slow` are left out, a large product of cases is tried in a part in which each case of
each axis comes, and each property is tried on 15 examples. With it everything runs, on 200 examples of each property.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import product
from typing import Any

SLOW = os.environ.get("SLOW") == "1"
EXAMPLES = int(os.environ.get("EXAMPLES", 200 if SLOW else 15))
"""Of each property; `EXAMPLES` in the environment changes this number, and nothing else."""


def crossed(*axes: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Each case of each axis with each of the others; by day so few of these that each case comes at least once."""
    if SLOW:
        return list(product(*axes))
    return [tuple(axis[turn % len(axis)] for axis in axes) for turn in range(max(map(len, axes)))]

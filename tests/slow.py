"""What `make test` leaves to `make test-slow`, which sets ``SLOW=1``; so do `make mutants` and the nightly run.

By day, without it, tests marked `slow` are left out, a product of cases is tried in a part in which each case of each
axis comes, of a test marked `sampled` some cases run, and each property is tried on 10 examples. With it everything
runs, on 200 examples of each property. By day tests also share what they would all make alike: see
`tests/shared_engine.py` and `tests/quick_fractions.py`.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any
from zlib import crc32

if TYPE_CHECKING:
    import pytest

SLOW = os.environ.get("SLOW") == "1"
EXAMPLES = int(os.environ.get("EXAMPLES", 200 if SLOW else 10))
"""Of each property; `EXAMPLES` in the environment changes this number, and nothing else."""


def crossed(*axes: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Each case of each axis with each of the others; by day so few of these that each case comes at least once."""
    if SLOW:
        return list(product(*axes))
    return [tuple(axis[turn % len(axis)] for axis in axes) for turn in range(max(map(len, axes)))]


def left_out(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """What the day does without: of each test with several axes of cases, the sets that bring no new case of any axis.

    So each test still runs on each engine, each mechanism and each case, but not on each with each of the others. A
    test marked `partners(n)` runs at least `n` times on each, as far as there are so many. What then remains of a test
    marked `sampled(n)`, whose many cases take long and are much alike, is cut to `n`: the same ones each day.
    """
    tests: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item)
    return [item for each in tests.values() for item in _by_night(each)]


def _by_night(items: list[pytest.Item]) -> list[pytest.Item]:
    left = _without_news(items)
    if (mark := items[0].get_closest_marker("sampled")) is None:
        return left
    already = {*left}
    remaining = [item for item in items if item not in already]
    # By a checksum of the name, so that the order of cases does not decide which ones remain.
    return left + sorted(remaining, key=lambda item: crc32(item.name.encode()))[mark.args[0] :]


def _without_news(items: list[pytest.Item]) -> list[pytest.Item]:
    """First those are taken of which all is new, then those of which anything is."""
    mark = items[0].get_closest_marker("partners")
    times: int = mark.args[0] if mark else 1
    seen = Counter[Hashable]()
    for enough in (all, any):
        rest: list[pytest.Item] = []
        for item in items:
            cases = _cases(item)
            if len(cases) < 2 or enough(seen[each] < times for each in cases):
                seen.update(cases)
            else:
                rest.append(item)
        items = rest
    return items


def _cases(item: pytest.Item) -> list[Hashable]:
    """One of each axis: what is given together in one `parametrize`, or to one fixture."""
    called = getattr(item, "callspec", None)
    given = {name: _told_apart(case) for name, case in called.params.items()} if called else {}
    marks = [mark.args[0] for mark in item.iter_markers("parametrize")]
    together = [each.replace(",", " ").split() if isinstance(each, str) else each for each in marks]
    axes = [tuple((name, given.pop(name)) for name in names if name in given) for names in together]
    return [*filter(None, axes), *given.items()]


def _told_apart(case: object) -> Hashable:
    """Numbers and texts by what they are, all others as objects: these are the same in each set."""
    return repr(case) if isinstance(case, str | int | float) else id(case)

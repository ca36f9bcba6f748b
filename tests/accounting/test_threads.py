"""Filters that threads share: no charge is lost, and a copy stands alone."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from dpselect.accounting import Filter, PureEvent
from dpselect.errors import LimitExceededError

THREADS, EACH = 8, 40
EVENT = PureEvent(epsilon=1 / 32)


@pytest.fixture(autouse=True)
def restless(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Threads take turns as often as they can, also between a sum and its keeping: without a lock charges get lost."""
    before = sys.getswitchinterval()
    after = Filter._after

    def slowly(self: Filter, event: Any) -> Any:
        total = after(self, event)
        time.sleep(1e-4)
        return total

    monkeypatch.setattr(Filter, "_after", slowly)
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def passed(spend: Callable[[PureEvent], None]) -> int:
    """How often `spend` was let through in all threads together."""
    start = Barrier(THREADS)

    def run(_: int) -> int:
        start.wait()
        return sum(map(once, range(EACH)))

    def once(_: int) -> int:
        try:
            spend(EVENT)
        except LimitExceededError:
            return 0
        return 1

    with ThreadPoolExecutor(THREADS) as pool:
        return sum(pool.map(run, range(THREADS)))


def test_a_filter_admits_no_more_than_its_limit_in_many_threads() -> None:
    limit = Filter(epsilon=1.0, delta=0.0)
    assert passed(limit.spend) == 32
    assert limit.basic == 1.0


def test_without_the_lock_charges_are_lost() -> None:
    class Careless(Filter):
        def spend(self, event: Any) -> None:
            after = self._after(event)
            if not self._limits.allow(self._limit, after[0]):
                raise LimitExceededError(self.epsilon, self.delta, self.basic)
            self._spent = after

    assert passed(Careless(epsilon=1.0, delta=0.0).spend) > 32


def pickled(it: Any) -> Any:
    return pickle.loads(pickle.dumps(it))


@pytest.mark.parametrize("of", [copy.copy, copy.deepcopy, pickled])
def test_a_copy_goes_on_alone_from_the_same_state(of: Callable[[Any], Any]) -> None:
    first = Filter(epsilon=1.0, delta=1e-6)
    first.spend(EVENT)
    second = of(first)
    assert second.basic == first.basic == 1 / 32
    second.spend(EVENT)
    assert (first.basic, second.basic) == (1 / 32, 2 / 32)
    assert passed(second.spend) > 0


_FORKING = """
import os, signal
from dpselect.accounting import Filter, PureEvent, filter
with filter._spending:  # as if another thread spent just now
    child = os.fork()
    if not child:
        signal.alarm(20)
        Filter(epsilon=1.0, delta=0.0).spend(PureEvent(epsilon=1.0))
        os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no forks")
def test_a_child_does_not_wait_for_a_thread_of_its_parent() -> None:
    found = subprocess.run([sys.executable, "-c", _FORKING], capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout == "7\n"

"""No two draws share randomness: not across fork, not across threads, not across copies.

Indices drawn from a thousand equal scores are the generator's output in plain sight: any run of eight of them
occurring twice has probability below 10^-18.
"""

from __future__ import annotations

import multiprocessing
import platform
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from tests.laws.subjects import KINDS, every_kind

# Newer Pythons warn of every fork beside threads; surviving just that is what is tested.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

Kind = Callable[..., Any]
FORK = multiprocessing.get_context("fork")
EQUAL = np.zeros(1000)
PATIENCE = 30.0
"""Seconds after which a child counts as hanging."""


def runs_of_eight(draws: np.ndarray) -> set[bytes]:
    return {draws[i : i + 8].tobytes() for i in range(draws.size - 7)}


def assert_nothing_in_common(*streams: np.ndarray) -> None:
    seen: set[bytes] = set()
    for stream in streams:
        runs = runs_of_eight(stream)
        assert len(runs) == stream.size - 7, "a stream repeats itself"
        assert not seen & runs, "two streams share a part"
        seen |= runs


def in_a_child(work: Callable[[], np.ndarray]) -> np.ndarray:
    """What `work` returns in a forked child."""
    return finish(start_child(work))


def start_child(work: Callable[[], np.ndarray]) -> tuple[Any, Connection]:
    receiver, sender = FORK.Pipe(duplex=False)
    child = FORK.Process(target=lambda: sender.send(work()))
    child.start()
    sender.close()
    return child, receiver


def finish(started: tuple[Any, Connection]) -> np.ndarray:
    child, receiver = started
    try:
        assert receiver.poll(PATIENCE), "the child hangs"
        return receiver.recv()
    finally:
        child.kill()
        child.join()


def test_the_comparison_can_fail() -> None:
    generator = np.random.default_rng(0)
    stream = generator.integers(0, 1000, 500)
    with pytest.raises(AssertionError, match="share"):
        assert_nothing_in_common(stream, np.r_[generator.integers(0, 1000, 300), stream[250:300]])


def test_the_harness_sees_a_generator_that_survives_fork() -> None:
    generator = np.random.default_rng(0)
    children = [in_a_child(lambda: generator.integers(0, 1000, 100)) for _ in range(2)]
    with pytest.raises(AssertionError, match="share"):
        assert_nothing_in_common(*children)


@pytest.mark.sampled(1)
@every_kind
def test_parent_children_and_grandchildren_draw_different_streams(kind: Kind) -> None:
    mechanism = kind(epsilon=1.0, sensitivity=1.0)
    before = mechanism.select_many(EQUAL, 300)  # the generator is in use when the fork comes

    def draw() -> np.ndarray:
        return mechanism.select_many(EQUAL, 300)

    def draw_and_fork() -> np.ndarray:
        return np.r_[draw(), in_a_child(draw)]

    started = [start_child(draw), start_child(draw), start_child(draw_and_fork)]
    after = draw()
    assert_nothing_in_common(before, after, *[finish(each) for each in started])


@pytest.mark.sampled(1)
@every_kind
def test_single_draws_after_fork(kind: Kind) -> None:
    mechanism = kind(epsilon=1.0, sensitivity=1.0)
    mechanism.select(EQUAL)

    def draw() -> np.ndarray:
        return np.array([mechanism.select(EQUAL) for _ in range(40)])

    started = [start_child(draw), start_child(draw)]
    assert_nothing_in_common(draw(), *[finish(each) for each in started])


@pytest.mark.parametrize("name", ["exponential mechanism", "permute-and-flip"])
def test_large_arrays_in_a_child_do_not_wait_for_threads_that_did_not_survive(name: str) -> None:
    mechanism = KINDS[name](epsilon=1.0, sensitivity=1.0)
    scores = np.zeros(2_000_000, dtype=np.float32)
    mechanism.select(scores)  # starts whatever threads there are

    def draw() -> np.ndarray:
        return np.array([mechanism.select(scores) for _ in range(4)])

    children = [finish(started) for started in (start_child(draw), start_child(draw))]
    assert not np.array_equal(*children)


def test_a_fork_while_other_threads_draw() -> None:
    mechanism = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0)
    scores = np.zeros(2_000_000, dtype=np.int8)
    stop = threading.Event()

    def keep_drawing() -> None:
        while not stop.is_set():
            mechanism.select(scores)

    threads = [threading.Thread(target=keep_drawing) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        children = [in_a_child(lambda: np.array([mechanism.select(scores) for _ in range(3)])) for _ in range(4)]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert len({child.tobytes() for child in children}) == 4  # three draws from two million each


@every_kind
def test_many_threads_at_once_draw_different_streams(kind: Kind) -> None:
    mechanism = kind(epsilon=1.0, sensitivity=1.0)
    start = threading.Barrier(12)

    def draw(_: int) -> np.ndarray:
        start.wait()
        many = mechanism.select_many(EQUAL, 400)
        return np.r_[many, [mechanism.select(EQUAL) for _ in range(40)]]

    with ThreadPoolExecutor(12) as pool:
        streams = list(pool.map(draw, range(12)))
    assert_nothing_in_common(*streams)


@every_kind
def test_short_lived_threads_do_not_start_over(kind: Kind) -> None:
    mechanism = kind(epsilon=1.0, sensitivity=1.0)
    streams: list[np.ndarray] = []
    for _ in range(20):
        thread = threading.Thread(target=lambda: streams.append(mechanism.select_many(EQUAL, 50)))
        thread.start()
        thread.join()
    assert_nothing_in_common(*streams)


def test_threads_that_draw_from_large_arrays_at_once() -> None:
    mechanism = dps.ExponentialMechanism(epsilon=1.0, sensitivity=1.0)
    scores = np.zeros(1_500_000, dtype=np.int16)
    with ThreadPoolExecutor(8) as pool:
        draws = list(pool.map(lambda _: mechanism.select(scores), range(24)))
    assert len(set(draws)) >= 22  # three coincidences among 24 of 1.5 million: below 10^-10


BARE_CLONE = """
import ctypes, os, platform, signal
import numpy as np
from dpselect._native import _core
number = {"x86_64": 56, "aarch64": 220}[platform.machine()]
system = ctypes.CDLL(None, use_errno=True).syscall
sampler = _core.Sampler("exponential", 1.0, 1.0, 1)
draw = lambda: sampler.select_many(np.zeros(1000), 300)
draw()
receiver, sender = os.pipe()
for _ in range(2):
    child = system(number, int(signal.SIGCHLD), 0, 0, 0, 0)
    if child == 0:
        os.write(sender, draw().tobytes())
        if system(number, int(signal.SIGCHLD), 0, 0, 0, 0) == 0:
            os.write(sender, draw().tobytes())
            os._exit(0)
        os.wait()
        os._exit(0)
    assert child > 0
    os.wait()
os.write(sender, draw().tobytes())
os.close(sender)
with os.fdopen(receiver, "rb") as file:
    print(file.read().hex())
"""


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"),
    reason="makes a system call of Linux by its number",
)
def test_children_of_a_bare_system_call_draw_different_streams() -> None:
    # Nobody tells the C library, so nothing that it does for `fork` is done.
    command = [sys.executable, "-c", BARE_CLONE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    streams = np.frombuffer(bytes.fromhex(done.stdout), dtype=np.int64).reshape(-1, 300)
    assert len(streams) == 5
    assert_nothing_in_common(*streams)

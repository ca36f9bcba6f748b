"""No call of the core goes on for ever: not if its scores are overwritten, not if somebody presses Ctrl-C,
and not if threads fight over a state."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator

import pytest

PATIENCE = 60.0
"""Seconds after which a child hangs."""
UNDER_WAY = 0.05
"""Seconds of its own processor time after which a call gets a Ctrl-C."""
SOON = 1.0
"""Seconds of its own processor time that a call may take after Ctrl-C, however busy the machine is besides.

That of the kernel does not count: how long it takes to give and take back memory depends on what else is in it.
"""

LONG_CALLS = {
    "one draw by Laplace noise": ("zeros = np.zeros(3 * 10**8, np.int8)", "sampler('laplace').select(zeros)"),
    "draws by Laplace noise": ("", "sampler('laplace').select_many(np.zeros(10**5), 10**6)"),
    "draws from rows": ("", "sampler('laplace').select_rows(np.broadcast_to(np.zeros(10**5), (10**7, 10**5)))"),
    "draws by permute-and-flip": (
        "scores = np.arange(10**5) * 1e-3",
        "sampler('permute_and_flip').select_many(scores, 2 * 10**7)",
    ),
    "draws by the exponential mechanism": (
        "scores = np.tile([0.0] * 1023 + [50.0], 10**4)",
        "sampler('exponential').select_many(scores, 150_000)",
    ),
    "peeling by Laplace noise": ("", "sampler('laplace').peel(np.zeros(10**5), 10**5)"),
    "peeling by permute-and-flip": ("", "sampler('permute_and_flip').peel(np.arange(10**6) * 1e-5, 10**6)"),
    "peeling by the exponential mechanism": ("", "sampler('exponential').peel(np.arange(10**6) * 1e-5, 10**6)"),
    "joint quantiles": (
        "values = np.random.default_rng(1).random(2 * 10**6); levels = [i / 25 for i in range(1, 25)]",
        "core.joint_quantiles(values, levels, 1.0, 1.0, 0.0, 1.0)",
    ),
    "quantiles by halving": (
        "values = np.random.default_rng(1).random(2 * 10**7); levels = [i / 1000 for i in range(1, 1000)]",
        "core.quantiles(values, levels, 1e-7, 0.0, 1.0)",
    ),
    "a quantile with much noise": (
        "values = np.random.default_rng(1).random(3 * 10**7, np.float32)",
        "core.IntervalSampler(1e-9, 1.0, 2).quantile(values, 0.5, 0.0, 1.0)",
    ),
    "a tally": ("", "core.tally(np.ones(1000, np.uint64), 10**12)"),
    "whole noise": (
        "values = np.zeros(2 * 10**7, np.int64)",
        "core.GeometricSampler(1.0, 1.0).draw_many(values, -9, 9)",
    ),
    "responses": ("bits = np.zeros(5 * 10**8, np.uint8)", "core.ResponseSampler(1.0, 1.0).draw(bits)"),
    "pieces": (
        "ends = np.arange(10**7 + 1.0); scores = np.zeros(10**7)",
        "core.IntervalSampler(1.0, 1.0, 2).draw(ends, scores)",
    ),
    "lines": (
        "ends = np.arange(3 * 10**6 + 1.0); scores = np.zeros(3 * 10**6)",
        "core.PiecewiseSampler(1.0, 1.0, 2).plan_lines(ends, scores, scores, None, None)",
    ),
    "points of lines": (
        "ends = np.arange(1001.0); scores = np.zeros(1000)\n"
        "plan = core.PiecewiseSampler(1.0, 1.0, 2).plan_lines(ends, scores, scores, None, None)",
        "plan.draw_many(3 * 10**7)",
    ),
    "parabolas": (
        "ends = np.arange(10**6 + 1.0); slopes = np.linspace(1.0, -1.0, ends.size)",
        "core.PiecewiseSampler(1.0, 1.0, 2).plan_concave(ends, slopes, False)",
    ),
}


BEGINNING = """
import json, signal, sys, threading, time
from resource import RUSAGE_SELF, getrusage
import numpy as np
from dpselect._native import _core as core
sampler = lambda law: core.Sampler(law, 1.0, 1.0, 1)
own_time = lambda: getrusage(RUSAGE_SELF).ru_utime
"""
END = b"\0"
ONE_AFTER_ANOTHER = f"""{BEGINNING}
known = dict(globals())
for line in sys.stdin:
    exec(json.loads(line), dict(known))
    print(end="\\0", flush=True)
"""


class Child:
    """A process that runs scripts, one after another: to start it takes longer than most of them."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def printed_by(self, script: str) -> str:
        """What a script prints, if it ends."""
        if self._process is None:
            command = [sys.executable, "-c", ONE_AFTER_ANOTHER]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        given, output = self._process.stdin, self._process.stdout
        assert given is not None
        assert output is not None
        given.write(json.dumps(script).encode() + b"\n")
        given.flush()
        printed = b""
        while not printed.endswith(END):
            part = os.read(output.fileno(), 4096) if select.select([output], [], [], PATIENCE)[0] else b""
            if not part:
                self.end()
                raise AssertionError("the script did not come to its end")
            printed += part
        return printed.removesuffix(END).decode()

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    child = Child()
    yield child
    child.end()


def printed_by(script: str) -> str:
    """What a script prints in a process of its own, if it ends."""
    done = subprocess.run(
        [sys.executable, "-c", BEGINNING + script], stdout=subprocess.PIPE, timeout=PATIENCE, text=True, check=False
    )
    return done.stdout


CTRL_C = """
signal.signal(signal.SIGVTALRM, lambda *_: signal.raise_signal(signal.SIGINT))
{setup}
began = own_time()
signal.setitimer(signal.ITIMER_VIRTUAL, {under_way})
try:
    while True:
        {call}
except KeyboardInterrupt:
    print(own_time() - began - {under_way})
"""


def seconds_to_end(child: Child, setup: str, call: str) -> float:
    """How much processor time a call takes after Ctrl-C, which comes by the processor time of the same process."""
    return float(child.printed_by(CTRL_C.format(setup=setup, call=call, under_way=UNDER_WAY)))


@pytest.mark.parametrize("name", LONG_CALLS)
def test_ctrl_c_ends_every_long_call(child: Child, name: str) -> None:
    assert seconds_to_end(child, *LONG_CALLS[name]) < SOON


def test_the_stop_watch_sees_a_call_that_does_not_listen(child: Child) -> None:
    setup = "from signal import SIG_BLOCK, SIG_SETMASK, SIGINT, pthread_sigmask as mask"
    until = UNDER_WAY + SOON + 0.1
    busy = f"until = own_time() + {until}; all(sum(range(10**4)) and own_time() < until for _ in iter(int, 1))"
    deaf = f"mask(SIG_BLOCK, [SIGINT]); {busy}; mask(SIG_SETMASK, [])"
    assert seconds_to_end(child, setup, deaf) > SOON


CHANGING = """
outcomes = set()
for turn in range(40):
    scores = np.full(2000, 1000.0)
    go = threading.Event()
    def lower():
        go.wait()
        for _ in range(turn * 2000):  # at the beginning of the call, or some of its milliseconds later
            pass
        scores[:] = -1e9
    thread = threading.Thread(target=lower)
    thread.start()
    go.set()
    try:
        indices = np.asarray({call})
        assert (0 <= indices).all() and (indices < 2000).all()
        outcomes.add('answer')
    except Exception as error:
        outcomes.add(type(error).__name__)
    thread.join()
print(*sorted(outcomes))
"""


@pytest.mark.parametrize("law", ["exponential", "permute_and_flip", "laplace"])
@pytest.mark.parametrize("call", ["select_many(scores, 10**5)", "peel(scores, 2000)", "select(scores)"])
def test_draws_from_scores_that_are_overwritten_end(child: Child, law: str, call: str) -> None:
    outcomes = set(child.printed_by(CHANGING.format(call=f"sampler('{law}').{call}")).split())
    assert outcomes
    assert outcomes <= {"answer", "InvalidScoresError"}


def test_a_signals_handler_may_draw_and_may_fork() -> None:
    # In the middle of a draw, by the processor time of this process alone: it has a stream of its own, and a child that
    # it forks does not go on with its parent's.
    script = """
import os, signal
outcomes = []
def handler(*_):
    outcomes.append(sampler('exponential').select(np.zeros(100)) < 100)
    if os.fork() == 0:
        outcomes.append('child')
signal.signal(signal.SIGPROF, handler)
ones = np.ones(1000, np.uint64)
signal.setitimer(signal.ITIMER_PROF, 0.1)
try:
    core.tally(ones, 3 * 10**7)
    written = ' '.join(map(str, [*outcomes, 'drew']))
except Exception as error:
    written = ' '.join(map(str, [*outcomes, type(error).__name__]))
os.write(1, written.encode() + b'\\n')  # at once, beside the other process
if 'child' in outcomes:
    os._exit(0)
os.wait()
"""
    assert sorted(printed_by(script).splitlines()) == ["True child SelectionError", "True drew"]


def test_a_child_forked_by_a_signals_handler_does_not_wait_for_its_parents_threads() -> None:
    # In the middle, as above, of a draw that other threads help with.
    script = """
import os, signal
children = []
def handler(*_):
    children.append(os.fork())
signal.signal(signal.SIGPROF, handler)
scores = np.arange(2 * 10**6) / 1e7
signal.setitimer(signal.ITIMER_PROF, 0.02)
try:
    sampler('permute_and_flip').select_many(scores, 2 * 10**6)
    written = 'drew'
except Exception as error:
    written = type(error).__name__
os.write(1, written.encode() + b'\\n')
if children == [0]:
    os._exit(0)
os.wait()
"""
    assert sorted(printed_by(script).splitlines()) == ["SelectionError", "drew"]

"""No call of the core goes on for ever: not if its scores are overwritten, not if somebody presses Ctrl-C,
and not if threads fight over a state."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time

import psutil
import pytest

PATIENCE = 60.0
"""Seconds after which a child hangs."""
SOON = 2.0
"""Seconds of its own processor time that a call may take after Ctrl-C, however busy the machine is besides."""

LONG_CALLS = {
    "one draw by Laplace noise": ("zeros = np.zeros(3 * 10**8, np.int8)", "sampler('laplace').select(zeros)"),
    "draws by Laplace noise": ("", "sampler('laplace').select_many(np.zeros(10**5), 10**6)"),
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
        "values = np.random.default_rng(1).random(2 * 10**6); levels = [i / 3000 for i in range(1, 3000)]",
        "core.joint_quantiles(values, levels, 1.0, 1.0, 0.0, 1.0)",
    ),
    "quantiles by halving": (
        "values = np.arange(2 * 10**7) * 0.618 % 1.0; levels = [i / 1000 for i in range(1, 1000)]",
        "core.quantiles(values, levels, 1e-7, 0.0, 1.0)",
    ),
    "a quantile with much noise": (
        "values = (np.arange(3 * 10**7) * 0.618 % 1.0).astype(np.float32)",
        "core.IntervalSampler(1e-9, 1.0, 2).quantile(values, 0.5, 0.0, 1.0)",
    ),
    "a tally": ("", "core.tally(np.ones(1000, np.uint64), 10**12)"),
    "whole noise": (
        "values = np.zeros(5 * 10**7, np.int64)",
        "core.GeometricSampler(1.0, 1.0).draw_many(values, -9, 9)",
    ),
    "responses": ("bits = np.zeros(5 * 10**8, np.bool_)", "core.ResponseSampler(1.0, 1.0).draw(bits)"),
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
    "planning a density": (
        "counts = np.random.default_rng(1).integers(0, 9, 50_000).astype(np.uint64)",
        "core.DensityPlan.of_counts(counts, None, 50_000, 1.0)",
    ),
    "draws of a density": (
        "plan = core.DensityPlan.of_counts(np.full(20, 50, np.uint64), None, 100, 1.0)",
        "plan.draw_counts(2 * 10**6)",
    ),
    "merges of states that claim the most that is read": (
        "import struct\n"
        "def state(magnitude):\n"
        "    known = b'\\x01' * (1 << 9)\n"
        "    head = b'dpps\\x01' + struct.pack('<BBddB', 1, 1, 1.0, 1.0, 1)\n"
        "    numbers = struct.pack('<QQBQhQQQQ', 0, 0, 0, magnitude, 0, 1 << 12, 1 << 20, 1, len(known))\n"
        "    return core.Partial.from_bytes(head + numbers + known)\n",
        "state(3).merged(state(2))",
    ),
}


def child(script: str) -> subprocess.Popen[str]:
    beginning = (
        "import threading, time\nimport numpy as np\nfrom dpselect._native import _core as core\n"
        "sampler = lambda law: core.Sampler(law, 1.0, 1.0, 1)\n"
    )
    return subprocess.Popen([sys.executable, "-c", beginning + script], stdout=subprocess.PIPE, text=True)


def printed_by(script: str) -> str:
    """What a script prints, if it ends."""
    with child(script) as process:
        try:
            return process.communicate(timeout=PATIENCE)[0]
        finally:
            process.kill()


def seconds_to_end(setup: str, call: str) -> float:
    """How much processor time a call takes after Ctrl-C."""
    earlier = children_took()
    loop = f"try:\n    while True:\n        {call}\nexcept KeyboardInterrupt:\n    print('ended')\n"
    script = f"{setup}\nprint('ready', flush=True)\n{loop}"
    with child(script) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.5)  # the call is under way
            before = sum(psutil.Process(process.pid).cpu_times()[:2])
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=PATIENCE)[0] == "ended\n"
        finally:
            process.kill()
    return children_took() - earlier - before


def children_took() -> float:
    """Seconds of processor time of all child processes that have ended."""
    took = resource.getrusage(resource.RUSAGE_CHILDREN)
    return took.ru_utime + took.ru_stime


@pytest.mark.parametrize("name", LONG_CALLS)
def test_ctrl_c_ends_every_long_call(name: str) -> None:
    assert seconds_to_end(*LONG_CALLS[name]) < SOON


def test_the_stop_watch_sees_a_call_that_does_not_listen() -> None:
    setup = "from signal import SIG_BLOCK, SIG_SETMASK, SIGINT, pthread_sigmask as mask"
    busy = f"until = time.process_time() + {SOON + 1}; all(time.process_time() < until for _ in iter(int, 1))"
    deaf = f"mask(SIG_BLOCK, [SIGINT]); {busy}; mask(SIG_SETMASK, [])"
    assert seconds_to_end(setup, deaf) > SOON


CHANGING = """
scores = np.full(2000, 1000.0)
go = threading.Event()
def lower():
    go.wait()
    time.sleep(0.3)
    scores[:] = -1e9
threading.Thread(target=lower, daemon=True).start()
go.set()
deadline = time.monotonic() + 1.5
outcomes = set()
try:
    while time.monotonic() < deadline:
        indices = {call}
        assert (0 <= np.asarray(indices)).all() and (np.asarray(indices) < 2000).all()
        outcomes.add('answer')
except Exception as error:
    outcomes.add(type(error).__name__)
print(*sorted(outcomes))
"""


@pytest.mark.parametrize("law", ["exponential", "permute_and_flip", "laplace"])
@pytest.mark.parametrize("call", ["select_many(scores, 10**5)", "peel(scores, 2000)", "select(scores)"])
def test_draws_from_scores_that_are_overwritten_end(law: str, call: str) -> None:
    outcomes = set(printed_by(CHANGING.format(call=f"sampler('{law}').{call}")).split())
    assert outcomes
    assert outcomes <= {"answer", "InvalidScoresError"}


@pytest.mark.parametrize("part", ["winner()", "so_far()", "to_bytes()", "merged(partial)"])
def test_threads_that_ask_for_a_state_that_is_used_all_get_an_error(part: str) -> None:
    # Every refusal builds an exception in Python, where the interpreter may hand over to another thread.
    script = f"""
import sys
sys.setswitchinterval(1e-6)
partial = core.Partial.of('exponential', 1.0, 1.0, 1, np.zeros(3), 0)
partial.winner()
refused = []
def ask():
    for _ in range(3000):
        try:
            partial.{part}
        except ValueError:
            refused.append(1)
threads = [threading.Thread(target=ask) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(len(refused))
"""
    assert printed_by(script) == "12000\n"


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
    print(*outcomes, 'drew')
except Exception as error:
    print(*outcomes, type(error).__name__)
import sys
sys.stdout.flush()
if 'child' in outcomes:
    os._exit(0)
os.wait()
"""
    assert sorted(printed_by(script).splitlines()) == ["True child SelectionError", "True drew"]


def test_a_child_forked_by_a_signals_handler_does_not_wait_for_its_parents_threads() -> None:
    # In the middle, as above, of a draw that other threads help with.
    script = """
import os, signal, sys
children = []
def handler(*_):
    children.append(os.fork())
signal.signal(signal.SIGPROF, handler)
scores = np.arange(2 * 10**6) / 1e7
signal.setitimer(signal.ITIMER_PROF, 0.1)
try:
    sampler('permute_and_flip').select_many(scores, 4 * 10**6)
    print('drew')
except Exception as error:
    print(type(error).__name__)
sys.stdout.flush()
if children == [0]:
    os._exit(0)
os.wait()
"""
    assert sorted(printed_by(script).splitlines()) == ["SelectionError", "drew"]

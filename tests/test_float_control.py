"""Draws are the same whatever a library has set in the processor's control register for floating point."""

from __future__ import annotations

import ctypes
import mmap
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from dpselect._native import _core

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or sys.platform != "linux",
    reason="sets the register by machine code of x86-64 Linux",
)

FLUSH_AND_ZEROS = 1 << 15 | 1 << 6
UPWARD, TO_ZERO = 2 << 13, 3 << 13
STANDARD = 0x1F80


@contextmanager
def register_of(word: int) -> Iterator[None]:
    """The control register with these bits besides the standard ones, on this thread."""
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\x0f\xae\x17\xc3")  # ldmxcsr [rdi]; ret
    code.write(b"\x0f\xae\x1f\xc3")  # stmxcsr [rdi]; ret
    start = ctypes.addressof(ctypes.c_char.from_buffer(code))
    function = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_uint32))
    load, store = function(start), function(start + 4)
    load(ctypes.c_uint32(STANDARD | word))
    try:
        yield
        found = ctypes.c_uint32()
        store(found)
        assert found.value & ~0x3F == STANDARD | word, "the core leaves the register as it was"
    finally:
        load(ctypes.c_uint32(STANDARD))


SETTINGS = {"nothing": 0, "subnormals as zero": FLUSH_AND_ZEROS, "rounding up": UPWARD, "rounding to zero": TO_ZERO}


def test_the_setting_has_an_effect() -> None:
    smallest = np.array([5e-324])
    with register_of(FLUSH_AND_ZEROS):
        is_zero = bool((smallest + smallest == 0.0)[0])
    assert is_zero
    assert smallest[0] + smallest[0] > 0.0


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("law", ["exponential", "permute_and_flip", "laplace"])
@pytest.mark.parametrize("count", [50, 300_000])
def test_subnormal_scores_are_told_apart(law: str, setting: str, count: int) -> None:
    scores = np.full(count, 5e-324)
    scores[7] = 1e-322
    with register_of(SETTINGS[setting]):
        sampler = _core.Sampler(law, 1e3, 5e-324, 1)
        drawn = [sampler.select(scores) for _ in range(20)]
        drawn += [*sampler.select_many(scores, 20), sampler.peel(scores, 1)[0]]
    assert set(drawn) == {7}


@pytest.mark.parametrize("setting", SETTINGS)
def test_grids_and_quantiles_are_the_same(setting: str) -> None:
    third = (1).to_bytes(1, "little"), (1).to_bytes(1, "little"), (3).to_bytes(1, "little")
    values = np.linspace(0.0, 10.0, 31)
    expected = _core.Grid(*third, 31).points()
    with register_of(SETTINGS[setting]):
        grid = _core.Grid(*third, 31)
        found, point = grid.points(), grid.point(7)
        answer = _core.IntervalSampler(1e6, 1.0, 2).grid_quantile(values, 0.5, grid)
    assert (found == expected).all()
    assert point == expected[7]
    assert answer in expected

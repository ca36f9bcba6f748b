"""One draw for each row of a matrix, beside `argmax` of each row and Gumbel noise in NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.line import Line
from benchmarks.lines_select import MECHANISMS
from benchmarks.peers import numpy_gumbel_rows
from benchmarks.timing import ratio

ROWS, COLUMNS = 1000, 50_000


def lines() -> Iterator[Line]:
    """A table of logits, and one of very many short rows."""
    generator = np.random.default_rng(20261125)
    logits = generator.normal(scale=3.0, size=(ROWS, COLUMNS)).astype(np.float32)
    about = partial(Line.of, n=ROWS * COLUMNS, dtype="float32", unit="x")
    for name in ("PF", "EM"):
        call = partial(MECHANISMS[name].select_rows, logits)
        what, case = "`select_rows` / `np.argmax(axis=1)`", f"{name}, {ROWS:,} x {COLUMNS:,} logits"
        yield about(ratio(call, partial(np.argmax, logits, axis=1)), what=what, case=case, at_most=0.8)
        what = "`select_rows` / NumPy Gumbel noise"
        yield about(ratio(call, numpy_gumbel_rows(logits), pairs=3), what=what, case=case, at_most=0.05)
    short = generator.normal(scale=3.0, size=(10**6, 50)).astype(np.float32)
    what, case = "`select_rows` / NumPy Gumbel noise", "PF, 1,000,000 x 50 logits"
    call = partial(MECHANISMS["PF"].select_rows, short)
    yield about(ratio(call, numpy_gumbel_rows(short), pairs=3), what=what, case=case)

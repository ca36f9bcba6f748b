"""A progress bar on standard error; it shows how much was read, not what."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager

_PATIENCE_SECONDS = 0.5


@contextmanager
def scan_progress(*, wanted: bool = True) -> Generator[Callable[[float], None] | None]:
    """What to call with the fraction read; None if nobody wants or sees it (standard error is not a terminal)."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    start = time.monotonic()
    with ExitStack() as stack:
        update: Callable[[float], None] | None = None

        def advance(fraction: float) -> None:
            nonlocal update
            if update is None and time.monotonic() - start >= _PATIENCE_SECONDS:
                update = stack.enter_context(_bar())
            if update is not None:
                update(fraction)

        yield advance


@contextmanager
def _bar() -> Generator[Callable[[float], None]]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading", total=1.0)

        def update(fraction: float) -> None:
            progress.update(task, completed=fraction)

        yield update

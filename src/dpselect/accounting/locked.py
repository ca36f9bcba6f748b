"""State that the threads of one process change one at a time."""

from __future__ import annotations

import threading
from typing import Any


class Locked:
    """Has a lock of its own, which copies and pickles do not contain: a copy goes on separately from the same state."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock())

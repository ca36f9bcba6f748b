"""How much memory this process can still get."""

from __future__ import annotations

import os
from pathlib import Path

_UNKNOWN = 4 * 2**30
"""Assumed if the system does not report it."""


def available_memory(root: Path = Path("/")) -> int:
    """Bytes that are free, or can be made free without swapping: the machine's, or the container's if that is less.

    >>> available_memory() > 0
    True
    """
    free = _meminfo(root / "proc/meminfo")
    return min([_physical() if free is None else free, *_left_in_containers(root)])


def _meminfo(path: Path) -> int | None:
    """Linux's own estimate."""
    for line in _text(path).splitlines():
        if line.startswith("MemAvailable:"):
            return 1024 * int(line.split()[1])
    return None


def _physical() -> int:
    """All of the machine's memory, if nothing better is known."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return _UNKNOWN


def _left_in_containers(root: Path) -> list[int]:
    """What the control groups of this process still allow (version 2), of those that have a limit."""
    left: list[int] = []
    for line in _text(root / "proc/self/cgroup").splitlines():
        group = Path(line.removeprefix("0::").lstrip("/")) if line.startswith("0::") else None
        for each in (group, *group.parents) if group is not None else ():
            folder = root / "sys/fs/cgroup" / each
            limit = _text(folder / "memory.max").strip()
            if limit.isdigit():
                used = int(_text(folder / "memory.current").strip() or 0)
                left.append(max(int(limit) - used + _cached(folder), 0))
    return left


def _cached(folder: Path) -> int:
    """File pages that count as used but would be dropped first."""
    for line in _text(folder / "memory.stat").splitlines():
        if line.startswith("inactive_file "):
            return int(line.split()[1])
    return 0


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""

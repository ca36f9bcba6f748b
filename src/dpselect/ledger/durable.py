"""Writes that are on disk when the call returns."""

from __future__ import annotations

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None


def to_disk(file: int) -> None:
    """Flush an open file to disk, except its times. On macOS `fsync` stops at the drive's cache."""
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if fcntl is not None and full is not None:
        fcntl.fcntl(file, full)
    else:
        getattr(os, "fdatasync", os.fsync)(file)


def file_to_disk(path: Path) -> None:
    """Flush the file at `path` to disk."""
    opened = os.open(path, os.O_RDWR)
    try:
        to_disk(opened)
    finally:
        os.close(opened)


def folder_to_disk(folder: Path) -> None:
    """Flush the names in a folder to disk; Windows does this by itself."""
    if hasattr(os, "O_DIRECTORY"):
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)

"""The compiled core; everything about it is in ``_core.pyi``.

Only `dpselect.mechanisms` may import it.
"""

import sys

from dpselect._native import _core as _core

# A free-threaded Python turns its lock on when it loads the core, unless it was told never to.
if not getattr(sys, "_is_gil_enabled", lambda: True)():
    raise ImportError(
        "dpselect is not yet checked without Python's global interpreter lock. "
        "Start Python with -X gil=1, or without PYTHON_GIL=0."
    )

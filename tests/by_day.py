"""How much of a large product of cases is run: a part in which each case of each axis comes by day, all every night."""

from __future__ import annotations

import os

BY_DAY = 40
EXAMPLES = int(os.environ.get("EXAMPLES", BY_DAY))
"""Of each property."""
EVERY_CASE = EXAMPLES > BY_DAY

"""What `make test` leaves to `make test-slow`, which sets ``SLOW=1``; so do `make mutants` and the nightly run.

By day, without it, tests marked `slow` are left out, a large product of cases is tried in a part in which each case of
each axis comes, and each property is tried on 25 examples. With it everything runs, on 200 examples of each property.
"""

from __future__ import annotations

import os

SLOW = os.environ.get("SLOW") == "1"
EXAMPLES = int(os.environ.get("EXAMPLES", 200 if SLOW else 25))
"""Of each property; `EXAMPLES` in the environment changes this number, and nothing else."""

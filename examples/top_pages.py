"""The private top 10 pages of a news portal, and how to read the certificate that comes with them.

Run it from the root of the repository: ``python examples/top_pages.py``.
"""

from __future__ import annotations

import json
from pathlib import Path

import dpselect as dps

CLICKS = Path(__file__).parent / "data" / "clicks.parquet"


def main() -> None:
    """Ask one question of the click data, and print the answer, the promise and the accuracy."""
    clicks = dps.Dataset(CLICKS, unit="session")
    # The portal's page numbers are public; which pages people opened is not.
    release = clicks.top_k("page", 10, candidates=range(1, 41271), epsilon=1.0)

    print("Pages opened by the most sessions, best first:", *release.value)
    print(release.promise)
    print(release.accuracy)

    certificate = json.loads(release.to_json())
    print("Proved in:", *certificate["proofs"])


if __name__ == "__main__":
    main()

"""The picture of the README and of the landing page: ``python docs/picture.py`` writes it.

It shows the probabilities of answers for data that are public: nothing like it may be shown of private data.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from examples.figures.compact import compact

import dpselect as dps
from dpselect.charts import Axis, Series, lines, save

ROOT = Path(__file__).parents[1]
CLICKS = ROOT / "examples" / "data" / "clicks.parquet"
PICTURE = ROOT / "docs" / "static" / "right_answers.svg"
PAGES = 41270
ROWS = (3_000, 30_000, 294_009)
"""How many of the first rows are asked."""

EPSILONS = np.geomspace(0.0003, 0.3, 121)


def chances() -> dict[str, np.ndarray]:
    """The probability that the right page is selected, at each of `EPSILONS`, under the number of sessions."""
    clicks = pq.read_table(CLICKS)
    session, page = (clicks[name].to_numpy() for name in ("session", "page"))
    found: dict[str, np.ndarray] = {}
    for rows in ROWS:
        opened = np.unique(np.stack([session[:rows], page[:rows]]), axis=1)  # a session counts once for each page
        counts = np.bincount(opened[1], minlength=PAGES + 1)[1:]
        right = [_chance(counts, epsilon) for epsilon in EPSILONS]
        found[f"{np.unique(opened[0]).size:,} sessions"] = np.array(right)
    return found


def _chance(counts: np.ndarray, epsilon: float) -> float:
    law = dps.PermuteAndFlip(epsilon=epsilon, sensitivity=1, monotonic=True).pmf(counts)
    return float(law[counts == counts.max()].sum())


def draw(path: Path) -> None:
    """Write the picture."""
    chart = lines(
        [Series(name=name, x=EPSILONS, y=curve) for name, curve in chances().items()],
        x=Axis(title="epsilon: how much the answer may depend on any one session", log=True),
        y=Axis(title="probability", lowest=0.0, highest=1.0),
        title="How often the private answer is right",
        subtitle=f"The most visited of {PAGES:,} pages, by permute-and-flip, on public click data.",
    )
    save(chart, path)
    path.write_text(compact(path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    draw(PICTURE)

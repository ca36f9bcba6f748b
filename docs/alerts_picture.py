"""The picture of the page on alerts: ``python docs/alerts_picture.py`` writes it.

It shows the probabilities of answers for counts that are made up: nothing like it may be shown of private data.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from examples.figures.compact import compact

import dpselect as dps
from dpselect.charts import Axis, Series, lines, save

PICTURE = Path(__file__).parent / "static" / "alerts.svg"
DAYS = 120
THRESHOLD = 250
EPSILONS = (0.1, 0.3, 1.0)


def daily_counts() -> np.ndarray:
    """Visits with cough a day: a weekly wave around 180, and from day 80 on an outbreak that grows by 2 a day."""
    days = np.arange(DAYS)
    return np.round(180.0 + 25.0 * np.sin(2.0 * np.pi * days / 7.0) + 2.0 * np.maximum(days - 80, 0))


def alert_by_day(epsilon: float) -> np.ndarray:
    """The probability that a stream of this epsilon has said yes by each day."""
    stream = dps.AboveThreshold(THRESHOLD, epsilon=epsilon, sensitivity=1, moves="up")
    return np.cumsum(stream.pmf(daily_counts())[:-1])


def draw(path: Path) -> None:
    """Write the picture."""
    chart = lines(
        [Series(name=f"epsilon = {epsilon:g}", x=np.arange(DAYS), y=alert_by_day(epsilon)) for epsilon in EPSILONS],
        x=Axis(title="day; the outbreak begins on day 80, and passes the threshold on day 106"),
        y=Axis(title="probability that the alert was raised", lowest=0.0, highest=1.0),
        title="When the alert comes",
        subtitle=f"One stream with threshold {THRESHOLD} on {DAYS} made-up daily counts.",
    )
    save(chart, path)
    path.write_text(compact(path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    draw(PICTURE)

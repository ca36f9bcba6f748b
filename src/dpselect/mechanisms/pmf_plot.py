"""The chart of a mechanism's law on given scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpselect.charts import bars
from dpselect.mechanisms.candidates import Pick

if TYPE_CHECKING:
    from altair import LayerChart

MOST_CANDIDATES = 50
"""Up to this number each candidate has a bar, in the order given."""

SHOWN_OF_MANY = 20
"""With more candidates, this many have one: the most probable, in decreasing order."""


def pmf_chart(probabilities: NDArray[np.float64], label: Pick | None, *, title: str, subtitle: str) -> LayerChart:
    """The chart `Mechanism.plot_pmf` returns.

    Args:
        probabilities: shape ``(n,)``, those of a mechanism's law.
        label: from an index to the candidate; None to show the index.
        title: the beginning of the title: the mechanism.
        subtitle: the beginning of the subtitle: the conditions.
    """
    count = len(probabilities)
    shown = np.arange(count)
    if count > MOST_CANDIDATES:
        shown = np.argsort(-probabilities, kind="stable")[:SHOWN_OF_MANY]
        title += f": probability of the {SHOWN_OF_MANY} likeliest of {count:,} candidates"
        subtitle += f" The last bar is the sum of the other {count - SHOWN_OF_MANY:,}."
    else:
        title += f": probability of each of {count} candidates" if count > 1 else ": probability of the one candidate"
    labels = [str(index if label is None else label(int(index))) for index in shown]
    others = None
    if count > len(shown):
        labels.append(f"the other {count - len(shown):,}")
        others = float(np.delete(probabilities, shown).sum())
    return bars(
        labels,
        probabilities[shown].tolist(),
        category="candidate" if label is not None else "index",
        value="probability of being selected",
        title=title,
        subtitle=subtitle,
        others=others,
    )

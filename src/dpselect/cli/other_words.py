"""Words that people try as commands, and what to use instead."""

from __future__ import annotations

from collections.abc import Sequence

from cyclopts.exceptions import UnknownCommandError

_MOST_COMMON = "Use most-common: the value that the most units have."
_MEAN = "Use mean: the mean of one value per unit."
_DENSITY = "Use density: the share of the units in each bin of a column of numbers."
_EXTREME = "It would show the value of one unit. Use quantile with a level near the end, such as 0.01 or 0.99."
_HISTOGRAM = "Use histogram: the number of units with each value; or count: the number of units."
_SUM = "Use sum: what the numbers of a column add up to, a bounded amount for each unit."
_VALUES = "Use values: the values that enough units have, without a public list."
_SPREAD = "Use variance: its square root is the standard deviation; or quantiles, such as 0.25,0.75."

MEANT = {
    "mode": _MOST_COMMON,
    "argmax": _MOST_COMMON,
    "average": _MEAN,
    "avg": _MEAN,
    "hist": _HISTOGRAM,
    "counts": _HISTOGRAM,
    "frequencies": _HISTOGRAM,
    "total": _SUM,
    "unique": _VALUES,
    "distinct": _VALUES,
    "std": _SPREAD,
    "stddev": _SPREAD,
    "spread": _SPREAD,
    "distribution": _DENSITY,
    "min": _EXTREME,
    "max": _EXTREME,
    "percentile": "Use quantile: its level is from 0 to 1, so the 90th percentile is at 0.9.",
    "percentiles": "Use quantiles: their levels are from 0 to 1, such as 0.25,0.5,0.75.",
    "top": "Use top-k: the most common values, best first.",
    "rarest": "Use least-common: the value that the fewest units have.",
    "budget": "Use ledger: ledger open makes an account, and ledger show says what is left of it.",
}
"""Other words for a command that there is."""


def instead(error: UnknownCommandError, arguments: Sequence[str]) -> str:
    """What to use instead of the command that `arguments` begin with; empty if that is not known."""
    unknown = (error.unused_tokens or [""])[0]
    word = unknown.lower()
    if list(arguments[:1]) != [unknown]:
        return ""
    return f"There is no command {word}. {MEANT[word]}" if word in MEANT else ""

"""What a page calls a question: in everyday words, and by what is asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpselect.questions.question import Question
from dpselect.questions.words import as_text

_ANY = {"top_k": "What are the most common values?"}
"""Questions whose example asks for more than the question has to."""

_WORDS = {
    "count": "number of people",
    "histogram": "counts of values",
    "most_common": "most common value",
    "top_k": "most common values",
    "values": "names of values",
    "least_common": "rarest value",
    "sum": "sum",
    "mean": "average",
    "variance": "spread",
    "median": "middle value",
    "quantile": "percentile",
    "quantiles": "percentiles",
    "upper_bound": "upper bound",
    "density": "distribution",
    "best_by": "largest sum",
    "best_date": "date to meet on",
    "best_price": "price to ask",
}
"""What a question is called in few words."""

_QUARTILES = [0.25, 0.5, 0.75]


def in_few_words(about: type[Question]) -> str:
    """What a question is called in few words, beside its title.

    >>> from dpselect.questions.question import BY_NAME
    >>> [in_few_words(BY_NAME[name]) for name in ("mean", "quantile")]
    ['average', 'percentile']
    """
    return _WORDS.get(about.name, about.name.replace("_", " "))


def title(about: type[Question], arguments: Mapping[str, Any] | None = None) -> str:
    """The question as a heading; with the arguments as far as they are known.

    >>> from dpselect.questions.question import BY_NAME
    >>> title(BY_NAME["top_k"])
    'What are the most common values?'
    >>> title(BY_NAME["top_k"], {"k": 5, "with_counts": True})
    'What are the 5 most common values, and how many have each?'
    >>> title(BY_NAME["quantile"], {"level": 0.75}), title(BY_NAME["median"])
    ('Below which number do 75% of the values lie?', 'What is the median?')
    >>> title(BY_NAME["quantiles"]), title(BY_NAME["quantiles"], {"levels": [0.1, 0.5]})
    ('What are the quartiles?', 'What are the quantiles?')
    """
    given = arguments or {}
    if about.name == "top_k" and isinstance(k := given.get("k"), int):
        asked = "What is the most common value" if k == 1 else f"What are the {k:,} most common values"
        counts = "how many have it" if k == 1 else "how many have each"
        return f"{asked}, and {counts}?" if given.get("with_counts") else f"{asked}?"
    if about.name == "quantiles" and given.get("levels", _QUARTILES) != _QUARTILES:
        return "What are the quantiles?"
    if about.name == "quantile" and isinstance(level := given.get("level"), float):
        return f"Below which number do {as_text(round(100 * level, 6))}% of the values lie?"
    return _ANY.get(about.name, about.asks)

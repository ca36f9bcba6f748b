"""What pages say: questions in everyday words, names of fields, and errors without a word of a command or of Python."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from dpselect.errors import InvalidParameterError, LedgerError, SelectionError
from dpselect.questions.question import Question
from dpselect.questions.words import as_text, counted

GROUPS = {
    "How many": {"count": "number of people", "histogram": "counts of values", "values": "names of values"},
    "Sizes and spreads": {
        "mean": "average",
        "median": "middle value",
        "sum": "sum",
        "quantile": "percentile",
        "quantiles": "percentiles",
        "std": "standard deviation",
        "variance": "variance",
        "density": "distribution",
        "upper_bound": "upper bound",
    },
    "The best of several": {
        "most_common": "most common value",
        "top_k": "most common values",
        "least_common": "rarest value",
        "best_by": "largest sum",
        "best_price": "price to ask",
        "best_date": "date to meet on",
    },
}
"""The questions, as people look for them, and what each is called in few words."""

_LABELS = {
    "k": "how many values",
    "sum": "column to add up",
    "candidates": "values to choose from",
    "clip": "what one may add",
    "level": "share below",
    "levels": "shares below",
    "bounds": "possible values",
    "between": "only numbers between",
    "by": "one answer for each",
    "where": "only rows with",
    "people": "how many people, about",
    "usable_epsilon": "epsilon for the number of people",
    "candidates_as": "type of the values",
    "groups_as": "type of the groups",
    "decimal": "decimal mark",
    "thousands": "thousands mark",
    "strip": "signs around numbers",
    "as_date": "dates of timestamps",
    "ignore_case": "ignore capitals",
    "trim": "ignore blanks around text",
    "header_row": "row of the names of columns",
    "skip_lines": "lines above the names of columns",
}


def label(name: str) -> str:
    """What a page calls an argument."""
    if name.endswith("_per_unit"):
        return name.removeprefix("max_").replace("_per_unit", " of one person")
    return _LABELS.get(name, name.replace("_", " "))


def title(about: type[Question], arguments: Mapping[str, Any] | None = None) -> str:
    """The question as a heading; with the arguments as far as they are known.

    >>> from dpselect.questions.question import BY_NAME
    >>> title(BY_NAME["top_k"]), title(BY_NAME["median"])
    ('What are the most common values?', 'What is the median?')
    >>> title(BY_NAME["top_k"], {"k": 5, "with_counts": True})
    'What are the 5 most common values, and how many have each?'
    """
    given = arguments or {}
    if about.name == "top_k":
        if not isinstance(k := given.get("k"), int):
            return "What are the most common values?"  # its example asks for more
        asked = "What is the most common value" if k == 1 else f"What are the {k:,} most common values"
        counts = "how many have it" if k == 1 else "how many have each"
        return f"{asked}, and {counts}?" if given.get("with_counts") else f"{asked}?"
    if about.name == "quantiles" and given.get("levels", [0.25, 0.5, 0.75]) != [0.25, 0.5, 0.75]:
        return "What are the quantiles?"
    if about.name == "quantile" and isinstance(level := given.get("level"), float):
        return f"Below which number do {as_text(round(100 * level, 6))}% of the values lie?"
    return about.asks


def said_back(name: str, listed: Sequence[Any]) -> str:
    """How a list was understood, in few words: how many, the first ones and the last.

    >>> said_back("candidates", ["Paris", "Lyon", "Nice", "Rome"]), said_back("groups", ["a"])
    ('4 values: Paris, Lyon, ..., Rome', '1 group: a')
    """
    length = listed[-1] - listed[0] + 1 if isinstance(listed, range) else len(listed)  # may be too long for len()
    ends = listed if length < 4 else (listed[0], listed[1], ..., listed[-1])
    texts = ("..." if each is ... else as_text(each) for each in ends)
    shown = (text if len(text) <= 40 else f"{text[:37]}..." for text in texts)
    return f"{counted(length, 'value' if name == 'candidates' else name.removesuffix('s'))}: {', '.join(shown)}"


_FILE = re.compile(r"(,? or)?,? ?@file( with one per line)?(,? or @codes\.csv:column)?")
_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)")
_GIVEN = re.compile(r"\b([a-z_]+)=([-.\w/]+)")
_FOREIGN = re.compile(
    r"--|@|[a-z]_[a-z]|\w\(|\w=|[\[\]{}`]|docs/|\bdpselect [a-z]|\b(dps|data)\.[a-z]|"
    r"\b(None|True|False|COLUMN|ROWS|Fraction|Dataset|Python)\b"
)
"""What only those understand who write commands or Python."""

_SENTENCES = re.compile(r"(?<=[.?!]) (?=[A-Z\"'])")


def helped(text: str) -> str:
    """The help of an argument, in the words of a page.

    >>> helped("Public values: 1..100, red,green, @file or @codes.csv:column. Without them, and with a --delta, x.")
    'Public values: 1..100, red,green, or one on each line. Without them, and with a delta, x.'
    """
    said = _FILE.sub(", or one on each line", text).replace(" of COLUMN", "").replace("in COLUMN", "there")
    return options_in_words(said)


def options_in_words(text: str) -> str:
    """A text with the labels of fields in place of options of a command."""
    return _OPTION.sub(lambda found: label(found[1].replace("-", "_")), text)


def in_two(text: str) -> tuple[str, str]:
    """The first sentences of a help, which are shown at once, and the rest."""
    first, *rest = _SENTENCES.split(text)
    while rest and len(first) < 60:
        first = f"{first} {rest.pop(0)}"
    return first, " ".join(rest)


def does(about: type[Question]) -> str:
    """What a question does, below its title."""
    said = about.does.replace("SUM", "another column").replace("COLUMN", "the column").replace("LEVEL", "a share")
    return said.replace(" K ", " ")


def error_in_words(error: SelectionError) -> str:
    """What is wrong, beside the field that it is about: what is expected, and what to do.

    A sentence of the hint that only makes sense to who writes commands or Python is left out.

    >>> error_in_words(InvalidParameterError("step", 0.0, "a finite number > 0", "Try data.where()."))
    'Expected a finite number > 0.'
    >>> error_in_words(InvalidParameterError("usable_epsilon", 1, "None, unless `max_values_per_unit` is 1"))
    'Expected nothing, unless values of one person is 1.'
    """
    if isinstance(error, InvalidParameterError):
        said = error.remedy(lambda name, value: f"{label(name)} {'' if value == 'True' else value}".rstrip())
        said = re.sub("^(None|False)(?=[,: .])", "nothing", said)
        begin, end = ("The table cannot be read: e", " Nothing was charged.") if error.name == "source" else ("E", "")
        first, *more = _SENTENCES.split(helped(f"{begin}xpected {said}"))
        if _FOREIGN.search(first):
            first = "This cannot be used here."
        return " ".join((first + end, *(each for each in more if not _FOREIGN.search(each))))
    said = error.what if isinstance(error, LedgerError) else str(error)
    return _GIVEN.sub(r"\1 \2", f"{said[:1].upper()}{said[1:]}".rstrip(".") + ".")

"""The table of questions in ``docs/tables.md``, from the questions themselves: ``python docs/questions.py`` prints it.

``make readme`` keeps it up to date; a test compares them.
"""

from __future__ import annotations

from dpselect.questions.question import BY_NAME

ALSO = {
    "count": ("How many people meet a condition?", "adult.csv age --between 65 120 --unit person_id --epsilon 0.5"),
    "histogram": ("How many are in each age group?", "adult.csv age --unit person_id --bins 0,18,65,120 --epsilon 0.5"),
    "quantile": ("And without known bounds?", "adult.csv hours_per_week 0.9 --unit person_id --step 1 --epsilon 0.5"),
    "top_k": ("And without a list of candidates?", "clicks.parquet page 10 --unit session --epsilon 1 --delta 1e-6"),
}
"""Another question that one answers, and its command."""

_PAGES = {"median": "quantiles", "quantile": "quantiles", "std": "variance"}
"""The pages of those that have no page of their own."""


def table() -> str:
    """Each question with a command that runs in the folder of the example data."""
    lines = ["| question | `dpselect` ... | more |", "|---|---|---|"]
    for each in BY_NAME.values():
        name = _PAGES.get(each.name, each.name)
        page = f"[{name.replace('_', ' ')}](tasks/{name}.md)"
        asked = [(each.asks, " ".join(each.example)), *([ALSO[each.name]] if each.name in ALSO else [])]
        lines += [f"| {asks} | `{each.name.replace('_', '-')} {typed}` | {page} |" for asks, typed in asked]
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())

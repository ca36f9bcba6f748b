"""The table of questions in ``docs/tables.md``, from the questions themselves: ``python docs/questions.py`` prints it.

``make readme`` keeps it up to date; a test compares them.
"""

from __future__ import annotations

from dpselect.questions.question import BY_NAME


def table() -> str:
    """Each question with a command that runs in the folder of the example data."""
    lines = ["| question | `dpselect` ... | more |", "|---|---|---|"]
    for each in BY_NAME.values():
        page = f"[{each.page.replace('_', ' ')}](tasks/{each.page}.md)"
        for asks, example in ((each.asks, each.example), *each.also):
            typed = " ".join([each.name.replace("_", "-"), *example])
            lines.append(f"| {asks} | `{typed}` | {page} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())

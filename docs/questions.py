"""The tables of questions, from the questions themselves: ``python docs/questions.py readme`` prints one as Markdown.

Parts of ``README.md`` and ``docs/tables.md``, kept up to date by ``make readme``; a test compares them.
"""

from __future__ import annotations

import sys

from dpselect.questions import COMMANDS


def of_readme() -> str:
    """Each question with a command that runs in the folder of the example data."""
    lines = ["| question | `dpselect` ... | more |", "|---|---|---|"]
    for each in COMMANDS.values():
        page = f"[{each.page.replace('_', ' ')}](docs/tasks/{each.page}.md)"
        for asks, example in ((each.asks, each.example), *each.also):
            typed = " ".join([each.name.replace("_", "-"), *example])
            lines.append(f"| {asks} | `{typed}` | {page} |")
    return "\n".join(lines)


def of_guide() -> str:
    """Each question with the method of a `dpselect.Dataset` and its page."""
    lines = ["| question | method | page |", "|---|---|---|"]
    for each in COMMANDS.values():
        lines.append(f"| {each.asks} | `{each.name}` | [{each.page.replace('_', ' ')}](tasks/{each.page}.md) |")
    return "\n".join(lines)


if __name__ == "__main__":
    print({"readme": of_readme, "guide": of_guide}[sys.argv[1]]())

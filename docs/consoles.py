"""What documents show of a terminal: ``python docs/consoles.py FILE...`` runs the commands and puts in the output.

In a block marked ``console`` each line that begins with ``$ dpselect`` is run from the root of the repository, and what
follows up to the next ``$`` has to be all that is printed. Other commands are shown, not run.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "tasks").glob("*.md")])
_BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
WIDTH = "110"
"""Of the terminal that documents show, in characters."""

_COMMAND = "$ dpselect "
_NEXT = re.compile(r"^(?=\$ )", re.MULTILINE)


@dataclass(frozen=True)
class Shown:
    """A command of a document, and what it is shown to print."""

    document: str
    command: str
    output: str


def shown_in(document: str, text: str) -> list[Shown]:
    """The commands of all console blocks, lines that end in a backslash joined."""
    found: list[Shown] = []
    for block in _BLOCK.findall(text):
        for part in _NEXT.split(block.replace("\\\n", " ")):
            command, _, output = part.partition("\n")
            if command.startswith(_COMMAND):
                found.append(Shown(document, command.removeprefix(_COMMAND), output.rstrip()))
    return found


def printed(command: str) -> str:
    """What the command prints, errors too."""
    from dpselect.cli import main

    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), contextlib.chdir(ROOT):
        main(shlex.split(command))
    return said.getvalue().rstrip()


def renewed(text: str, run: Callable[[str], str]) -> str:
    r"""`text` with what `run` says of each command.

    >>> print(renewed("```console\n$ ls\n$ dpselect plan \\\n  --json\nold\n```\n", lambda command: "new").rstrip())
    ```console
    $ ls
    $ dpselect plan \
      --json
    new
    ```
    """
    return _BLOCK.sub(lambda block: f"```console\n{''.join(_parts(block[1], run))}```", text)


def _parts(block: str, run: Callable[[str], str]) -> list[str]:
    parts = _NEXT.split(block)
    for place, part in enumerate(parts):
        if part.startswith(_COMMAND):
            command = re.match(r"(?:[^\n]*\\\n)*[^\n]*\n", part)
            assert command is not None
            typed = command[0].replace("\\\n", " ").removeprefix(_COMMAND)
            parts[place] = f"{command[0]}{run(typed)}\n"
    return parts


if __name__ == "__main__":
    os.environ["COLUMNS"] = WIDTH
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(renewed(path.read_text(encoding="utf-8"), printed), encoding="utf-8")

"""What the documents show of a terminal is what the commands print.

In a block marked ``console`` each line that begins with ``$ dpselect`` is run from the root of the repository, and what
follows up to the next ``$`` has to be all that is printed. Other commands are shown, not run. A document shows no
answer that could come out otherwise with a probability above 1e-9.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from dpselect.cli import main

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "tasks").glob("*.md")])
BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMMAND = "$ dpselect "


@dataclass(frozen=True)
class Shown:
    """A command of a document, and what it is shown to print."""

    document: str
    command: str
    output: str


def shown_in(document: str, text: str) -> list[Shown]:
    """The commands of all console blocks, lines that end in a backslash joined."""
    found: list[Shown] = []
    for block in BLOCK.findall(text):
        for part in re.split(r"^(?=\$ )", block.replace("\\\n", " "), flags=re.MULTILINE):
            command, _, output = part.partition("\n")
            if command.startswith(COMMAND):
                found.append(Shown(document, command.removeprefix(COMMAND), output.rstrip()))
    return found


ALL = [each for path in DOCUMENTS for each in shown_in(path.name, path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("shown", ALL, ids=[f"{each.document}: {each.command[:40]}" for each in ALL])
def test_a_document_shows_what_is_printed(
    shown: Shown, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    main(shlex.split(shown.command))
    out, err = capsys.readouterr()
    assert (out + err).rstrip() == shown.output


def test_commands_are_found_and_joined() -> None:
    text = "```console\n$ pip install x\n$ dpselect plan \\\n    --epsilon 1\nfirst\n\nsecond\n$ dpselect doctor\n```\n"
    assert shown_in("x", text) == [
        Shown("x", "plan      --epsilon 1", "first\n\nsecond"),
        Shown("x", "doctor", ""),
    ]


def test_documents_have_consoles() -> None:
    assert len(ALL) >= 3

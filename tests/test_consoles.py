"""What the documents show of a terminal is what the commands print; see ``docs/consoles.py``.

A document shows no answer that could come out otherwise with a probability above 1e-9.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from functools import cache
from pathlib import Path

import pytest
from docs.blocks import held
from docs.commands import QUESTIONS
from docs.commands import reference as made_reference
from docs.consoles import DOCUMENTS, WIDTH, Shown, shown_in

from dpselect.cli import main
from dpselect.cli.commands import NAMES, Part, command, option_name

ROOT = Path(__file__).parents[1]
reference = cache(made_reference)

ALL = [each for path in DOCUMENTS for each in shown_in(path.name, path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("shown", ALL, ids=[f"{each.document}: {each.command[:40]}" for each in ALL])
def test_a_document_shows_what_is_printed(
    shown: Shown, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", WIDTH)
    main(shlex.split(shown.command))
    out, err = capsys.readouterr()
    assert (out + err).rstrip() == shown.output


def test_commands_are_found_and_joined() -> None:
    text = "```console\n$ pip install x\n$ dpselect plan \\\n    --epsilon 1\nfirst\n\nsecond\n$ dpselect doctor\n```\n"
    assert shown_in("x", text) == [Shown("x", "plan      --epsilon 1", "first\n\nsecond"), Shown("x", "doctor", "")]


def test_every_task_has_a_page_that_shows_a_command() -> None:
    tasks = {f"{path.stem}.md" for path in (ROOT / "docs" / "tasks").glob("*.md")}
    assert tasks - {each.document for each in ALL} == set()


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_the_shell_numbers_the_rows_of_a_table(mark: bytes, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^    (LC_ALL=C awk .*)$", page, re.MULTILINE)
    (tmp_path / "people.csv").write_bytes(mark + 'âge,job\n37,"a, b"\n41,é\n'.encode())
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True, timeout=30)
    assert (tmp_path / "numbered.csv").read_bytes() == 'row,âge,job\n1,37,"a, b"\n2,41,é\n'.encode()


LINE = re.compile(r"^\|[^|]*\| `([a-z-]+ [^`]*\.(?:csv|parquet) [^`]*)` \|", re.MULTILINE)
TABLE = LINE.findall((ROOT / "docs" / "tables.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("command", TABLE)
def test_a_question_of_the_table_can_be_asked(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT / "examples" / "data")
    assert os.path.exists(command.split()[1])
    assert main([*shlex.split(command), "--dry-run"]) == 0
    assert capsys.readouterr().err == ""


def test_the_table_of_questions_is_found() -> None:
    assert {command.split()[0] for command in TABLE} == {*QUESTIONS}


def test_the_reference_of_the_command_line_is_that_of_the_commands() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert held(page, "commands") == reference(), "make readme puts it right"


def test_every_command_and_option_is_in_the_reference() -> None:
    said = reference()
    assert len(NAMES) >= len(QUESTIONS) + 11
    for name in NAMES:
        assert re.search(rf"^### `{name}[ `]", said, re.MULTILINE)
        about = command(name)
        assert all(f"- `{each.name.upper()}`" in said for each in about.positional if each.name != "source")
        shown = [each for part, options in about.parts.items() if part != Part.UNSHOWN for each in options]
        assert all(f"- `{option_name(each)}" in said for each in shown)

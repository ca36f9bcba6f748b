"""What shells offer: commands, options, their values, and the names of files."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Literal

import pytest

from dpselect.cli.completion import completion

Captured = pytest.CaptureFixture[str]
_ASK = """
{script}
complete -p dpselect
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_dpselect
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def script_for(shell: Literal["bash", "zsh", "fish"], capsys: Captured) -> str:
    completion(shell)
    return capsys.readouterr().out


def offered(words: list[str], folder: Path, capsys: Captured) -> tuple[str, list[str]]:
    """How completion is registered with bash, and what it offers for the last of the words."""
    quoted = " ".join(f"'{word}'" for word in ["dpselect", *words])
    text = _ASK.format(script=script_for("bash", capsys), words=quoted)
    done = subprocess.run(["bash", "-c", text], cwd=folder, capture_output=True, text=True, check=True, timeout=30)
    registered, *reply = done.stdout.splitlines()
    return registered, [each for each in reply if each]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["med"], ["median"]),
        (["median", "cle"], ["cleaned.csv"]),
        (["median", "x.csv", "age", "--max-r"], ["--max-rows-per-unit"]),
        (["median", "x.csv", "age", "--engine", "p"], ["polars"]),
        (["median", "x.csv", "age", "--neighbours", "r"], ["replace-one"]),
        (["best-p"], ["best-price"]),
    ],
)
def test_bash_offers(words: list[str], expected: list[str], tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "cleaned.csv").touch()
    registered, reply = offered(words, tmp_path, capsys)
    assert reply == expected
    # Where the script has nothing to offer, such as for @codes.csv, bash offers the names of files.
    assert "-o default" in registered
    assert "-o filenames" in registered


def test_other_shells_offer_files(capsys: Captured) -> None:
    assert "_files" in script_for("zsh", capsys)
    # fish offers files unless a command is told to take none, which no line says of all of it.
    fish = script_for("fish", capsys)
    assert not any(line.startswith("complete -c dpselect -f") for line in fish.splitlines())

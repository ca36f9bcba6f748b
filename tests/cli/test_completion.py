"""What shells offer: commands, options, their values, and the names of files."""

from __future__ import annotations

import subprocess
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from dpselect.cli import main

_ASK = """
{script}
complete -p dpselect
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_dpselect
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture(scope="module")
def bash() -> str:
    """The script, which takes a while to make."""
    with redirect_stdout(StringIO()) as printed:
        assert main(["completion"]) == 0
    return printed.getvalue()


def offered(words: list[str], folder: Path, script: str) -> tuple[str, list[str]]:
    """How completion is registered with bash, and what it offers for the last of the words."""
    quoted = " ".join(f"'{word}'" for word in ["dpselect", *words])
    text = _ASK.format(script=script, words=quoted)
    done = subprocess.run(["bash", "-c", text], cwd=folder, capture_output=True, text=True, check=True, timeout=30)
    registered, *reply = done.stdout.splitlines()
    return registered, [each for each in reply if each]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["med"], ["median"]),
        (["qu"], ["quantile", "quantiles"]),
        (["median", "cle"], ["cleaned.csv"]),
        (["median", "x.csv", "age", "--max-r"], ["--max-rows-per-unit"]),
        (["median", "x.csv", "age", "--neighbours", "r"], ["replace-one"]),
        (["best-p"], ["best-price"]),
    ],
)
def test_bash_offers(words: list[str], expected: list[str], tmp_path: Path, bash: str) -> None:
    (tmp_path / "cleaned.csv").touch()
    registered, reply = offered(words, tmp_path, bash)
    assert reply == expected
    # Where the script has nothing to offer, such as for @codes.csv, bash offers the names of files.
    assert "-o default" in registered
    assert "-o filenames" in registered

"""A server's address in a wrong place of the command line: its password is never shown, nor made a file's name."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpselect.cli import main
from tests.slow import SLOW

ROOT = Path(__file__).parents[2]
ADDRESSES = [
    "postgresql://u:SECRET@127.0.0.1:1/db",
    "postgres://u:SE CRET@127.0.0.1:1/db?x=1",
    "host=127.0.0.1 port=1 password=SECRET user=u",
    "host=127.0.0.1 password = 'SECRET x'",
    "postgresql://u@h/d?sslpassword=SECRET",
]
COMMANDS = [
    f"top-k {ROOT}/examples/data/clicks.parquet page 2 --unit session --candidates 1..9 --epsilon 1 --delta 0"
    " --ledger L --account clicks --request r --table t --memory-limit 1GiB --neighbours add-remove --times day",
    "ledger limit L clicks --epsilon 9",
    "ledger history L clicks",
    "ledger verify L clicks",
    "verify certificate.json --ledger L",
    "plan --candidates-count 40 --epsilon 1",
    "completion",
    "--help x",
]


def wrong_places(command: str, address: str) -> list[list[str]]:
    """The command with the address for each word, before each, and as the value of each option."""
    words = command.split()
    made = [[*words[:place], address, *words[place:]] for place in range(len(words) + 1)]
    made += [[*words[:place], address, *words[place + 1 :]] for place in range(len(words))]
    made += [
        [*words[:place], f"{word}={address}", *words[place + 2 :]]
        for place, word in enumerate(words)
        if word.startswith("--")
    ]
    return [*made, [*words, f"--{address}"]]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("address", ADDRESSES)
def test_no_message_shows_a_password(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By day at each tenth place, at others for the next address."""
    turns = 1 if SLOW else 10
    monkeypatch.chdir(tmp_path)
    assert main(["ledger", "open", "budget.db", "clicks", "--epsilon", "100"]) == 0
    told = 0
    for command in COMMANDS:
        places = wrong_places(command.replace(" L", " budget.db"), address)
        for arguments in places[ADDRESSES.index(address) % turns :: turns]:
            status = main(arguments)
            shown = capsys.readouterr()
            assert "CRET" not in shown.out + shown.err, arguments
            assert status in (0, 2), (arguments, shown.err)
            told += "may hold a password" in shown.err
    assert told > 20 // turns
    assert not [each for each in tmp_path.iterdir() if "CRET" in each.name]


def test_what_tells_nothing_is_still_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", "show", "postgresql://ann@127.0.0.1:1/budgets"]) == 2
    assert "ledger postgresql://ann@127.0.0.1:1/budgets: " in capsys.readouterr().err
    assert main(["ledgers", "ann@example.org"]) == 2
    assert "ledgers" in capsys.readouterr().err

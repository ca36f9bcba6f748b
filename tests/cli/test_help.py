"""``--help``: what has to be given comes first, whatever the width of the window."""

from __future__ import annotations

import pytest

from dpselect.arguments import REQUIRED
from dpselect.cli import main
from dpselect.cli.commands import NAMES, QUESTIONS, Part, command, option_name

Captured = pytest.CaptureFixture[str]
PARTS = ["Arguments", "Required options", "Options for some rows, or one answer per group", "Options of every question"]


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def helped(capsys: Captured, *words: str, all: bool = False) -> str:
    assert main([*words, "--help-all" if all else "--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


@pytest.mark.sampled(6)
@pytest.mark.parametrize("columns", ["80", "120"])
@pytest.mark.parametrize("name", NAMES)
def test_whatever_is_required_comes_first(
    name: str, columns: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    out = helped(capsys, *name.split(), all=True)
    about = command(name)
    shown = [each for part, options in about.parts.items() if part != Part.UNSHOWN for each in options]
    places = {each.name: out.find(f"\n  {option_name(each)}") for each in shown}
    assert -1 not in places.values()
    needed = [places[each.name] for each in shown if each.default is REQUIRED]
    assert max(needed, default=0) < min(
        (places[each.name] for each in shown if each.default is not REQUIRED), default=9
    )
    assert max(map(len, out.partition("Arguments:")[2].splitlines()), default=0) <= int(columns)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_help_of_a_question_has_its_parts_in_order(name: str, capsys: Captured) -> None:
    out = helped(capsys, name, all=True)
    places = [out.index(f"\n{part}:\n") for part in PARTS]
    assert places == sorted(places)
    own = out.find("\nOptions of this question:\n")
    assert own == -1 or places[1] < own < places[2]


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_help_of_a_question_fits_on_a_screen(name: str, capsys: Captured) -> None:
    """What it needs and takes itself; control: everything does not fit."""
    brief, whole = helped(capsys, name), helped(capsys, name, all=True)
    assert 20 <= len(brief.splitlines()) <= 40
    assert len(whole.splitlines()) > 80
    assert brief.rstrip().endswith(f"dpselect {name} --help-all")
    own = [each for part in [*command(name).parts][:2] for each in command(name).parts[part]]
    assert own
    assert all(f"  {option_name(each)}" in brief for each in own)
    assert whole.partition("Arguments:")[0] == brief.partition("Arguments:")[0]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", QUESTIONS)
def test_usage_names_the_arguments_and_what_is_required(name: str, capsys: Captured) -> None:
    usage = " ".join(helped(capsys, name).partition("\n\n")[0].split())
    about = command(name)
    free = [each.name.upper() if each.default is REQUIRED else f"[{each.name.upper()}]" for each in about.positional]
    assert usage.startswith(f"Usage: dpselect {name} {' '.join(free)} --")
    required = [option_name(each) for each in about.options if each.default is REQUIRED]
    assert [word for word in usage.split() if word.startswith("--")] == required
    assert usage.endswith(" [OPTIONS]")


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"]])
def test_the_list_of_commands_fits_a_narrow_window(words: list[str], capsys: Captured) -> None:
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "dpselect ledger\n--help, and the options" in out  # as it was broken by hand
    assert max(map(len, out.splitlines())) <= 80
    assert all(f"\n  {name} " in out for name in NAMES if not name.startswith("ledger "))
    assert main(["ledger", *words]) == 0
    out = capsys.readouterr().out
    assert all(f"\n  {name[7:]} " in out for name in NAMES if name.startswith("ledger "))


@pytest.mark.parametrize("name", NAMES)
def test_a_blank_stands_between_an_option_and_what_it_means(name: str, capsys: Captured) -> None:
    assert main([*name.split(), "--help-all"]) == 0
    printed = capsys.readouterr().out.splitlines()
    for each in command(name).options:
        begun = [line.removeprefix(f"  {option_name(each)} ") for line in printed if line.startswith("  --")]
        assert not any(line.startswith(("INTEGERN", "TEXTN", "NUMBERN")) for line in begun)

"""``--help``: what has to be given comes first, whatever the width of the window."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cyclopts import App
from rich.console import Console

from dpselect.cli import main
from dpselect.cli.app import QUESTIONS, app
from dpselect.cli.shared_options import option_name, options_of
from dpselect.questions.question import BY_NAME

Captured = pytest.CaptureFixture[str]
PARTS = ["Arguments", "Required options", "Options for some rows, or one answer per group", "Options of every question"]


def commands() -> Iterator[tuple[str, ...]]:
    yield from ((name,) for name in [*QUESTIONS, "plan", "verify", "doctor", "completion"])
    yield from (("ledger", name) for name in app["ledger"] if not name.startswith("-"))


def helped(capsys: Captured, *command: str, all: bool = False) -> str:
    assert main([*command, "--help-all" if all else "--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


@pytest.mark.sampled(6)
@pytest.mark.parametrize("columns", ["80", "120"])
@pytest.mark.parametrize("command", list(commands()), ids=" ".join)
def test_whatever_is_required_comes_first(
    command: tuple[str, ...], columns: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "_console", Console(width=int(columns)))  # the parser keeps the first one it made
    options = helped(capsys, *command, all=True)
    options = options[options.index("╭") :]
    found = {True: [0], False: [len(options)]}
    for argument in _app_of(command).assemble_argument_collection():
        if argument.name.startswith("--"):
            starts = [options.find(f"{before}{argument.name} ") for before in ("│ *  ", "│    ", "│ ")]
            found[argument.required].append(max(starts))
    assert -1 not in (*found[True], *found[False])
    assert max(found[True]) < min(found[False])
    assert max(map(len, options.splitlines())) <= int(columns)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_help_of_a_question_has_its_parts_in_order(name: str, capsys: Captured) -> None:
    out = helped(capsys, name, all=True)
    places = [out.index(f"─ {part} ─") for part in PARTS]
    assert places == sorted(places)
    own = out.find("─ Options of this question ─")
    assert own == -1 or places[1] < own < places[2]


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_help_of_a_question_fits_on_a_screen(name: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it needs and takes itself; control: everything does not fit."""
    monkeypatch.setattr(app, "_console", Console(width=80))
    brief, whole = helped(capsys, name), helped(capsys, name, all=True)
    assert 20 <= len(brief.splitlines()) <= 40
    assert len(whole.splitlines()) > 80
    assert brief.rstrip().endswith(f"dpselect {name} --help-all")
    own = [each for part in ("needed", "question") for each in options_of(BY_NAME[name.replace("-", "_")])[part]]
    assert all(f"{option_name(each)} " in brief for each in own)
    assert whole.partition("╭")[0].strip() == brief.partition("╭")[0].strip()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", QUESTIONS)
def test_usage_names_the_arguments_and_what_is_required(name: str, capsys: Captured) -> None:
    usage = " ".join(helped(capsys, name).partition("\n\n")[0].split())
    arguments = app[name].assemble_argument_collection()
    given = [each for each in arguments if each.is_positional_only()]
    positional = [each.name if each.required else f"[{each.name}]" for each in given]
    assert usage.startswith(f"Usage: dpselect {name} {' '.join(positional)} --")
    required = [each.name for each in arguments if each.required and each.name.startswith("--")]
    assert [word for word in usage.split() if word.startswith("--")] == required
    assert usage.endswith(" [OPTIONS]")


def test_the_list_of_commands_fits_a_narrow_window(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "_console", Console(width=80))
    about = helped(capsys).partition("╭")[0]
    assert "dpselect ledger\n--help, and the options" in about  # as it was broken by hand
    assert max(map(len, about.splitlines())) <= 80


def _app_of(command: tuple[str, ...]) -> App:
    found = app
    for name in command:
        found = found[name]
    return found

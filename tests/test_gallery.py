"""The gallery of attacks: our column and the textbook's are run here, and the page is that of the committed numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from examples.gallery import __main__ as run
from examples.gallery import ours, page, textbook
from examples.gallery.attacks import ATTACKS, LIBRARIES

import dpselect as dps

FOLDER = Path(run.__file__).parent
CELLS = page.read(FOLDER / "gallery.csv")
README = (FOLDER / "README.md").read_text(encoding="utf-8")
BROKEN = {(cell["library"], cell["attack"]) for cell in CELLS if cell["verdict"] == "broken"}
QUICK = ["number", "close", "whole"]
"""Attacks that read no table of ours."""


def verdict(sampler: object, name: str, draws: int) -> bool:
    attack = ATTACKS[name]
    report = dps.audit(sampler, attack.pairs, claimed_epsilon=1.0, claimed_delta=attack.delta, draws=draws)  # type: ignore
    return report.broken


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize("name", [name for name in ATTACKS if name != "close"])
def test_the_formulas_are_broken(name: str) -> None:
    assert verdict(textbook.SAMPLERS[name], name, min(ATTACKS[name].draws, 10_000))


def test_the_formula_of_a_selection_is_not() -> None:
    assert not verdict(textbook.SAMPLERS["close"], "close", 2_000)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name == "fork" else []) for name in ATTACKS]
)
def test_ours_is_not(name: str) -> None:
    assert not verdict(ours.SAMPLERS[name], name, 2_000 if name in QUICK else 200)


def test_committed_cells_are_of_these_attacks_and_libraries() -> None:
    assert {cell["library"] for cell in CELLS} == set(LIBRARIES)
    assert len({(cell["library"], cell["attack"]) for cell in CELLS}) == len(CELLS)
    for name in ATTACKS:
        assert {"textbook", "dpselect"} < {cell["library"] for cell in CELLS if cell["attack"] == name}
    assert {name for library, name in BROKEN if library == "textbook"} == {*ATTACKS} - {"close"}
    assert "dpselect" not in {library for library, _ in BROKEN}


def test_verdicts_follow_the_bounds() -> None:
    for cell in CELLS:
        if cell["lower_bound"]:
            assert (cell["verdict"] == "broken") == (float(cell["lower_bound"]) > 1.0)


def test_the_page_is_that_of_the_committed_cells() -> None:
    assert page.page(README, CELLS) == README
    turned = [{**cell, "verdict": "not broken"} for cell in CELLS]
    assert page.page(README, turned) != README


def test_each_broken_cell_of_a_peer_says_where_it_is_documented() -> None:
    assert {(library, name) for library, name in BROKEN if library in page.PEERS} == set(page.SOURCES)


def test_the_picture_has_each_bound() -> None:
    ((rows),) = page.picture(CELLS).to_dict()["datasets"].values()
    assert len(rows) == sum(bool(cell["lower_bound"]) for cell in CELLS)
    assert (FOLDER / "gallery.svg").read_text(encoding="utf-8").startswith("<svg")


def test_without_the_peers_it_says_how_to_install_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "LIBRARIES", {"none": ("none", "no-such-distribution-is-installed")})
    with pytest.raises(SystemExit, match=r"\.venv-bench/\.bench"):
        run.main([])


def test_a_cell_that_ends_its_process_is_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(command: list[str], **_: object) -> object:
        status, text = (-11, "") if "number" in command else (0, "")
        return run.subprocess.CompletedProcess(command, status, stdout=text)

    monkeypatch.setattr(run.subprocess, "run", ended)
    monkeypatch.setattr(run, "__spec__", run.__spec__ or type("Spec", (), {"name": "examples.gallery"}), raising=False)
    (cell,) = run.column("textbook")
    assert (cell["attack"], cell["verdict"]) == ("number", "process ended")

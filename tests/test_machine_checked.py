"""The theorems of proofs/rocq, their table and the proof pages name each other; `make proofs` says that they hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "proofs" / "rocq"
FILES = {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.v"))}
README = (FOLDER / "README.md").read_text(encoding="utf-8")
CHECK = (FOLDER / "check").read_text(encoding="utf-8")
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "proofs").glob("[!A-Z]*.md"))}

ROW = re.compile(r"^\| `(\w+)` \| .+ \| `proofs/rocq/(\w+\.v)` \| \[(\w+\.md)\]\(\.\./\3\) \|$", re.MULTILINE)
NAMED = re.compile(r"((?:`\w+`(?:, and |, | and )?)+) in `proofs/rocq/(\w+\.v)`")
UNPROVED = re.compile(
    r"\b(?:Admitted|admit|Axioms?|Conjecture|Parameters?|give_up|bypass_check|Unset (?:Guard|Universe|Positivity))\b"
)
BOUND_IN_SECTION = re.compile(r"^(?:Variables?|Hypothes[ie]s|Context|Let)\b", re.MULTILINE)


def code(text: str) -> str:
    """A file without its comments, which may contain each other."""
    kept, depth, place = list[str](), 0, 0
    for mark in re.finditer(r"\(\*|\*\)", text):
        kept.append(text[place : mark.start()] if depth == 0 else "")
        depth += 1 if mark.group() == "(*" else -1
        place = mark.end()
    assert depth == 0, "a comment is not closed"
    return "".join(kept) + text[place:]


def theorems(text: str) -> list[str]:
    return re.findall(r"^Theorem (\w+)", code(text), re.MULTILINE)


def outside_sections(text: str) -> str:
    """What stands in no section, where a hypothesis would be an axiom."""
    kept, open_sections = list[str](), list[str]()
    for line in code(text).splitlines():
        if opened := re.match(r"Section (\w+)\.", line):
            open_sections.append(opened.group(1))
        elif open_sections and line.startswith(f"End {open_sections[-1]}."):
            open_sections.pop()
        elif not open_sections:
            kept.append(line)
    assert not open_sections, open_sections
    return "\n".join(kept)


def faults(text: str) -> list[str]:
    """Why a file may hold less than it says."""
    found = UNPROVED.findall(code(text)) + BOUND_IN_SECTION.findall(outside_sections(text))
    begun = len(re.findall(r"^(?:Theorem|Lemma) ", code(text), re.MULTILINE))
    ended = len(re.findall(r"\bQed\.", code(text)))
    return found if ended >= begun else [*found, f"{begun - ended} without Qed"]


def named_in(page: str) -> set[tuple[str, str]]:
    """File and name of each theorem that a page names."""
    prose = " ".join(page.split())
    return {(file, name) for names, file in NAMED.findall(prose) for name in re.findall(r"`(\w+)`", names)}


PROVED = {(file, name) for file, text in FILES.items() for name in theorems(text)}
TABLE = ROW.findall(README)


@pytest.mark.parametrize("file", FILES)
def test_nothing_is_assumed(file: str) -> None:
    assert faults(FILES[file]) == []


def test_what_is_assumed_is_found() -> None:
    assert faults("Theorem a : False.\nProof. Admitted.\n") == ["Admitted", "1 without Qed"]
    assert faults("Variable a : False.\n(* Axiom *)\n") == ["Variable"]
    assert faults("Section S.\nVariable a : nat.\nLemma b : a = a.\nProof. by []. Qed.\nEnd S.\n") == []


def test_every_theorem_is_in_the_table_once() -> None:
    assert sorted((file, name) for name, file, _ in TABLE) == sorted(PROVED)
    assert len(PROVED) > 40


def test_every_page_names_its_theorems() -> None:
    listed = {(page, file, name) for name, file, page in TABLE}
    named = {(page, *each) for page, text in PAGES.items() for each in named_in(text)}
    assert listed == named


def test_a_theorem_that_is_not_there_is_noticed() -> None:
    page = "Rocq checks it: `em_private`,\n`em_best` and `em_law` in\n`proofs/rocq/laws.v`."
    assert named_in(page) == {("laws.v", "em_private"), ("laws.v", "em_best"), ("laws.v", "em_law")}
    assert not named_in(page) <= PROVED


def test_statements_that_are_shown_are_those_that_are_checked() -> None:
    checked = " ".join(" ".join(code(text).split()) for text in FILES.values())
    shown = re.findall(r"```coq\n(.*?)```", README, re.DOTALL)
    statements = [
        " ".join(each.split())
        for block in shown
        for each in re.split(r"\n(?=Definition|Fixpoint|Theorem|Record)", block.strip())
    ]
    assert len(statements) > 15
    assert [each for each in statements if each not in checked] == []


def test_the_check_covers_every_file_in_an_order_that_works() -> None:
    order = re.search(r"^files=\((.*?)\)", CHECK, re.DOTALL | re.MULTILINE)
    assert order
    names = order.group(1).split()
    assert sorted(f"{name}.v" for name in names) == sorted(FILES)
    for place, name in enumerate(names):
        needed = re.search(r"^From dpselect Require Import (.*?)\.$", FILES[f"{name}.v"], re.DOTALL | re.MULTILINE)
        assert set(needed.group(1).split() if needed else []) <= set(names[:place]), name


@pytest.mark.parametrize("file", FILES)
def test_a_file_is_short_enough_to_be_read(file: str) -> None:
    assert len(FILES[file].splitlines()) <= 400

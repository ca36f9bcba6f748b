"""The page of assurance is up to date and complete: each claim, mechanism, law, audit and error has its place."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from docs import assurance
from docs.assurance import PAGE, REASONS, ROOT, Row, cited, faults, is_about, kind_tests, mutations, rows, tables
from docs.blocks import held

import dpselect as dps
from dpselect import mechanisms
from tests.auditing.cases import Case
from tests.auditing.right import RIGHT
from tests.question_words import DECLARED, NAMES

ROWS = {each.page: each for each in rows()}
TEXT = PAGE.read_text(encoding="utf-8")

DRAW_NOTHING = {
    "dpselect": {
        *("Answers", "Dataset", "DryRun", "Forecast", "Format", "Ledger", "Neighbours", "Plan", "PlanForecast"),
        *("Release", "SelectionError", "candidates_from", "check", "falsify_sensitivity", "report", "verify"),
    },
    "dpselect.mechanisms": {
        *("BestRun", "CountEstimate", "IntegerCeiling", "OrderNoise", "TopKPlan", "left_for_selection")
    },
}
"""Answers, plans, arguments and tables. What a table is asked has a page for each question, which is tried below."""

GONE = "gone"  # so that no text of this file names a path that leads nowhere


def test_no_cell_is_empty_without_a_reason() -> None:
    assert faults(rows(), REASONS) == []


def test_every_fault_is_found() -> None:
    full = Row("ledger", "", (), dict.fromkeys(assurance.HEADS, "something"))
    without = replace(full, cells={**full.cells, "audit": ""})
    reason = {"audit": {"Nothing is drawn.": "ledger"}}
    assert faults([full], {}) == faults([without], reason) == []
    assert faults([without], {}) == ["ledger: no audit, and no reason"]
    assert faults([full], reason) == ["ledger: a reason for audit, which is not empty"]
    assert faults([], reason) == ["ledger: a reason for audit, which is not empty"]
    assert faults([without], {"audit": {"One.": "ledger", "Two.": "ledger"}}) == ["ledger: two reasons for audit"]
    assert faults([replace(full, code=(f"src/{GONE}.py",))], {}) == [f"src/{GONE}.py is gone"]
    assert faults([replace(full, page=GONE)], {}) == [f"proofs/{GONE}.md is gone"]


@pytest.mark.parametrize("name", tables())
def test_the_page_is_up_to_date(name: str) -> None:
    assert held(TEXT, name) == tables()[name], "python -m docs.assurance puts it right"


def test_every_proof_is_one_line() -> None:
    assert sorted(each.page for each in rows()) == sorted(path.stem for path in (ROOT / "proofs").glob("[!A-Z]*.md"))


def follows(row: Row) -> bool:
    """Whether some of its code names the page."""
    paths = (ROOT / each for each in row.code)
    files = (each for path in paths for each in ([path] if path.is_file() else path.rglob("*.py")))
    return any(f"proofs/{row.page}.md" in each.read_text(encoding="utf-8") for each in files)


@pytest.mark.parametrize("page", ROWS)
def test_the_code_of_a_claim_names_its_proof(page: str) -> None:
    assert follows(ROWS[page])
    assert not follows(replace(ROWS[page], code=("src/dpselect/charts",)))


def strays(public: object) -> list[str]:
    """What is missing between the docstring of a mechanism and the lines of the pages that it names."""
    pages = cited(public)
    home = Path(str(inspect.getsourcefile(public))).relative_to(ROOT).as_posix()  # type: ignore[arg-type]
    unknown = [page for page in pages if page not in ROWS]
    if not pages or unknown:
        return unknown or ["names no page"]
    listed = any(home == code or home.startswith(f"{code}/") for page in pages for code in ROWS[page].code)
    return [] if listed else [f"{home} is in no line of {pages}"]


def drawing() -> Iterator[tuple[str, Any]]:
    for module in (dps, mechanisms):
        for name in module.__all__:
            public = getattr(module, name)
            is_code = inspect.isclass(public) or inspect.isfunction(public)
            if is_code and public is not mechanisms.Mechanism and name not in DRAW_NOTHING[module.__name__]:
                yield f"{module.__name__}.{name}", public


DRAWING = dict(drawing())


@pytest.mark.parametrize("name", DRAWING)
def test_every_mechanism_names_its_proof_and_is_code_of_it(name: str) -> None:
    assert strays(DRAWING[name]) == []


def test_a_mechanism_without_a_line_is_found() -> None:
    def nothing() -> None: ...

    def gone() -> None: ...

    gone.__doc__ = f"Draw.\n\nProof: ``proofs/{GONE}.md``."

    def elsewhere() -> None:
        """Draw.

        Proof: ``proofs/top_k.md``.
        """

    assert strays(nothing) == ["names no page"]
    assert strays(gone) == ["gone"]
    assert strays(elsewhere) == ["tests/test_assurance.py is in no line of ['top_k']"]


def test_what_draws_nothing_is_listed_only_where_it_has_no_proof() -> None:
    for module in (dps, mechanisms):
        listed = DRAW_NOTHING[module.__name__]
        assert listed <= set(module.__all__)
        assert [name for name in listed if cited(getattr(module, name))] == []
        assert [name for name in listed if hasattr(getattr(module, name), "draw")] == []


@pytest.mark.parametrize("name", [name for name, public in DRAWING.items() if hasattr(public, "event")])
def test_every_mechanism_with_a_cost_is_audited(name: str) -> None:
    """By name of its page: a page may be that of several mechanisms."""
    assert ROWS[cited(DRAWING[name])[0]].cells["audit"]


@pytest.mark.parametrize("name", NAMES)
def test_every_question_names_its_proofs(name: str) -> None:
    pages = cited(DECLARED[name])
    assert pages
    assert set(pages) <= ROWS.keys()


def forget() -> None:
    """Empty the caches of costs and plans, so that what ran before does not matter."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("dpselect.accounting.", "dpselect.mechanisms.")):
            for each in vars(module).values():
                if hasattr(each, "cache_clear"):
                    each.cache_clear()


def code_run(case: Case) -> set[str]:
    """Files of the package that an audit's sampler runs for one draw, and those of the objects whose methods run."""
    sampler, files = case.start(1), set[str]()
    forget()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            owner = type(frame.f_locals.get("self"))
            files.update((frame.f_code.co_filename, str(getattr(sys.modules[owner.__module__], "__file__", ""))))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        sampler(case.neighbours[0])
    finally:
        sys.setprofile(before)
    return {Path(each).relative_to(ROOT).as_posix() for each in files if each.startswith(str(ROOT / "src"))}


def in_code(files: Iterable[str], page: str) -> bool:
    return any(file == code or file.startswith(f"{code}/") for file in files for code in ROWS[page].code)


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.what)
def test_an_audit_runs_the_code_of_its_claims(case: Case) -> None:
    files = code_run(case)
    assert case.proofs
    assert [page for page in case.proofs if not in_code(files, page)] == []
    assert not in_code(files, "ledger")


def test_every_law_is_in_some_line() -> None:
    laws = {f"tests/laws/{path.name}" for path in (ROOT / "tests" / "laws").glob("test_*.py")}
    every = "\n".join(each.cells["laws"] for each in rows())
    counted = {law for law in laws if f"../{law})" in every} | {*kind_tests()}
    assert laws - counted == {"tests/laws/test_goodness_of_fit.py"}  # the test that the others use


def test_an_error_counts_for_the_claim_of_the_class_it_is_planted_in() -> None:
    (planted,) = (each for each in mutations() if each.name == "Laplace noise has half of its scale")
    code = ROWS["laplace_mechanism"].code
    assert planted.file in code
    assert planted.file in ROWS["means"].code
    assert is_about(planted, "laplace_mechanism", code)
    assert not is_about(planted, "means", ROWS["means"].code)
    assert not is_about(planted, "laplace_mechanism", ("src/dpselect/mechanisms/me",))


def lost(text: str) -> list[str]:
    """Links of a page in ``docs`` to files that are not there."""
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    return [each for each in targets if "://" not in each and not (PAGE.parent / each).exists()]


def test_every_link_leads_somewhere() -> None:
    assert lost(TEXT) == []
    assert lost("[a](gone.md#b), [c](index.md#d), [e](https://example.org/f), [g](#h)") == ["gone.md"]


def questions_of(text: str) -> list[list[str]]:
    """The lines of the table that begins with the factor of NIST SP 800-226."""
    table = text.partition("| factor | ")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[2:]]


def test_every_factor_has_an_answer_with_evidence_and_what_is_not_done() -> None:
    found = questions_of(TEXT)
    assert len(found) >= 15
    for factor, done, evidence, not_done in found:
        assert all((factor, done, not_done)), factor
        assert "](" in evidence, factor
    assert questions_of("| factor | a | b | c |\n|---|---|---|---|\n| x | y |  | z |\n\nend") == [["x", "y", "", "z"]]

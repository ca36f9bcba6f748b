"""The tables of ``docs/assurance.md``: what stands behind each claim. ``python -m docs.assurance`` renews them.

Nothing is written down twice: claims, code and tests come from ``proofs/README.md``, theorems from
``proofs/rocq/README.md``, planted errors from ``tests/mutants``, audits from ``tests/auditing``, whole questions and
attacks from their tests. Only why a cell is empty stands here, in `REASONS`; `faults` says what is missing.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import getdoc
from math import inf
from pathlib import Path
from string import ascii_lowercase

from docs.blocks import replaced
from tests.auditing.right import RIGHT
from tests.laws.subjects import KINDS
from tests.laws.test_worst_losses import QUESTIONS, UNKNOWN, question
from tests.mutants.mutation import Mutation, read_list
from tests.rows.laws import planned

from dpselect import Neighbours

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "assurance.md"
HEADS = {"theorems": "theorems", "laws": "tests of laws", "errors": "planted errors", "audit": "audited"}

_CITED = re.compile(r"proofs/(\w+)\.md")
_CLAIM = re.compile(r"^\| \[(\w+)\.md\]\(\1\.md\) \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
_THEOREM = re.compile(r"^\| `\w+` \| .+ \| `proofs/rocq/(\w+\.v)` \| \[(\w+)\.md\]", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """One claim, its page in ``proofs/``, the code that follows it, and Markdown for each of `HEADS`, or nothing."""

    page: str
    claim: str
    code: tuple[str, ...]
    cells: dict[str, str]


REASONS: Mapping[str, Mapping[str, str]] = {
    "theorems": {
        "About how far scores move. Rocq has that of counts alone; here neighbours of small tables are enumerated.": (
            "feature_scores split_scores marginal_scores unit_values best_price clipped_sums usable_units moments"
        ),
        "Answers, noise or a number of runs have no largest value, or lie on a line; Rocq has finitely many results.": (
            "interval_mechanism quantiles joint_quantiles unbounded_quantiles falling_scores prices means density "
            "laplace_mechanism geometric_mechanism discrete_gaussian integer_mechanism noisy_histograms noisy_order "
            "exponential_once free_gap private_candidates private_search unknown_candidates"
        ),
        "Rocq could check it in the same way as others; nobody has written it down yet. Small cases are enumerated.": (
            "early_stop partition_selection stop_candidate above_threshold randomized_response different_sensitivities"
        ),
        "About a program: its bits, passes over rows, processes, database. Tests compare the program with a model.": (
            "exact_sampling one_pass ledger"
        ),
        "About errors or about tests, not about what an answer reveals. Tests compare it with exact models.": (
            "optimality error_bounds testing audit"
        ),
    },
    "errors": {
        "If this code were wrong, a bound or a plan would be; no answer would reveal more.": ("optimality error_bounds")
    },
    "audit": {
        "About which rows count and how far scores move. What draws by such scores is audited in its own line.": (
            "counting feature_scores split_scores marginal_scores unit_values clipped_sums row_conditions"
        ),
        "Several draws, each audited in its own line. What they cost together is computed in the whole questions.": (
            "groups usable_units moments"
        ),
        "Each draw fits models; thousands would take minutes. The best of private runs, which it is, is audited.": (
            "private_search"
        ),
        "About last bits and about events that are too rare for an audit. Goodness of fit and attacks look for them.": (
            "exact_sampling"
        ),
        "Nothing is drawn.": "one_pass optimality error_bounds testing audit ledger",
    },
}
"""For each column why it is empty, and in the lines of which pages."""


def faults(table: Iterable[Row], reasons: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Empty cells without a reason, reasons without an empty cell, and files that are gone."""
    given = Counter((page, column) for column, why in reasons.items() for page in " ".join(why.values()).split())
    empty = {(each.page, column) for each in table for column in HEADS if not each.cells[column]}
    files = {file for each in table for file in (*each.code, f"proofs/{each.page}.md")}
    return [
        *(f"{page}: no {column}, and no reason" for page, column in sorted(empty - given.keys())),
        *(f"{page}: a reason for {column}, which is not empty" for page, column in sorted(given.keys() - empty)),
        *(f"{page}: two reasons for {column}" for (page, column), number in sorted(given.items()) if number > 1),
        *(f"{file} is gone" for file in sorted(files) if not (ROOT / file).exists()),
    ]


@cache
def rows() -> tuple[Row, ...]:
    """One for each line of the table in ``proofs/README.md``."""
    found: list[Row] = []
    for page, claim, code, tests in _CLAIM.findall(_text("proofs/README.md")):
        files = tuple(re.findall(r"`([^`]+)`", code))
        proved = Counter(file for file, of in _THEOREM.findall(_text("proofs/rocq/README.md")) if of == page)
        planted = Counter(each.file for each in mutations() if is_about(each, page, files))
        cells = {
            "theorems": ", ".join(_link(f"proofs/rocq/{file}", str(proved[file])) for file in sorted(proved)),
            "laws": ", ".join(_laws(page, re.findall(r"`(tests/[^`]+)`", tests))),
            "errors": ", ".join(_link(file, str(planted[file])) for file in sorted(planted)),
            "audit": "; ".join(case.what for case in RIGHT if page in case.proofs),
        }
        found.append(Row(page, claim.partition(";")[0], files, cells))
    return tuple(found)


@cache
def _text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def _link(path: str, words: str) -> str:
    return f"[{words}](../{path})" if (ROOT / path).is_file() else f"`{path}`"


def _laws(page: str, named: Sequence[str]) -> list[str]:
    """Tests of the model and of the product, and how many of each."""
    cells = [_link(each, str(count_tests(each))) for each in named if Path(each).name.startswith("test_")]
    cells += [f"{count_tests(each)} `{each}`" for each in named if (ROOT / each).is_dir()]
    if page in {cited(getattr(kind, "func", kind))[0] for kind in KINDS.values()}:
        cells.append(_link("tests/laws/subjects.py", f"{sum(map(count_tests, kind_tests()))} every selection"))
    if asked := sum(page in pages for pages in question_pages()):
        cells.append(_link("tests/laws/test_worst_losses.py", f"{asked} whole questions"))
    return cells


@cache
def count_tests(path: str) -> int:
    """How many functions are tests in a file, or in all files of a folder."""
    files = [ROOT / path] if (ROOT / path).is_file() else (ROOT / path).rglob("test_*.py")
    return sum(len(re.findall(r"^ *def test_", each.read_text(encoding="utf-8"), re.MULTILINE)) for each in files)


def cited(public: object) -> list[str]:
    """The pages that a docstring names as its proof, in the order of the text.

    >>> from dpselect import ExponentialMechanism
    >>> cited(ExponentialMechanism)
    ['exponential_mechanism', 'weighted_candidates']
    """
    proofs = re.findall(r"^Proofs?\b.*?(?:\n\n|\Z)", getdoc(public) or "", re.MULTILINE | re.DOTALL)
    return _CITED.findall(" ".join(proofs))


def kind_tests() -> list[str]:
    """Files of laws that are tried on all of `KINDS`."""
    files = (f"tests/laws/{each.name}" for each in sorted((ROOT / "tests/laws").glob("test_*.py")))
    return [each for each in files if "from tests.laws.subjects import" in _text(each)]


@cache
def question_pages() -> list[set[str]]:
    """For each whole question the proofs that its certificate names."""
    asked = [*QUESTIONS.values(), *(each for each, _ in UNKNOWN.values())]
    terms = (planned(question(each), Neighbours.ADD_REMOVE).terms for each in asked)
    return [set(_CITED.findall(" ".join(each.proofs))) for each in terms]


mutations = cache(read_list)


def is_about(mutation: Mutation, page: str, code: Iterable[str]) -> bool:
    """Whether an error is planted in `code`, and not in a class or function whose docstring names other pages only."""
    if not any(mutation.file == each or mutation.file.startswith(f"{each}/") for each in code):
        return False
    named = _named_around(mutation.file, mutation.old)
    return page in named or not named


def _named_around(file: str, line: str) -> set[str]:
    at = _text(file).partition(line)[0].count("\n") + 1
    return set(_CITED.findall(" ".join(doc for first, last, doc in _docstrings(file) if first <= at <= last)))


@cache
def _docstrings(file: str) -> list[tuple[int, float, str]]:
    """The first and the last line of a module and of each class and function in it, and its docstring."""
    found: list[tuple[int, float, str]] = []
    for each in ast.walk(ast.parse(_text(file))) if file.endswith(".py") else ():
        if isinstance(each, ast.Module | ast.ClassDef | ast.FunctionDef):
            found.append((getattr(each, "lineno", 0), getattr(each, "end_lineno", inf), ast.get_docstring(each) or ""))
    return found


def lettered() -> list[tuple[str, str, str, str]]:
    """Letter, column, words and pages of each reason."""
    every = [(column, words, pages) for column, why in REASONS.items() for words, pages in why.items()]
    return [(letter, *reason) for letter, reason in zip(ascii_lowercase, every, strict=False)]


def claims() -> str:
    """The large table."""
    why = {(page, column): letter for letter, column, _, pages in lettered() for page in pages.split()}
    lines = [f"| claim | {' | '.join(HEADS.values())} | code |", "|---|---|---|---|---|---|"]
    for each in rows():
        proof = f"[{each.page.replace('_', ' ')}](../proofs/{each.page}.md)"
        code = ", ".join(_link(file, Path(file).name) for file in each.code)
        cells = [each.cells[column] or f"none ({why[each.page, column]})" for column in HEADS]
        lines.append(f"| {' | '.join([f'{proof}: {each.claim}', *cells, code])} |")
    return "\n".join(lines)


def tables() -> dict[str, str]:
    """What each marked block of the page holds."""
    theorems = len(_THEOREM.findall(_text("proofs/rocq/README.md")))
    proved, audited = (sum(bool(each.cells[column]) for each in rows()) for column in ("theorems", "audit"))
    others = [each for each in mutations() if not any(is_about(each, row.page, row.code) for row in rows())]
    planted = [f"| {_link(each.file, each.file)} | {each.name} |" for each in others]
    attacks = [f"tests/attacks/{each.name}" for each in sorted((ROOT / "tests/attacks").glob("test_*.py"))]
    tried = [f"| {_first_sentence(each)} | {_link(each, Path(each).name)} | {count_tests(each)} |" for each in attacks]
    return {
        "numbers": f"""- {len(rows())} claims, each with a proof page and with tests of its laws;
- {theorems} theorems checked by Rocq, for {proved} of the claims;
- {len(question_pages())} whole questions of a table, whose worst pairs of neighbours are enumerated;
- {len(mutations())} planted errors, {len(mutations()) - len(others)} of them in the code of a claim;
- {len(RIGHT)} audits by sampling, for {audited} of the claims.""",
        "claims": claims(),
        "reasons": "\n".join(f"- **{letter}**, {HEADS[column]}: {words}" for letter, column, words, _ in lettered()),
        "attacks": "\n".join(["| attack | file | tests |", "|---|---|---|", *tried]),
        "elsewhere": "\n".join(["| code | planted error |", "|---|---|", *planted]),
    }


def _first_sentence(file: str) -> str:
    doc = " ".join((ast.get_docstring(ast.parse(_text(file))) or "").split())
    return doc.partition(". ")[0].rstrip(".").removeprefix("Attack: ")


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    for name, held in tables().items():
        page = replaced(page, name, held)
    PAGE.write_text(page, encoding="utf-8")

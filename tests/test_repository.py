"""What the repository promises about itself: pointers lead somewhere, public names are explained, versions agree."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from docs.blocks import held
from docs.layers import layers
from docs.page_tree import BELOW, GROUPS, PATTERNS
from docs.page_tree import ROOT as LANDING
from docs.questions import table

import dpselect
from tests.house import circle, imports

ROOT = Path(__file__).parents[1]
FOLDERS = (".ci", "benchmarks", "docs", "examples", "proofs", "rust", "src", "tests", "tools")
SUFFIXES = {".md", ".py", ".pyi", ".rs", ".toml", ".cff", ".bib", ".yml", ".json", ".ipynb", ".css", ".v"}
GENERATED = {"target", "_build", "__pycache__"}

POINTER = re.compile(r"(?<![\w/.-])((?:\.ci|benchmarks|docs|examples|proofs|rust|src|tests|tools)/[\w./-]*\w)")
FOREIGN_PATH = re.compile(r"(?<![\w./])/(?:home|root|work|farm|Users)/\w")
REGISTRY = re.compile(r"registry\+http|--?index[-]url|extra[-]index")  # so that it does not match itself


def _texts() -> Iterator[Path]:
    for path in sorted(ROOT.iterdir()):
        if path.is_file() and (path.suffix in SUFFIXES or path.name == "Makefile"):
            yield path
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix in SUFFIXES and not GENERATED & set(path.parts):
                yield path


TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in _texts()}
OTHERS = sorted(set(TEXTS) - {"tests/test_repository.py"})  # this one holds the patterns, and paths that lead nowhere
SOURCES = {name: text for name, text in TEXTS.items() if name.startswith(("src/", "rust/src/"))}


def dangling(text: str) -> set[str]:
    """Paths of this repository that `text` names and that do not exist."""
    return {pointer for pointer in POINTER.findall(text) if not _leads_somewhere(pointer)}


def _leads_somewhere(pointer: str) -> bool:
    if pointer.startswith(UNBUILT) or "NNNN" in pointer or (ROOT / pointer).exists():
        return True
    return "." not in pointer and any(ROOT.glob(f"{pointer}*"))  # named without its suffix


UNBUILT = ("docs/_build", "proofs/rocq/_build", "rust/target", "rust/Cargo.lock")


def test_every_path_named_in_a_text_exists() -> None:
    assert {name: found for name in OTHERS if (found := dangling(TEXTS[name]))} == {}


def test_a_dangling_pointer_is_found() -> None:
    assert dangling("Proof: ``proofs/nowhere.md``, see tests/laws and docs/index.md.") == {"proofs/nowhere.md"}


def said_of_documents(text: str) -> list[str]:
    """What code says, in errors and answers, of pages that an installed package does not have."""
    explained = {id(each.value) for each in ast.walk(parsed(text)) if isinstance(each, ast.Expr)}
    said = [each for each in ast.walk(parsed(text)) if isinstance(each, ast.Constant) and id(each) not in explained]
    return [each.value for each in said if isinstance(each.value, str) and re.search(r"\bdocs/\w", each.value)]


def test_no_error_points_to_a_page_that_is_not_installed() -> None:
    assert [name for name, text in SOURCES.items() if name.endswith(".py") and said_of_documents(text)] == []
    assert said_of_documents('"""As docs/files.md says."""\nraise E("See docs/files.md.")') == ["See docs/files.md."]


def test_every_proof_page_is_cited_by_the_code_it_is_about() -> None:
    pages = sorted(path.name for path in (ROOT / "proofs").glob("[!A-Z]*.md"))
    assert pages
    assert [page for page in pages if not any(f"proofs/{page}" in text for text in SOURCES.values())] == []


def test_no_text_knows_a_machine_or_a_registry() -> None:
    assert [name for name in OTHERS if FOREIGN_PATH.search(TEXTS[name])] == []
    assert [name for name in OTHERS if REGISTRY.search(TEXTS[name])] == []


def test_the_patterns_above_can_match() -> None:
    assert FOREIGN_PATH.search("see /home/ann/data.csv")
    assert REGISTRY.search("-".join(["pip install -", "index", "url x"]))
    assert FOREIGN_PATH.search("https://example.org/home/page") is None


@cache
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def defined(text: str) -> list[tuple[str, type[ast.AST]]]:
    """All classes and functions of a module."""
    kinds = ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    return [(each.name, type(each)) for each in ast.walk(parsed(text)) if isinstance(each, kinds)]


def test_every_module_says_what_it_is_for() -> None:
    modules = {name: text for name, text in SOURCES.items() if name.endswith(".py")}
    assert modules
    assert [name for name, text in modules.items() if not ast.get_docstring(parsed(text))] == []


def _public() -> Iterator[tuple[str, object]]:
    for module in (dpselect, import_module("dpselect.accounting")):
        for name in module.__all__:
            yield f"{module.__name__}.{name}", getattr(module, name)


PUBLIC = dict(_public())


@pytest.mark.parametrize("name", sorted(name for name, each in PUBLIC.items() if callable(each)))
def test_every_public_name_is_explained_by_an_example(name: str) -> None:
    public = PUBLIC[name]
    if isinstance(public, type) and issubclass(public, Exception):
        assert inspect.getdoc(public)
        return
    assert ">>>" in _explanations(public)


@pytest.mark.parametrize("name", sorted(name for name, each in PUBLIC.items() if isinstance(each, type)))
def test_every_public_method_has_a_docstring(name: str) -> None:
    public = PUBLIC[name]
    methods = [member for member, _ in inspect.getmembers(public, inspect.isfunction) if not member.startswith("_")]
    assert [method for method in methods if not inspect.getdoc(getattr(public, method))] == []


def _explanations(public: object) -> str:
    """The docstring of a function; of a class, also those of what it defines."""
    members = vars(public).values() if isinstance(public, type) else ()
    return "\n".join(inspect.getdoc(each) or "" for each in (public, *members))


ENTRY = re.compile(r"^@\w+\{([\w-]+),\n(?:  \w+ = \{.*\},?\n)+\}\n", flags=re.MULTILINE)
CITATION = re.compile(r"([A-Z][\w'-]+)(?:(?:,| and| &| et al\.)(?: [A-Z][\w'-]+)?)* \((\d{4})\)")


def unresolved(text: str, bibliography: str) -> set[tuple[str, str]]:
    """Authors and years that `text` cites and that no entry of the bibliography has."""
    entries = [match.group(0).replace("{\\'e}", "é") for match in ENTRY.finditer(bibliography)]
    return {
        (name, year)
        for name, year in CITATION.findall(text)
        if not any(name in entry and f"year = {{{year}}}" in entry for entry in entries)
    }


def test_the_bibliography_is_whole() -> None:
    bibliography = TEXTS["docs/references.bib"]
    keys = ENTRY.findall(bibliography)
    assert ENTRY.sub("", bibliography).strip() == ""
    assert len(keys) == len(set(keys))
    for entry in ENTRY.finditer(bibliography):
        fields = re.findall(r"^  (\w+) =", entry.group(0), flags=re.MULTILINE)
        assert len(fields) == len(set(fields)), entry.group(1)


def test_every_citation_is_in_the_bibliography() -> None:
    proses = {
        name: " ".join(text.split()) for name, text in TEXTS.items() if name.startswith(("proofs/", "docs/", "src/"))
    }
    assert proses
    bibliography = TEXTS["docs/references.bib"]
    assert {name: found for name, prose in proses.items() if (found := unresolved(prose, bibliography))} == {}


def test_a_citation_without_an_entry_is_found() -> None:
    bibliography = "@misc{a-2001,\n  author = {Ann, A. and Bob, B.},\n  year = {2001}\n}\n"
    assert unresolved("Ann and Bob (2001), Ann, Bob & Cid (2002), Cid et al. (2001)", bibliography) == {
        ("Ann", "2002"),
        ("Cid", "2001"),
    }


def test_versions_agree() -> None:
    project = tomllib.loads(TEXTS["pyproject.toml"])["project"]["version"]
    crate = tomllib.loads(TEXTS["rust/Cargo.toml"])["package"]["version"]
    cited = re.search(r"^version: (\S+)$", TEXTS["CITATION.cff"], flags=re.MULTILINE)
    assert cited
    assert project == crate == cited.group(1)
    assert f"## [{project}]" in TEXTS["CHANGELOG.md"]


def test_the_readme_shows_the_output_of_the_demo() -> None:
    shown = TEXTS["README.md"].partition("<!-- demo:start -->")[2].partition("<!-- demo:end -->")[0]
    rows = re.findall(r"^\D*(\d+)\D+(\d+)\D*$", shown, flags=re.MULTILINE)
    assert [int(rank) for rank, page in rows if 1 <= int(page) <= 41270][:10] == list(range(1, 11))


def test_contributing_shows_the_layers_that_lint_checks() -> None:
    shown = layers(TEXTS["pyproject.toml"])
    assert held(TEXTS["CONTRIBUTING.md"], "layers") == shown, "make readme puts it right"
    assert {"cli | sklearn", "errors"} < set(shown.splitlines())


def test_the_table_of_questions_comes_from_the_registry() -> None:
    assert held(TEXTS["docs/tables.md"], "questions") == table(), "make readme puts it right"
    assert "`top-k clicks.parquet page 10 " in table()


def test_the_readme_is_read_in_two_minutes() -> None:
    assert len(TEXTS["README.md"].splitlines()) <= 150


INTERFACE = "\n".join(text for name, text in TEXTS.items() if name.startswith("docs/api/"))


@pytest.mark.parametrize("name", sorted(set(dpselect.__all__) - {"__version__"}))
def test_the_interface_has_every_public_name_on_one_page(name: str) -> None:
    assert len(re.findall(rf"^\.\. (?:auto\w+|py:module):: dpselect\.{name}$", INTERFACE, re.MULTILINE)) == 1


def test_every_page_is_in_the_sidebar() -> None:
    pages = {path.relative_to(ROOT).as_posix() for pattern in PATTERNS for path in ROOT.glob(pattern)}
    listed = [page for group in (GROUPS, BELOW) for listed in group.values() for page in listed]
    named = [page.partition("</")[2].rstrip(">") or page for page in listed]
    assert [name for name in named if not any(ROOT.glob(f"{name}.*"))] == []
    reached = {path.relative_to(ROOT).as_posix() for name in named for path in ROOT.glob(f"{name}.*")}
    assert pages - reached == {f"{LANDING}.md"}


def test_no_module_imports_itself_by_way_of_others() -> None:
    found = imports()
    assert len(found) > 100
    assert circle(found) == []


def test_a_circle_is_found() -> None:
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"b"}})) == {"b", "c"}
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


ODD_WORDS = re.compile(r"(?:^|_)(?:asked|apart|kept|wanted|in_parts|no_table|in_our_words)(?:$|_)")
"""In names of code, where the field has a better word."""


def definitions(sources: Mapping[str, str]) -> Iterator[tuple[str, type[ast.AST]]]:
    """The full names of all modules, classes and functions, from the text of each module."""
    for module, text in sources.items():
        yield module, ast.Module
        yield from ((f"{module}.{name}", kind) for name, kind in defined(text))


def has_odd_word(name: str) -> bool:
    """Whether the last part of a full name has an odd word, however its words are joined."""
    last = name.rpartition(".")[2]
    return ODD_WORDS.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", last).lower()) is not None


def named_twice(sources: Mapping[str, str]) -> set[str]:
    """Names that more than one class has."""
    names = Counter(name.rpartition(".")[2] for name, kind in definitions(sources) if kind is ast.ClassDef)
    return {name for name, count in names.items() if count > 1}


MODULES = {
    name.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", "."): text
    for name, text in TEXTS.items()
    if name.startswith("src/") and name.endswith(".py")
}


def test_names_are_words_of_the_field() -> None:
    assert {name for name, _ in definitions(MODULES) if has_odd_word(name)} == set()


def test_every_class_has_a_name_of_its_own() -> None:
    assert named_twice(MODULES) == set()


def test_odd_names_and_names_twice_are_found() -> None:
    sources = {"a.kept": "class Terms:\n    def as_asked(self): ...", "b": "class InParts: ...\nclass Terms: ..."}
    odd = {name for name, _ in definitions(sources) if has_odd_word(name)}
    assert odd == {"a.kept", "a.kept.as_asked", "b.InParts"}
    assert not has_odd_word("a.keptic.unwanted_basket")
    assert named_twice(sources) == {"Terms"}

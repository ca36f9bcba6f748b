"""The source distribution: what a build needs, and nothing bulky."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEEDED = (
    *("PKG-INFO", "LICENSE", "README.md", "pyproject.toml", ".cargo/config.toml", "rust/Cargo.toml"),
    "tools/build_backend.py",
)
LARGE = 200_000
"""Bytes of one file, more than any source has."""


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """Names below its top folder, and sizes, of the files in a source distribution of this checkout."""
    folder = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "-m", "maturin", "sdist", "--out", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (path,) = folder.glob("*.tar.gz")
    with tarfile.open(path) as sources:
        return {each.name.partition("/")[2]: each.size for each in sources.getmembers() if each.isfile()}


def test_what_a_build_needs_is_there(packed: dict[str, int]) -> None:
    sources = {
        path.relative_to(ROOT).as_posix()
        for folder, kinds in (("src", ("*.py", "*.pyi", "py.typed")), ("rust/src", ("*.rs",)))
        for kind in kinds
        for path in (ROOT / folder).rglob(kind)
    }
    assert {"src/dpselect/py.typed", "src/dpselect/_native/_core.pyi", "rust/src/lib.rs"} <= sources
    assert sources | {*NEEDED} <= set(packed)


def test_nothing_else_is_there(packed: dict[str, int]) -> None:
    """No tests, data, documents or products of a build; the lock file of the build is added, so that it is repeated."""
    others = {name for name in packed if not name.startswith(("src/dpselect/", "rust/src/"))}
    assert others - {*NEEDED} <= {"rust/Cargo.lock", "rust/rustfmt.toml", "rust/tests.toml"}
    assert [name for name in packed if name.endswith((".so", ".pyd", ".dylib", ".pyc"))] == []
    assert {name: size for name, size in packed.items() if size > LARGE} == {}


def test_its_version_is_that_of_the_project(packed: dict[str, int]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["license-files"] == ["LICENSE"]
    assert project["readme"] == "README.md"
    assert packed["PKG-INFO"] > packed["README.md"]  # which it shows

"""The package as it is imported: its names, its version, and how little it loads."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

import dpselect as dps

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", dps.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(dps, name) is not None
    assert name in dir(dps)


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Datset'"):
        dps.Datset  # type: ignore[attr-defined] # noqa: B018


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert dps.__version__ == project["version"]


def test_a_build_from_the_sources_has_the_flags_of_one_from_a_checkout(tmp_path: Path) -> None:
    """Cargo reads them from a folder that is hidden, and without them random bits are drawn at half the speed."""
    command = [sys.executable, "-m", "maturin", "sdist", "--out", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (packed,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(packed) as sources:
        (flags,) = [each for each in sources.getmembers() if each.name.endswith("/.cargo/config.toml")]
        assert flags.name.count("/") == 2
        held = sources.extractfile(flags)
        assert held is not None
        assert held.read() == (ROOT / ".cargo" / "config.toml").read_bytes()


def test_importing_the_package_loads_no_engine() -> None:
    heavy = ["duckdb", "pyarrow", "pandas", "polars", "scipy", "rich", "cyclopts"]
    program = f"import sys, dpselect; print([name for name in {heavy!r} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60)
    assert loaded.stdout.strip() == "[]"


def test_a_python_without_its_lock_is_refused_with_a_sentence() -> None:
    program = "import sys; sys._is_gil_enabled = lambda: {}; import dpselect.mechanisms; print('loaded')"
    runs = [
        subprocess.run([sys.executable, "-c", program.format(held)], capture_output=True, text=True, timeout=60)
        for held in (True, False)
    ]
    assert runs[0].stdout.strip() == "loaded"
    assert "ImportError: dpselect is not yet checked without Python's global interpreter lock" in runs[1].stderr

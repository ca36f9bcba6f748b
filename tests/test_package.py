"""The package as it is imported: its names, its version, and how little it loads."""

from __future__ import annotations

import ast
import pkgutil
import subprocess
import sys
import tarfile
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import dpselect as dps

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "dpselect"


@pytest.mark.parametrize("name", dps.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(dps, name) is not None
    assert name in dir(dps)


def test_what_the_documents_name_is_there_before_it_is_imported() -> None:
    program = (
        "import dpselect as dps, sys; assert 'dpselect.charts' not in sys.modules; dps.charts.save, dps.ledger.Ledger"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Datset'"):
        dps.Datset  # type: ignore[attr-defined] # noqa: B018


def _on_use() -> list[str]:
    """The packages whose names are imported on use."""
    found = [path for path in PACKAGE.rglob("__init__.py") if " = on_use(" in path.read_text(encoding="utf-8")]
    return sorted(".".join(path.parent.relative_to(PACKAGE.parent).parts) for path in found)


@pytest.mark.parametrize("package", _on_use())
def test_names_that_are_imported_on_use_are_those_that_type_checkers_see(package: str) -> None:
    module = import_module(package)
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    seen: dict[str, str] = {}
    for block in [each for each in tree.body if isinstance(each, ast.If)]:
        for line in [each for each in block.body if isinstance(each, ast.ImportFrom)]:
            # Only "import name as name" makes a name public.
            seen |= {name.name: str(line.module) for name in line.names if name.name == name.asname}
    assert set(seen) == set(module.__all__) - {"__version__"}
    for name, home in seen.items():
        found = import_module(f"{home}.{name}") if home == package else getattr(import_module(home), name)
        assert getattr(module, name) is found


@pytest.mark.parametrize("package", _on_use())
def test_no_module_takes_the_place_of_a_name_that_is_imported_on_use(package: str) -> None:
    module = import_module(package)
    for each in pkgutil.iter_modules(module.__path__):
        if each.name in module.__all__:
            assert getattr(module, each.name) is import_module(f"{package}.{each.name}")


def test_all_public_names_can_be_imported_at_once_and_from_several_threads() -> None:
    program = """
from concurrent.futures import ThreadPoolExecutor
import dpselect
with ThreadPoolExecutor(8) as threads:
    found = list(threads.map(lambda _: [getattr(dpselect, name) for name in dpselect.__all__], range(8)))
assert all(each == found[0] for each in found)
from dpselect import *
assert PermuteAndFlip is dpselect.PermuteAndFlip and accounting is dpselect.accounting
print(len(found[0]))
"""
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=120)
    assert int(run.stdout) == len(dps.__all__)


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


def test_a_python_without_its_lock_is_refused_with_a_sentence() -> None:
    program = "import sys; sys._is_gil_enabled = lambda: {}; import dpselect; dpselect.PermuteAndFlip; print('loaded')"
    runs = [
        subprocess.run([sys.executable, "-c", program.format(held)], capture_output=True, text=True, timeout=60)
        for held in (True, False)
    ]
    assert runs[0].stdout.strip() == "loaded"
    assert "ImportError: dpselect is not yet checked without Python's global interpreter lock" in runs[1].stderr

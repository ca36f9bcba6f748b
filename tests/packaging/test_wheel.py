"""A wheel does its main job where no compiler is, and holds what its users need and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.packaging.installed import Environment, main_job

pytestmark = pytest.mark.slow  # compiles the core, unless a build of it is at hand, and downloads all dependencies

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a wheel of this checkout for this system: that of `make wheel`, if no source is newer."""
    sources = [ROOT / "pyproject.toml", ROOT / "rust" / "Cargo.toml", *(ROOT / ".cargo").iterdir()]
    for folder, kind in (("src", "*.py*"), ("rust/src", "*.rs")):
        sources += [path for path in (ROOT / folder).rglob(kind) if "__pycache__" not in path.parts]
    made = [path.stat().st_mtime for path in (ROOT / "dist").glob("*.whl")]
    if made and min(made) > max(path.stat().st_mtime for path in sources):
        return ROOT / "dist"
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "maturin", "build", "--release", "--quiet", "--out", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def environment(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    made = Environment(tmp_path_factory.mktemp("installed"))
    made.install(dist)
    return made


def test_the_wheel_does_its_main_job_without_a_compiler(environment: Environment) -> None:
    assert environment.compilers() == []
    certificate = main_job(environment)
    value = certificate["value"]
    assert isinstance(value, int)
    assert 1 <= value <= 41270


def test_a_certificate_that_was_changed_is_refused(environment: Environment) -> None:
    """Else `verify` above would show nothing."""
    certificate = main_job(environment)
    changed = environment.folder / "changed.json"
    changed.write_text(json.dumps({**certificate, "epsilon": 0.5}), encoding="utf-8")
    with pytest.raises(RuntimeError, match="ended with"):
        environment.run("dpselect", "verify", changed)


def test_the_package_is_imported_from_the_wheel(environment: Environment) -> None:
    place = Path(environment.run("python", "-c", "import dpselect; print(dpselect.__file__)").strip())
    assert environment.folder in place.parents
    assert ROOT not in place.parents


def wheels(dist: Path) -> Iterator[tuple[str, list[str]]]:
    """Names of wheels, and of what each one holds."""
    for path in sorted(dist.glob("*.whl")):
        with ZipFile(path) as packed:
            yield path.name, packed.namelist()


def test_one_wheel_serves_all_versions_of_python(dist: Path) -> None:
    names = [name for name, _ in wheels(dist)]
    assert names
    assert [name for name in names if "-cp311-abi3-" not in name] == []


def test_the_wheel_holds_the_package_and_nothing_else(dist: Path) -> None:
    files = (path.relative_to(ROOT / "src") for path in (ROOT / "src").rglob("*py*") if path.is_file())
    package = {path.as_posix() for path in files if "__pycache__" not in path.parts}
    assert {"dpselect/__init__.py", "dpselect/_native/_core.pyi", "dpselect/py.typed"} <= package
    for _, names in wheels(dist):
        held = {name for name in names if not name.startswith("dpselect-")}
        assert package <= held
        (compiled,) = held - package
        assert compiled.startswith("dpselect/_native/_core.")
        assert any(name.endswith("/licenses/LICENSE") for name in names)


def test_the_compiled_core_knows_no_folder_of_a_home(dist: Path) -> None:
    """Of wheels that `make wheel` built, which are passed on; what tests build themselves stays here."""
    if dist != ROOT / "dist":
        pytest.skip("dist/ has no wheels of these sources: make wheel")
    home = os.fsencode(Path.home())
    for path in dist.glob("*.whl"):
        with ZipFile(path) as packed:
            assert [name for name in packed.namelist() if home + b"/" in packed.read(name)] == []

"""A copy of the tree in which the code may be broken, built and tested."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from enum import Enum
from pathlib import Path

from tests.mutants.mutation import Command, Mutation

ROOT = Path(__file__).parents[2]
COPIED = (
    ".cargo",
    "src",
    "rust",
    "tests",
    "proofs",
    "examples",
    "docs",
    "benchmarks",
    "pyproject.toml",
    "README.md",
    "LICENSE",
)
NOT_COPIED = shutil.ignore_patterns("target", "__pycache__", "_build", "*.so", "*.pyd")

SECONDS_A_COMMAND = 600

FAST_TO_BUILD = {"CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16", "CARGO_PROFILE_RELEASE_INCREMENTAL": "true"}
"""The same instructions in fewer seconds; how fast they run does not matter here."""


class Verdict(Enum):
    """How a run of tests ended."""

    PASSED = "passed"
    FAILED = "failed"
    HUNG = "hung"
    BROKEN = "did not build or collect"


class Workshop:
    """The copy at `path`, next to which nothing of the original is touched.

    Compiled dependencies are kept in the original's ``rust/target/mutants`` from one time to the next.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._environment = {
            **os.environ,
            **FAST_TO_BUILD,
            "CARGO_TARGET_DIR": str(ROOT / "rust" / "target" / "mutants"),
            "PYO3_PYTHON": sys.executable,
            "VIRTUAL_ENV": sys.prefix,
            "PYTHONPATH": str(path / "src"),
            "SLOW": "1",  # an error may be rare
            "HYPOTHESIS_STORAGE_DIRECTORY": str(path / ".hypothesis"),
        }
        for name in ("CONDA_PREFIX", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"):  # tests start many processes
            self._environment.pop(name, None)
        self._built = ""
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                # Dated now, not as the original: cargo would take what an earlier copy left for newer than the source.
                shutil.copytree(source, path / name, ignore=NOT_COPIED, copy_function=shutil.copy)
            else:
                shutil.copy(source, path / name)

    def put_in(self, mutation: Mutation) -> str:
        """Break the copy; returns what to give to `put_back`."""
        file = self.path / mutation.file
        original = file.read_text(encoding="utf-8")
        _write(file, mutation.mutated(original))
        return original

    def put_back(self, mutation: Mutation, original: str) -> None:
        """Mend the copy."""
        _write(self.path / mutation.file, original)

    def run(self, command: Command, seconds: float | None = SECONDS_A_COMMAND) -> Verdict:
        """Build what `command` needs as the copy stands now, and run it for so many seconds at most."""
        if command.tool == "pytest":
            return self._pytest(command.arguments, seconds)
        return self._cargo_test(command.arguments, seconds)

    def _cargo_test(self, names: tuple[str, ...], seconds: float | None) -> Verdict:
        test = ["cargo", "test", "--quiet", "--lib", "--manifest-path", "rust/Cargo.toml"]
        if self._status([*test, "--no-run"]) != 0:
            return Verdict.BROKEN
        return _verdict(self._status([*test, "--", *names], seconds=seconds), failed=101)

    def _pytest(self, paths: tuple[str, ...], seconds: float | None) -> Verdict:
        if not self._build_extension():
            return Verdict.BROKEN
        options = ["-p", "no:cacheprovider", "--exitfirst"]
        return _verdict(self._status([sys.executable, "-m", "pytest", *options, *paths], seconds=seconds), failed=1)

    def _build_extension(self) -> bool:
        sources = hashlib.sha256()
        for source in sorted((self.path / "rust").rglob("*.rs")):
            sources.update(source.read_bytes())
        if sources.hexdigest() == self._built:
            return True
        maturin = str(Path(sys.executable).with_name("maturin"))
        self._built = (
            sources.hexdigest() if self._status([maturin, "develop", "--release", "--skip-install"]) == 0 else ""
        )
        return bool(self._built)

    def _status(self, command: list[str], seconds: float | None = SECONDS_A_COMMAND) -> int | None:
        """Exit status, or nothing if it had to be stopped."""
        with (self.path / "last-run.txt").open("w") as output:
            try:
                return subprocess.run(
                    command,
                    cwd=self.path,
                    env=self._environment,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    timeout=seconds,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                return None

    def said(self, lines: int = 30) -> str:
        """The end of what the last command printed."""
        return "\n".join(
            (self.path / "last-run.txt").read_text(encoding="utf-8", errors="replace").splitlines()[-lines:]
        )


def _write(file: Path, text: str) -> None:
    """Compiled code of before is removed: by its size and date Python might take it for that of `text`."""
    file.write_text(text, encoding="utf-8")
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
        compiled.unlink()


def _verdict(status: int | None, *, failed: int) -> Verdict:
    """Only a failed *test* counts; a crash of the test process (killed by a signal) is one too."""
    if status is None:
        return Verdict.HUNG
    if status == 0:
        return Verdict.PASSED
    return Verdict.FAILED if status == failed or status < 0 else Verdict.BROKEN

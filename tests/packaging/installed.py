"""Installs a wheel where no compiler can be reached, and has it do its main job.

Usage: installed.py DIST, a folder of wheels; pip takes the one for this system. The workflow runs it on systems that no
developer here has, so it needs nothing but Python.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "data" / "clicks.parquet"
QUESTION = ("page", "--unit", "session", "--candidates", "1..41270", "--epsilon", "1", "--json")
COMPILERS = ("cargo", "rustc", "maturin", "cc", "gcc", "clang")


class Environment:
    """A virtual environment in `folder`, whose commands find programs of its own only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        self.bin = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
        self.environ = {**kept, "PATH": str(self.bin)}

    def run(self, program: str, *arguments: str | Path) -> str:
        """What it prints; it ends with an error if the program does. The current folder is outside of any checkout."""
        command = [str(self.bin / program), *map(str, arguments)]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environ, capture_output=True, text=True, encoding="utf-8", check=False
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def install(self, dist: Path) -> None:
        """The wheel from `dist` alone, then its dependencies; pip may build nothing."""
        wheels = ("--only-binary", ":all:", "--quiet", "--disable-pip-version-check")
        self.run("python", "-m", "pip", "install", *wheels, "--no-deps", "--no-index", "--find-links", dist, "dpselect")
        self.run("python", "-m", "pip", "install", *wheels, "dpselect")

    def compilers(self) -> list[str]:
        """Compilers that a command here would find."""
        return [name for name in COMPILERS if shutil.which(name, path=self.environ["PATH"])]


def main_job(environment: Environment) -> dict[str, object]:
    """A private answer from real data, and its certificate verified; returns the certificate."""
    printed = environment.run("dpselect", "most-common", EXAMPLE, *QUESTION)
    certificate = environment.folder / "release.json"
    certificate.write_text(printed, encoding="utf-8")
    environment.run("dpselect", "verify", certificate)
    return json.loads(printed)


def main(dist: str) -> None:
    """Install, ask, verify."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        environment = Environment(Path(folder).resolve())
        if found := environment.compilers():
            sys.exit(f"this would show nothing: {', '.join(found)} can be found")
        environment.install(Path(dist).resolve())
        place = environment.run("python", "-c", "import dpselect; print(dpselect.__file__)").strip()
        main_job(environment)
        print(f"{Path(place).parent}: installed, answered and verified without a compiler")


if __name__ == "__main__":
    main(*sys.argv[1:])

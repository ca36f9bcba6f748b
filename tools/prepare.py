"""Sets up .venv: ``python3 tools/prepare.py [EXTRA]`` installs packages, compiles the core, and says how far it is.

The Makefile runs it; without make, run it by hand. Packages are downloaded while the core is compiled, as one waits for
the network and the other for the processors. What is missing is said in one sentence, before the long work begins.
"""

from __future__ import annotations

import argparse
import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

try:
    import tomllib
except ModuleNotFoundError:
    sys.exit("Python 3.11 or later is needed: run this with one that is.")

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
MANIFEST = ("--manifest-path", "rust/Cargo.toml")
INSTALL = ("install", "--no-compile", "--progress-bar", "off")
DECLARED = (ROOT / "pyproject.toml").read_text("utf-8")
PROJECT = tomllib.loads(DECLARED)["project"]
EXTRAS = PROJECT["optional-dependencies"]
RUST = tomllib.loads((ROOT / "rust" / "Cargo.toml").read_text("utf-8"))["package"]["rust-version"]
BUNDLED = list(Path(os.__file__).parent.glob("ensurepip/_bundled/pip-*.whl"))[:1]
SECONDS_A_LINE = 4
NEEDS = {"": (600, 2), "dev": (2500, 3)}
"""Megabytes that a new environment takes at least, with what is compiled; and minutes on two processors."""

UNREACHABLE = re.compile(
    r"\[[567]\] |(?:Connection|Resolving) timed out|class=Net"  # Cargo
    r"|broken by '(?:NewConnection|ConnectTimeout|NameResolution|Proxy)Error"  # pip
)
FULL = f"The disk of {ROOT} is full: make room, or move the checkout to a larger one."


class Step:
    """A command that runs while others do; `so_far` makes words of what it has printed."""

    running: ClassVar[list[Step]] = []
    stopped: ClassVar[bool] = False

    def __init__(self, doing: str, *command: object, so_far: Callable[[str], str] = lambda _: "", **more: str) -> None:
        self.doing, self.so_far = doing, so_far
        self.log = VENV / f"{doing.replace(' ', '-').lower()}.log"
        # An active conda environment would compete for the install.
        environ = {name: value for name, value in os.environ.items() if name not in ("CONDA_PREFIX", "PIP_QUIET")}
        environ |= {"VIRTUAL_ENV": str(VENV), "PATH": f"{PYTHON.parent}{os.pathsep}{environ['PATH']}"}
        environ |= {"CARGO_TERM_COLOR": "never", "CARGO_TERM_PROGRESS_WHEN": "never", **more}
        with self.log.open("w", encoding="utf-8") as log:
            quiet = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, "start_new_session": True}
            self.process = subprocess.Popen([*map(str, command)], cwd=ROOT, env=environ, **quiet)
        Step.running.append(self)

    def printed(self) -> str:
        return self.log.read_text("utf-8", errors="replace")

    def succeeds(self) -> bool:
        status = self.process.wait()
        Step.running.remove(self)
        if Step.stopped:
            sys.exit(1)
        return status == 0

    def end(self) -> None:
        if self.succeeds():
            return
        if re.search("No space left on device|Disk quota exceeded", self.printed()):
            sys.exit(FULL)
        lines = self.printed().splitlines()
        first = next((number for number, line in enumerate(lines) if re.match(" *error", line, re.IGNORECASE)), -15)
        print(*lines[first:][:15], sep="\n", file=sys.stderr)
        sys.exit(f"{self.doing} failed; the lines above are from {self.log.relative_to(ROOT)}.")


def check(extra: str) -> str:
    """Ends if something would stop the work later on; returns what Rust compiles for."""
    if not find_spec("venv") or not find_spec("ensurepip"):
        sys.exit("Python lacks its module venv: install that (Debian, Ubuntu: apt install python3-venv).")
    rustc = shutil.which(os.environ.get("RUSTC", "rustc"))
    if not rustc or not shutil.which("cargo"):
        sys.exit(f"Rust {RUST} or later is needed, and none is on the path: see https://rustup.rs.")
    said = subprocess.run([rustc, "-vV"], capture_output=True, text=True, check=False).stdout
    if not (found := re.search(r"rustc (\d+)\.(\d+).*host: (\S+)", said, re.DOTALL)):
        sys.exit(f"Rust {RUST} or later is needed, and rustc does not run: rustup default stable.")
    if [int(found[1]), int(found[2])] < [*map(int, RUST.split("."))]:
        sys.exit(f"Rust {RUST} or later is needed, and this is {found[1]}.{found[2]}: rustup update stable.")
    needed, free = NEEDS.get(extra, NEEDS[""])[0], shutil.disk_usage(ROOT).free // 10**6
    if not PYTHON.exists() and free < needed:
        sys.exit(f"{needed} MB are needed, and the disk of {ROOT} has {free}: make room, or move the checkout.")
    linked = VENV / "linked"
    VENV.mkdir(exist_ok=True)
    linked.write_bytes(bytes(10**5))
    # Cargo's settings may name a linker, of which rustc alone does not know.
    settings = [each for each in os.environ.items() if each[0].startswith(("CARGO_", "RUSTFLAGS"))]
    settings += [path.read_text("utf-8") for path in Path.home().glob(".cargo/config*")]
    linking = subprocess.run([rustc, "-o", linked, "-"], input=b"fn main() {}", capture_output=True, check=False)
    if linking.returncode and "linker" not in str(settings).lower():
        sys.exit("Rust finds no linker: install a C compiler (Debian, Ubuntu: apt install gcc libc6-dev).")
    linked.unlink()
    return found[3]


def connect(doing: str, *command: object, careful: dict[str, str], offline: dict[str, str] | None = None) -> None:
    """Run `command` as its user has set it up; where there is no connection, do without one or say so at once.

    The tool alone knows its mirrors, proxies and caches. So it runs with little patience first; if it then says that it
    could not connect, without a connection; if anything else was wrong, with all the patience that it has.
    """
    first = Step(doing, *command, **careful)
    if first.succeeds():
        return
    if not UNREACHABLE.search(first.printed()):
        Step(doing, *command).end()
    elif offline and Step(doing, *command, **offline).succeeds():
        os.environ.update(offline)
    else:
        sys.exit(f"{doing} takes a connection, and there is none: go online, or set https_proxy to your proxy.")


def fetch(host: str) -> None:
    """All crates, so that compiling needs no network."""
    command = ("cargo", "fetch", *MANIFEST, "--target", host)
    careful = {"CARGO_HTTP_TIMEOUT": "3", "CARGO_NET_RETRY": "0"}
    connect("Fetching crates", *command, careful=careful, offline={"CARGO_NET_OFFLINE": "true"})


def begin() -> None:
    """The environment, with what builds the package."""
    if not PYTHON.exists():
        Step("Making .venv", sys.executable, "-m", "venv", *["--without-pip"] * len(BUNDLED), VENV).end()
    # Run from its archive, pip is there at once; venv would compile all of it first.
    bare = not any(VENV.glob("lib/python*/site-packages/pip"))
    pip = [BUNDLED[0] / "pip", *INSTALL, *BUNDLED] if bare else ["-m", "pip", *INSTALL]
    builder = [each for each in EXTRAS["dev"] if each.startswith("maturin==")]
    careful = {"PIP_RETRIES": "1", "PIP_TIMEOUT": "2", "PIP_DEFAULT_TIMEOUT": "2"}
    connect("Installing maturin", PYTHON, *pip, *builder, careful=careful)


def install(extra: str) -> None:
    """The product's dependencies and those of `extra`."""

    def so_far(printed: str) -> str:
        return f": {len(re.findall('^Collecting ', printed, re.MULTILINE))} so far"

    wanted = [*PROJECT["dependencies"], *EXTRAS.get(extra, [])]
    Step("Installing Python packages", PYTHON, "-m", "pip", *INSTALL, *wanted, so_far=so_far).end()
    # Once and now, for those whose Python leaves no bytecode. What tests need besides is compiled when they import it.
    compiled = ["src/dpselect", *([] if extra else VENV.glob("lib/python*/site-packages"))]
    Step("Compiling Python modules", PYTHON, "-m", "compileall", "-q", "-x", "/tests/", *compiled).succeeds()


def compile_core(*, with_tests: bool) -> None:
    """The core, into the sources, which are installed as they are; then the Rust tests."""
    tree = ["cargo", "tree", "--features", "python", "--edges", "normal,build", "--prefix", "none", "--no-dedupe"]
    listed = subprocess.run([*tree, *MANIFEST], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    count = len({*listed.splitlines()})

    def so_far(printed: str) -> str:
        begun = re.findall(r"^ *Compiling (\S+)", printed, re.MULTILINE)
        return f": {len(begun)} of {count} crates{', the largest last' * ('dpselect-core' in begun)}"

    package = ("--verbose", "--no-build-isolation", "--no-deps", "--editable", ".")
    Step("Compiling the core", PYTHON, "-m", "pip", *INSTALL, *package, so_far=so_far).end()
    if with_tests:
        Step("Compiling the Rust tests", "cargo", "core-tests", "--no-run", so_far=so_far).end()


def set_up(extra: str, *, rust_tests: bool) -> None:
    """All of it, as much as possible at once."""
    host, start = check(extra), time.monotonic()
    if not PYTHON.exists():
        print(f"Setting up .venv, once: about {NEEDS.get(extra, NEEDS[''])[1]} minutes on two cores.", flush=True)
    with ThreadPoolExecutor() as pool:
        fetched, begun = pool.submit(fetch, host), pool.submit(begin)
        compiled = pool.submit(lambda: (fetched.result(), begun.result(), compile_core(with_tests=rust_tests)))
        installed = pool.submit(lambda: (begun.result(), install(extra)))
        parts = (fetched, begun, compiled, installed)
        try:
            while (now := wait(parts, SECONDS_A_LINE, FIRST_EXCEPTION)).not_done:
                for each in now.done:
                    each.result()
                if doing := [f"{each.doing}{each.so_far(each.printed())}" for each in Step.running]:
                    print(f"{time.monotonic() - start:4.0f} s  {'; '.join(doing)}", flush=True)
            for each in parts:
                each.result()
        finally:
            Step.stopped = True
            while wait(parts, 0.05).not_done:
                for step in list(Step.running):
                    with suppress(ProcessLookupError):
                        os.killpg(step.process.pid, signal.SIGTERM)


def main() -> None:
    """Set up, or end with one sentence."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("extra", nargs="?", default="", choices=["", *sorted({*EXTRAS} - {"all"})])
    parser.add_argument("--rust-tests", action="store_true", help="compile the Rust tests, too")
    chosen = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    try:
        set_up(chosen.extra, rust_tests=chosen.rust_tests)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            sys.exit(FULL)
        if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise
        sys.exit(f"{error.filename} cannot be written: move the checkout to a folder where you may write.")


if __name__ == "__main__":
    main()

"""Sets up an environment: installs packages, compiles the core, and says how far it is; ``tools/prepare.py`` runs it.

The Makefile runs that; without make, run it by hand. Packages are downloaded while the core is compiled, as one waits
for the network and the other for the processors. What is missing is said in one sentence, before the long work begins.
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
import tomllib
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

ROOT = Path(__file__).resolve().parents[1]
MANIFEST = ("--manifest-path", "rust/Cargo.toml")
INSTALL = ("install", "--no-compile", "--progress-bar", "off")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
RUST = tomllib.loads((ROOT / "rust" / "Cargo.toml").read_text("utf-8"))["package"]["rust-version"]
BUNDLED = list(Path(os.__file__).parent.glob("ensurepip/_bundled/pip-*.whl"))[:1]
SECONDS_A_LINE = 4

UNREACHABLE = re.compile(
    r"\[[567]\] |(?:Connection|Resolving) timed out|class=Net"  # Cargo
    r"|broken by '(?:NewConnection|ConnectTimeout|NameResolution|Proxy)Error"  # pip
)
FULL = f"The disk of {ROOT} is full: make room, or move the checkout to a larger one."


@dataclass(frozen=True)
class Environment:
    """A folder with an interpreter, and what is put into it.

    Attributes:
        folder: where it is in the checkout.
        megabytes: what a new one takes at least, with what is compiled.
        minutes: how long a new one takes on two processors.
        packages: what pip installs beside maturin and the package itself.
        package: how pip installs the package itself; empty if it does not.
        compiled: folders whose modules are compiled once and now, for those whose Python leaves no bytecode.
    """

    folder: str = ".venv"
    megabytes: int = 600
    minutes: int = 2
    packages: tuple[str, ...] = ()
    package: tuple[str, ...] = ("--editable", ".")
    compiled: tuple[str, ...] = ("src/dpselect",)


_EXTRAS = PROJECT["optional-dependencies"]
_NEEDED = tuple(PROJECT["dependencies"])
_PEERS = ("--requirement", "benchmarks/requirements.txt")
ENVIRONMENTS = {
    "": Environment(packages=_NEEDED, compiled=("src/dpselect", ".venv/lib/python*/site-packages")),
    **{extra: Environment(packages=(*_NEEDED, *more)) for extra, more in _EXTRAS.items() if extra != "all"},
    # What tests need besides is compiled when they import it.
    "dev": Environment(packages=(*_NEEDED, *_EXTRAS["dev"]), megabytes=2500, minutes=3),
    # Not editable: what is measured is the wheel a user gets.
    "bench": Environment(
        ".venv-bench", 2500, 3, ("--compile", *_PEERS, *_NEEDED), package=("--compile", "."), compiled=()
    ),
    "wheel": Environment(".venv-wheel", 1000, 1, ("ziglang==0.17.1",), package=(), compiled=()),
}
"""What is set up, by the word that asks for it."""


class Step:
    """A command that runs while others do; `so_far` makes words of what it has printed."""

    venv: ClassVar[Path] = ROOT / ".venv"
    running: ClassVar[list[Step]] = []
    stopped: ClassVar[bool] = False

    def __init__(self, doing: str, *command: object, so_far: Callable[[str], str] = lambda _: "", **more: str) -> None:
        self.doing, self.so_far = doing, so_far
        self.log = Step.venv / f"{doing.replace(' ', '-').lower()}.log"
        # An active conda environment would compete for the install.
        environ = {name: value for name, value in os.environ.items() if name not in ("CONDA_PREFIX", "PIP_QUIET")}
        environ |= {"VIRTUAL_ENV": str(Step.venv), "PATH": f"{python().parent}{os.pathsep}{environ['PATH']}"}
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


def python() -> Path:
    """The interpreter of the environment."""
    return Step.venv / "bin" / "python"


def check(where: Environment) -> str:
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
    needed, free = where.megabytes, shutil.disk_usage(ROOT).free // 10**6
    if not python().exists() and free < needed:
        sys.exit(f"{needed} MB are needed, and the disk of {ROOT} has {free}: make room, or move the checkout.")
    Step.venv.mkdir(exist_ok=True)
    # Cargo's settings may name a linker, of which rustc alone does not know.
    settings = [each for each in os.environ.items() if each[0].startswith(("CARGO_", "RUSTFLAGS"))]
    settings += [path.read_text("utf-8") for path in Path.home().glob(".cargo/config*")]
    with TemporaryDirectory(dir=Step.venv) as folder:
        linked = Path(folder) / "linked"
        linked.write_bytes(bytes(10**5))
        linking = subprocess.run([rustc, "-o", linked, "-"], input=b"fn main() {}", capture_output=True, check=False)
    if linking.returncode and "linker" not in str(settings).lower():
        sys.exit("Rust finds no linker: install a C compiler (Debian, Ubuntu: apt install gcc libc6-dev).")
    return found[3]


def connect(
    doing: str,
    *command: object,
    careful: dict[str, str],
    offline: dict[str, str] | None = None,
    so_far: Callable[[str], str] = lambda _: "",
) -> None:
    """Run `command` as its user has set it up; where there is no connection, do without one or say so at once.

    The tool alone knows its mirrors, proxies and caches. So it runs with little patience first; if it then says that it
    could not connect, without a connection; if anything else was wrong, with all the patience that it has.
    """
    first = Step(doing, *command, so_far=so_far, **careful)
    if first.succeeds():
        return
    if not UNREACHABLE.search(first.printed()):
        Step(doing, *command, so_far=so_far).end()
    elif offline and Step(doing, *command, **offline).succeeds():
        os.environ.update(offline)
    else:
        sys.exit(f"{doing} takes a connection, and there is none: go online, or set https_proxy to your proxy.")


def patience(seconds: int) -> dict[str, str]:
    """How long pip waits for an answer, twice."""
    return {"PIP_RETRIES": "1", "PIP_TIMEOUT": str(seconds), "PIP_DEFAULT_TIMEOUT": str(seconds)}


def fetch(where: Environment, host: str) -> None:
    """All crates, so that compiling needs no network; also those of other systems if the core is compiled for them."""
    command = ("cargo", "fetch", *MANIFEST, *(("--target", host) if where.package else ()))
    careful = {"CARGO_HTTP_TIMEOUT": "3", "CARGO_NET_RETRY": "0"}
    connect("Fetching crates", *command, careful=careful, offline={"CARGO_NET_OFFLINE": "true"})


def begin() -> None:
    """The environment, with what builds the package."""
    if not python().exists():
        bare = ["--without-pip"] * len(BUNDLED)
        Step(f"Making {Step.venv.name}", sys.executable, "-m", "venv", *bare, Step.venv).end()
    # Run from its archive, pip is there at once; venv would compile all of it first.
    bare = not any(Step.venv.glob("lib/python*/site-packages/pip"))
    pip = [BUNDLED[0] / "pip", *INSTALL, *BUNDLED] if bare else ["-m", "pip", *INSTALL]
    builder = [each for each in _EXTRAS["dev"] if each.startswith("maturin==")]
    connect("Installing maturin", python(), *pip, *builder, careful=patience(2))


def install(where: Environment) -> None:
    """What the environment has beside the package itself."""

    def so_far(printed: str) -> str:
        found = len(re.findall("^Collecting ", printed, re.MULTILINE))
        return f": {found}, being unpacked" if "\nInstalling collected" in printed else f": {found} so far"

    command = ("-m", "pip", *INSTALL, *where.packages)
    connect("Installing Python packages", python(), *command, careful=patience(5), so_far=so_far)
    if compiled := [path for each in where.compiled for path in ROOT.glob(each)]:
        Step("Compiling Python modules", python(), "-m", "compileall", "-q", "-x", "/tests/", *compiled).succeeds()


class Crates:
    """How many of the crates are begun, and which is the latest; of the largest, which comes last, for how long.

    The largest takes `SHARE` of the time that all others take together, on whatever machine.
    """

    LARGEST = "dpselect-core"
    SHARE = 0.6

    def __init__(self, count: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.count, self.clock = count, clock
        self.began, self.last_began = clock(), 0.0

    def __call__(self, printed: str) -> str:
        begun = re.findall(r"^ *Compiling (\S+)", printed, re.MULTILINE)
        said, now = f": {len(begun)} of {self.count} crates", self.clock()
        if self.LARGEST not in begun:
            return said + "".join(f", now {each}" for each in begun[-1:])
        self.last_began = self.last_began or now
        passed = f"{said}, now the largest, for {now - self.last_began:.0f} s"
        if len(begun) < self.count / 2:  # the others were there already
            return passed
        return f"{passed} of about {self.SHARE * (self.last_began - self.began):.0f}"


def compile_core(where: Environment, *, with_tests: bool) -> None:
    """The core, into the sources if they are installed as they are; then the Rust tests."""
    if not where.package:
        return
    tree = ["cargo", "tree", "--features", "python", "--edges", "normal,build", "--prefix", "none", "--no-dedupe"]
    listed = subprocess.run([*tree, *MANIFEST], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    count = len({*listed.splitlines()})
    package = ("--verbose", "--no-build-isolation", "--no-deps", *where.package)
    Step("Compiling the core", python(), "-m", "pip", *INSTALL, *package, so_far=Crates(count)).end()
    if with_tests:
        Step("Compiling the Rust tests", "cargo", "core-tests", "--no-run", so_far=Crates(count)).end()


def set_up(where: Environment, *, rust_tests: bool) -> None:
    """All of it, as much as possible at once."""
    host, start = check(where), time.monotonic()
    if not python().exists():
        about = f"{where.minutes} minute{'s' * (where.minutes > 1)}"
        print(f"Setting up {where.folder}, once: about {about} on two cores.", flush=True)
    with ThreadPoolExecutor() as pool:
        fetched, begun = pool.submit(fetch, where, host), pool.submit(begin)
        compiled = pool.submit(lambda: (fetched.result(), begun.result(), compile_core(where, with_tests=rust_tests)))
        installed = pool.submit(lambda: (begun.result(), install(where)))
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
    parser = argparse.ArgumentParser(description=__doc__, prog="prepare.py")
    parser.add_argument("extra", nargs="?", default="", choices=sorted(ENVIRONMENTS))
    parser.add_argument("--rust-tests", action="store_true", help="compile the Rust tests, too")
    chosen = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    where = ENVIRONMENTS[chosen.extra]
    Step.venv = ROOT / where.folder
    try:
        set_up(where, rust_tests=chosen.rust_tests)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            sys.exit(FULL)
        if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise
        sys.exit(f"{error.filename} cannot be written: move the checkout to a folder where you may write.")

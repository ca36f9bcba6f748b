"""Each door says in one sentence what is missing, and goes on saying how far it is; see ``tools/environments.py``."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
RUST = tomllib.loads((ROOT / "rust" / "Cargo.toml").read_text(encoding="utf-8"))["package"]["rust-version"]
OFFLINE_SENTENCE = "takes a connection, and there is none: go online, or set https_proxy to your proxy."


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What a clean clone has of all that is needed to see that something else is missing."""
    folder = tmp_path / "checkout"
    needed = ("Makefile", "pyproject.toml", "rust/Cargo.toml", ".cargo/config.toml", "benchmarks/requirements.txt")
    for name in (*needed, "tools/prepare.py", "tools/environments.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    (folder / "rust" / "src").mkdir()
    (folder / "rust" / "src" / "lib.rs").touch()
    (folder / "src").mkdir()
    return folder


@pytest.fixture
def commands(tmp_path: Path) -> Path:
    """A folder of the few programs that are found: what a machine has, and Rust, but no C compiler."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bash", "env", "find", "make", "mkdir", "touch", "cargo", "rustc"):
        found = shutil.which(name)
        assert found, name
        (folder / name).symlink_to(found)
    return folder


def fake(folder: Path, name: str, script: str) -> None:
    """Put a program in the place of another."""
    (folder / name).unlink(missing_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


def said(
    checkout: Path, *, door: str = "demo", before: tuple[str, ...] = (), python: str = sys.executable, **environ: str
) -> list[str]:
    """What `make` prints where it fails, without make's own last line and without how far it is."""
    # What a `make` says to those that it starts would make this one say more.
    left_out = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "PREPARE"}
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    kept = {name: value for name, value in kept.items() if name not in left_out}
    done = subprocess.run(
        [*before, "make", door, *([f"PYTHON={python}"] if python else [])],
        cwd=checkout, env=kept | environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
        check=False,
    )  # fmt: skip
    assert done.returncode
    lines = done.stdout.splitlines()
    assert lines.pop().startswith("make: *** ")
    return [line for line in lines if " s  " not in line and not line.startswith("Setting up")]


def test_no_python_is_new_enough(checkout: Path, commands: Path) -> None:
    fake(commands, "python3", "exit 1")  # as an old one says of its own version
    sentence = ["Python 3.11 or later is needed: install it, or name yours with make PYTHON=/path/to/it"]
    assert said(checkout, python="", PATH=str(commands)) == sentence
    assert said(checkout, python=str(commands / "python3"), PATH=str(commands)) == sentence


def test_an_old_python_says_so_without_make(checkout: Path) -> None:
    command = "import runpy, sys; sys.version_info = (3, 7); runpy.run_path('tools/prepare.py')"
    done = subprocess.run([sys.executable, "-c", command], cwd=checkout, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "Python 3.11 or later is needed: run this with one that is.\n")


def too_new(path: Path) -> set[str]:
    """The kinds of words in a program that are none of those that Python has had since its version 2."""
    old = {"Module", "Expr", "Constant", "Import", "ImportFrom", "alias", "If", "Compare", "Lt", "Eq"}
    old |= {"Attribute", "Name", "Load", "Tuple", "Call"}
    text = path.read_text(encoding="ascii", errors="replace")
    found = {type(node).__name__ for node in ast.walk(ast.parse(text))} - old
    return found | {each for each in ("__future__", "\N{REPLACEMENT CHARACTER}") if each in text}


def test_an_old_python_can_read_what_says_so() -> None:
    """All of a file is read before its first line is done: with newer words in it, the sentence would never come."""
    assert too_new(ROOT / "tools" / "prepare.py") == set()
    assert too_new(ROOT / "tools" / "environments.py") >= {"JoinedStr", "AnnAssign", "__future__"}  # the control


def test_there_is_no_rust(checkout: Path, commands: Path) -> None:
    (commands / "cargo").unlink()
    (sentence,) = said(checkout, PATH=str(commands))
    assert sentence == f"Rust {RUST} or later is needed, and none is on the path: see https://rustup.rs."


def test_rust_is_too_old(checkout: Path, commands: Path) -> None:
    fake(commands, "rustc", "echo 'rustc 1.70.0 (90c541806 2023-05-31)'; echo 'host: x86_64-unknown-linux-gnu'")
    (sentence,) = said(checkout, PATH=str(commands))
    assert sentence == f"Rust {RUST} or later is needed, and this is 1.70: rustup update stable."


def test_rust_was_not_set_up(checkout: Path, commands: Path) -> None:
    fake(commands, "rustc", "echo 'error: no default is configured' >&2; exit 1")
    (sentence,) = said(checkout, PATH=str(commands))
    assert sentence == f"Rust {RUST} or later is needed, and rustc does not run: rustup default stable."


def test_there_is_no_linker(checkout: Path, commands: Path, tmp_path: Path) -> None:
    rustup = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))
    (sentence,) = said(checkout, PATH=str(commands), HOME=str(tmp_path), RUSTUP_HOME=rustup)
    assert sentence == "Rust finds no linker: install a C compiler (Debian, Ubuntu: apt install gcc libc6-dev)."
    assert list((checkout / ".venv").iterdir()) == []  # nothing of the attempt stays


@pytest.fixture
def nowhere() -> Iterator[str]:
    """An address of this machine where nobody answers."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def test_crates_cannot_be_fetched(checkout: Path, nowhere: str, tmp_path: Path) -> None:
    rustup = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))
    empty = {"CARGO_HOME": str(tmp_path / "cargo"), "RUSTUP_HOME": rustup}
    (sentence,) = said(checkout, https_proxy=nowhere, CARGO_HTTP_PROXY=nowhere, **empty)
    assert (
        sentence
        == "Fetching crates takes a connection, and there is none: go online, or set https_proxy to your proxy."
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("door", ["demo", "bench", "docs", "paper", "wheel"])
def test_packages_cannot_be_fetched(door: str, checkout: Path, commands: Path, nowhere: str) -> None:
    """Where all crates are there already."""
    fake(commands, "cargo", "exit 0")
    pip = {"PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": "", "PIP_INDEX_URL": f"{nowhere}/simple"}
    (sentence,) = said(checkout, door=door, PATH=f"{commands}{os.pathsep}{os.environ['PATH']}", **pip)
    assert sentence == f"Installing maturin {OFFLINE_SENTENCE}"


def namespace(*kinds: str) -> tuple[str, ...]:
    """A command that begins others in namespaces of their own."""
    command = ("unshare", "--map-root-user", *kinds)
    if not shutil.which("unshare") or subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system does not let its users make namespaces")
    return command


def test_there_is_no_network_at_all(checkout: Path, tmp_path: Path) -> None:
    rustup = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))
    empty = {"CARGO_HOME": str(tmp_path / "cargo"), "RUSTUP_HOME": rustup}
    (sentence,) = said(checkout, before=namespace("--net"), **empty)
    assert sentence == f"Fetching crates {OFFLINE_SENTENCE}"


def test_the_folder_is_read_only(checkout: Path) -> None:
    mount = 'mount --bind . . && mount -o remount,ro,bind . && cd "$PWD" && exec "$@"'
    (sentence,) = said(checkout, before=(*namespace("--mount"), "bash", "-c", mount, "-"))
    assert sentence == f"{checkout / '.venv'} cannot be written: move the checkout to a folder where you may write."


def test_the_disk_is_full(checkout: Path) -> None:
    small = 'mount -t tmpfs -o size=2m none /mnt && cp -r . /mnt && cd /mnt && exec "$@"'
    (sentence,) = said(checkout, before=(*namespace("--mount"), "bash", "-c", small, "-"))
    assert sentence == "600 MB are needed, and the disk of /mnt has 2: make room, or move the checkout."


@pytest.fixture
def environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module itself, in an empty folder."""
    specified = importlib.util.spec_from_file_location("environments", ROOT / "tools" / "environments.py")
    assert specified
    assert specified.loader
    module = importlib.util.module_from_spec(specified)
    monkeypatch.setitem(sys.modules, "environments", module)
    specified.loader.exec_module(module)
    for name, value in {"ROOT": tmp_path, "SECONDS_A_LINE": 0.05}.items():
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(module.Step, "venv", tmp_path)
    return module


@pytest.fixture
def prepare(environments: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The same, as if all was there."""
    for name in ("check", "fetch", "begin", "install", "compile_core"):
        monkeypatch.setattr(environments, name, lambda *_, **__: None)
    return environments


def test_it_says_how_far_it_is(prepare: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []

    def show(line: str, **_: object) -> None:
        lines.append(line)
        if len(lines) == 4:
            (tmp_path / "seen").touch()

    def compile_core(*_: object, **__: object) -> None:
        script = "echo '  Compiling a'; echo '  Compiling b'; until [ -e seen ]; do sleep 0.02; done"
        prepare.Step("Compiling", "sh", "-c", script, so_far=lambda text: f": {text.count('Compiling ')}").end()

    monkeypatch.setattr(prepare, "print", show, raising=False)
    monkeypatch.setattr(prepare, "compile_core", compile_core)
    prepare.set_up(prepare.ENVIRONMENTS[""], rust_tests=False)
    assert lines[0].startswith("Setting up .venv, once: about ")
    assert lines[-1].endswith(" s  Compiling: 2")
    assert prepare.Step.running == []


def test_the_first_error_ends_what_else_runs(
    prepare: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    endless: list[subprocess.Popen[bytes]] = []

    def compile_core(*_: object, **__: object) -> None:
        step = prepare.Step("Compiling", "sh", "-c", "sleep 600 & wait")
        endless.append(step.process)
        step.end()

    def install(where: object) -> None:
        prepare.Step("Installing", "sh", "-c", "echo much; echo 'ERROR: no such package'; echo more; exit 3").end()

    monkeypatch.setattr(prepare, "compile_core", compile_core)
    monkeypatch.setattr(prepare, "install", install)
    with pytest.raises(SystemExit, match=r"^Installing failed; the lines above are from installing\.log\.$"):
        prepare.set_up(prepare.ENVIRONMENTS[""], rust_tests=False)
    assert capsys.readouterr().err == "ERROR: no such package\nmore\n"
    assert [process.poll() for process in endless] in ([], [-15])


def test_a_disk_that_fills_up_is_told(prepare: ModuleType) -> None:
    with pytest.raises(SystemExit, match="is full: make room, or move the checkout"):
        prepare.Step("Installing", "sh", "-c", "echo 'OSError: [Errno 28] No space left on device'; exit 1").end()


CAREFUL = {"PATIENCE": "2"}
OFFLINE = {"OFFLINE": "1"}


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ("exit 0", None),
        ('[ -z "$PATIENCE" ]', None),  # slow, not unreachable: with patience it works
        ("echo '  [6] Could not resolve hostname'; [ \"$OFFLINE\" ]", None),  # all is on this machine
        ("echo '  [7] Could not connect to server'; exit 1", f"Fetching {OFFLINE_SENTENCE}"),
        ("echo '  [28] Timeout was reached (Connection timed out)'; exit 1", f"Fetching {OFFLINE_SENTENCE}"),
        ("echo '  [22] The requested URL returned error: 404'; exit 1", "Fetching failed"),
    ],
)
def test_only_what_no_patience_helps_with_ends_it(
    prepare: ModuleType, monkeypatch: pytest.MonkeyPatch, script: str, outcome: str | None
) -> None:
    monkeypatch.delenv("OFFLINE", raising=False)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    if outcome is None:
        prepare.connect("Fetching", "sh", "-c", script, careful=CAREFUL, offline=OFFLINE)
        assert os.environ.get("OFFLINE") == ("1" if "OFFLINE" in script else None)
        return
    with pytest.raises(SystemExit, match=outcome):
        prepare.connect("Fetching", "sh", "-c", script, careful=CAREFUL, offline=OFFLINE)


def test_the_readme_says_what_to_do_without_make() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "python3 tools/prepare.py" in readme


def test_what_is_missing_later_is_told_in_the_same_sentence(environments: ModuleType, tmp_path: Path) -> None:
    """An environment that was made online, and is to have more, offline."""
    (tmp_path / "bin").mkdir()
    warning = "WARNING: Retrying after connection broken by 'NewConnectionError(...)': /simple/sphinx/"
    fake(tmp_path / "bin", "python", f'echo "$PIP_RETRIES" >> tried\necho "{warning}"\nexit 1')
    with pytest.raises(SystemExit, match=f"^Installing Python packages {OFFLINE_SENTENCE}$"):
        environments.install(environments.ENVIRONMENTS["docs"])
    assert (tmp_path / "tried").read_text(encoding="utf-8") == "1\n"


def test_no_door_installs_anything_by_itself() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.findall(r"^.*\bpip\b.*install.*$", makefile, flags=re.MULTILINE) == []
    assert makefile.count("tools/prepare.py") >= 2


def test_the_largest_crate_is_told_with_its_seconds(environments: ModuleType) -> None:
    now = iter([0.0, 10.0, 20.0, 40.0, 44.0, 64.0]).__next__
    so_far = environments.Crates(4, now)
    assert so_far("Resolving\n") == ": 0 of 4 crates"
    printed = "   Compiling a v1\n   Compiling b v1\n   Compiling c v1\n"
    assert so_far(printed) == ": 3 of 4 crates, now c"
    printed += "   Compiling dpselect-core v1\n"
    about = round(40 * environments.Crates.SHARE)
    assert [so_far(printed) for _ in range(3)] == [
        f": 4 of 4 crates, now the largest, for {seconds} s of about {about}" for seconds in (0, 4, 24)
    ]


def test_where_the_others_are_there_already_no_time_is_foretold(environments: ModuleType) -> None:
    now = iter([0.0, 1.0, 5.0]).__next__
    so_far = environments.Crates(60, now)
    assert [so_far("   Compiling dpselect-core v1\n") for _ in range(2)] == [
        f": 1 of 60 crates, now the largest, for {seconds} s" for seconds in (0, 4)
    ]

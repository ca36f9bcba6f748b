"""The real command in a process of its own: pipes, signals, a full disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpselect.cli import main
from dpselect.ledger import Ledger
from tests.slow import SLOW

ROOT = Path(__file__).parents[2]
QUESTION = ["top-k", "examples/data/clicks.parquet", "page", "2", "--unit", "session", "--candidates", "1..41270"]
COMMAND = [sys.executable, "-m", "dpselect"]


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *arguments], cwd=ROOT, timeout=60, capture_output=True, check=False, **options)  # type: ignore[call-overload, no-any-return]


def test_json_of_a_process() -> None:
    done = run(*QUESTION, "--epsilon", "4", "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["value"] == [6, 3]


THREADS = """
import os, sys
from dpselect.cli import main
sys.argv = ["dpselect", "--version"]
main({given})
print(os.environ.get("OPENBLAS_NUM_THREADS"))
"""


@pytest.mark.parametrize(("given", "told", "found"), [("", None, "1"), ("", "2", "2"), ("['--version']", None, "None")])
def test_a_command_starts_no_threads_for_matrices_unless_it_is_told_to(
    given: str, told: str | None, found: str
) -> None:
    """And who calls `main` with arguments keeps the settings of the process."""
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    environment |= {} if told is None else {"OPENBLAS_NUM_THREADS": told}
    program = [sys.executable, "-c", THREADS.format(given=given)]
    done = subprocess.run(program, env=environment, capture_output=True, timeout=60, check=True, text=True)
    assert done.stdout.split()[-1] == found


TWO_COMMANDS = """
import sys
from dpselect.cli import main
sys.exit(main([*sys.argv[1:], "--quiet"]) or main([*sys.argv[1:], "--json"]))
"""


def test_an_encoding_without_the_letters_loses_no_answer(tmp_path: Path) -> None:
    city, path = "\u0141\u00f3d\u017a \U0001f600", tmp_path / "cities.csv"
    path.write_text("person,city\n" + "".join(f"{unit},{city}\n" for unit in range(99)), "utf-8")
    question = ["most-common", str(path), "city", "--unit", "person", "--candidates", f"{city},x", "--epsilon", "9"]
    written = {"ascii": rb"\u0141\u00f3d\u017a \ud83d\ude00", "cp1252": b"\\u0141\xf3d\\u017a \\ud83d\\ude00"}
    for encoding in written if SLOW else [*written][:1]:
        environment = {**os.environ, "PYTHONIOENCODING": encoding}
        done = subprocess.run(
            [sys.executable, "-c", TWO_COMMANDS, *question],
            env=environment,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        plain, certificate = done.stdout.splitlines()
        assert plain.strip() == written[encoding]
        assert json.loads(certificate.decode(encoding))["value"] == city


@pytest.mark.slow  # a process that answers is there by day
def test_a_quantile_of_a_process() -> None:
    question = ["quantile", "examples/data/adult.csv", "age", "0.5", "--unit", "person_id", "--bounds", "0", "120"]
    done = run(*question, "--step", "1", "--epsilon", "1", "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["value"] == 37.0


def test_bad_input_of_a_process() -> None:
    done = run(*QUESTION, "--epsilon", "0")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"dpselect: --epsilon=0.0: expected a finite number > 0.\n"


def test_a_reader_that_left_is_no_error_to_speak_of() -> None:
    with subprocess.Popen(
        [*COMMAND, *QUESTION, "--epsilon", "4"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


def test_output_that_cannot_be_written() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, *QUESTION, "--epsilon", "4"],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    said = done.stderr.decode()
    assert said.startswith("dpselect: the answer could not be written to standard output. Its charge stands.")
    assert said.count("\n") == 1


@pytest.fixture
def charged(tmp_path: Path) -> list[str]:
    """A question that is charged."""
    path = str(tmp_path / "budget.db")
    with Ledger(path) as ledger:
        ledger.open_account("clicks", epsilon=9, unit="session")
    return [*QUESTION, "--epsilon", "4", "--ledger", path, "--account", "clicks", "--request", "one"]


def entries(charged: list[str]) -> int:
    with Ledger(charged[charged.index("--ledger") + 1]) as ledger:
        return ledger.account("clicks").entries


HOWS = [">&-", ">&- 2>&-", "1<README.md"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("how", HOWS)
def test_a_closed_output_is_found_before_anything_is_charged(how: str, charged: list[str]) -> None:
    others = [QUESTION, ["--help"], ["nosuch"]]
    for arguments in (charged, *(others if SLOW else [])):
        command = ["sh", "-c", f'"$@" {how}', "sh", *COMMAND, *arguments]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=60, check=False)
        said = b"" if "2>&-" in how else b"dpselect: standard output is closed, so no answer could be written. "
        assert done.returncode == 2
        assert done.stdout == b""
        assert done.stderr.startswith(said)
        assert done.stderr.count(b"\n") == bool(said)
    assert entries(charged) == 1


def test_a_reader_that_left_is_found_before_anything_is_charged(charged: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write) as gone:
        done = subprocess.run(
            [*COMMAND, *charged], cwd=ROOT, stdout=gone, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert (done.returncode, done.stderr) == (141, b"")
    assert entries(charged) == 1


def test_a_reader_that_leaves_while_rows_are_read_is_found_before_the_charge(
    charged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process, whose output is exchanged for a pipe; its reader leaves as soon as the reading is over."""
    read, write = os.pipe()
    look = Ledger.look

    def leave(*given: Any, **named: Any) -> Any:
        os.close(read)
        return look(*given, **named)

    monkeypatch.setattr(Ledger, "look", leave)
    monkeypatch.chdir(ROOT)
    with os.fdopen(write, "w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        assert main(charged) == 141
    assert entries(charged) == 1


def test_closed_messages_and_input_keep_no_answer_back(charged: list[str]) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$@" 2>&- <&-', "sh", *COMMAND, *charged, "--quiet"],
        cwd=ROOT,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"6\n3\n", b"")


@pytest.mark.parametrize("arguments", [["--help", "nosuch"], ["ledger", "--help", "nosuch"]])
def test_help_about_what_there_is_not(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("dpselect: Not understood: 'nosuch'.")


def test_a_name_too_long_for_a_file_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "x" * 300]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("File name too long.\n")


@pytest.mark.slow
def test_control_c_during_a_scan_ends_it_quietly(tmp_path: Path) -> None:
    rows = np.arange(2_000_000)
    pq.write_table(pa.table({"unit": rows, "value": rows % 1000}), tmp_path / "0.parquet")
    for part in range(1, 40):  # the same two million units again and again: much longer than this test waits
        (tmp_path / f"{part}.parquet").hardlink_to(tmp_path / "0.parquet")
    spill = tmp_path / "spill"
    spill.mkdir()
    question = ["most-common", str(tmp_path / "*.parquet"), "value", "--unit", "unit", "--candidates", "0..999"]
    with subprocess.Popen(
        [*COMMAND, *question, "--epsilon", "1"],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(spill)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        wait_until(lambda: any(spill.iterdir()))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"dpselect: interrupted; nothing was charged.\n")
    assert list(spill.iterdir()) == []


def wait_until(happened: Callable[[], bool]) -> None:
    for _ in range(12000):
        if happened():
            return
        time.sleep(0.005)
    raise AssertionError("it never happened")

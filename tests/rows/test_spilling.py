"""Folders that a killed process left are removed by the next, and nobody else's ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from dpselect import Dataset
from dpselect.rows import duckdb as engine
from dpselect.rows.duckdb import remove_abandoned, spill_folder

HOLD = """\
import pathlib, sys
from dpselect.rows.duckdb import connected
with connected() as connection:
    (folder,) = connection.execute("SELECT current_setting('temp_directory')").fetchone()
    (pathlib.Path(folder) / "duckdb_temp_storage-0.tmp").write_bytes(b"row of Zoe, aged 41")
    print(folder, flush=True)
    sys.stdin.read()
"""


def holding(place: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process amid a question, and its folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD],
        env={**os.environ, "TMPDIR": str(place)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def ended(process: subprocess.Popen[str]) -> None:
    process.communicate(timeout=60)


@pytest.mark.slow
def test_what_a_killed_process_left_is_removed_and_what_a_living_one_uses_is_not(tmp_path: Path) -> None:
    killed, left = holding(tmp_path)
    living, used = holding(tmp_path)
    killed.send_signal(signal.SIGKILL)
    ended(killed)
    try:
        assert left.parent == used.parent == tmp_path
        next_one, its_own = holding(tmp_path)
        assert not left.exists()
        assert (used / "duckdb_temp_storage-0.tmp").read_bytes()
        assert its_own.exists()
        ended(next_one)
    finally:
        ended(living)
    assert list(tmp_path.iterdir()) == []


def test_each_question_removes_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    visits = Dataset("examples/data/clicks.parquet", unit="session")
    visits.most_common("page", candidates=range(1, 99), epsilon=1.0)
    assert list(tmp_path.iterdir()) == []


def abandoned(place: Path, name: str) -> Path:
    folder = place / name
    folder.mkdir(mode=0o700)
    (folder / "lock").touch()
    (folder / "rows").touch()
    return folder


def test_only_folders_that_are_surely_abandoned_are_removed(tmp_path: Path) -> None:
    """Everything here that stays differs in one thing from what goes."""
    gone = abandoned(tmp_path, "dpselect-gone")
    stays = [abandoned(tmp_path, "other-program"), abandoned(tmp_path, "dpselect-open-to-others")]
    stays[1].chmod(0o777)
    (tmp_path / "dpselect-just-made").mkdir(mode=0o700)
    (abandoned(tmp_path, "dpselect-lock-elsewhere") / "lock").unlink()
    (tmp_path / "elsewhere").touch()
    (tmp_path / "dpselect-lock-elsewhere" / "lock").symlink_to(tmp_path / "elsewhere")
    target = abandoned(tmp_path, "target")
    (tmp_path / "dpselect-link").symlink_to(target)
    (tmp_path / "dpselect-file").touch()
    before = {each.name for each in tmp_path.iterdir()}
    remove_abandoned(str(tmp_path))
    assert {each.name for each in tmp_path.iterdir()} == before - {gone.name}
    assert all((each / "rows").exists() for each in (*stays, target))


def test_another_user_s_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = abandoned(tmp_path, "dpselect-theirs")
    monkeypatch.setattr(os, "geteuid", lambda: theirs.stat().st_uid + 1)
    remove_abandoned(str(tmp_path))
    assert theirs.exists()


def test_nothing_is_removed_where_nobody_can_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows."""
    left = abandoned(tmp_path, "dpselect-left")
    monkeypatch.setattr(engine, "fcntl", None)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with spill_folder() as folder:
        assert os.listdir(folder) == []
    assert list(tmp_path.iterdir()) == [left]


def test_a_place_without_locks_takes_rows_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError

    monkeypatch.setattr("fcntl.flock", refuse)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with spill_folder() as folder:
        assert Path(folder).is_dir()
        remove_abandoned.cache_clear()
        remove_abandoned(str(tmp_path))
        assert Path(folder).is_dir()
    assert list(tmp_path.iterdir()) == []

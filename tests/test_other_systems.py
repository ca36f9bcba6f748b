"""Names that Windows or macOS lacks: taken away, everything is still imported and a ledger works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

_WITHOUT = """\
import importlib, os, pkgutil, signal, sys, tempfile
import duckdb, numpy, psycopg, pyarrow, scipy.optimize, scipy.special, scipy.stats
import subprocess, concurrent.futures.thread

LACKING = {
    "windows": {
        "os": "register_at_fork fork forkpty sysconf getuid geteuid getgid getegid sched_getaffinity sched_yield wait4"
        " getloadavg O_NOFOLLOW O_DIRECTORY O_CLOEXEC fchmod fchown chown pread pwrite posix_fallocate posix_fadvise"
        " statvfs uname killpg getpgid setsid mkfifo fdatasync sendfile copy_file_range memfd_create pidfd_open",
        "signal": "SIGKILL SIGHUP SIGPIPE SIGALRM SIGUSR1 SIGUSR2 SIGCHLD SIGSTOP SIGTSTP setitimer alarm",
        "select": "poll epoll",
        "time": "clock_gettime tzset",
        "modules": "fcntl resource pwd grp termios tty pty syslog posix",
    },
    "darwin": {
        "os": "sched_getaffinity sched_setaffinity posix_fallocate posix_fadvise copy_file_range memfd_create "
        " pidfd_open eventfd getrandom",
        "signal": "SIGPOLL SIGPWR SIGRTMIN SIGRTMAX sigtimedwait",
        "select": "epoll",
        "modules": "spwd ossaudiodev",
    },
}
import select, time
for system in sys.argv[1].split():
    for module, names in LACKING[system].items():
        for name in names.split():
            if module == "modules":
                sys.modules[name] = None
            else:
                vars(globals()[module]).pop(name, None)

import dpselect
for found in pkgutil.walk_packages(dpselect.__path__, "dpselect."):
    importlib.import_module(found.name)

from dpselect.cli import main
folder = tempfile.mkdtemp()
ledger = os.path.join(folder, "budget.db")
assert main(["ledger", "open", ledger, "clicks", "--epsilon", "9"]) == 0
question = "most-common examples/data/clicks.parquet page --unit session --candidates 1..99 --epsilon 1 --quiet"
assert main([*question.split(), "--ledger", ledger, "--account", "clicks", "--request", "one"]) == 0
assert main(["ledger", "verify", ledger]) == 0
assert main(["plan", "--candidates-count", "9", "--epsilon", "1"]) == 0
assert dpselect.Ledger(ledger).remaining("clicks") == 8.0
assert dpselect.planning.optimal_ratio(dpselect.PermuteAndFlip, n=2, levels=2, epsilon=1.0) > 0
print("all of it")
"""


@pytest.mark.slow
@pytest.mark.parametrize("system", ["windows", "darwin"])
def test_everything_is_imported_and_charges_where_names_are_missing(system: str) -> None:
    """Simulated: what other libraries need is imported before the names are taken away."""
    command = [sys.executable, "-c", _WITHOUT, system]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("all of it\n")

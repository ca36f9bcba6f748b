"""What may befall a server: it is stopped, its connections are closed, a pooler stands before it."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import psutil
import sqlalchemy as sa

from dpselect.ledger import Ledger
from tests.ledger.tampering import engine_of

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
_CONFIGURATION = """
[databases]
* = host={server} user={user}
[pgbouncer]
unix_socket_dir = {folder}
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
{as_user}
"""


def scalar(url: str, question: str) -> object:
    """Asked in a session of its own."""
    engine = engine_of(url)
    try:
        with engine.connect() as connection:
            return connection.exec_driver_sql(question).scalar_one()
    finally:
        engine.dispose()


@contextmanager
def stopped(server: sa.Engine) -> Generator[None]:
    """All processes of the server are stopped (SIGSTOP) until the block ends."""
    with server.connect() as connection:
        folder = connection.exec_driver_sql("SHOW data_directory").scalar_one()
    postmaster = psutil.Process(int(Path(folder, "postmaster.pid").read_text().split()[0]))
    try:
        postmaster.suspend()  # first: it starts no others then
        for process in postmaster.children(recursive=True):
            process.suspend()
        yield
    finally:
        for process in (*postmaster.children(recursive=True), postmaster):
            process.resume()


def settled(server: sa.Engine, ledger: Ledger) -> None:
    """Wait until the server has done, or undone, what was under way."""
    others = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    ledger.disconnect()
    server.dispose()
    until = monotonic() + 60
    with server.connect() as connection:
        while connection.exec_driver_sql(others).scalar_one():
            assert monotonic() < until
            sleep(0.01)


@contextmanager
def pooled(server: sa.Engine, folder: Path, database: str) -> Generator[str]:
    """The URL of a database behind pgbouncer, which gives each transaction any of four sessions."""
    assert PGBOUNCER is not None
    host = Path(str(server.url.query["host"]))
    owner = pwd.getpwuid(host.stat().st_uid).pw_name
    as_user = f"user = {owner}" if os.geteuid() == 0 else ""
    shutil.chown(folder, owner)
    for each in folder.parents[:2]:  # as made by pytest, for this user alone
        if each.stat().st_uid == os.geteuid() and each != each.parent:
            each.chmod(0o755)
    settings = {"server": host, "user": server.url.username, "folder": folder, "as_user": as_user}
    (folder / "pgbouncer.ini").write_text(_CONFIGURATION.format(**settings))
    with subprocess.Popen([PGBOUNCER, "-q", str(folder / "pgbouncer.ini")], stderr=subprocess.PIPE) as process:
        try:
            until = monotonic() + 60
            while not (folder / ".s.PGSQL.6432").exists():
                assert process.poll() is None
                assert monotonic() < until
                sleep(0.01)
            yield f"postgresql://anybody@/{database}?host={folder}&port=6432"
        finally:
            process.terminate()

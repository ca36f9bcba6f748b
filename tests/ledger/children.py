"""What other processes do to a ledger; run as a module, so that a test's own process is never forked.

``race URL COUNT EPSILON``: as many processes charge until they are refused; prints every receipt.
``kill URL TIMES SEED``: as many processes charge, each killed at a random moment; prints every receipt they had got.
``hold URL SECONDS``: takes the write lock, says so, and keeps it.
"""

from __future__ import annotations

import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable

import sqlalchemy as sa

from dpselect.accounting.events import PureEvent
from dpselect.errors import ChargeRefusedError
from dpselect.ledger import Ledger
from dpselect.ledger.schema import accounts


def charge_until_refused(url: str, epsilon: float, write: Callable[[bytes], object]) -> None:
    event = PureEvent(epsilon=epsilon)
    with Ledger(url, wait=60) as ledger:
        try:
            while True:
                receipt = ledger.charge("clicks", event)
                write(f"{receipt.sequence} {receipt.hash}\n".encode())
        except ChargeRefusedError:
            return


def started(work: Callable[[Callable[[bytes], object]], None]) -> tuple[int, int]:
    """A child that does `work`, with a way to write that survives its being killed, and the end to read from."""
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        return child, read
    status = 1
    try:
        os.close(read)
        work(lambda text: os.write(write, text))
        status = 0
    finally:
        os._exit(status)


def drained(read: int) -> bytes:
    with os.fdopen(read, "rb") as stream:
        return stream.read()


def race(url: str, count: int, epsilon: float) -> None:
    children = [started(lambda write: charge_until_refused(url, epsilon, write)) for _ in range(count)]
    receipts = b"".join(drained(read) for _, read in children)
    for child, _ in children:
        assert os.waitpid(child, 0)[1] == 0
    sys.stdout.buffer.write(receipts)


def import_all(url: str) -> None:
    """Drivers are loaded on first use: once here, not in every child."""
    with Ledger(url) as ledger:
        ledger.account("clicks")


def kill(url: str, times: int, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(times):
        child, read = started(lambda write: charge_until_refused(url, 2.0**-20, write))
        if chance.random() < 0.8:  # most of them in the midst of charging, some while they connect
            select.select([read], [], [], 10)
        time.sleep(chance.random() * 0.02)
        os.kill(child, signal.SIGKILL)
        assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
        sys.stdout.buffer.write(drained(read))


def hold(url: str, seconds: float) -> None:
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.execute(sa.select(accounts).with_for_update())
        print("held", flush=True)
        time.sleep(seconds)


if __name__ == "__main__":
    command, url, *numbers = sys.argv[1:]
    import_all(url)
    if command == "race":
        race(url, int(numbers[0]), float(numbers[1]))
    elif command == "kill":
        kill(url, int(numbers[0]), int(numbers[1]))
    else:
        hold(url, float(numbers[0]))

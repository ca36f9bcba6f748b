"""What other processes do to a ledger. Each function runs in a process of its own, which prints what the test is told.

`race`: as many processes charge until they are refused; prints every receipt.
`kill`: as many processes charge, each killed at a random moment; prints every receipt they had got.
`hold`: takes the write lock, says so, and keeps it until its input is closed.
`fork`: charges, forks, and lets go of the ledger while the child charges so many times; prints the child's receipts.
`often`: forks so many times while two threads charge; prints every receipt, the children's too.
`busy`: forks while another thread is in the midst of a transaction; prints what the child's charge led to.
`charge`: charges so many times, each time with a ledger of its own.
`show`: runs ``dpselect ledger show --json``.
"""

from __future__ import annotations

import gc
import os
import random
import select
import signal
import sys
import threading
import time
from collections.abc import Callable

import sqlalchemy as sa

from dpselect.accounting import PureEvent
from dpselect.cli import main
from dpselect.errors import ChargeRefusedError, LedgerError
from dpselect.ledger import Ledger


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


def kill(url: str, times: int, seed: int) -> None:
    chance = random.Random(seed)
    for turn in range(times):
        child, read = started(lambda write: charge_until_refused(url, 2.0**-20, write))
        if turn % 4:  # in the midst of charging: there is a first receipt; else often while it connects
            assert select.select([read], [], [], 100)[0]
        time.sleep(chance.random() * 0.02)
        os.kill(child, signal.SIGKILL)
        assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
        sys.stdout.buffer.write(drained(read))


def fork(url: str, count: int) -> None:
    event = PureEvent(epsilon=2.0**-6)
    wait, now = os.pipe()

    def look(write: Callable[[bytes], object]) -> None:
        os.read(wait, 1)
        with Ledger(url) as other:
            write(str(other.accounts()).encode())

    other, shown = started(look)  # before any ledger is open here: it is as strange to it as any other process
    ledger = Ledger(url)
    ledger.charge("clicks", event)
    let_go, gone = os.pipe()

    def charge(write: Callable[[bytes], object]) -> None:
        os.close(gone)
        ledger.charge("clicks", event)
        os.read(let_go, 1)
        for _ in range(count):
            receipt = ledger.charge("clicks", event)
            write(f"{receipt.sequence} {receipt.hash}\n".encode())

    child, read = started(charge)
    ledger.disconnect()
    os.write(now, b".")
    assert drained(shown)
    assert os.waitpid(other, 0)[1] == 0
    os.close(gone)
    sys.stdout.buffer.write(drained(read))
    assert os.waitpid(child, 0)[1] == 0


def busy(url: str) -> None:
    event = PureEvent(epsilon=2.0**-6)
    ledger = Ledger(url, wait=5)
    inside, over = threading.Event(), threading.Event()

    def work() -> None:
        with ledger._database.transaction(write=True):
            inside.set()
            over.wait()

    def charge(write: Callable[[bytes], object]) -> None:
        for each in (ledger, Ledger(url, wait=5)):
            try:
                write(f"charged {each.charge('clicks', event).sequence}\n".encode())
            except LedgerError as error:
                write(f"{error}\n".encode())

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait()
    child, read = started(charge)
    over.set()
    thread.join()
    sys.stdout.buffer.write(drained(read))
    assert os.waitpid(child, 0)[1] == 0
    assert ledger.charge("clicks", event).sequence  # in the parent all is well


def often(url: str, times: int) -> None:
    event = PureEvent(epsilon=2.0**-30)
    ledger, over, receipts = Ledger(url, wait=60), threading.Event(), list[str]()
    gc.disable()  # a connection that is forgotten is not closed by chance

    def work() -> None:
        while not over.is_set():
            receipt = ledger.charge("clicks", event)
            receipts.append(f"{receipt.sequence} {receipt.hash}\n")

    def charge(write: Callable[[bytes], object]) -> None:
        signal.alarm(60)  # a child that hangs ends with another status
        try:
            receipt = ledger.charge("clicks", event)
        except LedgerError as error:
            if "this process was forked from one" not in str(error):
                raise
        else:
            write(f"{receipt.sequence} {receipt.hash}\n".encode())

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(times):
        child, read = started(charge)
        receipts.append(drained(read).decode())
        assert os.waitpid(child, 0)[1] == 0
    over.set()
    for thread in threads:
        thread.join()
    sys.stdout.write("".join(receipts))
    ledger.disconnect()


def hold(url: str) -> None:
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.exec_driver_sql("SELECT * FROM dpselect_accounts FOR UPDATE")
        print("held", flush=True)
        sys.stdin.read()


def charge(url: str, times: int) -> None:
    for _ in range(times):
        Ledger(url).charge("clicks", PureEvent(epsilon=0.125))


def show(url: str) -> None:
    assert main(["ledger", "show", url, "--json"]) == 0

"""A cluster of Spark whose worker is killed in the middle: the right answer, charged once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import dpselect as dps

PROGRAM = """\
import os, signal, sys, warnings

warnings.simplefilter("ignore")
import pyarrow as pa
from pyspark.sql import SparkSession

import dpselect as dps

folder, ledger = sys.argv[1:]
spark = (
    SparkSession.builder.master("local-cluster[2,1,1024]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.log.level", "OFF")
    .getOrCreate()
)


def rows(batches):
    for batch in batches:
        yield batch
        try:
            os.close(os.open(os.path.join(folder, "killed"), os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        with open(f"/proc/{os.getppid()}/stat") as daemon:  # whose parent is the executor, a process of its own
            executor = int(daemon.read().rpartition(")")[2].split()[1])
        os.kill(executor, signal.SIGKILL)


table = pa.table({"who": list(range(4000)), "page": [7] * 3000 + [11] * 1000})
frame = spark.createDataFrame(table).repartition(8)
clicks = dps.Dataset(frame.mapInArrow(rows, frame.schema), unit="who", ledger=ledger, account="pages")
print(clicks.histogram("page", candidates=[7, 8, 11], epsilon=1000.0).value)
spark.stop()
"""


@pytest.mark.slow
def test_an_executor_that_is_killed_changes_no_answer_and_no_charge(tmp_path: Path) -> None:
    """In `local-cluster` the executors are processes, as on machines of their own: one takes its rows with it."""
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("pages", epsilon=1500, unit="who")
    program = tmp_path / "ask.py"
    program.write_text(PROGRAM)
    environment = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, str(program), str(tmp_path), str(tmp_path / "budget.db")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "killed").exists()
    assert done.stdout.strip() == "[3000, 0, 1000]"
    assert ledger.remaining("pages") == 500

"""The process that Spark forks its Python workers from: it has imported already what each of them needs.

Tests in which workers die start many. By itself, each would import pandas and Arrow anew, and read the list of
PySpark's zip file a dozen times, as Spark has workers forget what importers know; so PySpark is the installed one here.
"""

from __future__ import annotations

import sys

sys.path[:] = [path for path in sys.path if not path.endswith(".zip")]

import pandas  # noqa: E402, F401
import pyarrow  # noqa: E402, F401
import pyspark.worker  # noqa: E402, F401
from pyspark.daemon import manager  # noqa: E402

import dpselect  # noqa: E402, F401

if __name__ == "__main__":
    manager()

"""The engines that every test of the contract runs on."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from tests.backends import engines
from tests.backends.engines import Opener, Source


@pytest.fixture(scope="module", params=engines.ALL)
def engine(request: pytest.FixtureRequest) -> str:
    """The name of each engine."""
    return request.param


@pytest.fixture(scope="module")
def place(
    engine: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[pa.Table], Source]:
    """Puts rows into an engine, and says what a caller would name."""
    if engine == "postgres":
        server = request.getfixturevalue("postgres")
        return lambda rows: engines.on_server(server, rows)
    return lambda rows: engines.PLACERS[engine](rows, tmp_path_factory.mktemp("placed"))


@pytest.fixture(scope="module")
def opened(place: Callable[[pa.Table], Source]) -> Opener:
    """Puts rows into an engine and opens the table there."""
    return lambda rows: place(rows).opened()


_OF_SPARK = {
    "test_counts": ("whole-0", "whole-4", "whole-8", "number-11", "single-15", "huge-19", "text-24", "day-26", "-29"),
    "test_units": ("number", "exact", "text", "bytes"),
    "test_totals": ("scale0-0-10-exact", "scale3--7--1-number"),
    "test_all_numbers_are_kept_if_nobody_has_too_many": ("bounds0-huge", "bounds1-number"),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A question to Spark takes a second, as it starts a job: each type is asked about once."""

    def asked(item: pytest.Item) -> bool:
        name, _, parameters = item.name.partition("[")
        left = _OF_SPARK.get(name) if parameters.startswith("spark") else None
        return left is None or item.path.name != "test_engines.py" or parameters.rstrip("]").endswith(left)

    items[:] = [item for item in items if asked(item)]

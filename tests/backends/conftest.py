"""The engines that every test of the contract runs on."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from tests.backends import engines, table_questions
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


_ASKED_OF_OTHERS = {
    "test_counts": ("whole-0", "whole-4", "whole-8", "number-11", "single-15", "huge-19", "text-24", "day-26", "-29"),
    "test_units": ("number", "exact", "text", "bytes"),
    "test_totals": ("0-exact", "0-number"),
    "test_all_numbers_are_kept_if_nobody_has_too_many": ("0-huge", "0-number"),
    "test_the_law": (*table_questions.PLAINLY, "most_common-by", "best_by-by", "quantile-by"),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Other sources, and Spark, which starts a job for each question, are asked of each type and each question once."""

    def is_asked(item: pytest.Item) -> bool:
        name, _, parameters = item.name.partition("[")
        if item.path.name != "test_engines.py" or name not in _ASKED_OF_OTHERS:
            return True
        engine: str = item.callspec.params["engine"]  # type: ignore[attr-defined]
        question = parameters.rstrip("]").removeprefix(f"{engine}-")
        few = _ASKED_OF_OTHERS[name]
        return engine in engines.ASKED_EVERYTHING or (
            question in few if name == "test_the_law" else question.endswith(few)
        )

    items[:] = [item for item in items if is_asked(item)]

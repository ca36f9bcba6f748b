"""The engines that every test of the contract runs on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from tests.rows import engines, table_questions
from tests.rows.awkward import AWKWARD, carried
from tests.rows.engines import Opener, Source
from tests.rows.model import Rows
from tests.rows.tables import Opened
from tests.slow import SLOW


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


@pytest.fixture(scope="module")
def awkward(opened: Opener) -> Opened:
    """Every type of column, with everything in it that an engine may stumble over."""
    return opened(AWKWARD)


@pytest.fixture(scope="module")
def rows(engine: str) -> Rows:
    """The same as Python's own values, as far as this engine has them."""
    return carried(engine).to_pylist()


_ASKED_IN_SHORT = {"test_counts": ("number-11", "text-24"), "test_the_law": ("most_common", "median", "best_by-by")}

_ASKED_OF_OTHERS = {
    "test_counts": ("whole-0", "whole-4", "whole-8", "number-11", "single-15", "huge-19", "text-24", "day-26", "-29"),
    "test_units": ("number", "exact", "text", "bytes"),
    "test_totals": ("0-exact", "0-number"),
    "test_all_numbers_are_kept_if_nobody_has_too_many": ("0-huge", "0-number"),
    "test_the_law": (*table_questions.PLAINLY, "most_common-by", "best_by-by", "quantile-by", "top_k-once"),
    **({} if SLOW else dict.fromkeys(("test_usable_units", "test_counts_in_groups", "test_totals_in_groups"), ())),
}

_SLOW_ON_SPARK = {
    "test_choices.py": (
        "test_each_set_of_a_units_groups_is_equally_likely",
        "test_another_question_chooses_anew",
        "test_how_often_a_row_is_repeated_counts",
    ),
    "test_names.py": ("test_names_of_text", "test_seldom_names_are_read_or_clearly_refused"),
}
"""Laws that run on other engines by day, and on Spark by day in another case."""

_STILL_ON_SPARK = ("spark-capitals", "spark-no name", "spark-uint64", "spark-_t")


def _is_left_to_the_slow_ones(item: pytest.Item) -> bool:
    name, _, parameters = item.name.rstrip("]").partition("[")
    return (
        "spark" in parameters
        and name in _SLOW_ON_SPARK.get(item.path.name, ())
        and not any({*each.split("-")} <= {*parameters.split("-")} for each in _STILL_ON_SPARK)
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Other sources, and Spark, which starts a job for each question, are asked of each type and each question once."""

    def is_asked(item: pytest.Item) -> bool:
        name, _, parameters = item.name.partition("[")
        called = getattr(item, "callspec", None)
        if called is None or "engine" not in called.params or item.path.parent != Path(__file__).parent:
            return True
        engine = called.params["engine"]
        in_short = engine in engines.IN_SHORT
        if not in_short and (item.path.name != "test_engines.py" or name not in _ASKED_OF_OTHERS):
            return True
        question = parameters.rstrip("]").removeprefix(f"{engine}-")
        few = (_ASKED_IN_SHORT if in_short else _ASKED_OF_OTHERS).get(name, ())
        return engine in engines.ASKED_EVERYTHING or (
            question in few if name == "test_the_law" else question.endswith(few)
        )

    items[:] = [item for item in items if is_asked(item)]
    for item in items:
        if _is_left_to_the_slow_ones(item):
            item.add_marker(pytest.mark.slow)

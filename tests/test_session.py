"""A dataset: what it can be asked, what it refuses before it reads a row, and what it never shows."""

from __future__ import annotations

import inspect
import json
import pickle
import pydoc
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect.questions.question import BY_NAME, FAMILIES
from dpselect.rows import duckdb as engine
from dpselect.session.asking import Asking, GroupedQuestions, PlainQuestions, rows_of, signature_of
from dpselect.summaries import CandidateKind
from tests import rank_laws
from tests.drawn_answers import planned
from tests.rows.tables import gather, write_csv, write_parquet
from tests.views import day_of
from tests.watched import around_reading, forbid_reading

CLICKS = Path(__file__).parents[1] / "examples" / "data" / "clicks.parquet"
ADULT = CLICKS.with_name("adult.csv")
PAGES = range(1, 41271)


@pytest.fixture(scope="module")
def clicks() -> dps.Dataset:
    return dps.Dataset(CLICKS, unit="session")


def test_the_most_common_page(clicks: dps.Dataset) -> None:
    before = datetime.now(UTC)
    release = clicks.most_common("page", candidates=PAGES, epsilon=1.0)
    # Page 6 leads by more than 5000 sessions: another answer has probability below 41270 exp(-5000).
    assert release.value == 6
    assert (release.unit, release.column, release.task) == ("session", "page", "most_common")
    assert release.time in {day_of(before), day_of(datetime.now(UTC))}
    assert json.loads(release.to_json())["question"]["candidates"] == {"range": [1, 41270]}


def test_the_top_pages(clicks: dps.Dataset) -> None:
    release = clicks.top_k("page", 4, candidates=list(PAGES), epsilon=4.0)
    assert release.value == [6, 3, 11, 1]  # gaps above 3000 at epsilon 1 a round
    assert isinstance(release, dps.Release)


def test_the_unit_is_who_is_counted(tmp_path: Path) -> None:
    """One busy session with 5000 rows is one session."""
    path = write_csv(tmp_path / "t.csv", [b"busy,a"] * 5000 + [f"{i},b".encode() for i in range(300)])
    assert dps.Dataset(path, unit="unit").most_common("value", candidates=["a", "b"], epsilon=1.0).value == "b"


def test_dates_come_back_as_dates(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "t.parquet", [(i, date(2026, 1, 2)) for i in range(300)])
    days = [date(2026, 1, 1), date(2026, 1, 2)]
    assert dps.Dataset(path, unit="unit").most_common("value", candidates=days, epsilon=1.0).value == days[1]


@pytest.fixture(scope="module")
def adult() -> dps.Dataset:
    return dps.Dataset(ADULT, unit="person_id")


def test_the_median_age_is_near_the_truth_by_its_law() -> None:
    """The law of the release at epsilon 1, computed from all ages: nearly all of it is at the true median."""
    ages = np.array(gather(ADULT, bounds=(0, 120), unit="person_id", column="age"))
    assert len(ages) == 32_561
    assert np.median(ages) == 37.0
    points = np.arange(121.0)
    scale = planned("quantile", level=0.5, bounds=(0, 120), step=1, epsilon=1.0).mechanism.scale
    law = rank_laws.grid_law(ages, points, level=0.5, scale=scale)
    assert law[37] > 1.0 - 1e-12
    edges, probabilities = rank_laws.interval_law(ages, level=0.5, bounds=(0.0, 120.0), scale=scale)
    assert rank_laws.probability_between(edges, probabilities, 37.0, 38.0) > 1.0 - 1e-12
    # Control: at a thousandth of the epsilon the same law is spread out.
    law = rank_laws.grid_law(ages, points, level=0.5, scale=1000.0 * scale)
    assert law[37] < 0.5


def test_a_released_quantile(adult: dps.Dataset) -> None:
    before = datetime.now(UTC)
    release = adult.median("age", bounds=(0, 120), step=1, epsilon=1.0)
    assert release.value == 37.0  # by the law above
    assert (release.unit, release.column, release.task) == ("person_id", "age", "median")
    assert release.arguments == {"level": 0.5, "max_rows_per_unit": 1}
    assert release.time in {day_of(before), day_of(datetime.now(UTC))}
    assert 37.0 < adult.median("age", bounds=(0, 120), continuous=True, epsilon=1.0).value < 38.0
    assert adult.quantile("age", 0.9, bounds=(0, 120), step=1, epsilon=1.0).value == 58.0
    assert adult.quantile("age", 0.5, bounds=(40, 120), step=1, epsilon=1.0).value == 40.0  # most count as 40


def test_one_busy_unit_does_not_move_the_median(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", [b"busy,100"] * 5000 + [f"{i},10".encode() for i in range(300)])
    data = dps.Dataset(path, unit="unit")
    assert data.median("value", bounds=(0, 100), step=10, epsilon=1.0).value == 10.0
    # Control: with all of its rows the busy one is the majority (at a scale that hears them).
    release = data.median("value", bounds=(0, 100), step=10, epsilon=1e4, max_rows_per_unit=5000)
    assert release.value == 100.0


QUANTILES: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"bounds": (120, 0)}, dps.errors.InvalidParameterError, "bounds=(120.0, 0.0): expected two finite numbers"),
    ({"bounds": (0, 0)}, dps.errors.InvalidParameterError, "bounds=(0.0, 0.0)"),
    ({"bounds": (0, float("nan"))}, dps.errors.InvalidParameterError, "bounds=nan"),
    ({"bounds": (0, float("inf"))}, dps.errors.InvalidParameterError, "bounds=inf"),
    ({"bounds": None, "step": None}, dps.errors.InvalidParameterError, "step=None"),
    ({"step": 7}, dps.errors.InvalidParameterError, "divides upper - lower into whole steps"),
    ({"step": 0}, dps.errors.InvalidParameterError, "step=0"),
    ({"level": 1.5}, dps.errors.InvalidParameterError, "level=1.5"),
    ({"level": float("nan")}, dps.errors.InvalidParameterError, "level=nan"),
    ({"epsilon": 0.0}, dps.errors.InvalidParameterError, "epsilon=0.0"),
    ({"max_rows_per_unit": 0}, dps.errors.InvalidParameterError, "max_rows_per_unit=0"),
    ({"column": "ages"}, dps.errors.InvalidDataError, "The first line has to hold the names of the columns"),
    ({"column": "person_id"}, dps.errors.InvalidDataError, "another column than the unit"),
    ({"column": 3}, dps.errors.InvalidDataError, "the name of a column"),
]


@pytest.mark.parametrize(("changes", "kind", "reason"), QUANTILES)
def test_bad_quantiles_read_and_draw_nothing(
    adult: dps.Dataset, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], kind: type[Exception], reason: str
) -> None:
    forbid_reading(monkeypatch)
    asked = {"column": "age", "level": 0.5, "bounds": (0, 120), "step": 1, "epsilon": 1.0, **changes}
    with pytest.raises(kind) as caught:
        adult.quantile(**asked)
    assert reason in str(caught.value)
    if asked.pop("level") == 0.5:
        with pytest.raises(kind) as caught:
            adult.median(**asked)
        assert reason in str(caught.value)


def test_a_column_of_text_is_refused_by_its_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forbid_reading(monkeypatch)
    data = dps.Dataset(write_parquet(tmp_path / "t.parquet", [(1, "a")]), unit="unit")
    with pytest.raises(dps.errors.InvalidDataError, match=r"This one holds text\. Convert it to numbers first"):
        data.median("value", bounds=(0, 1), continuous=True, epsilon=1.0)


def test_a_step_is_needed_with_bounds_and_without(adult: dps.Dataset) -> None:
    """The column of a CSV file has no type, which might say what the step is."""
    for bounds in ({}, {"bounds": (0, 120)}):
        with pytest.raises(dps.errors.InvalidParameterError, match=r"^step=None"):
            adult.median("age", epsilon=1.0, **bounds)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="epsilon"):
        adult.quantile("age", 0.5, bounds=(0, 120))  # type: ignore[call-arg]


QUESTIONS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"candidates": None}, dps.errors.InvalidCandidatesError, "values occur"),
    ({"candidates": [1, 1]}, dps.errors.InvalidCandidatesError, "without duplicates"),
    ({"candidates": ["a"]}, dps.errors.InvalidDataError, "give whole numbers"),
    ({"epsilon": 0.0}, dps.errors.InvalidParameterError, "epsilon=0.0"),
    ({"epsilon": float("nan")}, dps.errors.InvalidParameterError, "epsilon=nan"),
    ({"column": "pages"}, dps.errors.InvalidDataError, "Did you mean 'page'?"),
    ({"column": "session"}, dps.errors.InvalidDataError, "another column than the unit"),
    ({"column": 3}, dps.errors.InvalidDataError, "the name of a column"),
]


@pytest.mark.parametrize(("changes", "kind", "reason"), QUESTIONS)
def test_bad_questions_read_and_draw_nothing(
    clicks: dps.Dataset, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], kind: type[Exception], reason: str
) -> None:
    forbid_reading(monkeypatch)
    asked = {"column": "page", "candidates": PAGES, "epsilon": 1.0, **changes}
    column = asked.pop("column")
    for ask in (lambda: clicks.most_common(column, **asked), lambda: clicks.top_k(column, 1, **asked)):
        with pytest.raises(kind) as caught:
            ask()
        assert reason in str(caught.value)
        assert isinstance(caught.value, dps.SelectionError | ValueError)
    for k in (0, 41271, -1):
        with pytest.raises(dps.errors.InvalidParameterError, match=r"^k="):
            clicks.top_k("page", k, candidates=PAGES, epsilon=1.0)


def test_epsilon_and_unit_have_no_default(clicks: dps.Dataset) -> None:
    with pytest.raises(TypeError, match="epsilon"):
        clicks.most_common("page", candidates=PAGES)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="epsilon"):
        clicks.top_k("page", 3, candidates=PAGES)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unit"):
        dps.Dataset(CLICKS)  # type: ignore[call-arg]


def test_a_dataset_is_a_description(clicks: dps.Dataset) -> None:
    assert repr(clicks) == f"Dataset({str(CLICKS)!r}, unit='session')"
    assert repr(pickle.loads(pickle.dumps(clicks))) == repr(clicks)
    with pytest.raises(AttributeError):
        clicks.anything = 1  # type: ignore[attr-defined]


def test_which_candidates_a_column_asks_for(tmp_path: Path, clicks: dps.Dataset) -> None:
    assert rows_of(clicks).candidate_kinds("page") == (CandidateKind.INTEGER,)
    floats = write_parquet(tmp_path / "t.parquet", [(1, 0.5)])
    assert rows_of(dps.Dataset(floats, unit="unit")).candidate_kinds("value") == (
        CandidateKind.INTEGER,
        CandidateKind.NUMBER,
    )
    texts = write_parquet(tmp_path / "s.parquet", [(1, "x")], types=(None, pa.large_string()))
    assert rows_of(dps.Dataset(texts, unit="unit")).candidate_kinds("value") == (CandidateKind.TEXT,)
    assert rows_of(dps.Dataset(write_csv(tmp_path / "t.csv", []), unit="unit")).candidate_kinds("value") == ()


def test_the_memory_limit_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    real = engine.answer

    def spy(*arguments: Any, memory_limit: object, **options: Any) -> Any:
        seen.append(memory_limit)
        return real(*arguments, memory_limit=memory_limit, **options)

    monkeypatch.setattr(engine, "answer", spy)
    for limit in ("100MB", 2**27, None):
        data = dps.Dataset(CLICKS, unit="session", memory_limit=limit)
        data.most_common("page", candidates=PAGES, epsilon=1.0)
    assert seen == [100_000_000, 2**27, None]
    with pytest.raises(dps.errors.InvalidParameterError, match=r"^memory_limit=.*at least 64 MiB"):
        dps.Dataset(CLICKS, unit="session", memory_limit="1MB")


def test_progress_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def spy(read: Callable[[], Any], _: Any, progress: object) -> Any:
        seen.append(progress)
        return read()

    def report(fraction: float) -> None:
        assert 0 <= fraction <= 1

    around_reading(monkeypatch, spy)
    dps.Dataset(CLICKS, unit="session", progress=report).most_common("page", candidates=PAGES, epsilon=1.0)
    assert seen == [report]


def test_help_names_what_a_question_returns() -> None:
    shown = pydoc.plain(pydoc.render_doc(dps.Dataset.median))
    assert "-> 'Release[float]'\n" in shown
    grouped = dps.Dataset(ADULT, unit="person_id").by("education_num", groups=[9])
    assert "-> 'Release[dict[Any, float]]'\n" in pydoc.plain(pydoc.render_doc(type(grouped).median))
    shown = pydoc.plain(pydoc.render_doc(dps.DryRun.median))
    assert "-> 'Forecast'\n" in shown


def test_a_call_with_wrong_arguments_is_a_type_error_that_says_which() -> None:
    for data, name in ((dps.Dataset(ADULT, unit="person_id"), "Dataset"), (dps.DryRun(unit="person_id"), "DryRun")):
        ask: Any = data.median
        for given, said in (
            ({}, "missing a required argument: 'epsilon'"),
            ({"eps": 1.0}, "got an unexpected keyword argument 'eps'. Did you mean 'epsilon'?"),
            ({"epsilon": 1.0, "zzz": 1}, "got an unexpected keyword argument 'zzz'"),
            ({"epsilon": 1.0, "column": "age"}, "got multiple values for argument 'column'"),
        ):
            with pytest.raises(TypeError) as refused:
                ask("age", **given)
            assert str(refused.value) == f"{name}.median() {said}"
        for word in ("by", "groupby", "groups", "max_groups_per_unit", "where"):
            with pytest.raises(TypeError) as refused:
                ask("age", epsilon=1.0, **{word: "sex"})
            assert str(refused.value) == (
                f"{name}.median() got an unexpected keyword argument '{word}'. Say it first:"
                " data.by('city', groups=[...]) or data.where(age=(18, None)), then .median(...)"
            )
        with pytest.raises(TypeError, match=rf"^{name}\.median\(\) got too many positional arguments$"):
            ask("age", 3, epsilon=1.0)


def test_help_speaks_of_python_and_fits_on_a_screen() -> None:
    for name, question in BY_NAME.items():
        shown = pydoc.plain(pydoc.render_doc(getattr(dps.Dataset, name))).splitlines()
        assert len(shown) <= 50
        assert all(len(line) <= 120 for line in shown[3:])
        for typed in ("@", "--", "1..", "COLUMN"):
            assert typed not in "\n".join(shown)
        listed = [line.split(":")[0].strip() for line in shown if re.match(r" {8}[a-z]\w*: ", line)]
        assert listed == [*signature_of(question).parameters][1:]


def test_a_method_is_made_when_it_is_first_looked_up() -> None:
    """In a class, in an object or above it; from then on it is a plain function."""
    family = type("Family", (Asking,), {"__slots__": ()}, of="Family")

    def made() -> set[str]:
        return {name for name in BY_NAME if inspect.isfunction(vars(family)[name])}

    assert made() == set()
    assert {*BY_NAME} <= {*dir(family)}
    child: Any = type("Child", (family,), {"__slots__": (), "mean": lambda self: super(child, self).mean})
    asked = child()
    assert (asked.count.__self__, asked.mean().__self__) == (asked, asked)
    assert child.median is vars(family)["median"]
    assert made() == {"count", "mean", "median"}
    assert asked.mean().__func__ is family.mean is not child.mean


def test_a_dry_run_answers_every_question_of_a_table() -> None:
    def questions(family: type) -> set[str]:
        return {name for name in vars(family) if not name.startswith("_")}

    assert {*BY_NAME} == questions(PlainQuestions) == questions(GroupedQuestions)
    assert {*BY_NAME} <= questions(dps.DryRun)
    for name in BY_NAME:
        ours, theirs = (inspect.signature(getattr(owner, name)) for owner in (dps.DryRun, dps.Dataset))
        assert ours.parameters == theirs.parameters


def test_each_file_declares_the_questions_that_are_looked_up_in_it() -> None:
    for names, family in FAMILIES.items():
        assert {BY_NAME[name].__module__ for name in names.split()} == {f"dpselect.questions.{family}"}
    assert [*BY_NAME] == [name for names in FAMILIES for name in names.split()]
    assert all(BY_NAME[name].name == name for name in BY_NAME)
    assert "avg" not in BY_NAME


def test_completion_shows_questions_only() -> None:
    data = dps.Dataset(ADULT, unit="person_id")
    for shown in (dir(dps.Dataset), dir(data)):
        assert {name for name in shown if not name.startswith("_")} == {*BY_NAME, "ask", "by", "where"}
        assert "__init__" in shown


def test_a_subclass_keeps_its_own_methods() -> None:
    class Mine(dps.Dataset):
        def median(self, column: str) -> str:  # type: ignore[override]
            return column

    mine = Mine(ADULT, unit="person_id")
    assert mine.median("age") == "age"
    assert Mine.quantile is dps.Dataset.quantile

"""A release as a frame, as a picture and in a notebook: what was released, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import polars as pl
import pytest

import dpselect as dps
from dpselect.charts import styles_of
from dpselect.errors import InvalidParameterError
from tests.charts.styles import styles
from tests.question_words import reported
from tests.rows import table_questions
from tests.rows.table_questions import BY_CITY, NAMES, PAGES, ROWS

PEOPLE = dps.Dataset(ROWS, unit="who")


@pytest.mark.sampled(25)
@pytest.mark.parametrize("name", table_questions.QUESTIONS)
def test_every_release_is_a_frame_with_a_row_for_each_value(name: str) -> None:
    release: dps.Release[Any] = table_questions.QUESTIONS[name](PEOPLE)
    answers = release.value.values() if isinstance(release.value, dict) else [release.value]
    values = [each for answer in answers for each in (answer if isinstance(answer, list) else [answer])]
    frame = release.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame["released"].tolist() == values
    by = release.question.get("by", frame.columns[0])
    assert [frame.columns[0]] == ([by] if isinstance(by, str) else by[:1])
    assert release.to_polars().equals(pl.from_pandas(frame))


def test_a_count_of_zero_leaves_its_column_of_one_type() -> None:
    release = PEOPLE.histogram("name", candidates=[*NAMES, *(f"nobody {i}" for i in range(50))], epsilon=20)
    assert 0 in release.value
    assert max(release.value) > (release.error_bound or 0)
    assert release.to_polars()["lower"].dtype == pl.Int64


def test_what_the_values_are_keeps_its_type() -> None:
    pages = PEOPLE.histogram("page", candidates=[3, 1], epsilon=0.5).to_pandas()
    assert pages["page"].tolist() == [3, 1]
    ages = PEOPLE.quantiles("age", levels=[0.25, 0.75], bounds=(20, 60), step=1, epsilon=0.5).to_pandas()
    assert ages["level"].tolist() == [0.25, 0.75]


def test_bounds_stand_where_they_are_about_the_value() -> None:
    counts = PEOPLE.histogram("name", candidates=NAMES, epsilon=0.5)
    frame = counts.to_pandas()
    assert frame.columns.tolist() == ["name", "released", "lower", "upper"]
    assert frame["name"].tolist() == NAMES
    assert (frame["upper"] - frame["released"]).unique().tolist() == [counts.error_bound]
    assert frame["lower"].tolist() == [max(0, each - counts.error_bound) for each in frame["released"]]  # type: ignore[operator]
    median = PEOPLE.median("age", bounds=(20, 60), step=1, epsilon=0.5)  # its bound is in ranks
    assert median.to_pandas().columns.tolist() == ["level", "released"]
    grouped = PEOPLE.by(**BY_CITY).count("age", between=(20, 60), epsilon=0.5).to_pandas()
    assert grouped.columns.tolist() == ["city", "answer", "released", "lower", "upper"]
    assert grouped["city"].tolist() == ["south", "north"]


def test_a_name_that_the_table_has_already_gets_another() -> None:
    rows = ROWS.rename_columns(["who", "released", *ROWS.column_names[2:-2], "lower", "age"])
    asked = dps.Dataset(rows, unit="who").by("lower", groups=["south"])
    frame = asked.histogram("released", candidates=PAGES, epsilon=0.5).to_pandas()
    assert frame.columns.tolist() == ["lower_", "released_", "released", "lower", "upper"]
    assert frame["released_"].tolist() == [*PAGES]


def test_a_cross_table_has_a_column_for_each_of_its_columns() -> None:
    groups = [("south", 1), ("north", 2), ("west", 1)]
    release = PEOPLE.by(["city", "page"], groups=groups).count(epsilon=0.5)
    frame = release.to_pandas()
    assert frame.columns.tolist() == ["city", "page", "answer", "released", "lower", "upper"]
    assert [*zip(frame["city"], frame["page"], strict=True)] == groups
    tiles = next(iter(spec(release)["datasets"].values()))
    assert [(tile["row"], tile["column"]) for tile in tiles] == [("south", "1"), ("north", "2"), ("west", "1")]


@pytest.mark.parametrize("name", table_questions.QUESTIONS)
def test_an_interval_has_the_shape_of_the_value(name: str) -> None:
    release: dps.Release[Any] = table_questions.QUESTIONS[name](PEOPLE)
    table = release.to_pandas()
    if "lower" not in table:
        assert release.interval is None
        return
    flat: list[Any] = []
    numbers = release.value if release.counts is None else release.counts
    parts = [[*each.values()] if isinstance(each, dict) else [each] for each in (numbers, release.interval)]
    for answer, ends in zip(*parts, strict=True):
        pairs = list(zip(answer, ends, strict=True)) if isinstance(answer, list) else [(answer, ends)]
        assert all(low <= number <= high for number, (low, high) in pairs)
        flat += [ends for _, ends in pairs]
    assert flat == [*zip(table["lower"], table["upper"], strict=True)]


def test_blanks_that_would_not_be_seen_stand_in_quotes() -> None:
    people = dps.Dataset({"who": range(50), "city": [" Paris"] * 50}, unit="who")
    release = people.most_common("city", candidates=[" Paris", "Rome"], epsilon=50.0)
    assert release.table()[1][0][-1] == '" Paris"'


def test_numbers_are_shown_to_the_place_of_their_error() -> None:
    ages = dps.Dataset({"who": range(10_000), "age": [at % 77 / 3 for at in range(10_000)]}, unit="who")
    release = ages.mean("age", bounds=(0, 120), epsilon=1.0)
    lower, upper = release.interval
    assert 0.01 < (upper - lower) / 2 < 0.1
    shown = str(release).partition("\n")[0]
    assert shown == str(round(release.value, 2)) != str(release.value)
    assert json.loads(release.to_json())["value"] == release.value == release.to_pandas()["released"].item()
    assert f"<th>99% interval</th></tr><tr><td>{shown}</td>" in release._repr_html_()
    rough = ages.mean("age", bounds=(0, 120), epsilon=0.001)  # within more than ten
    assert str(rough).partition("\n")[0] == str(round(rough.value))
    grouped = ages.by("age", groups=[0.0]).mean("age", bounds=(0, 120), epsilon=1.0)  # a group has its own error
    assert len(grouped.table()[1][0][1]) < 6
    assert reported(PEOPLE.median("age", bounds=(20, 60), continuous=True, epsilon=1.0), 1 / 3) == 1 / 3


def test_the_interval_of_a_mean_does_not_leave_the_bounds() -> None:
    """Values are clipped, so their mean lies within them. Control: with much noise the bound alone would leave them."""
    means = [PEOPLE.mean("age", bounds=(20, 60), epsilon=0.01) for _ in range(10)]
    variances = [PEOPLE.variance("age", bounds=(20, 60), epsilon=0.01) for _ in range(10)]
    for releases, lowest, highest in ((means, 20, 60), (variances, 0, 400)):
        for release in releases:
            table = release.to_pandas()
            lower, upper = table["lower"].item(), table["upper"].item()
            assert lowest <= lower <= table["released"].item() <= upper <= highest
        assert any(release.value - release.error_bound < lowest for release in releases)
    exact = PEOPLE.mean("age", bounds=(20, 60), epsilon=20).to_pandas()
    assert 20 < exact["lower"].item() < exact["released"].item() < exact["upper"].item() < 60
    grouped = PEOPLE.by(**BY_CITY).mean("age", bounds=(20, 60), epsilon=0.01).to_pandas()
    assert grouped["lower"].min() >= 20
    assert grouped["upper"].max() <= 60


def spec(release: dps.Release[Any]) -> dict[str, Any]:
    held: dict[str, Any] = release.plot().to_dict()
    return held


def test_a_picture_has_a_bar_and_an_error_bar_for_each_number() -> None:
    release = PEOPLE.histogram("name", candidates=NAMES, epsilon=0.5)
    drawn = spec(release)
    (rows,) = drawn["datasets"].values()
    assert [(row["label"], row["value"]) for row in rows] == [*zip(NAMES, release.value, strict=True)]
    frame = release.to_pandas()
    assert [row["low"] for row in rows] == frame["lower"].tolist()
    assert [row["high"] for row in rows] == frame["upper"].tolist()
    assert "units (who)" in json.dumps(drawn)
    assert "errorbar" in json.dumps(drawn)
    without = PEOPLE.quantiles("age", [0.25, 0.75], bounds=(20, 60), continuous=True, epsilon=0.5)
    assert "errorbar" not in json.dumps(spec(without))


def test_places_are_points_and_amounts_are_bars() -> None:
    def marks(release: Any) -> set[str]:
        return {layer["mark"]["type"] for layer in spec(release)["layer"]}

    of_age: dict[str, Any] = {"bounds": (20, 60), "epsilon": 0.5}
    assert marks(PEOPLE.quantiles("age", [0.25, 0.75], continuous=True, **of_age)) == {"point", "text"}
    assert marks(PEOPLE.median("age", step=1, **of_age)) == {"point", "text"}
    assert "bar" in marks(PEOPLE.sum("age", clip=(0, 60), epsilon=0.5))
    assert "bar" in marks(PEOPLE.histogram("name", candidates=NAMES, epsilon=0.5))


def test_a_cross_table_is_a_heat_map() -> None:
    pairs = [("bonn", "f"), ("bonn", "m"), ("graz", "m")]
    table = {"who": range(60), "city": ["bonn", "bonn", "graz"] * 20, "sex": ["f", "m", "m"] * 20, "v": [1, 2, 3] * 20}
    people = dps.Dataset(table, unit="who").by(["city", "sex"], groups=pairs)
    drawn = spec(people.count(epsilon=50))
    (rows,) = drawn["datasets"].values()
    assert [(row["row"], row["column"], row["value"]) for row in rows] == [(*pair, 20) for pair in pairs]
    assert [layer["mark"]["type"] for layer in drawn["layer"]] == ["rect", "text"]
    several = people.histogram("v", candidates=[1, 2], epsilon=50)
    assert "bar" in {layer["mark"]["type"] for layer in spec(several)["layer"]}


def test_one_mechanism_has_one_colour_in_every_picture_of_curves() -> None:
    chart = dps.planning.plot_error(n=10, sensitivity=1).to_dict()
    scale = chart["layer"][0]["encoding"]["color"]["scale"]
    drawn = dict(zip(scale["domain"], scale["range"], strict=True))
    (style,) = styles_of(["permute-and-flip"])
    assert drawn["permute-and-flip"] == styles()[style][0]
    assert styles_of(["mine", "permute-and-flip"]) == styles_of(["mine", "yours"])  # else one could have two


@pytest.mark.parametrize("name", ["most_common", "top_k", "best_date", "least_common-by"])
def test_what_is_no_number_has_no_picture(name: str) -> None:
    with pytest.raises(InvalidParameterError, match="a release of numbers"):
        table_questions.QUESTIONS[name](PEOPLE).plot()


def test_very_many_numbers_have_no_picture() -> None:
    with pytest.raises(InvalidParameterError, match="at most 100 numbers"):
        PEOPLE.histogram("page", candidates=range(101), epsilon=1.0).plot()


EVIL = "<script>alert('x')</script>"


def test_nothing_in_a_notebook_is_read_as_html() -> None:
    rows = ROWS.append_column(EVIL, ROWS["name"]).rename_columns([*ROWS.column_names, EVIL])
    people = dps.Dataset(rows, unit="who")
    release = people.histogram(EVIL, candidates=[EVIL, "x"], epsilon=1.0)
    forecast = dps.DryRun(unit="who").count(EVIL, candidates=[EVIL], epsilon=1.0)
    named = dps.Dataset(rows.rename_columns([EVIL, *rows.column_names[1:-1], "other"]), unit=EVIL)
    for shown in (release, forecast, named):
        html = shown._repr_html_()
        assert "<script" not in html
        assert "&lt;script&gt;" in html


def test_a_data_set_shows_no_row_in_a_notebook() -> None:
    html = PEOPLE._repr_html_()
    assert "who" in html
    assert not any(f"p{person}" in html for person in range(24))
    assert "Ask it" in html


def test_a_long_answer_is_cut_in_a_notebook() -> None:
    html = PEOPLE.histogram("page", candidates=range(200), epsilon=1.0)._repr_html_()
    assert html.count("<tr>") == 51
    assert "150 more rows: see table()." in html


def test_selected_counts_without_a_list_have_no_interval() -> None:
    """Their bound holds for a value fixed beforehand. Of 2,500 values with 8 units each, those selected are far off."""
    rows = pd.DataFrame({"who": range(20_000), "what": [place % 2_500 for place in range(20_000)]})
    release = dps.Dataset(rows, unit="who").top_k("what", 2_500, candidates=None, epsilon=1.0, delta=1e-6)
    assert release.counted is not None
    assert all(count - release.counted.within > 8 for count in release.counts)
    assert release.to_pandas().columns.tolist() == ["rank", "released", "units"]
    listed = PEOPLE.top_k("name", 2, candidates=NAMES, epsilon=0.5, with_counts=True).to_pandas()
    assert listed.columns.tolist()[-3:] == ["units", "lower", "upper"]

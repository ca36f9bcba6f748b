"""The chart of error against epsilon: the curves of `error_curve`, named, with what a reader has to know."""

from __future__ import annotations

import struct
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect.errors import InvalidParameterError, InvalidScoresError
from dpselect.planning import error_curve, plot_error
from tests.charts.pictures import axis_labels, saved, words

NAMES = {
    "permute-and-flip": dps.PermuteAndFlip,
    "exponential mechanism": dps.ExponentialMechanism,
    "noisy max (Laplace)": dps.ReportNoisyMax,
}
SCORES = [7919.0, 7912.0, 7900.5, 7600.0]


def curves(chart: Any) -> dict[str, list[tuple[float, float | None]]]:
    rows = [row for values in chart.to_dict()["datasets"].values() for row in values]
    return {
        name: [(row["x"], row["y"]) for row in rows if row["series"] == name] for name in (r["series"] for r in rows)
    }


def subtitle(chart: Any) -> str:
    return " ".join(chart.to_dict()["title"]["subtitle"])


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "about",
    [
        {"scores": SCORES, "sensitivity": 1.0},
        {"scores": SCORES, "sensitivity": 0.5, "monotonic": True, "epsilons": [0.1, 0.7, 2.0]},
        {"n": 1000, "sensitivity": 1},
        {"n": 1000, "sensitivity": 1, "confidence": 0.95},
    ],
)
def test_the_lines_are_the_error_curves(about: dict[str, Any]) -> None:
    drawn = curves(plot_error(**about))
    at = np.array(about.pop("epsilons", np.geomspace(0.01, 10, 61)))
    assert list(drawn) == list(NAMES)
    for name, kind in NAMES.items():
        expected = error_curve(kind, epsilons=at, **about)
        assert drawn[name] == list(zip(at.tolist(), expected.tolist(), strict=True))


def test_the_test_above_can_fail() -> None:
    drawn = curves(plot_error(n=1000, sensitivity=1))
    assert drawn["permute-and-flip"] != drawn["exponential mechanism"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("about", "title"),
    [
        ({"n": 1000}, "Worst-case expected error of one selection among 1,000 candidates"),
        ({"n": 1}, "Worst-case expected error of a selection among one candidate"),
        ({"scores": SCORES}, "Expected error of one selection among 4 candidates"),
        (
            {"n": 7, "confidence": 0.999},
            "Error not exceeded with 99.9 % confidence by one selection among 7 candidates",
        ),
        (
            {"scores": SCORES, "confidence": 1 - 1e-9},
            "Error not exceeded with 99.9999999 % confidence by one selection among 4 candidates",
        ),
    ],
)
def test_the_title_says_what_is_shown(about: dict[str, Any], title: str) -> None:
    assert " ".join(plot_error(sensitivity=1, **about).to_dict()["title"]["text"]) == title


def test_conditions_and_units_are_there() -> None:
    chart = plot_error(n=10, sensitivity=2.5, monotonic=True)
    assert {"epsilon of one selection", "expected error, in the unit of the scores"} <= set(words(chart))
    assert subtitle(chart).startswith(
        "The worst over all scores (with Laplace noise, the worst known). Sensitivity 2.5, monotonic."
    )
    on_scores = plot_error(SCORES, sensitivity=1, epsilons=[0.01, 0.1])
    assert subtitle(on_scores) == "On the scores given. Sensitivity 1."


def test_errors_as_good_as_none_are_cut_off_and_the_chart_says_so() -> None:
    chart = plot_error([0, -1000], sensitivity=1, epsilons=[0.001, 0.01, 0.1, 1.0, 2.0])
    assert "Errors below 0.0001 are not shown." in subtitle(chart)
    shown = [text for text in words(chart, "axis-label") if text]
    assert "100" in shown
    assert "1e−5" not in shown


def test_where_the_error_is_zero_a_line_ends_and_the_chart_says_so() -> None:
    chart = plot_error([0, -100], sensitivity=1, epsilons=[0.01, 0.02, 0.1, 5.0], confidence=0.9)
    assert [height for _, height in curves(chart)["permute-and-flip"]][-1] is None
    assert "A line ends where the error is 0." in subtitle(chart)
    line = next(layer for layer in chart.to_dict()["layer"] if layer["mark"]["type"] == "line")
    assert line["mark"]["interpolate"] == "step-after"


def test_no_error_at_all() -> None:
    chart = plot_error([5], sensitivity=1)
    assert {height for line in curves(chart).values() for _, height in line} == {0.0}
    assert "Every error is 0." in subtitle(chart)


@pytest.mark.slow
@pytest.mark.parametrize(
    "about",
    [
        {"n": 10**9},
        {"n": 2, "sensitivity": 1e-290},
        {"n": 2, "sensitivity": 1e290},
        {"scores": [1e308, -1e308]},
        {"n": 5, "epsilons": [1e296, 1e299]},
        {"n": 5, "sensitivity": Fraction(1, 3)},
    ],
)
def test_extremes_have_a_chart_too(about: dict[str, Any]) -> None:
    chart = plot_error(**{"sensitivity": 1, **about})
    for side in "XY":
        labels = axis_labels(chart, side)
        assert len(labels) > 1
        assert "NaN" not in labels


def test_one_epsilon_makes_no_line() -> None:
    for epsilons in ([1.0], [1.0, 1.0]):
        with pytest.raises(dps.errors.InvalidParameterError, match="epsilons=<1 different>"):
            plot_error(n=5, sensitivity=1, epsilons=epsilons)


def test_the_picture_has_a_size_to_print() -> None:
    picture = saved(plot_error(n=50, sensitivity=1), ".png")
    width, height = struct.unpack(">II", picture[16:24])
    assert 1100 < width < 1500
    assert 600 < height < 900
    assert len(picture) > 20_000  # not blank


SECRET = [7919.0, 7912.0]
BAD: list[tuple[str, dict[str, Any]]] = [
    ("scores", {}),
    ("n", {"scores": SECRET, "n": 2}),
    ("n", {"n": 0}),
    ("n", {"n": True}),
    ("sensitivity", {"scores": SECRET, "sensitivity": -1}),
    ("monotonic", {"scores": SECRET, "monotonic": "yes"}),
    ("epsilons", {"scores": SECRET, "epsilons": []}),
    ("epsilons", {"scores": SECRET, "epsilons": [1.0]}),
    ("epsilons", {"scores": SECRET, "epsilons": [1.0, 0.0]}),
    ("epsilons", {"scores": SECRET, "epsilons": [1.0, float("nan")]}),
    ("epsilons", {"scores": SECRET, "epsilons": "12"}),
    ("epsilons", {"scores": SECRET, "epsilons": 1.0}),
    ("confidence", {"scores": SECRET, "confidence": 1.0}),
    ("confidence", {"scores": SECRET, "confidence": "0.9"}),
]


@pytest.mark.parametrize(("named", "about"), BAD)
def test_bad_input_is_refused_without_showing_a_score(named: str, about: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError, match=f"^{named}=") as refusal:
        plot_error(**{"sensitivity": 1.0, **about})
    assert "7919" not in str(refusal.value) + repr(refusal.value.args)


@pytest.mark.parametrize("scores", [[], [[7919.0]], [7919.0, float("inf")], ["7919"]])
def test_bad_scores_are_refused_as_everywhere(scores: Any) -> None:
    with pytest.raises(InvalidScoresError) as refusal:
        plot_error(scores, sensitivity=1.0)
    assert "7919" not in str(refusal.value) + repr(refusal.value.args)

"""The chart of a law: the law itself, all of it, with the caller's labels."""

from __future__ import annotations

import struct
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect.errors import InvalidCandidatesError, InvalidScoresError
from dpselect.planning import plot_pmf
from tests.charts.pictures import pixels, saved, words

KINDS = {
    "Permute-and-flip": dps.PermuteAndFlip,
    "Exponential mechanism": dps.ExponentialMechanism,
    "Report-noisy-max (Laplace noise)": dps.ReportNoisyMax,
    "Report-noisy-max (exponential noise)": partial(dps.ReportNoisyMax, noise="exponential"),
    "Report-noisy-max (Gumbel noise)": partial(dps.ReportNoisyMax, noise="gumbel"),
}


def bars(chart: Any) -> dict[str, float]:
    """Label and height of every bar, from the top."""
    rows = [row for values in chart.to_dict()["datasets"].values() for row in values]
    return {row["label"]: row["value"] for row in rows}


def heading(chart: Any) -> str:
    title = chart.to_dict()["title"]
    return " ".join([*title["text"], *title["subtitle"]])


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("name", "kind"), KINDS.items(), ids=KINDS)
def test_the_bars_are_the_law_and_the_title_names_it(name: str, kind: Any) -> None:
    mechanism = kind(epsilon=0.5, sensitivity=2.0)
    scores = np.array([3.0, 9.0, 1.0, 9.0])
    chart = plot_pmf(mechanism, scores)
    assert list(bars(chart)) == ["0", "1", "2", "3"]
    assert list(bars(chart).values()) == mechanism.pmf(scores).tolist()
    assert heading(chart) == f"{name}, epsilon = 0.5: probability of each of 4 candidates Sensitivity 2."


def test_the_test_above_can_fail() -> None:
    scores = np.array([3.0, 9.0, 1.0, 9.0])
    chart = plot_pmf(dps.ExponentialMechanism(epsilon=0.5, sensitivity=2.0), scores)
    assert list(bars(chart).values()) != dps.PermuteAndFlip(epsilon=0.5, sensitivity=2.0).pmf(scores).tolist()


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "candidates", [["/home", "/jobs"], ("/home", "/jobs"), np.array(["/home", "/jobs"]), pa.array(["/home", "/jobs"])]
)
def test_candidates_label_the_bars(candidates: Any) -> None:
    chart = plot_pmf(dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0, monotonic=True), [1, 2], candidates=candidates)
    assert list(bars(chart)) == ["/home", "/jobs"]
    assert {"/home", "/jobs", "candidate"} <= set(words(chart))
    assert "monotonic" in heading(chart)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("count", [50, 51, 5000])
def test_of_many_candidates_the_likeliest_are_shown_and_the_others_are_added_up(count: int) -> None:
    mechanism = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0)
    scores = np.arange(count) % 37
    shown = bars(plot_pmf(mechanism, scores))
    law = mechanism.pmf(scores)
    if count == 50:
        assert list(shown.values()) == law.tolist()
        return
    assert list(shown.values()) == [law[int(index)] for index in shown] == np.sort(law)[::-1][:20].tolist()
    text = heading(plot_pmf(mechanism, scores))
    assert f"the 20 likeliest of {count:,} candidates" in text
    rest = 1.0 - sum(shown.values())
    assert f"The other {count - 20:,} have a probability of {rest:.3g} together." in text


def test_one_candidate() -> None:
    chart = plot_pmf(dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0), [5])
    assert bars(chart) == {"0": 1.0}
    assert "the one candidate" in heading(chart)


def test_labels_may_be_anything_and_stay_apart() -> None:
    candidates = [1, "1", None, True, "x" * 99, "x" * 98, "</script>", ""]
    candidates.remove(True)  # equal to 1, hence a duplicate
    shown = bars(plot_pmf(dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0), range(7), candidates=candidates))
    assert len(shown) == 7


def test_the_picture_is_complete() -> None:
    labels = ["a candidate with a rather long name", "b", "c"]
    chart = plot_pmf(dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0), [9, 7, 2], labels)
    picture = pixels(saved(chart, ".png"))
    height, width, _ = picture.shape
    assert 1000 < width < 1700
    assert 200 < height < 500
    for rim in (picture[:8], picture[-8:], picture[:, :8], picture[:, -8:]):
        assert rim.min() == 255  # nothing is cut off
    is_bar = (abs(picture - [0x0B, 0x4A, 0x8F]) <= 3).all(axis=-1)
    lengths = [int(run) for run in np.unique(is_bar.sum(axis=1)) if run]
    assert len(lengths) >= 3  # bars of three lengths


def test_a_large_picture_has_the_size_of_its_bars() -> None:
    mechanism = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0)
    heights = []
    for count in (10, 30):
        header = saved(plot_pmf(mechanism, range(count)), ".png")[16:24]
        heights.append(struct.unpack(">II", header)[1])
    assert heights[1] - heights[0] == 20 * 20 * 2  # twenty bars more, of 20 pixels, twice as fine


@pytest.mark.parametrize(
    ("scores", "candidates", "error"),
    [
        ([], None, InvalidScoresError),
        ([1.0, float("nan")], None, InvalidScoresError),
        (["7919", "2"], None, InvalidScoresError),
        ([7919, 2], ["7919"], InvalidCandidatesError),
        ([7919, 2], ["7919", "7919"], InvalidCandidatesError),
        ([7919, 2], "ab", InvalidCandidatesError),
    ],
)
def test_bad_input_is_refused_without_showing_it(scores: Any, candidates: Any, error: type[Exception]) -> None:
    with pytest.raises(error) as refusal:
        plot_pmf(dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0), scores, candidates)
    assert "7919" not in str(refusal.value) + repr(refusal.value.args)

"""The chart of a plan: what is drawn are the library's figures, and what is not drawn is said."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect.errors import InvalidParameterError
from dpselect.planning import error_curve
from dpselect.planning.plan_chart import plot_plan

PF = {"permute-and-flip": dps.PermuteAndFlip}
THREE = PF | {"exponential mechanism": dps.ExponentialMechanism, "Laplace noisy max": dps.ReportNoisyMax}
AT = [0.01, 0.1, 1.0]
SCORES = [7919.0, 7912.0, 7900.5, 7600.0]
ABOUT: dict[str, Any] = {"sensitivity": 1.0, "monotonic": False, "confidence": 0.99}


def curves(chart: Any) -> dict[str, list[tuple[float, float | None]]]:
    rows = [row for values in chart.to_dict()["datasets"].values() for row in values if "series" in row]
    return {
        name: [(row["x"], row["y"]) for row in rows if row["series"] == name] for name in (r["series"] for r in rows)
    }


def subtitle(chart: Any) -> str:
    return " ".join(chart.to_dict()["title"]["subtitle"])


def test_the_lines_are_the_error_curves() -> None:
    drawn = curves(plot_plan(n=1000, epsilons=AT, mechanisms=PF, **ABOUT))
    about = {"n": 1000, "epsilons": AT, "sensitivity": 1.0}
    assert drawn == {
        "expected": list(zip(AT, error_curve(dps.PermuteAndFlip, **about).tolist(), strict=True)),
        "99 % bound": list(zip(AT, error_curve(dps.PermuteAndFlip, **about, confidence=0.99).tolist(), strict=True)),
    }


def test_a_bound_on_scores_is_drawn_in_steps() -> None:
    drawn = curves(plot_plan(SCORES, epsilons=AT, mechanisms=PF, **ABOUT))
    first, second, third = error_curve(dps.PermuteAndFlip, SCORES, epsilons=AT, sensitivity=1.0, confidence=0.99)
    assert drawn["99 % bound"] == [(0.01, first), (0.1, first), (0.1, second), (1.0, second), (1.0, third)]


def test_a_mechanism_that_could_not_be_told_apart_is_named() -> None:
    chart = plot_plan(n=1000, epsilons=AT, mechanisms=PF | {"the same": dps.PermuteAndFlip}, **ABOUT)
    assert set(curves(chart)) == {"expected", "99 % bound"}
    assert subtitle(chart).endswith("Not drawn, as nearly the same: the same.")


def test_how_close_is_true() -> None:
    chart = plot_plan(n=41270, epsilons=[0.01, 10.0], mechanisms=THREE, **ABOUT)
    flip, exponential = (kind(epsilon=1, sensitivity=1).error_bound(41270, 0.99) for kind in list(THREE.values())[:2])
    assert 1.04 < exponential / flip <= 1.05
    assert "exponential mechanism (within 5 %)" in subtitle(chart)


def test_errors_of_which_none_is_above_0() -> None:
    chart = plot_plan(n=1, epsilons=AT, mechanisms=THREE, **ABOUT)
    assert chart.to_dict()["title"]["text"] == ["Error of a selection among one candidate"]
    assert "Every error is 0." in subtitle(chart)


def test_tiny_errors_are_cut_off_and_said_to_be() -> None:
    chart = plot_plan(SCORES, epsilons=[0.01, 0.1, 10.0], mechanisms=PF, **ABOUT)
    assert "Errors below 0.0001 are not shown." in subtitle(chart)


def test_errors_that_no_chart_holds_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match=r"^y="):
        plot_plan(n=9, epsilons=[1e-200, 1e-199], mechanisms=THREE, **ABOUT | {"sensitivity": 1e300})
    with pytest.raises(InvalidParameterError, match="at least two different values"):
        plot_plan(n=9, epsilons=[1.0, 1.0], mechanisms=THREE, **ABOUT)
    with pytest.raises(InvalidParameterError, match="sensitivity"):
        plot_plan(n=9, epsilons=AT, mechanisms=PF, **ABOUT | {"sensitivity": -1.0})
    gumbel = {"Gumbel": partial(dps.ReportNoisyMax, noise="gumbel")}
    assert np.isfinite(curves(plot_plan(n=9, epsilons=AT, mechanisms=gumbel, **ABOUT))["expected"][0][1] or np.nan)

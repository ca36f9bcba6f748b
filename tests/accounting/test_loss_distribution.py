"""The extra ``pld``: close to our own convolution, and never below it by more than it may round."""

from __future__ import annotations

import sys

import pytest

from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent, LogisticProfileEvent, PureEvent, compose
from dpselect.errors import InvalidParameterError, MissingExtraError


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", [LaplaceProfileEvent, LogisticProfileEvent, PureEvent])
@pytest.mark.parametrize(("epsilon", "count"), [(0.1, 10), (0.5, 20)])
def test_two_convolutions_agree(kind: type, epsilon: float, count: int) -> None:
    ours = compose([kind(epsilon=epsilon)] * count, tight=True, work=1e8)
    theirs = compose([kind(epsilon=epsilon)] * count, pld=True)
    assert theirs.bounds(1e-6)["pld"] == pytest.approx(ours.epsilon(1e-6), rel=2e-3)
    at = ours.epsilon(1e-6)
    assert ours.delta(at) * (1 - 1e-2) <= theirs.distribution.delta(at)  # type: ignore[union-attr]


def test_bounded_range_is_counted_by_its_logistic_pair() -> None:
    ranges = compose([BoundedRangeEvent(epsilon=0.5)] * 10, pld=True).distribution
    logistic = compose([LogisticProfileEvent(epsilon=0.5)] * 10, pld=True).distribution
    assert ranges is not None
    assert logistic is not None
    assert ranges.epsilon(1e-6) == logistic.epsilon(1e-6) == pytest.approx(3.81, abs=0.01)


def test_every_run_is_counted() -> None:
    once = compose([LaplaceProfileEvent(epsilon=0.5)], pld=True)
    often = compose([LaplaceProfileEvent(epsilon=0.5)] * 30, pld=True)
    assert often.epsilon(1e-6) > 10 * once.epsilon(1e-6)
    assert compose([], pld=True).epsilon(1e-6) == 0.0


def test_many_runs() -> None:
    many = compose([LaplaceProfileEvent(epsilon=0.01)] * 10**4, pld=True)
    assert next(iter(many.bounds(1e-6))) == "pld"
    assert many.epsilon(1e-6) < compose([LaplaceProfileEvent(epsilon=0.01)] * 10**4).epsilon(1e-6)
    assert many.epsilon(1e-13) < 100.0


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting.pld.privacy_loss_distribution", None)
    with pytest.raises(MissingExtraError, match="pld"):
        compose([PureEvent(epsilon=1.0)], pld=True)


def test_bad_pld() -> None:
    with pytest.raises(InvalidParameterError, match="pld"):
        compose([], pld=1)  # type: ignore[arg-type]

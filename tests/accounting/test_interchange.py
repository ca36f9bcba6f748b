"""Events go to dp-accounting and come back, and never cost less there than here, or here than there."""

from __future__ import annotations

import sys
from typing import Any

import attr
import mpmath as mp
import pytest

dp_accounting: Any = pytest.importorskip("dp_accounting", reason="needs dp-accounting to give events to")

from dpselect.accounting import (  # noqa: E402
    ApproximateEvent,
    BoundedRangeEvent,
    ComposedEvent,
    Event,
    LaplaceProfileEvent,
    LogisticProfileEvent,
    LossIntervalEvent,
    PrivateCandidatesEvent,
    PureEvent,
    Run,
    SequenceEvent,
    compose,
    from_dp_accounting,
    to_dp_accounting,
)
from dpselect.errors import InvalidEventError, InvalidParameterError, MissingExtraError  # noqa: E402

theirs: Any = dp_accounting.dp_event
PURE, BOUNDED, LAPLACE = PureEvent(epsilon=0.3), BoundedRangeEvent(epsilon=0.7), LaplaceProfileEvent(epsilon=0.1)
ALL = [
    PURE,
    BOUNDED,
    LAPLACE,
    LogisticProfileEvent(epsilon=0.5),
    LossIntervalEvent(below=0.25, above=0.5),
    ComposedEvent(event=LAPLACE, count=20),
    SequenceEvent(events=(PURE, ComposedEvent(event=SequenceEvent(events=(LAPLACE, BOUNDED)), count=3))),
]


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two events that releases after 0.6 have."""
    for name in ("ExponentialMechanismDpEvent", "PermuteAndFlipDpEvent"):
        monkeypatch.setattr(theirs, name, attr.make_class(name, ["epsilon"], bases=(theirs.DpEvent,)), raising=False)


@pytest.mark.parametrize("event", ALL, ids=str)
def test_an_event_costs_as_much_there_and_back_again(event: Event) -> None:
    sent = to_dp_accounting(event)
    back = from_dp_accounting(sent)
    assert event.epsilon <= back.epsilon <= event.epsilon * (1 + 1e-12)
    assert compose([event]).epsilon(1e-6) <= compose([back]).epsilon(1e-6) * (1 + 1e-12)
    accountant = dp_accounting.pld.PLDAccountant(value_discretization_interval=1e-4)
    delta = accountant.compose(sent).get_delta(event.epsilon / 2)
    assert compose([event], tight=True).delta(event.epsilon / 2) <= delta * (1 + 1e-3) + 1e-12


@pytest.mark.parametrize("event", [PURE, LAPLACE, ComposedEvent(event=LAPLACE, count=20)], ids=str)
def test_what_both_know_costs_the_same(event: Event) -> None:
    accountant = dp_accounting.pld.PLDAccountant(value_discretization_interval=1e-4)
    delta = accountant.compose(to_dp_accounting(event)).get_delta(event.epsilon / 2)
    assert compose([event], tight=True).delta(event.epsilon / 2) == pytest.approx(delta, rel=5e-3)


@pytest.mark.usefixtures("later")
def test_selections_keep_their_names_where_there_are_some() -> None:
    run = Run(event=LAPLACE, mechanism="PermuteAndFlip", neighbours="add_remove", unit="u")  # type: ignore[arg-type]
    exponential, flipped = to_dp_accounting(BOUNDED), to_dp_accounting(run)
    assert exponential == theirs.ExponentialMechanismDpEvent(0.7)
    assert flipped == theirs.PermuteAndFlipDpEvent(0.1)
    assert (from_dp_accounting(exponential), from_dp_accounting(flipped)) == (BOUNDED, LAPLACE)
    assert type(to_dp_accounting(LAPLACE)) is theirs.LaplaceDpEvent  # of noisy max, too


@pytest.mark.parametrize("eta", [0.0, 1.0, 2.5])
def test_the_best_of_many_runs(eta: float) -> None:
    event = PrivateCandidatesEvent(epsilon=0.5, eta=eta, gamma=0.01)
    sent = to_dp_accounting(event)
    back = from_dp_accounting(sent)
    assert isinstance(back, PrivateCandidatesEvent)
    assert event.epsilon <= back.epsilon <= event.epsilon * (1 + 1e-9)
    accountant = dp_accounting.rdp.RdpAccountant(neighboring_relation=dp_accounting.NeighboringRelation.REPLACE_SPECIAL)
    assert event.run_epsilon < accountant.compose(sent).get_epsilon(1e-9) <= event.epsilon


def test_noise_of_whole_numbers_is_pure() -> None:
    assert from_dp_accounting(theirs.DiscreteLaplaceDpEvent(0.25, 2)).epsilon == pytest.approx(0.5, rel=1e-12)
    assert from_dp_accounting(theirs.RandomizedResponseDpEvent(0.5, 4)).epsilon == pytest.approx(1.6094379, rel=1e-7)


@pytest.mark.parametrize(
    "event",
    [
        theirs.GaussianDpEvent(1.0),
        theirs.NonPrivateDpEvent(),
        theirs.RandomizedResponseDpEvent(0.0, 2),
        theirs.RepeatAndSelectDpEvent(theirs.GaussianDpEvent(1.0), 10.0, 1.0),
        theirs.PoissonSampledDpEvent(0.1, theirs.LaplaceDpEvent(1.0)),
        None,
    ],
    ids=str,
)
def test_what_is_not_known_to_be_pure_is_refused(event: Any) -> None:
    with pytest.raises(InvalidEventError, match="dp-accounting"):
        from_dp_accounting(event)


@pytest.mark.parametrize("shape", [-0.5, 0.0, 1.0])
def test_a_number_of_runs_beyond_what_we_count_is_refused_and_never_cheaper(shape: float) -> None:
    with pytest.raises(InvalidEventError, match="too many runs"):
        from_dp_accounting(theirs.RepeatAndSelectDpEvent(theirs.LaplaceDpEvent(1.0), 1e30, shape))
    many: Any = from_dp_accounting(theirs.RepeatAndSelectDpEvent(theirs.LaplaceDpEvent(1.0), 1e6, shape))
    with mp.workdps(60):  # the mean of the negative binomial law without its zeros
        eta, gamma = mp.mpf(many.eta), mp.mpf(many.gamma)
        odds = (1 - gamma) / gamma
        assert (odds * eta / (1 - gamma**eta) if eta else -odds / mp.log(gamma)) >= 10**6


def test_numbers_out_of_range_are_refused() -> None:
    for event in (theirs.LaplaceDpEvent(0.0), theirs.RepeatAndSelectDpEvent(theirs.LaplaceDpEvent(1.0), 2.0, 1e300)):
        with pytest.raises(InvalidParameterError):
            from_dp_accounting(event)
    with pytest.raises(InvalidEventError, match="delta"):
        to_dp_accounting(SequenceEvent(events=(PURE, ApproximateEvent(epsilon=0.5, delta=1e-9))))


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting.dp_event", None)
    with pytest.raises(MissingExtraError, match="pld"):
        to_dp_accounting(PURE)

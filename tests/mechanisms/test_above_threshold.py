"""Above-threshold streams: answers against the model's law, what they refuse, and that their offset stays secret."""

from __future__ import annotations

import copy
import math
import multiprocessing
import pickle
from contextlib import closing, suppress
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect import SelectionError
from dpselect.accounting import ComposedEvent, LossIntervalEvent, PureEvent, Run
from dpselect.errors import InvalidDataError, InvalidEventError, InvalidParameterError, StreamEndedError
from dpselect.testing import seeded
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference import above_threshold as model
from tests.slow import SLOW

LEADS = [-2, 1, -1, 2]
DRAWS = 20_000 if SLOW else 2000


def begun(**changed: Any) -> dps.AboveThreshold:
    """b1 = b2 = 1 / ln 2 at a threshold of 10, as exactly as doubles hold it: the unit of the model."""
    half = 2.0 * math.log(2.0)
    return dps.AboveThreshold(**{"threshold": 10, "epsilon": half, "sensitivity": 1, "monotonic": True, **changed})


def first_yes_law() -> np.ndarray:
    """Of the model: the first yes at each of `LEADS`, or none."""
    law = model.law(LEADS)
    return np.array([float(law[(-1,) * place + ((0,) if place < 4 else ())]) for place in range(5)])


def test_the_pmf_is_the_models() -> None:
    np.testing.assert_allclose(begun().pmf([10 + lead for lead in LEADS]), first_yes_law(), rtol=1e-9)
    assert begun(threshold=1e6).pmf([0.0, 1.0])[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("kind", [float, Fraction])
def test_answers_have_the_law(kind: Any) -> None:
    """By doubles, and in fractions, which the core compares exactly; and the test tells another epsilon."""
    tally = np.zeros(5, int)
    for _ in range(DRAWS):
        stream = begun()
        place = next((place for place, lead in enumerate(LEADS) if stream.test(kind(10 + lead))), len(LEADS))
        tally[place] += 1
    assert p_value(tally, first_yes_law()) > NEVER
    other = begun(epsilon=3.0).pmf([10 + lead for lead in LEADS])
    assert p_value(tally, other) < NEVER


def test_two_positives_share_one_offset() -> None:
    """The joint law of all answers; two streams of one positive each would have another."""
    leads, counts = [0, 1, 0], dict.fromkeys(model.law([0, 1, 0], positives=2), 0)
    for _ in range(DRAWS):
        stream = dps.AboveThreshold(0, epsilon=3.0 * math.log(2.0), sensitivity=1, moves="up", positives=2)
        # The split is for two positives; the model's is one unit each, so the numbers are scaled.
        assert stream.threshold_scale < stream.noise_scale
        answers = []
        for lead in leads:
            answers.append(0 if stream.test(lead * stream.noise_scale * math.log(2.0)) else -1)
            if answers.count(0) == 2:
                break
        counts[tuple(answers)] += 1
    assert sum(counts.values()) == DRAWS
    lone = dps.AboveThreshold(0, epsilon=3.0 * math.log(2.0), sensitivity=1, moves="up", positives=2)
    ratio = lone.threshold_scale / lone.noise_scale
    u = (np.arange(20_000) + 0.5) / 20_000
    chances = [np.minimum(1.0, 2.0**lead * u**ratio) for lead in leads]
    expected = []
    for answers in counts:
        each = np.ones_like(u)
        for answer, chance in zip(answers, chances, strict=False):
            each = each * (chance if answer == 0 else 1.0 - chance)
        expected.append(each.mean())
    tally, law = np.array(list(counts.values())), np.array(expected)
    assert p_value(tally, law / law.sum()) > NEVER
    means = [float(chance.mean()) for chance in chances]
    apart = np.ones(len(counts))
    for place, answers in enumerate(counts):
        for answer, mean in zip(answers, means, strict=False):
            apart[place] *= mean if answer == 0 else 1.0 - mean
    assert p_value(tally, apart / apart.sum()) < NEVER


def test_a_scale_that_no_double_is_small_enough_for() -> None:
    stream = dps.AboveThreshold(0, epsilon=1e308, sensitivity=1e-308)
    assert stream.noise_scale == 0.0
    assert 0.0 <= stream.error_bound(10) < 1e-300
    assert stream.pmf([-1.0, 5.0, 7.0]).tolist() == [0.0, 1.0, 0.0, 0.0]


def test_a_stream_refuses_more_than_was_paid_for() -> None:
    stream = begun(positives=2)
    assert [stream.test(10**6), stream.test(-(10**6)), stream.test(10**6)] == [True, False, True]
    asked = (lambda: stream.test(10.0), lambda: stream.test(Fraction(1, 3)))
    for ask in asked:
        with pytest.raises(StreamEndedError, match="begin another one"):
            ask()


def test_a_closed_stream_says_nothing() -> None:
    with closing(begun()) as stream:
        pass
    with pytest.raises(StreamEndedError):
        stream.test(0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None, "1000", [1000], True, 1j, 10**400])
def test_bad_values_draw_nothing_and_show_nothing(value: Any) -> None:
    stream, coin = begun(), dps.RandomizedResponse(epsilon=1.0, bits_per_unit=200)
    with seeded(3):
        undisturbed = coin.draw([True] * 200).tolist()
    with seeded(3):
        with pytest.raises(InvalidDataError) as refused:
            stream.test(value)
        assert "1000" not in str(refused.value)
        assert coin.draw([True] * 200).tolist() == undisturbed
    assert stream.test(10**6)
    with seeded(3):
        begun().test(0)
        assert coin.draw([True] * 200).tolist() != undisturbed


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"threshold": math.nan}, "threshold"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": 5e-324}, "epsilon"),
        ({"sensitivity": -1}, "sensitivity"),
        ({"positives": 0}, "positives"),
        ({"positives": 1.5}, "positives"),
        ({"moves": "sideways"}, "moves"),
        ({"moves": "any"}, "moves"),
        ({"neighbours": "replace_one"}, "monotonic"),
        ({"neighbours": "replace_one", "monotonic": False, "moves": "up"}, "moves"),
        ({"neighbours": "neither"}, "neighbours"),
    ],
)
def test_bad_arguments(changed: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidParameterError, match=named):
        begun(**changed)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_the_offset_cannot_be_copied(copied: Any) -> None:
    stream = begun()
    with pytest.raises(SelectionError, match="secret offset"):
        copied(stream)
    with pytest.raises(TypeError):
        copied(stream._stream)


def test_numbers_beyond_all_doubles_are_called_that() -> None:
    for value in (10**500, -(10**500)):
        with pytest.raises(InvalidDataError, match="beyond all doubles"):
            begun().test(value)


def test_the_text_of_a_stream_says_who_is_protected() -> None:
    for neighbours in ("add_remove", "replace_one"):
        stream = dps.AboveThreshold(3, epsilon=1.0, sensitivity=1, neighbours=neighbours)
        assert repr(neighbours) in repr(stream)


def test_the_offset_is_in_no_text() -> None:
    """Streams with different offsets look alike, and nothing but public arguments can be read from them."""
    assert repr(begun()) == repr(begun())
    stream = begun()
    held = [getattr(stream, name) for name in stream.__slots__]
    kinds = {type(each).__name__ for each in held}
    assert kinds == {"bool", "int", "float", "str", "tuple", "Fraction", "Neighbours", "ThresholdStream"}
    public = [name for name in dir(stream._stream) if not name.startswith("_")]
    assert sorted(public) == ["close", "is_open", "test", "test_exactly"]


def _in_child(stream: dps.AboveThreshold, said: Any) -> None:
    try:
        said.send(stream.test(10**6))
    except StreamEndedError as refused:
        said.send(str(refused))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_of_a_fork_gets_no_answer() -> None:
    """Both would otherwise answer by one offset, for one charge."""
    stream = begun()
    here, there = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=_in_child, args=(stream, there))
    child.start()
    assert "before a fork" in here.recv()
    child.join()
    assert stream.test(10**6)


def test_events_say_the_direction() -> None:
    assert isinstance(begun().event, PureEvent)
    up, down = (begun(monotonic=False, moves=moves).event for moves in ("up", "down"))
    assert isinstance(up, LossIntervalEvent)
    assert up.mirrored == down
    replaced = begun(monotonic=False, neighbours="replace_one")
    Run(event=replaced.event, mechanism="AboveThreshold", neighbours="replace_one", unit="person")
    with pytest.raises(InvalidParameterError, match="add_remove"):
        Run(event=up, mechanism="AboveThreshold", neighbours="replace_one", unit="person")
    with pytest.raises(InvalidEventError):
        dps.accounting.from_json('{"kind":"loss_interval","version":1,"below":"0.5"}')
    text = dps.accounting.to_json(up)
    assert dps.accounting.from_json(text) == up


@pytest.mark.parametrize("positives", [1, 2, 7])
@pytest.mark.parametrize("moves", ["any", "together", "up", "down"])
def test_rates_spend_epsilon_and_no_more(moves: str, positives: int) -> None:
    """In fractions, by the model's claim; and no other split within it has less variance."""
    for epsilon in (1.0, 0.1, 3.7):
        stream = dps.AboveThreshold(0, epsilon=epsilon, sensitivity=1, moves=moves, positives=positives)  # type: ignore[arg-type]
        offset, answer = (Fraction(rate) for rate in stream._rates)
        most = max(model.claimed(moves, positives=positives, root=1)) - 1
        spent = offset + most * answer
        assert Fraction(epsilon) * (1 - Fraction(1, 2**48)) <= spent <= Fraction(epsilon)
        assert spent <= Fraction(stream.event.epsilon) <= Fraction(epsilon)
        variance = offset**-2 + answer**-2
        for factor in (Fraction(1, 2), Fraction(97, 100), Fraction(103, 100), Fraction(11, 10)):
            rest = (Fraction(epsilon) - offset * factor) / most
            assert rest <= 0 or (offset * factor) ** -2 + rest**-2 >= variance


def test_the_error_bound_is_kept() -> None:
    """For the worst queries it knows, many below and then one above, and it is not far too large."""
    stream = begun(threshold=0)
    bound = stream.error_bound(50, confidence=0.9)
    assert stream.error_bound(50) > bound
    right, too_near = (stream.pmf([-lead] * 49 + [lead])[-2] for lead in (bound, bound * 0.7))
    assert too_near < 0.9 <= right


def test_a_ledger_counts_streams_and_keeps_their_direction(tmp_path: Any) -> None:
    """More of them fit than of a pure event, entries can be verified, and replace-one refuses even a bare event."""
    ledger = dps.Ledger(f"sqlite:///{tmp_path}/budget.db")
    event = dps.AboveThreshold(0, epsilon=0.02, sensitivity=1, moves="up").event
    counts = {}
    for name, each in (("streams", event), ("pure", PureEvent(epsilon=0.02))):
        ledger.open_account(name, epsilon=1.0, delta=1e-6, unit="person")
        counts[name] = 0
        with suppress(dps.errors.ChargeRefusedError):
            while True:
                ledger.charge(name, each)
                counts[name] += 1
    assert counts["streams"] > 1.2 * counts["pure"] > 60
    ledger.verify()
    ledger.open_account("replaced", epsilon=1.0, unit="person", neighbours="replace_one")
    with pytest.raises(dps.errors.InvalidAccountError, match="replaced"):
        ledger.charge("replaced", ComposedEvent(event=event, count=2))
    assert ledger.remaining("replaced") == 1.0
    ledger.disconnect()

"""By how much answers are ahead: the gap of the noise that selects, at no cost, certified, and in shape."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpselect as dps
from dpselect.accounting import LaplaceProfileEvent, PureEvent
from dpselect.certificates import check
from dpselect.certificates.release import canonical_json, digest
from dpselect.cli import main
from dpselect.errors import InvalidCandidatesError, InvalidCertificateError, InvalidParameterError
from dpselect.questions import MostCommon, TopK, wording
from dpselect.questions.gap import ReleasedGap
from dpselect.questions.ordering import gaps_follow
from dpselect.summaries import CandidateCounts, PublicCandidates
from tests.backends.table_questions import BY_CITY, NAMES, ROWS
from tests.questions.test_with_counts import IN_CITIES, OF_NAMES, SURE

SURELY = 1 - 1e-10
PEOPLE = dps.Dataset(ROWS, unit="who")
AHEAD: dict[str, Any] = {"candidates": NAMES, "epsilon": SURE, "with_gap": True}
WAYS: dict[str, dict[str, Any]] = {
    "by itself": {},
    "with counts": {"with_counts": True},
    "noise once": {"max_values_per_unit": 4, "with_counts": True},
    "noise once, with a delta": {"max_values_per_unit": 4, "with_counts": True},
}


def true_gaps(counts: dict[Any, int], answers: list[Any]) -> list[int]:
    """To the best candidate that is left; without one, there is none."""
    left = dict(counts)
    found = []
    for answer in answers:
        own = left.pop(answer)
        found += [own - max(left.values())] if left else []
    return found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("k", [1, 3, 4])
def test_gaps_are_those_of_the_counts(way: str, k: int) -> None:
    """Where there is no noise; and each true lead is known."""
    delta = {"delta": 0.1} if "delta" in way else {}
    release: Any = PEOPLE.top_k("name", k, **AHEAD, **WAYS[way], **delta)
    true = true_gaps(OF_NAMES, release.value)
    assert len(release.gap.value) == min(k, len(NAMES) - 1)
    assert np.allclose(release.gap.value, true, atol=0.2)
    assert release.gap.lead_at_least(SURELY) == true
    assert release.epsilon == SURE
    assert check(release.to_json()).error_bound
    assert dps.Release.from_json(release.to_json()) == release


@pytest.mark.slow
def test_of_one_answer_and_of_groups() -> None:
    one: Any = PEOPLE.most_common("name", **AHEAD)
    assert one.gap.lead_at_least(SURELY) == true_gaps(OF_NAMES, [one.value])[0]
    assert one.gap.p_value < 1e-100
    assert f"ahead of all others by at least {one.gap.lead} units (who; p-value" in str(one)
    rare: Any = PEOPLE.least_common("name", **AHEAD, max_values_per_unit=1, with_counts=True)
    assert rare.gap.noise == "geometric"
    fewest: Any = PEOPLE.least_common("name", **AHEAD)
    assert "below all others" in fewest.lead
    assert "not being the rarest" in fewest.lead
    assert "ahead" not in fewest.lead + rare.lead
    assert rare.gap.value >= 0
    grouped: Any = PEOPLE.top_k("name", 2, **AHEAD, **BY_CITY)
    for city, answers in grouped.value.items():
        assert grouped.gap.lead_at_least(SURELY)[city] == true_gaps(IN_CITIES[city], answers)
    for release in (one, rare, grouped):
        assert check(release.to_json()).error_bound
        assert dps.Release.from_json(release.to_json()) == release
    friends = dps.Dataset("examples/data/free_days.csv", unit="person")
    release = friends.best_date("free_on", bounds=("2026-12-01", "2026-12-31"), epsilon=SURE, with_gap=True)
    assert check(release.to_json()).error_bound


def test_gaps_cost_nothing_and_change_no_noise() -> None:
    candidates = PublicCandidates.given(range(50))
    for more in ({}, {"max_values_per_unit": 1}, {"with_counts": True}):
        for k in (1, 5):
            plain, ahead = (TopK.planned(candidates, k, epsilon=1.0, with_gap=gap, **more) for gap in (False, True))
            assert (plain.event, plain.plan) == (ahead.event, ahead.plan)
            assert ahead.terms.gap == ahead.gap is not plain.gap is None
    plan = TopK.planned(candidates, 40, epsilon=1.0, delta=1e-6, with_gap=True)
    assert plan.event == LaplaceProfileEvent(epsilon=1.0)  # one draw, although rounds would use the delta
    assert plan.terms.delta == 0.0
    once = TopK.planned(candidates, 40, epsilon=1.0, max_values_per_unit=1, with_gap=True)
    assert (once.event, once.gap) == (PureEvent(epsilon=1.0), ReleasedGap(step=1.0, noise="geometric", scale=1.0))


def test_p_values_are_those_of_two_equals() -> None:
    """Of exponential noise exactly; of whole counts by the tail of a difference, given that one of two is selected."""
    assert ReleasedGap(value=3.0, step=1.0, noise="exponential", scale=1.5).p_value == pytest.approx(
        np.exp(-2), rel=1e-6
    )
    ratio = np.exp(-1 / 1.5)
    chances = ratio ** np.abs(np.arange(-60, 61)) * (1 - ratio) / (1 + ratio)
    differences = np.convolve(chances, chances)  # of -120, ..., 120
    exact = differences[123:].sum() / differences[121:].sum()
    assert ReleasedGap(value=3.0, step=1.0, noise="geometric", scale=1.5).p_value == pytest.approx(exact, rel=1e-6)
    assert ReleasedGap(value=0.0, step=1.0, noise="geometric", scale=1.5).p_value == 1.0


@pytest.mark.slow
def test_leads_are_wrong_as_seldom_as_stated() -> None:
    """Two equal counts, and one ahead by 4, at the scale 1: a lead that is too large in one of twenty draws."""
    draws, confidence = 4000, 0.95
    for true, task in (
        (0, MostCommon.planned(PublicCandidates.given(["a", "b"]), epsilon=1.0, with_gap=True)),
        (4, MostCommon.planned(PublicCandidates.given(["a", "b"]), epsilon=1.0, with_gap=True)),
        (4, TopK.planned(PublicCandidates.given([*"abcd"]), 3, epsilon=1.0, max_values_per_unit=1, with_gap=True)),
    ):
        counts = CandidateCounts(np.array([50 + true, 50, 40, 30][: len(task.candidates)]))
        assert task.gap is not None
        wrong = first = 0
        for _ in range(draws):
            drawn = task.released(counts)
            answer, gap = drawn.answer, (drawn.gaps or [])[0]
            won = (answer if isinstance(answer, str) else answer[0]) == "a"  # type: ignore[index]
            first += won
            wrong += won and task.gap.of_noise.lead_at_least(gap, confidence) > true
        assert wrong <= stats.binom.isf(1e-10, first, 1 - confidence)
        assert wrong >= first / 100  # control: it does happen


def edited(certificate: str, place: str, value: Any) -> str:
    held = json.loads(certificate)
    held["gap"][place] = value
    del held["digest"]
    return canonical_json(held | {"digest": digest(held)})


ONCE: dict[str, Any] = WAYS["noise once"] | {"with_gap": True}


@pytest.mark.slow
def test_gaps_that_contradict_the_counts_of_the_same_noise_are_refused() -> None:
    for way, k in (({}, 3), ({"delta": 0.1}, 3), ({}, 4)):
        release: Any = PEOPLE.top_k("name", k, candidates=NAMES, epsilon=SURE, **ONCE, **way)
        first, second, *rest = release.gap.value
        assert [first, second] == [release.counts[0] - release.counts[1], release.counts[1] - release.counts[2]]
        for wrong in ([first + 1, second], [first, second - 1], [500.0, 400.0]):
            with pytest.raises(InvalidCertificateError, match=r"gap\.value.* differences of the counts"):
                check(edited(release.to_json(), "value", [*wrong, *rest]))
        if k == 3:  # the last gap is to a count that is not released
            check(edited(release.to_json(), "value", [first, second, rest[0] + 400]))


@pytest.mark.slow
def test_so_are_those_of_a_group() -> None:
    grouped: Any = PEOPLE.top_k("name", 4, candidates=NAMES, epsilon=SURE, **ONCE, **BY_CITY)
    pairs = json.loads(grouped.to_json())["gap"]["value"]
    check(edited(grouped.to_json(), "value", pairs))
    pairs[-1][1][0] += 1.0
    with pytest.raises(InvalidCertificateError, match=r"gap\.value.* differences of the counts"):
        check(edited(grouped.to_json(), "value", pairs))


@pytest.mark.slow
def test_gaps_of_noise_of_their_own_may_contradict_the_counts() -> None:
    release: Any = PEOPLE.top_k("name", 2, candidates=NAMES, epsilon=SURE, with_counts=True, with_gap=True)
    assert release.gap.noise == "exponential"
    check(edited(release.to_json(), "value", [9.0, 9.0]))


@pytest.mark.slow
def test_small_counts_that_are_cut_off_at_0_agree_with_their_gaps() -> None:
    """Noise far larger than the counts: about half of the noisy counts are below 0, and their gaps are larger."""
    beyond = 0
    for _ in range(30):
        release: Any = PEOPLE.top_k("name", 4, candidates=NAMES, epsilon=0.1, **ONCE)
        check(release.to_json())
        beyond += release.gap.value[2] > release.counts[2] - release.counts[3]
    assert beyond > 0
    for counts, gaps in (([5, 0], [4.0]), ([5, 2], [4.0]), ([2**62, 0], [2.0**61]), ([5, 5], [1.0])):
        assert not gaps_follow(counts, gaps)
    for counts, gaps in (([5, 0], [5.0]), ([0, 0], [99.0]), ([2**62, 5], [2.0**62]), ([2**62, 2**62], [0.0, 9.0])):
        assert gaps_follow(counts, gaps)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("scale", 0.5),
        ("noise", "geometric"),
        ("noise", "other"),
        ("confidence", 0.9),
        ("value", -1.0),
        ("value", [1.0]),
        ("value", 1e-3),
        ("step", 0.0),
    ],
)
def test_an_edited_gap_is_refused(place: str, value: Any) -> None:
    release = PEOPLE.most_common("name", candidates=NAMES, epsilon=1.0, with_gap=True)
    with pytest.raises(InvalidCertificateError, match=r"gap|text"):
        check(edited(release.to_json(), place, value))
    held = json.loads(release.to_json())
    del held["gap"], held["digest"]
    with pytest.raises(InvalidCertificateError, match="proofs"):
        check(canonical_json(held | {"digest": digest(held)}))


@pytest.mark.slow
def test_bad_input_draws_nothing() -> None:
    for wrong in (1, "yes", None):
        with pytest.raises(InvalidParameterError, match="with_gap"):
            PEOPLE.most_common("name", candidates=NAMES, epsilon=1.0, with_gap=wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="ahead of nobody"):
        PEOPLE.top_k("name", 1, candidates=["x"], epsilon=1.0, with_gap=True)
    with pytest.raises(InvalidParameterError, match="without candidates"):
        PEOPLE.top_k("name", 1, epsilon=1.0, delta=1e-6, with_gap=True)
    with pytest.raises(InvalidCandidatesError):
        PEOPLE.most_common("name", epsilon=1.0, with_gap=True)
    with pytest.raises(InvalidParameterError, match=r"with_gap=True: .* counts only.* sum\("):
        PEOPLE.best_by("name", sum="n", clip=(0, 1), candidates=NAMES, epsilon=1.0, with_gap=True)  # type: ignore


@pytest.mark.slow
def test_before_the_draw_and_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    dry: Any = dps.DryRun(unit="who").most_common("name", candidates=NAMES, epsilon=1.0, with_gap=True)
    least = dry.gap.least_visible
    noise = dry.gap.of_noise
    assert noise.lead_at_least(least) == 1
    assert noise.lead_at_least(least - dry.gap.step) == 0
    assert f"from {wording.rounded_up(least)} on, a gap shows a lead" in str(dry)
    assert json.loads(dry.to_json())["gap"]["least_visible"] == least
    asked = ["examples/data/adult.csv", "education_num", "--unit", "person_id", "--candidates", "1..16"]
    assert main(["most-common", *asked, "--epsilon", "1", "--with-gap"]) == 0
    assert "ahead of all others by at least 3," in capsys.readouterr().out
    assert main(["most-common", *asked, "--epsilon", "1", "--with-gap", "--json"]) == 0
    checked = check(capsys.readouterr().out)
    assert checked.release.gap is not None

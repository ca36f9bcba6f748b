"""Certificates whose parts contradict each other, edited with care, and others that are true and must pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect import Release
from dpselect import verify as check
from dpselect.accounting import LaplaceProfileEvent
from dpselect.errors import InvalidCertificateError, InvalidParameterError
from tests.drawn_answers import planned
from tests.edited_certificates import canonical_json, digest

CLICKS = str(Path(__file__).parents[1] / "examples" / "data" / "clicks.parquet")
VISITS = dps.Dataset(CLICKS, unit="session")
PAGES = range(3, 100, 2)
GRID: dict[str, Any] = {"bounds": (0, 120), "step": 0.1, "epsilon": 0.5}
THIRDS: dict[str, Any] = {"bounds": (Fraction(-1, 3), Fraction(1000, 3)), "step": Fraction(1, 9)}
MILLION = 10**6 + Fraction(1, 3)
CLOSE: dict[str, Any] = {"bounds": (MILLION, MILLION + Fraction(1, 10**9) / 3), "step": Fraction(1, 10**9) / 3}
ZEROS = "0" * 64
UNGROUPED = ("proofs/counting.md", "proofs/permute_and_flip.md", "proofs/exact_sampling.md")
OF_GROUPS: dict[str, Any] = {"by": "page", "groups": [5, 1, 3], "max_groups_per_unit": 2}

ASK: dict[str, Callable[[], Release]] = {
    "most_common": lambda: VISITS.most_common("page", candidates=PAGES, epsilon=0.5),
    "most_common of a falling range": lambda: VISITS.most_common("page", candidates=PAGES[::-1], epsilon=0.5),
    "most_common of a list": lambda: VISITS.most_common("page", candidates=[7, 5], epsilon=0.5),
    "top_k": lambda: VISITS.top_k("page", 3, candidates=PAGES, epsilon=0.5),
    "top_k with delta": lambda: VISITS.top_k("page", 30, candidates=PAGES, epsilon=0.5, delta=1e-6),
    "quantile": lambda: VISITS.quantile("page", 0.9, max_rows_per_unit=3, **GRID),
    "quantile between bounds": lambda: VISITS.quantile("page", 1, bounds=(0, 120), continuous=True, epsilon=0.5),
    "quantile at an extreme": lambda: VISITS.quantile("page", 0, max_rows_per_unit=3, **GRID),
    "quantile at an extreme in groups": lambda: VISITS.by(**OF_GROUPS).quantile("page", 1, **GRID),
    "quantiles at the extremes": lambda: VISITS.quantiles("page", [1, 0], **GRID),
    "quantiles at the extremes by halving": lambda: VISITS.quantiles("page", [0, 1], method="halving", **GRID),
    "quantiles with an extreme": lambda: VISITS.quantiles("page", [0, 0.5], **GRID),
    "top_k of all": lambda: VISITS.top_k("page", 4, candidates=[3, 5, 7, 9], epsilon=0.5),
    "top_k of all but one": lambda: VISITS.top_k("page", 3, candidates=[3, 5, 7, 9], epsilon=0.5),
    "top_k of one candidate": lambda: VISITS.top_k("page", 1, candidates=[3], epsilon=0.5),
    "top_k of both": lambda: VISITS.top_k("page", 2, candidates=[3, 5], epsilon=0.5),
    "top_k of all in groups": lambda: VISITS.by(**OF_GROUPS).top_k("page", 3, candidates=[3, 5, 7], epsilon=0.5),
    "top_k of all with delta": lambda: VISITS.top_k("page", 40, candidates=range(1, 41), epsilon=0.5, delta=1e-6),
    "quantiles": lambda: VISITS.quantiles("page", [0.75, 0.25], max_rows_per_unit=2, **GRID),
    "quantiles by halving": lambda: VISITS.quantiles("page", [0.5, 0.2, 0.8], method="halving", **GRID),
    "best_price": lambda: VISITS.best_price("page", prices=[1, 2.5, 4], epsilon=0.5, max_rows_per_unit=2),
    "best_price of thirds": lambda: VISITS.best_price("page", prices=[Fraction(1, 3), Fraction(2, 3)], epsilon=0.5),
    "best_price of one": lambda: VISITS.best_price("page", prices=[2**52 + 4], epsilon=0.5),
    "mean": lambda: VISITS.mean("page", **GRID),
    "mean of thirds": lambda: VISITS.mean("page", epsilon=0.5, **THIRDS),
    "mean between close thirds": lambda: VISITS.mean("page", epsilon=0.5, **CLOSE),
    "mean in groups": lambda: VISITS.by(**OF_GROUPS).mean("page", bounds=(0, 120), epsilon=0.5),
    "variance": lambda: VISITS.variance("page", **GRID),
    "variance of thirds": lambda: VISITS.variance("page", epsilon=0.5, **THIRDS),
    "variance between close thirds": lambda: VISITS.variance("page", epsilon=0.5, **CLOSE),
    "variance in groups": lambda: VISITS.by(**OF_GROUPS).variance("page", bounds=(0, 120), epsilon=0.5),
    "histogram of bins": lambda: VISITS.histogram("page", bins=[0, 2.5, 40], epsilon=0.5),
    "std": lambda: VISITS.std("page", **GRID),
    "histogram with Gaussian noise": lambda: VISITS.histogram(
        "page", candidates=PAGES, max_values_per_unit=10, delta=1e-6, epsilon=0.5
    ),
    "histogram with a delta it does not need": lambda: VISITS.histogram(
        "page", candidates=PAGES, delta=1e-6, epsilon=0.5
    ),
    "histogram with Gaussian noise in groups": lambda: VISITS.by(**OF_GROUPS).histogram(
        "page", candidates=PAGES, max_values_per_unit=10, delta=1e-6, epsilon=0.5
    ),
    "best_by": lambda: VISITS.best_by("page", sum="page", clip=(-1, 0.7), scale=10, candidates=PAGES, epsilon=0.5),
    "best_price of groups": lambda: VISITS.by(**OF_GROUPS).best_price("page", prices=[1, 4], epsilon=0.5),
    "most_common of groups": lambda: VISITS.by(**OF_GROUPS).most_common("page", candidates=PAGES, epsilon=0.5),
    "top_k of groups": lambda: VISITS.by(**OF_GROUPS).top_k("page", 30, candidates=PAGES, epsilon=0.5, delta=1e-6),
    "quantile of groups": lambda: VISITS.by(**OF_GROUPS).quantile("page", 0.9, **GRID),
    "quantiles of groups": lambda: VISITS.by(**OF_GROUPS).quantiles("page", [0.25, 0.75], **GRID),
    "density of groups": lambda: VISITS.by(**OF_GROUPS).density("page", bounds=(0, 100), bins=4, epsilon=0.5),
    "density": lambda: VISITS.density("page", bounds=(0, 100), bins=4, epsilon=0.5),
}


def edited(release: Release, path: str, value: Any) -> str:
    """The certificate with one field changed, and a digest that fits."""
    held = release.to_dict()
    *inside, last = path.split(".")
    part = held
    for key in inside:
        part[key] = dict(part[key])
        part = part[key]
    part[last] = value
    return canonical_json(held | {"digest": digest(held)})


@cache
def answered(question: str) -> Release:
    """Asked once."""
    return ASK[question]()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("question", ASK)
def test_a_true_certificate_passes(question: str) -> None:
    release = answered(question)
    assert check(release.to_json()).release.to_json() == release.to_json()


def test_a_guarantee_below_the_cost_of_its_event_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """No question states one, so the cost is raised here: what a question promises is not believed."""
    text = ASK["most_common"]().to_json()
    assert check(text).epsilon == 0.5
    monkeypatch.setattr("dpselect.certificates.checking._cost", lambda event, delta: 0.625)
    with pytest.raises(InvalidCertificateError, match=r"guarantee.*at least epsilon=0\.625, what its event costs"):
        check(text)


def test_what_is_stated_of_scores_and_rounds_is_what_was_planned() -> None:
    stated = {name: (ask := ASK[name]()).to_dict()["mechanism"] | {"event": ask.event} for name in ASK if "all" in name}
    for name in ("top_k of all", "top_k of all but one"):
        assert (stated[name]["name"], stated[name]["rounds"]) == ("ExponentialNoiseTopK", 1)
        assert stated[name]["event"] == LaplaceProfileEvent(epsilon=0.5)
    assert ASK["top_k of all"]().error_bound == ASK["top_k of all but one"]().error_bound
    assert stated["top_k of all with delta"]["rounds"] == stated["top_k of all with delta"]["event"].count == 39
    for name in ("quantile at an extreme", "quantiles at the extremes", "quantiles at the extremes by halving"):
        assert ASK[name]().monotonic
    assert not ASK["quantiles with an extreme"]().monotonic
    assert not ASK["quantile"]().monotonic
    other = dps.Dataset(CLICKS, unit="session", neighbours="replace_one").quantile("page", 1, **GRID)
    assert not other.monotonic
    assert check(other.to_json()).error_bound


@pytest.mark.parametrize(
    ("question", "path", "value", "field"),
    [
        ("most_common", "value", 4, "value"),
        ("most_common", "value", 101, "value"),
        ("most_common of a falling range", "value", 4, "value"),
        ("top_k", "value", [3, 5, 3], "value"),
        ("top_k", "value", [3, 5, 120], "value"),
        ("quantile", "value", 120.1, "value"),
        ("quantile", "value", -0.1, "value"),
        ("quantile", "value", 30.05, "value"),
        ("quantile between bounds", "value", 120.5, "value"),
        ("quantiles", "value", [30.1, 50.2], "value"),
        ("quantiles", "value", [50.1, 30.25], "value"),
        ("best_price", "value", 0.5, "value"),
        ("best_price", "value", 4.5, "value"),
        ("best_price of thirds", "value", 0.5, "value"),
        ("best_price of one", "value", 2**51, "value"),
        ("density", "value", [0.5, 0.5, 0.5, 0.5], "value"),
        ("density", "value", [0.5, 0.5, 0.5, -0.5], "value"),
        ("density", "value", [0.1, 0.1, 0.1, 0.1], "value"),
        ("quantile", "value", True, "value"),
        ("most_common", "value", [3], "value"),
        ("top_k", "value", 3, "value"),
        ("top_k of all", "value", [3, 5], "value"),
        ("top_k of all in groups", "value", [[5, [3, 5, 7]], [1, [3, 5, 7]], [3, [3, 5]]], "value"),
        ("top_k of all in groups", "value", [[5, 3], [1, [3, 5, 7]], [3, [3, 5]]], "value"),
        ("most_common of groups", "value", [[5, 3], [1, 3]], "question.groups"),
        ("most_common of groups", "value", [[1, 3], [5, 3], [3, 3]], "question.groups"),
        ("most_common", "candidates.count", 1000, "candidates.count"),
        ("quantile", "mechanism.monotonic", True, "mechanism.monotonic"),
        ("quantile", "mechanism.name", "QuantilesMechanism", "mechanism.name"),
        ("quantile", "mechanism.rounds", 2, "mechanism.rounds"),
        ("quantile", "mechanism.sensitivity", 0.5, "mechanism.sensitivity"),
        ("mean of thirds", "mechanism.sensitivity", 0.0055572, "mechanism.sensitivity"),
        ("top_k with delta", "guarantee.epsilon", 0.49, "guarantee.epsilon"),
        ("top_k with delta", "guarantee.delta", 9e-7, "guarantee.delta"),
        ("best_price", "guarantee.epsilon", 5.0, "guarantee.epsilon"),
        ("top_k", "event.kind", "bounded_range", "event"),
        ("top_k", "arguments.k", 2, "arguments.k"),
        ("top_k with delta", "error_bound.within", 1.0, "error_bound.within"),
        ("best_price", "error_bound.confidence", 0.999, "error_bound.confidence"),
        ("quantile of groups", "groups.epsilon", 0.5, "groups.epsilon"),
        ("most_common of groups", "groups.max_per_unit", 1, "groups.max_per_unit"),
        ("quantile", "guarantee.neighbours", "replace_one", "error_bound.within"),
        ("most_common of groups", "guarantee.neighbours", "replace_one", "question.by"),
        # The question: all else would have to follow.
        ("most_common", "question.epsilon", 0.25, "event"),
        ("most_common", "question.candidates", {"range": [3, 97, 2]}, "candidates.count"),
        ("most_common", "question.candidates", {"range": [3, 99, 0]}, "question.candidates"),
        ("most_common", "question.candidates", {"range": [3, 100, 2]}, "question.candidates"),
        ("most_common", "question.candidates", [*PAGES], "question.candidates"),
        (
            "most_common",
            "question.candidates",
            {"count": 10**9, "kind": "text", "sha256": "0" * 64},
            "question.candidates",
        ),
        (
            "most_common",
            "question.candidates",
            {"count": True, "kind": "text", "sha256": "0" * 64},
            "question.candidates",
        ),
        ("most_common of a list", "question.candidates", [True, False], "candidates.kind"),
        ("most_common", "question.with_counts", True, "event"),
        ("most_common", "question.with_counts", 0, "question.with_counts"),
        ("most_common", "question.k", 3, "question.k"),
        ("quantile", "question.step", 0.2, "candidates.count"),
        ("quantile", "question.step", "1/10", "question.step"),
        ("quantile", "question.step", f"1/{'0' * 5000}10", "question.step"),
        ("quantile", "question.level", 0.5, "arguments.level"),
        ("top_k of all", "question.k", 3, "arguments.k"),
        ("best_price", "question.prices", [1, 2.5, 4.5], "candidates.highest"),
        ("mean", "question.bounds", [0, 121], "candidates.count"),
        ("best_by", "question.scale", 100, "arguments.lower"),
        ("most_common of groups", "question.groups", [5, 1, 4], "question.groups"),
        ("most_common of groups", "value", [[5, 5], [1, 5], [3, 4]], "value"),
        ("top_k of groups", "value", [[5, [*PAGES[:30]]], [1, [*PAGES[:30]]], [3, [*PAGES[:29], 4]]], "value"),
        ("quantile of groups", "value", [[5, 30.1], [1, 30.05], [3, 30.1]], "value"),
        ("best_price of groups", "value", [[5, 1], [1, 4], [3, 2]], "value"),
        ("mean", "value", 120.5, "value"),
        ("best_by", "value", 4, "value"),
        ("most_common", "proofs", ["proofs/counting.md", "proofs/permute_and_flip.md"], "proofs"),
        ("most_common of groups", "proofs", [*UNGROUPED], "proofs"),
        ("most_common", "proofs", ["proofs/top_k.md"], "proofs"),
    ],
)
def test_what_contradicts_itself_is_refused(question: str, path: str, value: Any, field: str) -> None:
    text = edited(answered(question), path, value)
    with pytest.raises(InvalidCertificateError, match=f"<{field}>"):
        check(text)


ONCE: dict[str, Any] = {"max_values_per_unit": 1, "epsilon": 0.5}
WITH_NUMBERS: dict[str, Callable[[], Release]] = {
    "histogram": lambda: VISITS.histogram("page", candidates=[3, 5, 7], **ONCE),
    "histogram in groups": lambda: VISITS.by(**OF_GROUPS).histogram("page", candidates=[3, 5, 7], **ONCE),
    "density": ASK["density"],
    "top_k once": lambda: VISITS.top_k("page", 3, candidates=[3, 5, 7, 9], **ONCE),
    "top_k of unknown values": lambda: VISITS.top_k("page", 2, delta=1e-6, **ONCE),
}


@cache
def numbered(question: str) -> Release:
    """Asked once; no count of these is near 0."""
    return WITH_NUMBERS[question]()


@pytest.mark.parametrize("question", WITH_NUMBERS)
def test_numbers_that_come_with_an_answer_pass(question: str) -> None:
    assert check(numbered(question).to_json()).error_bound


@pytest.mark.parametrize(
    ("question", "path", "change"),
    [
        ("histogram", "usable.count", lambda count: count + 1),
        ("histogram", "usable.count", lambda count: count - 1),
        ("histogram", "value", lambda value: [value[0] + 1, *value[1:]]),
        ("histogram", "value", lambda value: [0, *value[1:]]),  # then no more than the others together
        ("histogram in groups", "usable.count", lambda pairs: [*pairs[:2], [pairs[2][0], pairs[2][1] + 10**6]]),
        ("density", "usable.count", lambda count: count + 1),
        ("density", "usable.count", lambda _: 0),
        ("top_k once", "counts.count", lambda counts: [counts[1], counts[0] + 1, counts[2]]),
        ("top_k of unknown values", "counts.count", lambda counts: [counts[1], counts[0] + 1]),
        ("top_k of unknown values", "counts.count", lambda counts: [counts[0], 1]),
    ],
)
def test_numbers_that_contradict_their_answer_are_refused(
    question: str, path: str, change: Callable[[Any], Any]
) -> None:
    held: Any = numbered(question).to_dict()
    for key in path.split("."):
        held = held[key]
    with pytest.raises(InvalidCertificateError, match="<value>: expected one that such a question can have"):
        check(edited(numbered(question), path, change(held)))


def test_a_zero_may_stand_for_less_and_paid_numbers_may_be_any() -> None:
    release = numbered("histogram")
    value: Any = release.value
    held = json.loads(edited(release, "value", [0, *value[1:]]))
    for units, passes in ((sum(value[1:]), True), (sum(value[1:]) - 9, True), (sum(value[1:]) + 1, False)):
        held["usable"]["count"] = units
        text = canonical_json(held | {"digest": digest(held)})
        if passes:
            check(text)
        else:
            with pytest.raises(InvalidCertificateError, match="<value>"):
                check(text)
    paid = VISITS.most_common("page", candidates=PAGES, epsilon=0.5, with_counts=True, usable_epsilon=0.5)
    check(edited(paid, "usable.count", 7))


def test_no_page_is_added() -> None:
    for release in (ASK["most_common"](), ASK["top_k"]()):
        with pytest.raises(InvalidCertificateError, match="<proofs>"):
            check(edited(release, "proofs", [*release.proofs, "proofs/early_stop.md"]))


def test_a_larger_epsilon_buys_no_smaller_error_bound() -> None:
    cheap, dear = (VISITS.most_common("page", candidates=PAGES, epsilon=epsilon) for epsilon in (0.5, 5.0))
    held = dear.to_dict() | {"event": cheap.to_dict()["event"]}
    with pytest.raises(InvalidCertificateError, match="<event>"):
        check(canonical_json(held | {"digest": digest(held)}))
    several = [VISITS.top_k("page", 2, candidates=PAGES, epsilon=epsilon) for epsilon in (0.5, 5.0)]
    held = several[1].to_dict() | {"event": several[0].to_dict()["event"]}
    with pytest.raises(InvalidCertificateError, match="<event>"):
        check(canonical_json(held | {"digest": digest(held)}))


@pytest.mark.parametrize(
    ("unit", "neighbours", "passes"),
    [("session", "add_remove", True), ("person_id", "add_remove", False), ("session", "replace_one", False)],
)
def test_a_bare_charge_protects_what_its_account_does(tmp_path: Path, unit: str, neighbours: str, passes: bool) -> None:
    release = VISITS.most_common("page", candidates=PAGES, epsilon=0.5)
    assert isinstance(release.event, LaplaceProfileEvent)
    with dps.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open_account("clicks", epsilon=1, unit=unit, neighbours=neighbours)
        receipt = ledger.charge("clicks", release.event)
        text = edited(release, "receipt", receipt.to_dict())
        if passes:
            assert check(text, ledger=ledger).charged
            return
        with pytest.raises(InvalidCertificateError, match="<guarantee>"):
            check(text, ledger=ledger)


fractions = st.fractions(-(10**6), 10**6, max_denominator=10**9)
steps = st.one_of(st.fractions(Fraction(1, 10**9), 100), st.sampled_from([0.1, 0.01, 1, 1e-7, 2.5]))


@given(fractions, steps, st.integers(1, 10**6), st.data())
def test_every_point_of_every_grid_passes(lower: Fraction, step: Any, count: int, data: st.DataObject) -> None:
    exact = Fraction(repr(step)) if isinstance(step, float) else Fraction(step)
    try:
        question = planned("quantile", level=0.5, bounds=(lower, lower + count * exact), step=step, epsilon=1.0)
    except InvalidParameterError:  # finer than doubles can tell apart
        return
    domain = question.domain
    place = data.draw(st.integers(0, count))
    assert question.possible([domain.grid.point(place)], None, None)
    between = (domain.grid.point(place) + domain.grid.point(min(place + 1, count))) / 2
    if float(domain.grid.step) > 1e-6 and place < count:  # the control
        assert not question.possible([between], None, None)

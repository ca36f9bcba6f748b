"""Seeded blocks: what is drawn in one is repeated, says that it is not private, and is never charged to a ledger."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect import SelectionError
from dpselect import verify as check
from dpselect.certificates.checking import Checked
from dpselect.cli.asking import shown, warning
from dpselect.errors import InvalidCertificateError, InvalidParameterError
from dpselect.questions.quantiles import Median
from dpselect.testing import seeded
from tests.edited_certificates import digest
from tests.watched import before_reading

PEOPLE = {"person_id": np.arange(2000), "age": np.arange(2000) % 90, "education_num": np.arange(2000) % 16}
SCORES = np.arange(5000.0) % 97

Draw = Callable[[], Any]


def _people(**options: Any) -> dps.Dataset:
    return dps.Dataset(PEOPLE, unit="person_id", **options)


def _median(data: Any = None, **options: Any) -> dps.Release[Any]:
    return (_people() if data is None else data).median("age", bounds=(0, 120), step=1, epsilon=0.001, **options)


def _bits(draw: Draw, repeats: int = 12) -> list[Any]:
    return [np.asarray(draw()).tolist() for _ in range(repeats)]


DRAWS: dict[str, Draw] = {
    "select": lambda: dps.PermuteAndFlip(epsilon=0.01, sensitivity=1.0).select(SCORES),
    "exponential": lambda: dps.ExponentialMechanism(epsilon=0.01, sensitivity=1.0).select(SCORES),
    "noisy max": lambda: dps.ReportNoisyMax(epsilon=0.01, sensitivity=1.0).select(SCORES),
    "many draws, for several threads": lambda: dps.PermuteAndFlip(epsilon=0.01, sensitivity=1.0).select_many(
        SCORES, 5000
    ),
    "rows": lambda: dps.PermuteAndFlip(epsilon=0.01, sensitivity=1.0).select_rows(np.tile(SCORES, (300, 1))),
    "top k": lambda: dps.top_k(SCORES, 5, epsilon=0.01, sensitivity=1.0),
    "noise": lambda: dps.GeometricMechanism(epsilon=0.01, sensitivity=1).draw(7),
    "density": lambda: _people().density("age", bounds=(0, 120), bins=8, epsilon=0.01).value,
    "median": lambda: _median().value,
    "continuous": lambda: _people().quantile("age", 0.9, bounds=(0, 120), continuous=True, epsilon=0.01).value,
    "quantiles": lambda: _people().quantiles("age", [0.1, 0.9], bounds=(0, 120), step=1, epsilon=0.01).value,
    "groups": lambda: list(_median(_people().by("education_num", groups=[9, 10])).value.values()),
    "units": lambda: _median(usable_epsilon=0.01).usable.count,  # type: ignore[union-attr]
}


BY_NIGHT = {"sample", "quantiles", "units"}
"""Others draw by the same ways."""


@pytest.mark.parametrize("most", [1, 2])
def test_a_block_repeats_which_rows_of_a_unit_count(most: int) -> None:
    rows = pa.table({"who": np.arange(2000) // 4, "x": np.random.default_rng(3).permutation(2000)})
    data, asked = dps.Dataset(rows, unit="who"), {"bounds": (0, 2000), "step": 1, "epsilon": 1e6}

    def medians() -> list[Any]:
        return [data.median("x", max_rows_per_unit=most, **asked).value for _ in range(5)]

    with seeded(7):
        first = medians()
    with seeded(7):
        assert medians() == first
    assert len({*first}) > 1  # within a block each question chooses anew
    assert medians() != first


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in BY_NIGHT else []) for name in DRAWS]
)
def test_a_block_repeats_its_draws_and_nothing_else_does(name: str) -> None:
    repeats = 2 if name == "many draws, for several threads" else 12
    draw = DRAWS[name]
    with seeded(7):
        first = _bits(draw, repeats)
    with seeded(7):
        assert _bits(draw, repeats) == first
    with seeded(8):
        assert _bits(draw, repeats) != first
    assert _bits(draw, repeats) != first


def test_a_release_of_a_block_says_so_wherever_it_is_shown() -> None:
    with seeded(7):
        release = _median()
    assert release.seeded
    assert json.loads(release.to_json())["seeded"] == "seeded: not private"
    for text in (str(release), release._repr_html_(), shown(release), warning(release), release.promise):
        assert "Seeded: not private." in text
        assert "Differentially private" not in text
    assert repr(release).endswith("seeded=True)")
    assert dps.verify(release.to_json(), allow_seeded=True).release == release


def test_other_releases_have_no_such_field() -> None:
    with seeded(7):
        data = _people()
    for release in (_median(), _median(data)):
        assert not release.seeded
        assert "seeded" not in release.to_json()
        assert isinstance(check(release.to_json()), Checked)
    assert not warning(release)


def test_a_check_refuses_it_unless_it_is_asked_about_seeded_ones() -> None:
    with seeded(7):
        text = _median().to_json()
    with pytest.raises(InvalidCertificateError, match="not private"):
        check(text)
    assert check(text, allow_seeded=True).release.seeded
    held = json.loads(text)
    for edited in ({**held, "seeded": "private"}, {key: held[key] for key in held if key != "seeded"}):
        with pytest.raises(InvalidCertificateError):
            check(json.dumps(edited, sort_keys=True), allow_seeded=True)
    assert digest(held) != digest({key: held[key] for key in held if key != "seeded"})


def test_a_ledger_takes_no_charge_in_a_block(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=1.0)
    data = _people(ledger=ledger, account="people")
    mech = dps.PermuteAndFlip(epsilon=0.1, sensitivity=1.0)
    with seeded(7):
        for charge in (
            lambda: _median(data),
            lambda: _median(data, request="a"),
            lambda: _median(_people(ledger=ledger, account="people")),
            lambda: ledger.charge("people", mech.event),
        ):
            with pytest.raises(InvalidParameterError, match="no seeded block") as caught:
                charge()
            assert len(str(caught.value).splitlines()) == 1
    assert ledger.remaining("people") == 1.0
    assert not _median(data).seeded
    assert ledger.remaining("people") < 1.0


def test_a_ledger_stores_no_seeded_release(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=1.0)
    with seeded(7):
        text = _median().to_json()
    receipt = ledger.charge("people", dps.PermuteAndFlip(epsilon=0.1, sensitivity=1.0).event, request="a")
    with pytest.raises(InvalidParameterError, match="seeded"):
        ledger.store_release(receipt, text)
    assert ledger.store_release(receipt, '{"value": "seeded"}') == '{"value": "seeded"}'


def test_a_block_within_a_block_and_other_seeds_are_refused() -> None:
    with seeded(7), pytest.raises(InvalidParameterError, match="no other seeded block"), seeded(8):
        pass
    for seed in (-1, 2**64, 1.0, True, None, "7"):
        with pytest.raises(InvalidParameterError, match="seed="), seeded(seed):  # type: ignore[arg-type]
            pass
    with pytest.raises(ZeroDivisionError), seeded(7):
        raise ZeroDivisionError
    assert not _median().seeded


def test_a_block_that_was_begun_while_rows_were_read_marks_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    block = seeded(7)
    with monkeypatch.context() as patched:
        before_reading(patched, block.__enter__)
        release = _median()
    assert release.seeded
    block.__exit__(None, None, None)
    assert not _median().seeded


def test_a_draw_in_a_block_marks_the_answer_though_the_block_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = Median.released

    def within(*args: Any) -> Any:
        with seeded(7):
            return draw(*args)

    monkeypatch.setattr(Median, "released", within)
    assert _median().seeded


def test_a_generator_that_stops_in_a_block_leaves_marks() -> None:
    def stops() -> Iterator[None]:
        with seeded(7):
            yield

    waiting = stops()
    next(waiting)
    assert _median().seeded
    assert not list(waiting)
    assert not _median().seeded


def test_other_threads_are_out_of_the_block() -> None:
    found: list[dps.Release[Any]] = []
    with seeded(7):
        thread = threading.Thread(target=lambda: found.append(_median()))
        thread.start()
        thread.join()
        assert _median().seeded
    assert not found[0].seeded


def test_a_block_ends_only_in_its_own_thread() -> None:
    block, failures = seeded(7), list[str]()

    def end() -> None:
        with pytest.raises(SelectionError, match="in the thread that it began in") as caught:
            block.__exit__(None, None, None)
        failures.append(str(caught.value))

    block.__enter__()
    thread = threading.Thread(target=end)
    thread.start()
    thread.join()
    assert failures
    assert _median().seeded, "it goes on"
    from dpselect._native import _core

    _core.end_seeded()


def test_a_block_ends_with_its_thread() -> None:
    block = seeded(7)
    thread = threading.Thread(target=block.__enter__)
    thread.start()
    thread.join()
    block.__exit__(None, None, None)
    assert not _median().seeded


def test_the_values_that_count_for_a_unit_are_repeated() -> None:
    data = dps.Dataset(pa.table({"who": [0] * 1000, "value": range(1000)}), unit="who")

    def counted_values() -> list[int]:
        # so much epsilon that the counts are exact: which value counts is the only choice
        return data.histogram("value", candidates=range(1000), epsilon=1000.0).value

    with seeded(7):
        first, second = counted_values(), counted_values()
    with seeded(7):
        assert [counted_values(), counted_values()] == [first, second]
    with seeded(8):
        assert counted_values() != first  # the keys of these seeds choose different values
    assert first != second
    assert sum(first) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")
def test_children_of_a_fork_are_out_of_the_block() -> None:
    mech = dps.PermuteAndFlip(epsilon=0.01, sensitivity=1.0)
    with seeded(7):
        known = mech.select_many(SCORES, 20).tolist()
    read, write = os.pipe()
    with seeded(7):
        child = os.fork()
        if child == 0:
            answer = [mech.select_many(SCORES, 20).tolist(), _is_on()]
            os.write(write, json.dumps(answer).encode())
            os._exit(0)
        os.waitpid(child, 0)
        assert mech.select_many(SCORES, 20).tolist() == known
    drawn, is_on = json.loads(os.read(read, 10_000))
    assert drawn != known
    assert not is_on


def _is_on() -> bool:
    from dpselect.mechanisms.seeding import seeded_draws

    return seeded_draws()[0]


def test_only_this_function_begins_a_block() -> None:
    """No setting does, and no other code of the package."""
    package = Path(dps.__file__).parent
    users = {path.name for path in package.rglob("*.py") if "begin_seeded" in path.read_text()}
    assert users == {"seeding.py"}
    assert not re.search("environ|getenv", (package / "mechanisms" / "seeding.py").read_text())


def test_a_draw_is_repeated_whatever_the_order_of_the_rows() -> None:
    ages = np.arange(1000) % 90
    drawn: list[Any] = []
    for ordered in (ages, ages[::-1]):
        data = dps.Dataset({"who": np.arange(1000), "age": ordered}, unit="who")
        with seeded(7):
            answers = [data.quantiles("age", [0.1, 0.9], bounds=(0, 120), step=1, epsilon=0.01) for _ in range(12)]
        drawn.append([answer.value for answer in answers])
    assert drawn[0] == drawn[1]

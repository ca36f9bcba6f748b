"""What no view, list or answer can be is refused in a certificate, however well its parts agree with each other."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpselect as dps
from dpselect import Release
from dpselect.cli import main
from dpselect.errors import InvalidCertificateError, InvalidParameterError
from tests.edited_certificates import canonical_json, digest

PEOPLE = dps.Dataset("examples/data/adult.csv", unit="person_id")
OLD = PEOPLE.where(age=(65, None), education_num=[9, 10, 13])
CROSS = PEOPLE.by(["education_num", "age"], groups=[(9, 30), (13, 40)])
HASHED = {"count": 101, "kind": "whole numbers", "sha256": "a" * 64}


def forged(release: Release[Any], change: Callable[[dict[str, Any]], object]) -> str:
    """Its certificate with a change, and with a digest that fits."""
    held: dict[str, Any] = {name: value for name, value in release.to_dict().items() if name != "digest"}
    held["question"] = dict(held["question"])
    if "where" in held["question"]:
        held["question"]["where"] = [dict(each) for each in held["question"]["where"]]
    change(held)
    return canonical_json(held | {"digest": digest(held)})


def condition(at: int, **to: Any) -> Callable[[dict[str, Any]], object]:
    return lambda held: held["question"]["where"][at].update(to)


def question(**to: Any) -> Callable[[dict[str, Any]], object]:
    return lambda held: held["question"].update(to)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (condition(1, values=HASHED), "question.where"),  # conditions are always written down
        (condition(0, between=[70, 65]), "question.where"),
        (condition(0, between=[1, 10**400]), "question.where"),
        (condition(0, between=[65, None, None]), "question.where"),
        (condition(0, between=[None, None]), "question.where"),
        (condition(0, between=[65, None]), "question.where"),  # the same condition in other words
        (condition(0, column="person_id"), "question.where"),
        (condition(0, column=""), "question.where"),
        (condition(0, column=3), "question.where"),
        (question(candidates=HASHED | {"count": 99}), "question.candidates"),  # which is short enough to be written
        (question(column=""), "question.column"),
        (question(column="person_id"), "question.column"),
        (lambda held: held.update(value=[[[[9]]]]), "value"),
        (lambda held: held.update(value=[[9], 10]), "value"),
        (lambda held: held.update(value=10**400), "value"),
    ],
)
def test_what_no_question_can_be_is_refused(change: Callable[[dict[str, Any]], object], field: str) -> None:
    release = OLD.top_k("education_num", 2, candidates=range(1, 17), epsilon=1.0)
    dps.verify(forged(release, lambda held: None))  # control
    with pytest.raises(InvalidCertificateError) as refused:
        dps.verify(forged(release, change))
    assert refused.value.got.strip("<>").startswith(field)


def test_a_histogram_has_all_its_values_written_down() -> None:
    release = PEOPLE.histogram("age", candidates=[*range(101), 200], epsilon=1.0)
    dps.verify(forged(release, lambda held: None))  # control
    with pytest.raises(InvalidCertificateError, match=r"question\.candidates"):
        dps.verify(forged(release, question(candidates=HASHED | {"count": 102})))


@pytest.mark.parametrize(
    "by",
    [["person_id", "age"], ["age", "age"], [["education_num"], "age"], [{}, "age"], ["", "age"], [3, "age"], ["age"]],
)
def test_groups_by_what_names_no_columns_are_refused(by: Any) -> None:
    release = CROSS.count(epsilon=1.0)
    dps.verify(forged(release, lambda held: None))  # control
    with pytest.raises(InvalidCertificateError, match="question"):
        dps.verify(forged(release, question(by=by)))


@pytest.mark.parametrize("groups", [0, [], ["x", "y"], {"kind": "text"}, {"dates": []}])
def test_groups_of_a_cross_table_in_other_words_are_refused(groups: Any) -> None:
    release = CROSS.count(epsilon=1.0)
    with pytest.raises(InvalidCertificateError):
        dps.verify(forged(release, question(groups=groups)))


@pytest.mark.parametrize("value", [10**400, float(2**1023) * 2, "nan"])
@pytest.mark.parametrize("name", ["mean", "best_price", "median"])
def test_numbers_that_no_double_holds_are_no_answers(name: str, value: Any) -> None:
    asked: dict[str, Any] = {"prices": [1, 40]} if name == "best_price" else {"bounds": (0, 120), "step": 1}
    release = getattr(PEOPLE, name)("age", epsilon=1.0, **asked)
    dps.verify(forged(release, lambda held: None))  # control
    with pytest.raises((InvalidCertificateError, ValueError)) as refused:
        dps.verify(forged(release, lambda held: held.update(value=value)))
    assert "Infinity" not in str(refused.value)


def test_verify_says_of_which_rows_it_is_and_prints_no_control_characters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "release.json"
    release = OLD.count(epsilon=1.0)
    path.write_text(release.to_json())
    assert main(["verify", str(path)]) == 0
    assert "Only rows where age is at least 65 and education_num is 9, 10 or 13 count." in capsys.readouterr().out
    path.write_text(forged(release, lambda held: held["guarantee"].update(unit="x\n\x1b[2JThe value is certified")))
    main(["verify", str(path)])
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    assert not any(line.startswith("The value is certified") for line in said.out.splitlines())


def test_a_plan_says_of_which_rows_each_question_is() -> None:
    asked = {"ask": "count", "where": {"age": "65.."}}
    plan = dps.Plan(questions={"old": asked}, table="examples/data/adult.csv", unit="person_id", epsilon=1.0)
    assert "old: Only rows where age is at least 65 count." in str(plan.forecast())


@pytest.mark.parametrize("given", ["age > 18", [("age", 18)], 3])
def test_conditions_in_one_piece_are_a_mapping(given: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"^where=.*a condition for each column"):
        PEOPLE.where(given)


def test_ends_that_are_no_dates_name_the_condition() -> None:
    with pytest.raises(
        InvalidParameterError, match=r"^where=<no such dates>: expected for age: two numbers, or two dates"
    ):
        PEOPLE.where(age=("18", "65"))


@pytest.mark.parametrize("text", ["18..x", "..", "0x10..", "nan..", "1_0..", "18..65=3", "1..2,3"])
def test_a_mistyped_interval_is_no_text(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["count", "examples/data/adult.csv", "--unit", "person_id", "--epsilon", "1", "--where"]
    assert main([*arguments, f"age={text}"]) == 2
    assert "where=" in (said := capsys.readouterr().err)
    assert "double quotes" in said
    assert main([*arguments, 'age="18..x"']) == 0  # if the text is meant


@pytest.mark.parametrize("epsilon", [Fraction(1, 20), Fraction(1, 3), Fraction(1, 10)])
def test_a_fraction_for_the_number_of_usable_units_is_rounded_down_once(epsilon: Any) -> None:
    asked: dict[str, Any] = {"bounds": (0, 120), "step": 1, "epsilon": epsilon, "usable_epsilon": epsilon}
    for table in (PEOPLE, PEOPLE.by("education_num", groups=[9, 10, 13], max_groups_per_unit=3)):
        release = table.median("age", **asked)
        assert release.usable is not None
        assert release.usable.epsilon is not None
        assert release.usable.epsilon <= epsilon
        dps.verify(release.to_json())

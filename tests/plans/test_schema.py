"""The schema of a plan's file: current, and of the same opinion as the reader about which keys there are."""

from __future__ import annotations

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from docs import plan_schema

from tests.question_words import NAMES

EXAMPLE = Path(__file__).parents[2] / "examples" / "questions.toml"
HELD: dict[str, Any] = tomllib.loads(EXAMPLE.read_text(encoding="utf-8"))
SCHEMA: dict[str, Any] = json.loads(plan_schema.PLACE.read_text(encoding="utf-8"))


def changed(place: tuple[str, ...], value: object) -> dict[str, Any]:
    held: Any = copy.deepcopy(HELD)
    inner = held
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return held


def test_the_published_schema_is_current() -> None:
    assert plan_schema.PLACE.read_text(encoding="utf-8") == plan_schema.text(), "run python docs/plan_schema.py"


def test_the_schema_knows_every_question_and_the_example() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    jsonschema.validate(HELD, SCHEMA)
    questions = SCHEMA["properties"]["questions"]["additionalProperties"]["oneOf"]
    assert [each["title"] for each in questions] == [*NAMES]


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("epsilom",), 1.0),
        (("epsilon",), "1"),
        (("format",), {"decimals": ","}),
        (("questions", "retired", "shares"), 0.1),
        (("questions", "retired", "share"), 2),
        (("questions", "retired", "within"), 5),  # beside a share
        (("questions", "retired", "request"), "mine"),
        (("questions", "retired", "ask"), "cuont"),
        (("questions", "typical_age", "bounds"), [0]),
        (("questions", "most_common_years", "candidates"), "1-16"),
        (("questions", "most_common_years", "k"), 2.5),
        (("questions", "a/b"), {"ask": "count"}),
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(place: tuple[str, ...], value: object) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(changed(place, value), SCHEMA)

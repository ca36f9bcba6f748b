"""The JSON schema of a plan's file, from the arguments of questions: ``python docs/plan_schema.py`` writes it.

``docs/static/plan.schema.json``, kept up to date by ``make readme``; a test compares the two. Editors that know schemas
for TOML complete keys with it, and mark those that are misspelt.
"""

from __future__ import annotations

import json
import re
from ast import literal_eval
from inspect import Parameter, getdoc, signature
from itertools import combinations
from pathlib import Path
from typing import Any

from dpselect.arguments import REQUIRED
from dpselect.formats import WORDS
from dpselect.plans.division import BUDGET_KEYS, GIVEN_BY_PLAN
from dpselect.plans.plan import Plan
from dpselect.questions.question import BY_NAME
from dpselect.session.dataset import ASK, arguments_of

PLACE = Path(__file__).parent / "static" / "plan.schema.json"

Schema = dict[str, Any]

_NUMBER: Schema = {"type": "number"}
_TYPES: dict[str, Schema] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": _NUMBER,
    "Fraction": _NUMBER,
    "bool": {"type": "boolean"},
    "object": {},
    "Sequence[float]": {"type": "array", "items": _NUMBER},
    "Mapping[str, Any]": {"type": "object", "minProperties": 1},
}
_LIST: Schema = {
    "anyOf": [{"type": "array"}, {"type": "string", "pattern": r"^(@.+|\s*[+-]?[0-9]+\s*\.\.\s*[+-]?[0-9]+\s*)$"}]
}
_BUDGET: dict[str, Schema] = {
    "share": {"type": "number", "exclusiveMinimum": 0, "maximum": 1, "description": "Part of the plan's epsilon."},
    "epsilon": {"type": "number", "exclusiveMinimum": 0, "description": "Epsilon of this question."},
    "within": {"type": "number", "minimum": 0, "description": "Largest error bound that is good enough."},
}
_OF_PLAN: dict[str, Schema] = {
    "table": {"type": "string"},
    "unit": {"type": "string"},
    "epsilon": {"type": "number", "exclusiveMinimum": 0},
    "delta": {"type": "number", "minimum": 0, "exclusiveMaximum": 1},
    "name": {"type": "string", "minLength": 1},
    "ledger": {"type": "string"},
    "account": {"type": "string"},
    "anchor": {"type": "string"},
    "server_table": {"type": "string"},
    "neighbours": {"enum": ["add_remove", "replace_one"]},
    "memory_limit": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    "source_name": {"type": "string"},
}


def schema() -> Schema:
    """The whole schema."""
    arguments = signature(Plan).parameters
    words = {each.name: _of_type(each.type) for each in WORDS}
    keys = _OF_PLAN | {"format": _table(words, [])}
    keys["questions"] = {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"pattern": r"^[\w-]{1,60}$"},
        "additionalProperties": {"oneOf": [_question(method) for method in BY_NAME]},
    }
    missing = {*arguments} ^ {*keys}
    if missing:
        raise SystemExit(f"The schema and the arguments of Plan differ: {', '.join(sorted(missing))}")
    needed = [name for name, each in arguments.items() if each.default is Parameter.empty]
    about = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "A plan for dpselect run"}
    return about | _table({name: keys[name] for name in arguments}, needed)


def _question(method: str) -> Schema:
    held = {name: each for name, each in arguments_of(method).items() if name not in GIVEN_BY_PLAN}
    keys: dict[str, Schema] = {ASK: {"const": method}, **{key: _BUDGET[key] for key in BUDGET_KEYS}}
    keys |= {name: _LIST if each.names_members else _of_type(each.type) for name, each in held.items()}
    needed = [name for name, each in held.items() if each.default is REQUIRED]
    first = (getdoc(BY_NAME[method]) or "").partition("\n\n")[0]
    at_most_one = {"not": {"anyOf": [{"required": [*pair]} for pair in _PAIRS]}}
    return {"title": method, "description": " ".join(first.split())} | _table(keys, [ASK, *needed]) | at_most_one


_PAIRS = [*combinations(BUDGET_KEYS, 2)]


def _of_type(annotation: str) -> Schema:
    """The schema of an argument's type, as it is written.

    >>> _of_type("float | None"), _of_type("Literal['joint', 'halving']")
    ({'type': 'number'}, {'enum': ['joint', 'halving']})
    """
    found: list[Schema] = []
    for part in re.split(r" \| (?![^\[]*\])", annotation):
        if part == "None":
            continue
        if part.startswith("tuple["):
            each = _NUMBER if "float" in part else {"type": "string"} if "str" in part else {}
            found.append({"type": "array", "items": each, "minItems": 2, "maxItems": 2})
        elif part.startswith("Literal["):
            found.append({"enum": literal_eval(part.removeprefix("Literal"))})
        elif _TYPES[part] not in found:
            found.append(_TYPES[part])
    return found[0] if len(found) == 1 else {"anyOf": found}


def _table(keys: dict[str, Schema], needed: list[str]) -> Schema:
    return {"type": "object", "properties": keys, "required": needed, "additionalProperties": False}


def text() -> str:
    """The schema as it is stored."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PLACE.write_text(text(), encoding="utf-8")

"""Every question, with what its example on the command line has, from its form to its answer."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

import dpselect as dps
from tests.question_words import DECLARED, NAMES
from tests.web import filled_forms
from tests.web.visitor import Visitor

DATA = Path(__file__).parents[2] / "examples" / "data"


def filled_in(name: str) -> tuple[Any, dict[str, str]]:
    """The table of a question's example, and what its form holds then."""
    about = DECLARED[name]
    table, *given = shlex.split(about.example[0])
    words = shlex.split(about.example[1])
    starts = [place for place, word in enumerate(words) if word.startswith("--")]
    options = {
        words[start][2:].replace("-", "_"): words[start + 1 : end]
        for start, end in zip(starts, [*starts[1:], len(words)], strict=True)
    }
    site = filled_forms.site(str(DATA / table), options.pop("unit")[0])
    options |= {each: [word] for each, word in zip(["column", *about.positional], given, strict=False)}
    typed = {"epsilon": options.pop("epsilon")[0]}
    for field in filled_forms.empty(name, site).fields:
        values = options.pop(field.name, None)
        if values is not None:
            typed |= dict(zip(field.parts, values or ["on"], strict=False))
        elif field.default:
            typed[field.name] = field.default
    assert options == {}
    return site, typed


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_question_is_planned_confirmed_and_answered(name: str) -> None:
    site, typed = filled_in(name)
    visitor = Visitor(site).enter()
    assert "No ledger" in visitor.post(f"/ask/{name}/plan", typed).words
    address = visitor.confirm(name, **typed)
    assert "Spend epsilon" in visitor.get(address).words
    assert visitor.post(address).status == 303
    asked = visitor.pages.asked[address.rpartition("/")[2]]
    asked.wait(60)
    answer = visitor.get(address)
    assert (answer.status, "Certificate" in answer.words) == (200, True), answer.words
    assert dps.verify(visitor.get(f"{address}/certificate.json").text).release == asked.result
    assert visitor.get(f"/ask/{name}?from={asked.id}").status == visitor.get("/").status == 200
    assert visitor.get(f"{address}/chart.svg").status == (200 if "/chart.svg" in answer.text else 404)

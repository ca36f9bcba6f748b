"""The page to learn on."""

from __future__ import annotations

import re
from urllib.parse import urlencode

from dpselect.web import Site
from tests.web.visitor import Visitor


def test_draws_of_ones_own_numbers_are_shown_beside_exact_probabilities() -> None:
    visitor = Visitor(Site()).enter()
    assert visitor.get("/learn").text.count('class="exact" x=') == 10
    page = visitor.get("/learn?" + urlencode({**dict.fromkeys("ABCDE", "3"), "epsilon": "1"})).text
    assert page.count("<td>200.0</td>") == 10
    drawn = [int(each) for each in re.findall(r"<td>200\.0</td><td>(\d+)</td>", page)]
    assert (len(drawn), sum(drawn)) == (10, 2000)
    assert 80 < min(drawn) <= max(drawn) < 320  # nine standard deviations


def test_an_error_is_beside_its_field() -> None:
    typed = {"A": "1", "B": "<b>", "C": "3", "D": "4", "E": "5", "epsilon": "1"}
    page = Visitor(Site()).enter().get("/learn?" + urlencode(typed))
    assert page.status == 400
    assert '<p class="error" id="B-error">B=' in page.text
    assert 'value="&lt;b&gt;"' in page.text
    assert "<table" not in page.text

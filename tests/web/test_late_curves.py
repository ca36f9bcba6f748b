"""Curves that take long: the plan is there before them, and they end once nobody waits."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from dpselect.errors import InvalidParameterError
from dpselect.questions import BY_NAME
from dpselect.web import Site, planning
from dpselect.web.forms import Form
from tests.web.person import visiting
from tests.web.served import serving
from tests.web.visitor import MEDIAN, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ADULT = str(Path(__file__).parents[2] / "examples" / "data" / "adult.csv")
FORM = {name.replace("__", "."): text for name, text in MEDIAN.items()}


@pytest.fixture
def visitor() -> Visitor:
    return Visitor(Site(source=ADULT, unit="person_id")).enter()


def test_a_plan_does_not_wait_for_its_curve(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "AT_ONCE_SECONDS", 0.0)
    came = visitor.post("/ask/median/plan", FORM)
    assert "With 99% confidence" in came.words
    assert "Drawing the curve" in came.words
    assert 'hx-post="/ask/median/curve" hx-trigger="load"' in came.text
    assert "<polyline" not in came.text
    later = visitor.post("/ask/median/curve", FORM)
    drawn = re.search(r'<polyline points="[^"]+"', later.text)
    assert drawn is not None
    assert "Drawing the curve" not in later.text
    assert '<input id="error-place"' in later.text
    assert " disabled" not in later.text
    again = visitor.post("/ask/median/plan", FORM | {"epsilon": "0.7"})
    assert drawn.group() in again.text
    assert "Drawing the curve" not in again.text


def test_a_curve_ends_with_the_connection(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    forecast = Form.forecast

    def counted(self: Form, epsilon: float, *, paying: bool = False) -> Any:
        asked.append(epsilon)
        return forecast(self, epsilon, paying=paying)

    monkeypatch.setattr(Form, "forecast", counted)
    with ThreadPoolExecutor(1) as apart:  # browsers of other tests have a loop in this thread
        apart.submit(asyncio.run, _sent_and_left(visitor, "/ask/median/curve", urlencode(FORM).encode())).result()
    assert len(asked) == 1
    assert Form.read(BY_NAME["median"], visitor.site, FORM).key not in visitor.pages.curves
    visitor.post("/ask/median/curve", FORM)
    assert len(asked) > 40


def test_a_slow_curve_has_fewer_points(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    form = Form.read(BY_NAME["median"], visitor.site, FORM)
    whole = planning.curve_of(planning.Curves(), form)
    monkeypatch.setattr(planning, "PATIENCE_SECONDS", 0.0)
    coarse = planning.curve_of(planning.Curves(), form)
    assert whole is not None
    assert coarse is not None
    assert len(whole.errors) > 40
    assert len(coarse.errors) == 8
    for each in (whole, coarse):
        points = [*each.errors]
        assert points == sorted(points)
        assert (points[0], points[-1]) == (planning.EPSILONS[0], planning.EPSILONS[-1])
    assert coarse.errors.items() <= whole.errors.items()


def test_while_a_plan_is_made_no_earlier_error_is_shown(browser: Browser, tmp_path: Path) -> None:
    with serving(ADULT, "--unit", "person_id", folder=tmp_path) as server, visiting(browser, server) as person:
        person.go("/ask/median")
        page = person.page
        page.locator("#step").fill("x")
        page.locator("#step-error").filter(has_text="step").wait_for()
        held: list[Any] = []
        page.route("**/ask/median/plan", lambda route: held.append(route))
        page.locator("#step").fill("1")
        page.locator("#busy").filter(has_text="Planning").wait_for()
        assert page.locator("#plan").get_attribute("aria-busy") == "true"
        assert not page.locator("#step-error").is_visible()
        held[0].continue_()
        page.locator("#busy").wait_for(state="hidden")
        assert page.locator("#step-error").inner_text() == ""
        page.unroute("**/ask/median/plan")


async def _sent_and_left(visitor: Visitor, path: str, body: bytes) -> None:
    """Send a form, and close the connection before the answer."""
    cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
    headers = {
        "host": visitor.guard.address.removeprefix("http://").rstrip("/"),
        "origin": visitor.guard.address.rstrip("/"),
        "content-type": "application/x-www-form-urlencoded",
        "content-length": str(len(body)),
        "cookie": cookie,
    }
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "server": ("127.0.0.1", 8123),
        "client": ("127.0.0.1", 5000),
    }
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> Any:
        return next(messages, {"type": "http.disconnect"})

    async def send(message: Any) -> None:
        pass

    await visitor.app(scope, receive, send)


@pytest.mark.parametrize(
    ("question", "more"),
    [
        ("median", FORM),
        ("histogram", {"candidates": "1..16"}),
        ("values", {"delta": "1e-6"}),
        pytest.param("top_k", {"k": "3", "delta": "1e-6"}, marks=pytest.mark.slow),
    ],
)
def test_with_a_curve_few_plans_find_the_epsilon_of_an_error(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch, question: str, more: dict[str, str]
) -> None:
    """And it is the one that a search through all places finds."""
    first = Form.empty(BY_NAME[question], visitor.site).typed
    form = Form.read(BY_NAME[question], visitor.site, {**first, "column": "education_num", **more})
    curve = planning.curve_of(planning.Curves(), form)
    assert curve is not None
    asked: list[float] = []
    forecast = Form.forecast

    def counted(self: Form, epsilon: float, *, paying: bool = False) -> Any:
        asked.append(epsilon)
        return forecast(self, epsilon, paying=paying)

    monkeypatch.setattr(Form, "forecast", counted)
    for wanted in (1.3 * curve.highest, 300.0, 19.0):
        asked.clear()
        found = planning.epsilon_reaching(form, wanted, curve)
        assert len(asked) <= 5
        assert found == planning.epsilon_reaching(form, wanted)
        place = planning.EPSILONS.index(found)
        bounds = [forecast(form, planning.EPSILONS[at]).error_bound for at in (max(place - 1, 0), place)]
        assert bounds[1] <= wanted
        assert place == 0 or bounds[0] > wanted


def test_an_error_that_no_epsilon_reaches_is_refused(visitor: Visitor) -> None:
    form = Form.read(BY_NAME["median"], visitor.site, FORM)
    for curve in (planning.curve_of(planning.Curves(), form), None):
        with pytest.raises(InvalidParameterError, match="an error that an epsilon of the slider reaches"):
            planning.epsilon_reaching(form, 0.1, curve)

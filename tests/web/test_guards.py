"""Nobody sees a page, and nothing is read or charged, but for the one who was given the address, from the pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.web import filled_forms
from tests.web.visitor import MEDIAN, OWN, PORT, Visitor, guard_of

DATA = Path(__file__).parents[2] / "examples" / "data"


@pytest.fixture
def stranger() -> Visitor:
    return Visitor(filled_forms.site())


@pytest.fixture
def visitor(stranger: Visitor) -> Visitor:
    return stranger.enter()


def test_the_address_works_once(stranger: Visitor) -> None:
    first = "/?" + stranger.guard.first_address.partition("?")[2]
    came = stranger.get(first)
    assert came.status == 200
    assert "httponly" in came.headers["set-cookie"].lower()
    assert "samesite=strict" in came.headers["set-cookie"].lower()
    assert stranger.get("/").status == 200
    stranger.cookies.clear()
    assert stranger.get(first).status == 403
    assert not stranger.cookies


@pytest.mark.parametrize(
    "path",
    ["/", "/tables", "/table", "/ask/median", "/static/style.css", "/static/htmx.min.js", "/nowhere", "/release/x"],
)
def test_nothing_is_shown_without_the_cookie(stranger: Visitor, path: str) -> None:
    assert stranger.get(path).status == 403
    assert stranger.get(f"{path}?token=guessed").status == 403
    assert stranger.get(path, cookie=f"dpselect-{PORT}=guessed").status == 403


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:80", f"10.0.0.1:{PORT}", ""]
)
def test_another_name_for_this_machine_is_refused(visitor: Visitor, host: str) -> None:
    assert visitor.get("/", host=host).status == 400
    assert visitor.post("/ask/median/confirm", MEDIAN, host=host, origin=f"http://{host}").status == 400


def test_its_own_names_are_not(visitor: Visitor) -> None:
    assert visitor.get("/", host=f"localhost:{PORT}").status == 200
    assert guard_of("0.0.0.0").is_own(f"10.0.0.1:{PORT}")
    assert not guard_of("0.0.0.0").is_own(f"evil.example:{PORT}")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": f"http://127.0.0.1:{PORT + 1}"},
        {"origin": f"https://{OWN}"},
        {"origin": ""},
        {"origin": "", "sec_fetch_site": "same-site"},
        {"origin": "", "sec_fetch_site": "none"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"},
    ],
)
def test_a_form_of_another_page_is_refused(visitor: Visitor, headers: dict[str, str]) -> None:
    address = visitor.confirm("median", **MEDIAN)
    assert visitor.post(address, **headers).status == 403
    assert visitor.get(address).words.count("Spend epsilon 0.5?") > 0  # still to be confirmed


def test_a_form_of_its_own_is_not(visitor: Visitor) -> None:
    assert visitor.post(visitor.confirm("median", **MEDIAN), origin="", sec_fetch_site="same-origin").status == 303


def test_no_page_is_loaded_into_another_one(visitor: Visitor) -> None:
    for mode in ("no-cors", "cors", "same-origin"):
        assert visitor.get("/", sec_fetch_site="cross-site", sec_fetch_mode=mode).status == 403
    assert visitor.get("/", sec_fetch_site="cross-site", sec_fetch_mode="navigate").status == 200


@pytest.mark.parametrize("path", ["/", "/ask/median", "/static/page.js", "/nowhere", "/?token=x"])
def test_every_response_has_the_strict_headers(visitor: Visitor, path: str) -> None:
    held = visitor.get(path).headers
    policy = held["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy
    assert held["x-content-type-options"] == "nosniff"
    assert held["cache-control"] == "no-store"
    assert held["referrer-policy"] == "same-origin"
    refused = visitor.get(path, host="evil.example").headers
    assert {name: refused[name] for name in held if name in refused and name != "content-length"}.items() >= {
        "content-security-policy": policy
    }.items()


@pytest.mark.parametrize("path", ["/", "/ask/median", "/ask/top_k", "/ask/histogram"])
def test_pages_need_no_exception_from_the_policy(visitor: Visitor, path: str) -> None:
    text = visitor.get(path).text
    assert " style=" not in text
    assert "<style" not in text
    assert "onclick" not in text
    assert "hx-on" not in text
    assert "http://" not in text
    assert "https://" not in text
    assert text.count("<script") == text.count('<script src="/static/')


@pytest.mark.parametrize(
    "name",
    [
        "../app.py",
        "..%2fapp.py",
        "%2e%2e/app.py",
        "/etc/passwd",
        "htmx-LICENSE.txt",
        "style.css/../../app.py",
        "style.css%00",
    ],
)
def test_there_are_no_other_files(visitor: Visitor, name: str) -> None:
    came = visitor.get(f"/static/{name}")
    assert came.status == 404
    assert "def " not in came.text


@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=x", "text/csv", "text/plain", "application/json", ""])
def test_nothing_can_be_uploaded(visitor: Visitor, kind: str) -> None:
    assert visitor.post("/ask/median/confirm", MEDIAN, content_type=kind).status == 415


def test_a_form_is_not_endless(visitor: Visitor) -> None:
    long = {"column": "age", "candidates": "x" * (1 << 20)}
    assert visitor.post("/ask/most_common/plan", long).status == 413
    assert visitor.post("/ask/most_common/plan", long, content_length="5").status == 413
    came = visitor.post("/ask/most_common/plan", {"candidates": "x" * 300_000})
    assert "at most 200,000 characters" in came.text.partition('id="candidates-error"')[2].partition("</p>")[0]
    assert len(came.text) < 100_000


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_do_nothing(visitor: Visitor, method: str) -> None:
    assert visitor.send(method, "/").status == 405


def test_reading_a_page_changes_nothing(visitor: Visitor) -> None:
    address = visitor.confirm("median", **MEDIAN)
    for path in (address, f"{address}/stop", f"{address}/progress", f"{address}/certificate.json"):
        assert visitor.get(path).status in (200, 204, 303, 404, 405)
    assert "Spend epsilon 0.5?" in visitor.get(address).words

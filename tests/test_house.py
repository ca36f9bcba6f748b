"""The measures that `make house` prints: they are counted right, and none is above its limit."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from threading import Thread

import pytest

from tests.house import (
    COMPARED,
    LIMITS,
    PROGRAMS,
    Way,
    beyond,
    from_inside,
    loaded,
    public_names,
    sizes,
    starts,
    table,
    way,
    ways,
)


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of two files in two packages, which is on the path."""
    package = tmp_path / "toyhouse"
    (package / "cellar").mkdir(parents=True)
    (package / "door.py").write_text(
        "from toyhouse.cellar.shelf import fetch\n"
        "def ask():\n    return polite(fetch() + fetch())\n"
        "def polite(answer):\n    return [each for each in [answer]]\n",
        encoding="utf-8",
    )
    (package / "cellar" / "shelf.py").write_text(
        "def fetch():\n    return reach()\ndef reach():\n    return 1\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    for name in [each for each in sys.modules if each.partition(".")[0] == "toyhouse"]:
        del sys.modules[name]


def test_a_known_way_is_counted(toy: Path) -> None:
    ask = import_module("toyhouse.door").ask
    # ask | fetch, reach, fetch, reach | polite
    assert way(ask, toy) == Way(files=2, file_hops=2, package_hops=2, calls=6)
    assert sys.getprofile() is None


def test_what_runs_on_another_thread_counts_and_what_is_outside_does_not(toy: Path) -> None:
    fetch = import_module("toyhouse.cellar.shelf").fetch

    def elsewhere() -> None:
        thread = Thread(target=fetch)
        thread.start()
        thread.join()

    assert way(elsewhere, toy) == Way(files=1, file_hops=0, package_hops=0, calls=2)
    assert way(elsewhere, toy / "door.py") == Way()


def test_no_measure_is_above_its_limit() -> None:
    found = ways() | starts() | sizes()
    assert beyond(found, LIMITS["most"]) == [], f"see tests/house_limits.toml\n{table(found, LIMITS['most'])}"
    assert {*LIMITS["most"]} - {*found} == {f"{name} / {of}: time" for name, (_, of, _) in COMPARED.items()}
    assert {name for name, now in found.items() if now == 0} == {"src: files in a circle of imports"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_loaded_that_is_not_used(name: str) -> None:
    assert {*loaded(PROGRAMS[name])} & {*LIMITS["never"][name]} == set()


def test_a_module_that_is_loaded_is_found() -> None:
    assert {"json", "json.decoder"} <= {*loaded("import json")}
    assert "sys" not in loaded("import json")


def test_what_the_reference_describes_is_public_and_the_rest_is_inside() -> None:
    source = """
import dpselect as dps
from dpselect import Dataset, charts, rows
from dpselect.cli import main
from dpselect.ledger import Account, store
from dpselect.auditing.audit import AuditReport, lower_bound
def test():
    import dpselect.web
"""
    found = ["dpselect.auditing.audit.lower_bound", "dpselect.ledger.store", "dpselect.rows", "dpselect.web"]
    assert sorted(from_inside(source, public_names())) == found

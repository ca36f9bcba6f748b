"""Fewer messages between the processes of the tests: of a test that passes, one.

pytest-xdist sends six for each test, and packs and unpacks each of them in Python. Only who asks to see each test as it
runs, or how long each part of it takes, needs the other five; of a test that does not pass, all are sent.
"""

from __future__ import annotations

from typing import Any

import pytest


def send_few_messages(config: pytest.Config) -> None:
    """In a process that runs tests for another one."""
    option = config.option
    if option.verbose > 0 or option.durations is not None or option.xmlpath:
        return
    interactor: Any = next(each for each in config.pluginmanager.get_plugins() if hasattr(each, "sendevent"))
    send = interactor.sendevent

    def send_news(name: str, **content: Any) -> None:
        if name not in ("logstart", "logfinish") and not (name == "testreport" and _says_nothing(content["data"])):
            send(name, **content)

    interactor.sendevent = send_news


def _says_nothing(report: dict[str, Any]) -> bool:
    return report["when"] != "call" and report["outcome"] == "passed" and not report["sections"]

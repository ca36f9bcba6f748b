"""The examples of questions have the table that their documentation starts with."""

from __future__ import annotations

from typing import Any

import pytest
from _pytest.doctest import DoctestItem


@pytest.fixture(autouse=True)
def _table_of_an_example(request: pytest.FixtureRequest, doctest_namespace: dict[str, Any]) -> None:
    module, _, name = str(request.node.name).rpartition(".")
    if isinstance(request.node, DoctestItem) and module.startswith("dpselect.questions."):
        from dpselect.questions.question import BY_NAME
        from dpselect.session.asking import table_of_example

        (question,) = [each for each in BY_NAME.values() if each.__name__ == name]
        exec(table_of_example(question).replace(">>> ", ""), doctest_namespace)

"""The engines that every test of the contract runs on."""

from __future__ import annotations

import pytest

from tests.backends import engines


@pytest.fixture(scope="module", params=[*engines.MAKERS, "postgres"])
def opened(request: pytest.FixtureRequest) -> engines.Opener:
    """Puts rows into an engine and opens the table there."""
    if request.param == "postgres":
        return engines.postgres_opener(request.getfixturevalue("postgres"))
    return engines.opener(request.param)

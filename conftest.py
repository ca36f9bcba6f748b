"""Until the drawing core for quantiles is connected: the same law in float64, for tests alone.

To be removed together with the last line of `dpselect.mechanisms.quantile_draw`.
"""

from __future__ import annotations

import pytest
from tests import rank_laws


@pytest.fixture(autouse=True)
def _quantiles_are_drawn_by_a_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpselect.tasks.quantile.draw_quantile", rank_laws.draw)

"""What the site of the documents has of its own: the groups of its sidebar, and a picture that a run draws."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import vl_convert
from docs import picture
from docs.page_tree import BELOW, GROUPS, ROOT

PAGES = Path(__file__).parents[1]


def test_the_groups_of_the_sidebar() -> None:
    assert list(GROUPS) == ["Start", "How to", "Explain", "Reference"]
    assert ROOT not in {page for pages in (*GROUPS.values(), *BELOW.values()) for page in pages}


@pytest.fixture(scope="module")
def chances() -> dict[str, np.ndarray]:
    return picture.chances()


def test_the_picture_shows_probabilities_that_rise_with_epsilon(chances: dict[str, np.ndarray]) -> None:
    assert list(chances) == ["417 sessions", "3,571 sessions", "36,682 sessions"]
    for right in chances.values():
        assert right.shape == picture.EPSILONS.shape
        assert np.all(np.diff(right) >= -1e-12)
        assert 0 < right[0] < 0.1
        assert 0.99 < right[-1] <= 1 + 1e-12


def test_the_committed_picture_is_that_of_a_run(
    chances: dict[str, np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture, "chances", lambda: chances)
    drawn = tmp_path / "drawn.svg"
    picture.draw(drawn)
    shown, again = picture.PICTURE.read_text(encoding="utf-8"), drawn.read_text(encoding="utf-8")
    assert paths(shown) == pytest.approx(paths(again), abs=0.05), "make readme puts it right"
    assert vl_convert.svg_to_png(shown).startswith(b"\x89PNG")


def paths(drawn: str) -> list[float]:
    """The numbers of all lines of a picture."""
    return [float(number) for path in re.findall(r' d="([^"]+)"', drawn) for number in re.findall(r"-?[\d.]+", path)]


def test_another_picture_would_be_noticed() -> None:
    shown = paths(picture.PICTURE.read_text(encoding="utf-8"))
    assert len(shown) > 500
    assert shown != pytest.approx([number + 0.2 for number in shown], abs=0.05)

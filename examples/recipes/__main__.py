"""Write every figure, its numbers and the page beside this file: ``python -m examples.recipes``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from examples.figures.figure import Figure
from examples.recipes.page import RECIPES
from examples.recipes.synthetic import figure_4, figure_5, figure_6
from examples.recipes.trees import figure_1, figure_2, figure_3

FIGURES: tuple[Callable[[], Figure], ...] = (figure_1, figure_2, figure_3, figure_4, figure_5, figure_6)


def main(folder: Path) -> None:
    """Write all of it into `folder`, with a line on each figure."""
    RECIPES.run(FIGURES, folder)


if __name__ == "__main__":
    main(Path(__file__).parent)

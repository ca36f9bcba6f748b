"""Write every figure, its numbers and the page beside this file: ``python -m examples.paper``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from examples.figures.figure import Figure
from examples.paper import figure_1, figure_1c, figure_2, figure_3, figure_4, figures_3c_and_7, figures_5_and_6
from examples.paper.page import PAPER

FIGURES: tuple[Callable[[], Figure], ...] = (
    figure_1.figure_1a,
    figure_1.figure_1b,
    figure_1c.figure_1c,
    figure_2.figure_2a,
    figure_2.figure_2b,
    figure_2.figure_2c,
    figure_3.figure_3a,
    figure_3.figure_3b,
    figures_3c_and_7.figure_3c,
    figure_4.figure_4,
    figures_5_and_6.figure_5,
    figures_5_and_6.figure_6,
    figures_3c_and_7.figure_7,
)


def main(folder: Path) -> None:
    """Write all of it into `folder`, with a line on each figure."""
    PAPER.run(FIGURES, folder)


if __name__ == "__main__":
    main(Path(__file__).parent)

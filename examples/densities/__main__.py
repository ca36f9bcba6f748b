"""Write every figure, its numbers and the page beside this file: ``python -m examples.densities``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from examples.densities.bins import figure_3
from examples.densities.errors import figure_1, figure_2
from examples.densities.page import DENSITIES
from examples.densities.sizes import figure_4
from examples.figures.figure import Figure

FIGURES: tuple[Callable[[], Figure], ...] = (figure_1, figure_2, figure_3, figure_4)


def main(folder: Path) -> None:
    """Write all of it into `folder`, with a line on each figure."""
    DENSITIES.run(FIGURES, folder)


if __name__ == "__main__":
    main(Path(__file__).parent)

"""Write every figure, its numbers and the page beside this file: ``python -m examples.paper``."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from examples.paper import figure_1, figure_1c, figure_2, figure_3, figure_4, figures_3c_and_7, figures_5_and_6
from examples.paper.figure import Figure
from examples.paper.page import PAGE, page, write

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
    begin = time.perf_counter()
    figures: list[Figure] = []
    for make in FIGURES:
        start = time.perf_counter()
        figure = make()
        write(figure, folder)
        figures.append(figure)
        held = f"{sum(each.holds for each in figure.findings)} of {len(figure.findings)} claims hold"
        print(f"figure {figure.label:5} {time.perf_counter() - start:6.1f} s  {held}  {figure.title}", flush=True)
    seconds = time.perf_counter() - begin
    text = page(figures, seconds=seconds, processors=os.cpu_count() or 1)
    (folder / PAGE).write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(figures)} figures in {seconds:.0f} s: {folder / PAGE}")


if __name__ == "__main__":
    main(Path(__file__).parent)

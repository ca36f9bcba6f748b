"""The table, the picture and the sources of the gallery, from the numbers of a run."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docs.blocks import replaced
from examples.figures.compact import compact
from examples.gallery.attacks import ATTACKS, LIBRARIES

from dpselect.charts import save, tiles

FIELDS = ("attack", "library", "version", "verdict", "lower_bound", "draws", "event")
Cell = dict[str, str]
PEERS = ("diffprivlib", "OpenDP", "PipelineDP")

_IBM = "https://github.com/IBM/differential-privacy-library"
_NONE = "We found no issue and no page about it"
SOURCES = {
    ("diffprivlib", "number"): (
        f"Known: issues [19]({_IBM}/issues/19) and [94]({_IBM}/issues/94). Its sampler uses four uniform numbers, "
        "which makes the first attack harder (Holohan and Braghin 2021); the second issue says that attacks on the "
        "precision remain. For counts `tools.count_nonzero` adds noise of whole numbers, without last bits."
    ),
    ("diffprivlib", "mean"): f"The same Laplace noise, which issue [94]({_IBM}/issues/94) describes.",
    ("diffprivlib", "median"): (
        "A uniform double is stretched over the selected interval, so that its last bits tell how long that is. "
        "An [issue of SmartNoise](https://github.com/opendp/smartnoise-sdk/issues/572) mentions it in passing; "
        "we found none of diffprivlib itself."
    ),
    ("diffprivlib", "equal"): (
        f"Known as a crash: issue [107]({_IBM}/issues/107), with a correction proposed in [108]({_IBM}/pull/108). "
        "All probabilities are below the smallest double for one table, and not for the other."
    ),
    ("diffprivlib", "far"): (
        "The sum is rounded by more than one row may move it (Casacuberta et al. 2022, on rounding in several "
        f"libraries). {_NONE} in diffprivlib."
    ),
    ("diffprivlib", "order"): f"The same rounding; it depends on the order. {_NONE} in diffprivlib.",
    ("diffprivlib", "nan"): (
        f"Issue [80]({_IBM}/issues/80) says that NaN is told apart by all functions but `nanmean` and its like, so "
        "`nanmean` is asked. Its noise is that of a mean of all cells, while the mean is of those that are numbers. "
        f"{_NONE}."
    ),
    ("PipelineDP", "nan"): (
        f"NaN passes through clipping, and so the mean is NaN. {_NONE} in PipelineDP; for a library that it does not "
        "use, the Go part of Google's, a [correction](https://github.com/google/differential-privacy/pull/405) "
        "is proposed."
    ),
    ("PipelineDP", "fork"): (
        "Google's C++ library, which draws the noise, keeps 64 KiB of random bytes "
        "([rand.h](https://github.com/google/differential-privacy/blob/main/cc/algorithms/rand.h)). Two processes that "
        f"are forked after a draw share them. {_NONE} in PipelineDP; OpenDP has had "
        "[such a report](https://github.com/opendp/opendp/issues/2934) on one function, which is not asked here. "
        "Processes that are started anew share nothing."
    ),
}
"""Where the library documents what was found, for each broken cell of a peer."""


def read(path: Path) -> list[Cell]:
    """The cells of a run."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table(cells: Sequence[Cell]) -> str:
    """The table of all cells in Markdown."""
    found = {(cell["attack"], cell["library"]): cell for cell in cells}
    versions = {cell["library"]: cell["version"] for cell in cells if cell["version"]}
    header = ["attack", *(f"{library} {versions.get(library, '')}".strip() for library in LIBRARIES)]
    rows = [
        [attack.title, *(_shown(found.get((name, library))) for library in LIBRARIES)]
        for name, attack in ATTACKS.items()
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * len(header), *rows])


def _shown(cell: Cell | None) -> str:
    if cell is None:
        return "-"
    draws = f"{int(cell['draws']):,}" if cell["draws"] else ""
    if cell["verdict"] == "broken":
        return f"**broken**: at least {cell['lower_bound']} ({draws})"
    return f"not broken ({draws})" if draws else cell["verdict"]


def asked() -> str:
    """What is asked in each row."""
    return "\n".join(f"- **{attack.title}**: {attack.asked}." for attack in ATTACKS.values())


def sources(cells: Sequence[Cell]) -> str:
    """What was found and where it is documented, for each broken cell of a peer."""
    peers = [cell for cell in cells if cell["verdict"] == "broken" and cell["library"] in PEERS]
    return "\n".join(
        f"- **{cell['library']}, {ATTACKS[cell['attack']].title}.** {SOURCES[cell['library'], cell['attack']]} "
        f"Seen: {cell['event']}."
        for cell in peers
    )


def picture(cells: Sequence[Cell]) -> Any:
    """A tile for each cell that has a bound; white where a library has no such question."""
    shown = sorted(
        (cell for cell in cells if cell["lower_bound"]),
        key=lambda cell: (list(ATTACKS).index(cell["attack"]), list(LIBRARIES).index(cell["library"])),
    )
    return tiles(
        [(ATTACKS[cell["attack"]].title, cell["library"]) for cell in shown],
        [float(cell["lower_bound"]) for cell in shown],
        categories=("attack", "library"),
        value="lower bound of epsilon",
        title="Epsilon is at least this, where 1 is claimed",
        subtitle="Lower bounds. Above 1 it is broken; at most 1 nothing is shown.",
    ).properties(padding=20)


def page(text: str, cells: Sequence[Cell]) -> str:
    """`text` with the blocks of these cells."""
    for name, block in (("gallery", table(cells)), ("asked", asked()), ("sources", sources(cells))):
        text = replaced(text, name, block)
    return text


def write(folder: Path) -> None:
    """The picture and the page, from the numbers in `folder`."""
    cells = read(folder / "gallery.csv")
    save(picture(cells), folder / "gallery.svg")
    drawn = (folder / "gallery.svg").read_text(encoding="utf-8")
    (folder / "gallery.svg").write_bytes(compact(drawn).encode())
    readme = folder / "README.md"
    readme.write_text(page(readme.read_text(encoding="utf-8"), cells), encoding="utf-8")

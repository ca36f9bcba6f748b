"""Tables in this process's memory: pandas, Polars, Arrow and whatever else can be read as Arrow; none is changed."""

from dpselect.backends.frames.apart import taken_apart
from dpselect.backends.frames.cells import READABLE, Cells, NumPyCells, ObjectCells
from dpselect.backends.frames.objects import lineage
from dpselect.backends.frames.recognising import frame_source

__all__ = ["READABLE", "Cells", "NumPyCells", "ObjectCells", "frame_source", "lineage", "taken_apart"]

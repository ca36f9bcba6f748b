"""Tables in memory: pandas, Polars, Arrow and anything that can be read as Arrow. They are never modified."""

from dpselect.backends.frames.delta_tables import DeltaSource, is_delta_folder
from dpselect.backends.frames.detection import frame_source
from dpselect.backends.frames.numpy_arrays import ArraySource
from dpselect.backends.frames.objects import number_of_object, place_of_object
from dpselect.backends.frames.single_columns import check_distinct_names, single_columns

__all__ = [
    "ArraySource",
    "DeltaSource",
    "check_distinct_names",
    "frame_source",
    "is_delta_folder",
    "number_of_object",
    "place_of_object",
    "single_columns",
]

"""Tables in memory: pandas, Polars, Arrow and anything that can be read as Arrow. They are never modified."""

from typing import TYPE_CHECKING

from dpselect.on_use import on_use

if TYPE_CHECKING:
    from dpselect.rows.frames.delta_tables import DeltaSource as DeltaSource
    from dpselect.rows.frames.detection import frame_source as frame_source
    from dpselect.rows.frames.numpy_arrays import ArraySource as ArraySource
    from dpselect.rows.frames.objects import number_of_object as number_of_object
    from dpselect.rows.frames.objects import place_of_object as place_of_object
    from dpselect.rows.frames.separate_columns import check_distinct_names as check_distinct_names
    from dpselect.rows.frames.separate_columns import single_columns as single_columns
else:
    __getattr__, __dir__, __all__ = on_use(
        __name__,
        {
            "dpselect.rows.frames.delta_tables": "DeltaSource",
            "dpselect.rows.frames.detection": "frame_source",
            "dpselect.rows.frames.numpy_arrays": "ArraySource",
            "dpselect.rows.frames.objects": "number_of_object place_of_object",
            "dpselect.rows.frames.separate_columns": "check_distinct_names single_columns",
        },
    )

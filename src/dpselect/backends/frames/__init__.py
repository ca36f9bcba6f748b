"""Tables in this process's memory: pandas, Polars, Arrow and whatever else can be read as Arrow; none is changed."""

from dpselect.backends.frames.recognising import frame_source

__all__ = ["frame_source"]

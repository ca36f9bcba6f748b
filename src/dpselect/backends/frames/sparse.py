"""Sparse arrays of pandas written out in their own type; NumPy would choose one by what the cells hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def dense(array: Any) -> NDArray[Any]:
    """A sparse array of pandas cell by cell.

    pandas' own way leaves the type to NumPy, which makes floats of whole numbers as soon as a large unsigned one and
    the fill meet: then one cell would decide how all others are read.

    >>> import pandas as pd
    >>> dense(pd.arrays.SparseArray([2**63 + 1, 0, 2**63 + 2], dtype=pd.SparseDtype("uint64", 0)))
    array([9223372036854775809,                   0, 9223372036854775810],
          dtype=uint64)
    """
    cells = np.full(len(array), array.dtype.fill_value, array.dtype.subtype)
    cells[array.sp_index.to_int_index().indices] = array.sp_values
    return cells


def keeps_its_type(dtype: Any) -> bool:
    """Whether the cells that a sparse type leaves out can be of its own type: not NaN among whole numbers."""
    fill = dtype.fill_value
    try:
        with np.errstate(all="ignore"):
            (cell,) = np.full(1, fill, dtype.subtype)
    except (TypeError, ValueError, OverflowError):
        return False
    return bool(cell == fill or (cell != cell and fill != fill))

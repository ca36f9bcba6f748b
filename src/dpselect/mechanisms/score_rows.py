"""Scores of several selections, one row for each: turned into a matrix that the core reads in place, or refused.

As for one vector, nothing is rounded, and no error shows a score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from numbers import Number
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from dpselect.errors import InvalidScoresError, Shown
from dpselect.mechanisms.score_vectors import (
    SupportsArrowArray,
    SupportsArrowStream,
    SupportsToNumpy,
    arrow_chunks,
    has_masked,
    native_scores,
)


class SupportsDLPack(Protocol):
    """An array of another library (PyTorch, JAX) that NumPy can look at without a copy."""

    def __dlpack__(self, *, stream: None = None) -> object: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


ScoreRows = npt.ArrayLike | SupportsDLPack | SupportsArrowArray | SupportsArrowStream | SupportsToNumpy
"""What ``matrix`` may be: two-dimensional, of real numbers, one row for each selection."""

EXPECTED = "a two-dimensional array of float64, float32 or integers"

_ONE_ROW = "For one selection use select."

_NOT_ROWS: Any = (str, bytes, bytearray, memoryview, Mapping, Set)


def native_rows(matrix: ScoreRows) -> npt.NDArray[Any]:
    """`matrix` as a native two-dimensional NumPy array, which the core reads in place: perhaps empty or not finite.

    Raises:
        InvalidScoresError: not two-dimensional, not real numbers, nulls among them, or not representable exactly.
    """
    if isinstance(matrix, np.ndarray):
        return _native(cast("npt.NDArray[Any]", matrix))
    given = cast(Any, matrix)
    lists = None if hasattr(given, "iloc") else _fixed_size_lists(given)
    if lists is not None:
        return _native(lists)
    if hasattr(given, "__dlpack__") and hasattr(given, "__dlpack_device__"):
        return _native(_from_dlpack(given))
    if isinstance(given, _NOT_ROWS) or not hasattr(given, "__len__"):
        raise _refusal(type(given).__name__)
    if isinstance(given, Sequence):
        return _from_lists(cast("Sequence[Any]", given))
    try:
        return _native(np.asarray(given.to_numpy() if hasattr(given, "to_numpy") else given))
    except InvalidScoresError:
        raise
    except Exception:  # noqa: BLE001 - whatever a foreign object raises, its text may be data
        raise _refusal(type(given).__name__) from None


def named_matrix(error: InvalidScoresError) -> InvalidScoresError:
    """What the core says of scores, said of the argument `matrix`."""
    return InvalidScoresError("matrix", error.got, error.expected, error.hint)


def _native(matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if matrix.ndim != 2:
        hint = _ONE_ROW if matrix.ndim == 1 else ""
        raise _refusal(f"{type(matrix).__name__} of shape {matrix.shape}", hint=hint)
    if has_masked(matrix):
        raise _with_nulls()
    kind, itemsize = matrix.dtype.kind, matrix.dtype.itemsize
    if kind not in "fiu" or itemsize > 8:
        raise _refusal(f"{type(matrix).__name__} of {matrix.dtype.type.__name__}")
    native = np.dtype("f4") if (kind, itemsize) == ("f", 2) else np.dtype(f"{kind}{itemsize}")
    return np.asarray(matrix, dtype=native)


def _fixed_size_lists(given: Any) -> npt.NDArray[Any] | None:
    """Arrow lists of one size each as a matrix; one chunk is not copied. None if it is no such thing."""
    if not (hasattr(given, "__arrow_c_array__") or hasattr(given, "__arrow_c_stream__")):
        return None
    chunks = arrow_chunks(given)
    if chunks is None:
        return None
    import pyarrow  # pyright: ignore[reportMissingTypeStubs] - here, so that only Arrow data cost the time to load it

    pa: Any = pyarrow
    if not pa.types.is_fixed_size_list(chunks.type):
        return None
    lists = chunks.chunk(0) if chunks.num_chunks == 1 else chunks.combine_chunks()
    if isinstance(lists, pa.ChunkedArray):  # without a chunk
        return np.empty((0, chunks.type.list_size))
    if lists.null_count:
        raise _with_nulls()
    values = lists.flatten()
    if values.null_count:
        raise _with_nulls()
    if not (pa.types.is_floating(values.type) or pa.types.is_integer(values.type)):
        raise _refusal("Arrow lists of no numbers")
    return values.to_numpy().reshape(len(lists), chunks.type.list_size)


def _from_dlpack(given: Any) -> npt.NDArray[Any]:
    try:
        return np.from_dlpack(given)
    except Exception:  # noqa: BLE001 - whatever a foreign object raises, its text may be data
        hint = "Give numbers in the processor's memory, as in tensor.detach().cpu(), and bfloat16 as float32."
        raise _refusal(f"{type(given).__name__} whose DLPack export fails", hint=hint) from None


def _from_lists(rows: Sequence[Any]) -> npt.NDArray[Any]:
    """Lists of numbers, or vectors of any kind, each exactly."""
    if not rows:
        return np.empty((0, 0))
    if isinstance(rows[0], Number):
        raise _refusal("a list of numbers", hint=_ONE_ROW)
    try:
        vectors = [native_scores(row) for row in rows]
    except InvalidScoresError as error:
        raise named_matrix(error) from None
    if len({vector.size for vector in vectors}) > 1:
        raise _refusal("rows of different lengths", hint="Every row needs a score for each candidate.")
    if len({vector.dtype for vector in vectors}) == 1:
        return np.stack(vectors)
    flat = [number for vector in vectors for number in vector.tolist()]
    try:
        return native_scores(flat).reshape(len(vectors), -1)
    except InvalidScoresError as error:
        raise named_matrix(error) from None


def _with_nulls() -> InvalidScoresError:
    return InvalidScoresError("matrix", Shown("<array with nulls>"), "a score for every candidate in every row")


def _refusal(got: str, hint: str = "") -> InvalidScoresError:
    return InvalidScoresError("matrix", Shown(f"<{got}>"), EXPECTED, hint)

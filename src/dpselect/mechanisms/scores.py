"""Scores as callers hold them, turned into what the core and the formulas read, exactly, or refused.

Nothing is ever rounded. No error shows a score, carries one in its arguments, or chains an error of another library.
"""

from __future__ import annotations

import array
import functools
import math
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from numbers import Number
from typing import Any, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt

from dpselect.errors import InvalidCandidatesError, InvalidDataError, InvalidParameterError, InvalidScoresError, Shown
from dpselect.mechanisms.numbers import FloatArray


class SupportsArrow(Protocol):
    """Vectors of libraries that NumPy cannot read, but Arrow can."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


ScoresLike = npt.ArrayLike | SupportsArrow
"""What ``scores`` may be: one-dimensional, of real numbers, from NumPy, Arrow, pandas, Polars or plain Python."""

_ONE_ROW = "For one selection use select."
_EXPECTED = "a one-dimensional array of float64, float32 or integers"
_EVERY = "a score for every candidate"
_EXACT_IN_DOUBLE = 2**53
_NOT_VECTORS: Any = (str, bytes, bytearray, Mapping, Set)
_EXACTLY_DOUBLES: Any = (float, np.float16, np.float32)  # float64 is a float
_BUFFERS: Any = (array.array, memoryview)


def native_scores(scores: ScoresLike, *, dimensions: int = 1) -> npt.NDArray[Any]:
    """An array itself if the core reads it in place, else an exact native copy: perhaps empty or not finite.

    Raises:
        InvalidScoresError: of other dimensions, not real numbers, nulls among them, or not representable exactly. Of a
            matrix, too, it speaks of scores: see `named_matrix`.
    """
    given: Any = scores
    kind = type(cast(object, given)).__name__
    # The conversion of pandas to Arrow may fail with an error that quotes values.
    is_arrow = hasattr(given, "__arrow_c_array__") or hasattr(given, "__arrow_c_stream__")
    if isinstance(given, np.ndarray):
        found = cast("npt.NDArray[Any]", given)
    elif is_arrow and not hasattr(given, "iloc") and dimensions == 1:
        found = _from_arrow(given)
    elif isinstance(given, _NOT_VECTORS) or not hasattr(given, "__len__"):
        raise _refusal(kind)
    elif isinstance(given, Sequence) and not isinstance(given, _BUFFERS):
        members = cast("Sequence[Any]", given)
        return _from_numbers(members) if dimensions == 1 else _from_lists(members)
    elif (converted := to_numpy(given)) is None:
        raise _refusal(kind)
    else:
        found = converted
    kind, itemsize = found.dtype.kind, found.dtype.itemsize
    if found.ndim != dimensions:
        raise _refusal(f"{type(found).__name__} of shape {found.shape}", hint=_ONE_ROW if found.ndim == 1 else "")
    if has_masked(found):
        raise _refusal("array with nulls", _EVERY)
    if kind not in "fiu" or itemsize > 8:
        # Only the kind: the length of a text type is that of the longest text in it.
        raise _refusal(f"{type(found).__name__} of {found.dtype.type.__name__}")
    native = np.dtype("f4") if (kind, itemsize) == ("f", 2) else np.dtype(f"{kind}{itemsize}")
    if found.dtype == native and found.flags.aligned and type(found) is np.ndarray:
        return found
    return np.require(np.asarray(found), dtype=native, requirements="A")


def has_masked(values: npt.NDArray[Any]) -> bool:
    """Whether some of them are masked. Nothing is imported for it: masked arrays come from callers who did."""
    kind: Any = getattr(sys.modules.get("numpy.ma"), "MaskedArray", ())
    return isinstance(values, kind) and bool(np.any(cast(Any, values).mask))


def score_count(native: npt.NDArray[Any]) -> int:
    """How many scores `native_scores` returned, at least one; public, as the candidates are."""
    if native.size == 0:
        raise _refusal("empty", "at least one score")
    return native.size


def finite_scores(scores: ScoresLike) -> npt.NDArray[np.float64 | np.int64 | np.uint64]:
    """`scores` as a native float64, int64 or uint64 array for the formulas: exact, finite and not empty.

    Raises:
        InvalidScoresError: as `native_scores`, and for no scores at all, NaN and infinities.
    """
    vector = native_scores(scores)
    score_count(vector)
    if not np.isfinite(vector).all():
        hint = "Decide by a public rule what such a candidate scores; dropping it because of the data would leak."
        raise _refusal("NaN or infinity among them", "finite numbers", hint)
    wide: Any = f"{vector.dtype.kind}8"
    return vector.astype(wide, copy=False)


def _from_numbers(scores: Sequence[object]) -> npt.NDArray[Any]:
    """Plain Python (or NumPy) numbers as an array that holds each of them exactly."""
    kinds = {_number_kind(kind) for kind in set(map(type, scores))}
    if not kinds <= {"f", "i"}:
        raise _refusal(f"{type(scores).__name__} whose members are not all numbers")
    if kinds == {"i"}:
        plain = list(map(int, cast("Sequence[int]", scores)))  # NumPy's integers would wrap around silently
        for integer_type in (np.int64, np.uint64):
            with suppress(OverflowError):
                return np.array(plain, dtype=integer_type)
        raise _refusal(type(scores).__name__, "integers of 64 bits, all signed or all unsigned")
    whole = [cast(int, each) for each in scores if not isinstance(each, _EXACTLY_DOUBLES)] if "i" in kinds else []
    if not all(-_EXACT_IN_DOUBLE <= each <= _EXACT_IN_DOUBLE for each in whole):
        raise _refusal(
            f"{type(scores).__name__} of floats and integers",
            "integers up to 2^53 together with floats",
            "Larger ones would be rounded; give integers only.",
        )
    return np.array(scores, dtype=np.float64)


def _number_kind(kind: type[object]) -> str:
    """``"f"`` or ``"i"`` for the types of number that a list may hold; otherwise nothing."""
    if issubclass(kind, _EXACTLY_DOUBLES):
        return "f"
    if issubclass(kind, int | np.integer) and not issubclass(kind, bool | np.timedelta64):
        return "i"
    return ""


def _from_arrow(scores: Any) -> npt.NDArray[Any]:
    """Arrow data of any library; one chunk is not copied."""
    chunks = arrow_chunks(scores)
    if chunks is None:
        raise _refusal("object whose Arrow export fails")
    import pyarrow  # pyright: ignore[reportMissingTypeStubs] - here, so that only Arrow data cost the time to load it

    pa: Any = pyarrow
    if not (pa.types.is_floating(chunks.type) or pa.types.is_integer(chunks.type)):
        has_names = pa.types.is_nested(chunks.type) or pa.types.is_dictionary(chunks.type)
        raise _refusal(f"Arrow array of {'nested values' if has_names else chunks.type}", hint="Cast it first.")
    if chunks.null_count != 0:
        raise _refusal("array with nulls", _EVERY)
    return (chunks.chunk(0) if chunks.num_chunks == 1 else chunks.combine_chunks()).to_numpy()


def arrow_chunks(foreign: Any) -> Any:
    """Arrow data as a chunked array of pyarrow; None if the export fails, whose reason may quote values."""
    import pyarrow  # pyright: ignore[reportMissingTypeStubs]

    pa: Any = pyarrow
    try:
        if hasattr(foreign, "__arrow_c_array__"):
            return pa.chunked_array([pa.array(foreign)])
        return pa.chunked_array(foreign)
    except Exception:  # noqa: BLE001 - whatever a foreign object raises, its text may be data
        return None


def to_numpy(scores: Any) -> npt.NDArray[Any] | None:
    """`scores` as NumPy by the object's own method, or by NumPy's protocol; None if neither works."""
    for convert in (getattr(scores, "to_numpy", None), functools.partial(np.asarray, scores)):
        try:
            if convert is not None:
                return np.asarray(convert())
        except Exception:  # noqa: BLE001, S112 - whatever a foreign object raises, its text may be data
            continue  # pyarrow arrays in one chunk refuse to_numpy() if it would copy; np.asarray allows it
    return None


def _refusal(got: str, expected: str = _EXPECTED, hint: str = "") -> InvalidScoresError:
    """Where the core may refuse, too, the texts are those of the core, so that they are the same."""
    return InvalidScoresError("scores", Shown(f"<{got}>"), expected, hint)


def plain_points(points: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Where a distribution is looked at: numbers of any shape."""
    try:
        return np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # whose texts quote what they cannot convert
        raise InvalidParameterError("points", points, "numbers") from None


def named_matrix(error: InvalidScoresError) -> InvalidScoresError:
    """What is said of scores, said of the argument `matrix`."""
    expected = error.expected.replace("a one-", "a two-").replace(_EVERY, f"{_EVERY} in every row")
    return InvalidScoresError("matrix", error.got, expected, error.hint)


def _from_lists(rows: Sequence[Any]) -> npt.NDArray[Any]:
    """Lists of numbers, or vectors of any kind, each exactly."""
    if not rows:
        return np.empty((0, 0))
    if isinstance(rows[0], Number):
        raise _refusal("a list of numbers", hint=_ONE_ROW)
    vectors = [native_scores(row) for row in rows]
    if len({vector.size for vector in vectors}) > 1:
        raise _refusal("rows of different lengths", hint="Every row needs a score for each candidate.")
    if len({vector.dtype for vector in vectors}) == 1:
        return np.stack(vectors)
    return native_scores([number for vector in vectors for number in vector.tolist()]).reshape(len(vectors), -1)


def exact_doubles(scores: ScoresLike) -> npt.NDArray[np.float64]:
    """`finite_scores` as contiguous doubles, or refused if a double does not hold one of them."""
    found = finite_scores(scores)
    doubles = np.ascontiguousarray(found, dtype=np.float64)
    if found.dtype.kind != "f":
        with np.errstate(invalid="ignore"):
            back = np.where(np.abs(doubles) < 2.0**63, doubles, 0.0).astype(found.dtype)
        if not np.array_equal(back, found):
            raise _refusal("integers beyond 2^53", "numbers that doubles hold exactly")
    return doubles


def members_of(given: Any, name: str, expected: str) -> tuple[Sequence[Any], FloatArray | None]:
    """What is given for each candidate, one at least and none missing or masked; and a copy, if doubles hold all."""
    members, kind = given, type(cast(object, given))
    if not issubclass(kind, Sequence) or issubclass(kind, str | bytes):
        try:  # in columns of Python objects pandas keeps fractions
            found = given.to_numpy() if hasattr(given, "iloc") else given
            is_vector = type(cast(object, found)) is np.ndarray and found.ndim == 1
            members = found if is_vector else cast(Any, native_scores(found))
        except InvalidScoresError as error:
            raise InvalidParameterError(name, error.got, expected, error.hint) from None
    if len(members) == 0:
        raise InvalidParameterError(name, Shown(f"<{kind.__name__}>"), expected)
    dtype = getattr(members, "dtype", None)
    kinds = set(map(type, members)) if dtype is None else {dtype.type}
    if kinds <= {float, np.float64, np.float32, np.float16}:
        return members, np.array(members, dtype=np.float64)
    whole = np.array(members) if {*map(_number_kind, kinds)} == {"i"} else np.empty(0)
    are_small = whole.dtype.kind in "iu" and whole.min() >= -_EXACT_IN_DOUBLE and whole.max() <= _EXACT_IN_DOUBLE
    return members, whole.astype(np.float64) if are_small else None


def plain_values(values: ScoresLike, name: str = "values") -> npt.NDArray[np.float64]:
    """`values` as doubles, for planning; refused in the same cases as by a draw."""
    plain = native_values(values, name).astype(np.float64)
    if np.isnan(plain).any():
        raise refused_values(_refusal("NaN among them"), name)
    return plain


def native_values(values: ScoresLike, name: str = "values", expected: str = "") -> npt.NDArray[Any]:
    """As `native_scores`, with an error about data of this name."""
    try:
        return native_scores(values)
    except InvalidScoresError as refused:
        raise refused_values(refused, name, expected) from None


def refused_values(refused: InvalidScoresError, name: str = "values", expected: str = "") -> InvalidDataError:
    """Refuse what a draw refuses (not infinite values)."""
    if "NaN" in refused.got:
        hint = "Leave out such rows first, by a public rule."
        return InvalidDataError(name, Shown("<NaN among them>"), "numbers", hint)
    return InvalidDataError(name, refused.got, expected or refused.expected.replace(_EVERY, "a number in every place"))


Candidate = TypeVar("Candidate")
Pick = Callable[[int], Any]  # takes the index of a score and returns its candidate

_LISTED = "a list, tuple or one-dimensional array"
_NOT_SEQUENCES: Any = (str, bytes, bytearray, memoryview, Mapping, Set)


def checked_candidates(candidates: object, *, count: int, name: str = "candidates") -> Pick:
    """Check that `candidates` fits `count` scores, and return the way from an index to a candidate.

    Of an array it is the Python value that the library returns (NumPy dates stay: Python's are not as fine). Without
    candidates it is the index.

    Raises:
        InvalidCandidatesError: another length, duplicates, or not a sequence. It may mention the length, which is
            public, and never a member: someone will pass a private column here by mistake.
    """
    if candidates is None:
        return int
    given, is_range, is_array = cast(Any, candidates), type(candidates) is range, isinstance(candidates, np.ndarray)
    if is_array and given.ndim != 1:
        raise _refused_candidates(given, name, _LISTED)
    members: Any = given if is_range or is_array else as_sequence(given, name)
    if len(members) != count:
        got = Shown(f"<{type(given).__name__} of length {len(members)}>")
        raise InvalidCandidatesError(name, got, f"one {name[:-1]} for each of the {count} scores")
    if is_range:
        return members.__getitem__
    listed = members.tolist() if is_array else members
    try:
        has_duplicates = np.unique(given).size != count if is_array and given.dtype.kind != "O" else _repeat(listed)
    except (TypeError, ValueError):  # of arrays and tables ``==`` does not answer True or False
        raise _refused_candidates(given, name, "members that can be compared with ==") from None
    if has_duplicates:
        raise _refused_candidates(given, name, f"{name} without duplicates")
    return members.item if is_array and given.dtype.kind not in "OMmV" else members.__getitem__


def all_candidates(candidates: Any, name: str = "candidates") -> tuple[int, Pick]:
    """How many there are, at least one; and, checked, the way from a place to each: see `checked_candidates`."""
    try:
        count = len(candidates)
    except TypeError:
        raise InvalidCandidatesError(name, candidates, "a sequence") from None
    if count == 0:
        raise InvalidCandidatesError(name, Shown("<none>"), f"at least one {name[:-1]}")
    return count, checked_candidates(candidates, count=count, name=name)


def as_sequence(candidates: Any, name: str) -> Sequence[object]:
    """The members of a vector of any library, a list or another sequence, neither text nor a set."""
    for method in ("to_pylist", "to_list", "tolist"):  # Arrow; Polars and pandas; other arrays
        convert = getattr(candidates, method, None)
        if callable(convert) and isinstance(converted := convert(), list):
            return cast("list[object]", converted)
    kind = type(cast(object, candidates))
    if issubclass(kind, _NOT_SEQUENCES) or not issubclass(kind, Sequence):
        raise _refused_candidates(candidates, name, _LISTED, "A set has no order." if issubclass(kind, Set) else "")
    return candidates


def _repeat(members: Sequence[object]) -> bool:
    try:
        return len(set(members)) != len(members)
    except TypeError:  # some members cannot be hashed
        return any(bool(one == other) for one, other in combinations(members, 2))


def _refused_candidates(candidates: object, name: str, expected: str, hint: str = "") -> InvalidCandidatesError:
    return InvalidCandidatesError(name, Shown(f"<{type(candidates).__name__}>"), expected, hint)


@dataclass(frozen=True, slots=True)
class Gaps:
    """Gaps ``mantissa * 2**exponent``: the exponent is 1 only if a difference of doubles would overflow."""

    mantissa: FloatArray
    exponent: int

    @classmethod
    def below_best(cls, scores: npt.NDArray[Any]) -> Gaps:
        """The gaps of finite, non-empty `scores`."""
        return cls.between(scores.max(keepdims=True), scores)

    @classmethod
    def between(cls, high: Any, low: Any) -> Gaps:
        """``high - low``, not negative, each correctly rounded (integers of 64 bits are subtracted exactly)."""
        if low.dtype.kind != "f":
            # Modulo 2^64 the difference of two 64-bit integers is exact, and it is never negative.
            return cls((high.view(np.uint64) - low.view(np.uint64)).astype(np.float64), 0)
        with np.errstate(over="ignore"):
            difference = high - low
        if np.isfinite(difference).all():
            return cls(difference, 0)
        # One of both is beyond 2^970 here, so what halving loses is negligible.
        return cls(high / 2.0 - low / 2.0, 1)

    def scaled(self, *, epsilon: float, sensitivity: float, factor: int) -> FloatArray:
        """``gap * epsilon / (factor * sensitivity)`` for a `factor` of 1, 2 or 4.

        Infinite or zero only where the true value is that extreme.
        """
        # Mantissas and exponents separately: the quotient of the arguments may overflow although the product does not.
        epsilon_mantissa, epsilon_exponent = math.frexp(epsilon)
        sensitivity_mantissa, sensitivity_exponent = math.frexp(sensitivity)
        ratio = epsilon_mantissa / sensitivity_mantissa
        exponent = epsilon_exponent - sensitivity_exponent - (factor.bit_length() - 1) + self.exponent
        with np.errstate(over="ignore", under="ignore"):
            if -1000 < exponent < 1000:
                return self.mantissa * math.ldexp(ratio, exponent)
            mantissas, exponents = np.frexp(self.mantissa)
            return np.ldexp(mantissas * ratio, exponents + exponent)

    @property
    def distances(self) -> FloatArray:
        """Gaps in the unit of the scores, infinite if they overflow a double."""
        with np.errstate(over="ignore"):
            return np.ldexp(self.mantissa, self.exponent)

    def mean(self, probabilities: FloatArray) -> float:
        """The expected gap, in the unit of the scores."""
        return float((probabilities * self.mantissa).sum()) * 2.0**self.exponent

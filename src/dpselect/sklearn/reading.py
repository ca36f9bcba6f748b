"""What estimators take: rows read as numbers, their classes, and public settings, all checked in ``fit``.

Rows are refused by shape and type only, never because of a row's contents. Arrays and frames are read as a
`dpselect.Dataset` reads them: each row depends on that row and on the type of its column. A list, or an array of Python
objects, has no type: each object is read alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from hashlib import sha256
from math import inf
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from dpselect.checks import members_in_order
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown, describe
from dpselect.rows.arrow import pa, pc, value_of_object
from dpselect.rows.columns import Holds
from dpselect.rows.frame import of_numpy_array, single_columns
from dpselect.rows.scan import Source
from dpselect.summaries import CandidateTotals, PublicBins, PublicCandidates

LABELS = "one label for each row: y should be a 1d array"

_NUMBERS = frozenset(
    {Holds.INTEGERS, Holds.UNSIGNED, Holds.FLOATS, Holds.SHORT_FLOATS, Holds.DECIMALS, Holds.BOOLEANS, Holds.NOTHING}
)


def numbers(X: Any) -> Sequence[Source]:
    """The columns of `X`, one at least, each as a table of one column of numbers."""
    if hasattr(X, "tocsr"):
        hint = "Sparse input is not supported: pass X.toarray()."
        raise InvalidDataError("X", Shown("<sparse>"), "a dense table", hint)
    is_list = isinstance(X, list | tuple)
    sources: Any = None if is_list else single_columns(X, argument="X")
    if sources is None:
        array: Any = _doubles_of_rows(cast("Any", X)) if is_list else array_of(X, "X")
        if array.dtype.kind == "c":
            raise InvalidDataError("X", Shown("<complex numbers>"), "real numbers", "Complex data not supported.")
        if array.dtype.kind == "O":
            array = doubles(array.ravel().tolist()).reshape(array.shape)
        sources = [of_numpy_array(array[:, at]) for at in range(array.shape[1])] if array.ndim == 2 else array
    if not isinstance(sources, list):
        dimensions = getattr(sources, "ndim", 1)
        hint = "Reshape your data: X.reshape(-1, 1) is one feature."
        raise InvalidDataError("X", Shown(f"<{dimensions} dimensions>"), "two: rows and features", hint)
    if not sources:
        raise InvalidDataError("X", Shown("<0 features>"), "at least one feature")
    for place, source in enumerate(sources):
        (column,) = source.columns
        if column.holds not in _NUMBERS:
            hint = f"Column {place}, counted from 0, has a type that holds no numbers. {column.hint or 'Leave it out.'}"
            raise InvalidDataError("X", Shown(f"<{column.holds}>"), "numbers", hint)
    return sources


def values_of(feature: Source) -> NDArray[np.float64]:
    """The values of one feature, each read alone: the nearest double, or NaN if it is not a number."""
    (column,) = feature.columns
    parts = [np.empty(0)]
    for batch in feature.batches(feature.columns):  # decimals come as text
        values = batch[column].cast(pa.uint8()) if pa.types.is_boolean(batch[column].type) else batch[column]
        parts.append(np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64))
    return np.concatenate(parts)


def positions(y: Any, classes: Sequence[object], *, rows: int) -> NDArray[np.int64]:
    """Which of `classes` each row has, from 0, shape ``(rows,)``; -1: none of them."""
    listed = isinstance(require_labels(y), list | tuple)
    labels = [only(label) for label in y] if listed else column_of(y, "y", expected=LABELS)
    if (len(labels) if isinstance(labels, list) else labels.size) != rows:
        raise InvalidDataError("y", Shown("<another length>"), "one label for each row of X")
    known = {label: place for place, label in enumerate(classes)}
    if isinstance(labels, list):
        return np.fromiter((known.get(value_of_object(label), -1) for label in labels), np.int64, rows)
    (column,) = labels.columns
    holds = column.holds
    if holds is not Holds.TEXT and holds not in _NUMBERS:
        raise InvalidDataError("y", Shown(f"<{holds}>"), "numbers or text", column.hint)
    if holds is not Holds.NOTHING and (holds is Holds.TEXT) != isinstance(classes[0], str):
        hint = f"Labels and classes have to be both text or both numbers; nothing is converted. {column.hint}".strip()
        got = Shown("<text>" if holds is Holds.TEXT else "<numbers>")
        raise InvalidDataError("y", got, "labels like the classes", hint)
    parts = [np.empty(0, np.int64)]
    for batch in labels.batches(labels.columns):
        listed = batch[column].dictionary_encode()
        values: Iterable[Any] = listed.dictionary.to_pylist()
        if holds is Holds.DECIMALS:
            values = map(Decimal, values)
        found = np.array([*(known.get(value, -1) for value in values), -1], np.int64)
        parts.append(found[np.asarray(pc.fill_null(listed.indices, len(found) - 1))])
    return np.concatenate(parts)


def _doubles_of_rows(rows: Sequence[object]) -> NDArray[np.float64]:
    """Numbers from a list, which has no type. The first row gives the number of features; other lengths are missing.

    If the first one is no row, they have one dimension.
    """
    read = [_cells_of_row(row) for row in rows]
    if not read or read[0] is None:
        return np.empty(0)
    count = len(read[0])
    table = np.full((len(read), count), np.nan)
    for place, row in enumerate(read):
        if row is not None and len(row) == count:
            table[place] = doubles(row)
    return table


def doubles(values: Sequence[object]) -> NDArray[np.float64]:
    """Each object as a number, NaN if it is none."""
    read = map(value_of_object, values)
    numbers = (np.nan if value is None or isinstance(value, str) else value for value in read)
    return np.fromiter(numbers, np.float64, len(values))


def _cells_of_row(row: Any) -> Sequence[object] | None:
    """The cells of a row, by its actual type; see `dpselect.rows.arrow.value_of_object`."""
    for base in (list, tuple):
        if issubclass(type(row), base):
            return base.__getitem__(row, slice(None))
    return row.tolist() if type(row) is np.ndarray and row.ndim == 1 else None


def require_labels(y: Any) -> Any:
    """`y`, unless it is None, in words that scikit-learn looks for."""
    if y is None:
        hint = "This estimator requires y to be passed, but the target y is None."
        raise InvalidDataError("y", None, "the class of each row", hint)
    return y


def column_of(given: Any, name: str, *, expected: str) -> Source | list[Any]:
    """The only column of an array or of a table of any library; Python objects, which have no type, as a list."""
    found = single_columns(given, argument=name)
    if found is None:
        array = array_of(given, name, expected=expected)
        if array.ndim != 1 and array.shape[1:] != (1,):
            raise InvalidDataError(name, Shown(f"<{array.ndim} dimensions>"), expected)
        array = array.ravel()
        return array.tolist() if array.dtype.kind == "O" else of_numpy_array(array)
    if isinstance(found, list):
        if len(found) != 1:
            raise InvalidDataError(name, Shown(f"<{len(found)} columns>"), expected)
        (found,) = found
    return found


def only(label: object) -> object:
    """The only member of a list, for rows of one column; other labels unchanged."""
    inside = _cells_of_row(label)
    return inside[0] if inside is not None and len(inside) == 1 else label


def array_of(given: Any, name: str, *, expected: str = "an array, a data frame or a list of rows") -> NDArray[Any]:
    """An array with the type and the mask of `given`."""
    if isinstance(given, cast("Any", ma.MaskedArray)):
        return given
    if not hasattr(given, "__dataframe__") and (hasattr(given, "dtype") or hasattr(given, "__array__")):
        with suppress(Exception):  # it may run code that is not ours; what it says may quote a row
            return np.asarray(given)
    raise InvalidDataError(name, Shown(describe(given)), expected)


def feature_names(names: Iterable[object] | None, count: int) -> PublicCandidates:
    """The names of a data frame's columns; positions where there are none, or none that tell the columns apart."""
    texts = [name for name in (() if names is None else names) if isinstance(name, str) and name]
    if len(set(texts)) == count:
        return PublicCandidates.given([str(name) for name in texts])
    return PublicCandidates.given(range(count))


def distinct_classes(classes: Any) -> tuple[object, ...]:
    """The public list of labels, two or more: whole numbers, numbers, text or booleans."""
    expected = "at least two different labels, all text or all numbers; never read from y, where they are private"
    listed = members_in_order(classes, "classes", expected=expected)
    labels = tuple(cast("Any", label.item()) if isinstance(label, np.generic) else label for label in listed)
    text, numeric = (all(isinstance(label, kind) for label in labels) for kind in (str, Real))
    alike = text or (numeric and all(-inf < label < inf for label in labels))
    if not alike or len(labels) < 2 or len(set(labels)) < len(labels):
        raise InvalidParameterError("classes", Shown(describe(classes)), expected)
    return labels


def feature_bins(bounds: object, bins: object, names: PublicCandidates, *, classes: int) -> tuple[PublicBins, ...]:
    """The bins of each feature, by `bounds` and `bins` as `dpselect.sklearn.PrivateSelectKBest` takes them."""
    cuts: dict[tuple[str, str], PublicBins] = {}
    each_bounds, each_bins = _each(bounds, "bounds", names, of_pairs=True), _each(bins, "bins", names, of_pairs=False)
    for ends, count in (pairs := list(zip(each_bounds, each_bins, strict=True))):
        if (key := (repr(ends), repr(count))) not in cuts:
            cuts[key] = PublicBins.growing(count) if ends is None else PublicBins.given(ends, count)
    found = tuple(cuts[repr(ends), repr(count)] for ends, count in pairs)
    most, allowed = max(cut.count for cut in found), (1 << 24) // classes - 1  # so many cells of a feature are counted
    if most > allowed:
        raise InvalidParameterError("bins", most, f"at most {allowed} with so many classes")
    return found


def _each(given: Any, name: str, names: PublicCandidates, *, of_pairs: bool) -> list[object]:
    given, count = _as_lists(given), len(names)
    if isinstance(given, Mapping):
        expected = [names[place] for place in range(count)]
        if wrong := set(given) ^ set(expected):  # names of columns are schema, and the others are the caller's own
            missing = [repr(each) for each in expected if each in wrong]
            parts = {"Missing": missing, "No feature": sorted(map(repr, wrong.difference(expected)))}
            said = {what: ", ".join(some[:5]) + ", ..." * (len(some) > 5) for what, some in parts.items() if some}
            hint = " ".join(f"{what}: {some}." for what, some in said.items())
            raise InvalidParameterError(name, Shown("<mapping>"), f"an entry for each of the {count} features", hint)
        return [_as_lists(given[each]) for each in expected]
    listed = cast("Sequence[object]", given if isinstance(given, (list, tuple)) else (given,))
    # Two numbers; two features' bounds are two pairs.
    is_pair = len(listed) == 2 and not any(isinstance(end, (list, tuple, np.ndarray)) for end in listed)
    if listed is not given or (of_pairs and is_pair):  # what is no list is refused, or not, as that of one feature
        return [given] * count
    if len(listed) != count:
        raise InvalidParameterError(name, Shown(f"<{len(listed)} of them>"), f"{count}: one for each feature")
    return list(listed)


def _as_lists(given: object) -> object:
    return cast("Any", given).tolist() if isinstance(given, (np.ndarray, np.generic)) else given


def settings_hash(*settings: object) -> str:
    """Of public settings that were checked, which a certificate does not list."""
    return sha256(repr(settings).encode()).hexdigest()


def codes(table: Sequence[Source], bins: Sequence[PublicBins]) -> Iterator[NDArray[np.int64]]:
    """The bin of each row, for one feature after another; a missing value has a bin of its own, the last."""
    for cut, feature in zip(bins, table, strict=True):
        values = values_of(feature)
        yield np.where(np.isnan(values), cut.count, cut.places(values))


def tally(
    table: Sequence[Source], classes: NDArray[np.int64], *, bins: Sequence[PublicBins], weights: Sequence[int]
) -> CandidateTotals:
    """What the best rule on each feature gets right; decided for each row alone, summed in whole numbers.

    A rule assigns one of the classes to each bin of one feature; the best rule of a feature assigns the class with the
    largest weight there. The rule itself is never released; only its number of correct rows is used. `weights` are what
    a row of each class counts for; a row of none is left out. One more row raises each total by a whole number from 0
    to the weight of the row's class. Proof: ``proofs/feature_scores.md``.
    """
    known, many, right = classes >= 0, len(weights), list[int]()
    for cut, places in zip(bins, codes(table, bins), strict=True):
        cells = np.bincount((places * many + classes)[known], minlength=(cut.count + 1) * many)
        weighted = cells.astype(np.int64, copy=False).reshape(-1, many) * np.array(weights, np.int64)
        right.append(int(weighted.max(axis=1).sum()))
    return CandidateTotals(np.array(right, dtype=np.int64))

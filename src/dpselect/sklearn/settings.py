"""The public arguments of a selector, checked in ``fit``: scikit-learn requires that nothing is checked earlier."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from math import inf
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpselect.checks import positive_count
from dpselect.errors import InvalidParameterError, Shown, describe
from dpselect.summaries import GrowingBins, PublicBins, PublicCandidates
from dpselect.summaries.private import HIGHEST_WEIGHT, MOST_CELLS


def feature_names(names: Iterable[object] | None, count: int) -> PublicCandidates:
    """The names of a data frame's columns; positions where there are none, or none that tell the columns apart."""
    texts = [name for name in (() if names is None else names) if isinstance(name, str) and name]
    if len(set(texts)) == count:
        return PublicCandidates.given([str(name) for name in texts])
    return PublicCandidates.given(range(count))


def distinct_classes(classes: Any) -> tuple[object, ...]:
    """The public list of labels, two or more: whole numbers, numbers, text or booleans.

    Raises:
        InvalidParameterError: missing, or not such a list.

    >>> distinct_classes(["sick", "well"])
    ('sick', 'well')
    """
    expected = "at least two different labels, all text or all numbers"
    hint = "They are never read from y, because which classes occur there is private."
    given = cast("object", classes.tolist() if hasattr(classes, "tolist") else classes)
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise InvalidParameterError("classes", Shown(describe(classes)), expected, hint)
    listed = cast("Sequence[Any]", given)
    labels = tuple(cast("Any", label.item()) if isinstance(label, np.generic) else label for label in listed)
    text, numeric = (all(isinstance(label, kind) for label in labels) for kind in (str, Real))
    if not (text or (numeric and all(-inf < label < inf for label in labels))):
        raise InvalidParameterError("classes", Shown(describe(classes)), expected, hint)
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise InvalidParameterError("classes", Shown(describe(classes)), expected, hint)
    return labels


def class_weights(weights: object, count: int) -> tuple[int, ...]:
    """The weight of a row of each class; None: 1.

    Raises:
        InvalidParameterError: not a whole number from 1 to 2^20 for each class.

    >>> class_weights(None, 3), class_weights([1, 20], 2)
    ((1, 1, 1), (1, 20))
    """
    if weights is None:
        return (1,) * count
    if not isinstance(weights, (list, tuple, np.ndarray)):
        raise InvalidParameterError("class_weights", Shown(describe(weights)), "a list: a weight for each class")
    given = cast("Sequence[object]", weights)
    if len(given) != count:
        got = Shown(f"<{len(given)} weights>")
        raise InvalidParameterError("class_weights", got, f"{count} of them: one for each class")
    return tuple(positive_count(weight, "class_weights", at_most=HIGHEST_WEIGHT) for weight in given)


Bins = PublicBins | GrowingBins


def feature_bins(bounds: object, bins: object, names: PublicCandidates, *, classes: int) -> tuple[Bins, ...]:
    """The bins of each feature.

    Args:
        bounds: two numbers for all features, or two numbers for each: a list in their order, or a mapping by name. None
            in place of two numbers: bins that grow.
        bins: a number for all features, or one for each; of bins that grow, for each factor of ten.
        names: of the features.
        classes: how many classes there are.

    Raises:
        InvalidParameterError: not such bounds or bins, or too many of them.

    >>> [cut.count for cut in feature_bins((0, 1), [2, 5], PublicCandidates.given(range(2)), classes=2)]
    [2, 5]
    """
    cuts: dict[tuple[object, object], Bins] = {}
    each_bounds = _each(_as_lists(bounds), "bounds", names, one=_is_pair)
    each_bins = _each(_as_lists(bins), "bins", names, one=_is_single)
    found: list[Bins] = []
    for ends, count in zip(each_bounds, each_bins, strict=True):
        key = (repr(ends), repr(count))
        if key not in cuts:
            cuts[key] = GrowingBins.given(count) if ends is None else PublicBins.given(ends, count)
        found.append(cuts[key])
    most = max(cut.count for cut in found)
    if (most + 1) * classes > MOST_CELLS:
        raise InvalidParameterError("bins", most, f"at most {MOST_CELLS // classes - 1} with so many classes")
    return tuple(found)


def _each(given: Any, name: str, names: PublicCandidates, *, one: Callable[[object], bool]) -> list[object]:
    count = len(names)
    if isinstance(given, Mapping):
        by_name = cast("Mapping[object, object]", given)
        expected = [names[place] for place in range(count)]
        if set(by_name) != set(expected):
            hint = _difference(set(by_name), expected)
            raise InvalidParameterError(name, Shown("<mapping>"), f"an entry for each of the {count} features", hint)
        return [_as_lists(by_name[each]) for each in expected]
    if one(given):
        return [given] * count
    if not isinstance(given, (list, tuple)):
        raise InvalidParameterError(name, Shown(describe(given)), "one for all features, or one per feature")
    listed = cast("Sequence[object]", given)
    if len(listed) != count:
        raise InvalidParameterError(name, Shown(f"<{len(listed)} of them>"), f"{count}: one for each feature")
    return list(listed)


def _difference(given: set[object], expected: list[Any]) -> str:
    """Names of columns are schema, and what was given is the caller's own."""
    missing = [each for each in expected if each not in given]
    unknown = sorted(repr(each) for each in given.difference(expected))
    parts = {"Missing": [repr(each) for each in missing], "No feature": unknown}
    return " ".join(
        f"{what}: {', '.join(names[:5])}{', ...' * (len(names) > 5)}." for what, names in parts.items() if names
    )


def _as_lists(given: object) -> object:
    return cast("Any", given).tolist() if isinstance(given, (np.ndarray, np.generic)) else given


def _is_single(given: object) -> bool:
    return not isinstance(given, (list, tuple))


def _is_pair(given: object) -> bool:
    """Two numbers; two features' bounds are two pairs."""
    if not isinstance(given, (list, tuple)):
        return True  # whatever it is, it is refused as a pair
    pair = cast("Sequence[object]", given)
    return not any(isinstance(end, (list, tuple, np.ndarray)) for end in pair) and len(pair) == 2


def settings_hash(*settings: object) -> str:
    """Of public settings, which a certificate does not list: of arrays all numbers count."""
    return sha256(repr([_exact(each) for each in settings]).encode()).hexdigest()


def _exact(setting: Any) -> Any:
    if isinstance(setting, np.ndarray):
        numbers = cast("NDArray[Any]", setting)
        return str(numbers.dtype), numbers.shape, numbers.tobytes()
    return [_exact(each) for each in cast("list[Any]", setting)] if isinstance(setting, list | tuple) else setting

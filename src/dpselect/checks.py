"""The checks of public arguments, in one place: NaN-safe, exact, and silent about data; and what was meant instead."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any, TypeVar, cast

from dpselect.errors import InvalidParameterError, Shown, describe, typed

End = TypeVar("End")

_POSITIVE = "a finite number > 0"


def positive_epsilon(value: object, name: str = "epsilon", *, up: bool = False, expected: str = _POSITIVE) -> float:
    """`value` as a double, rounded *down* if it is not one: the guarantee is never weaker than requested. Or `up`."""
    if isinstance(value, float):  # also NumPy's float64
        if not 0.0 < value < math.inf:  # also refuses NaN
            raise InvalidParameterError(name, value, expected)
        return float(value)
    exact = as_fraction(value)
    if exact is None or exact <= 0:
        raise InvalidParameterError(name, value, expected)
    rounded = fraction_up(exact)
    if not up and exact < rounded < math.inf:
        rounded = math.nextafter(rounded, 0.0)
    if not 0.0 < rounded < math.inf:
        raise InvalidParameterError(name, value, "a number a double can hold")
    return rounded


def positive_sensitivity(value: object, name: str = "sensitivity") -> float:
    """`value` as a double, rounded *up* if it is not one: never less noise than requested."""
    return positive_epsilon(value, name, up=True)


def target_error(value: object, name: str, *, zero_allowed: bool = False, expected: str = "") -> float:
    """An error to stay within, as a double rounded *down*: > 0, or also 0."""
    if zero_allowed and as_fraction(value) == 0:
        return 0.0
    return positive_epsilon(value, name, expected=expected or ("a finite number >= 0" if zero_allowed else _POSITIVE))


def as_fraction(value: object) -> Fraction | None:
    """Any finite number, exactly; None of anything else."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if isinstance(value, bool) or kind == "m":  # NumPy's durations count as whole numbers
        return None
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    as_double: Any = getattr(value, "__float__", None)
    if isinstance(value, float) or (getattr(value, "ndim", 0) == 0 and kind in ("f", "i", "u") and as_double):
        if getattr(value, "mask", False):  # what is missing is no number, whatever lies beneath its mask
            return None
        number: Any = getattr(value, "item", as_double)()  # NumPy's long doubles stay what they are
        with suppress(OverflowError, ValueError):  # infinities and NaN
            return Fraction(*number.as_integer_ratio())
    return None


def probability(value: object, name: str) -> float:
    """A number strictly between 0 and 1."""
    return number_within(value, name, _ABOVE_0, _BELOW_1, "a number strictly between 0 and 1")


def delta_below_one(value: object, name: str = "delta") -> float:
    """A number in [0, 1)."""
    return number_within(value, name, 0.0, _BELOW_1, "a number from 0 (pure privacy) to below 1")


def quantile_level(value: object, name: str = "level") -> float:
    """A number in [0, 1], as the nearest double."""
    return number_within(value, name, 0.0, 1.0, "a number from 0 to 1") + 0.0  # no negative zero


_ABOVE_0, _BELOW_1 = math.nextafter(0.0, 1.0), math.nextafter(1.0, 0.0)


def number_within(value: object, name: str, least: float, most: float, expected: str) -> float:
    """A number from `least` to `most`, both within -2 and 2, as the nearest double."""
    exact = value if isinstance(value, float) else as_fraction(value)
    if exact is None or not -2 <= exact <= 2 or not least <= float(exact) <= most:  # others may be beyond the doubles
        raise InvalidParameterError(name, value, expected)
    return float(exact)


def positive_count(value: object, name: str, *, at_most: int | None = None, at_most_what: str = "") -> int:
    """A whole number from 1 to `at_most`, given as any integer type (never a bool or a float)."""
    expected = "a whole number >= 1"
    if (count := value if type(value) is int else whole_number(value, name, expected=expected)) < 1:
        raise InvalidParameterError(name, value, expected)
    if at_most is not None and count > at_most:
        limit = f"at most {at_most}" + (f" ({at_most_what})" if at_most_what else "")
        raise InvalidParameterError(name, value, limit)
    return count


def boolean(value: object, name: str) -> bool:
    """True or False, and nothing that only counts as one of them, such as a word or None."""
    if not isinstance(value, bool):
        raise InvalidParameterError(name, value, "True or False")
    return value


def one_of(value: object, name: str, words: Iterable[str], *, expected: str = "") -> str:
    """One of a few words, which are listed in the error unless it says what is `expected`."""
    known = [str(each) for each in words]
    if isinstance(value, str) and value in known:
        return str(value)
    expected = expected or " or ".join(map(repr, known))
    raise InvalidParameterError(name, typed(value), expected, did_you_mean(value, known))


def function(value: Any, name: str, *, expected: str) -> Any:
    """Something that can be called."""
    if not callable(value):
        raise InvalidParameterError(name, value, expected)
    return value


def members_in_order(value: object, name: str, *, expected: str) -> tuple[Any, ...]:
    """The members of a list, a tuple or an array; neither text nor a set is one."""
    has_order = not isinstance(value, str | bytes | Mapping | Set)
    with suppress(TypeError):
        if has_order:
            return tuple(cast("Iterable[Any]", value))
    raise InvalidParameterError(name, value, expected)


def positive_counts(
    value: object, name: str, *, at_most: int, expected: str, count: int | None = None
) -> tuple[int, ...]:
    """So many whole numbers from 1 to `at_most`, or any number of them, in the order of a list, a tuple or an array."""
    members = members_in_order(value, name, expected=expected)
    if count is not None and len(members) != count:
        raise InvalidParameterError(name, Shown(f"<{len(members)} of them>"), expected)
    return tuple(positive_count(each, name, at_most=at_most) for each in members)


_SIZE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?) *([KMGT]?)(i?)B", re.IGNORECASE | re.ASCII)


def memory_size(value: object, name: str) -> int:
    """Bytes, at least 64 MiB, with which a table of any size can be read; as a whole number or a text with a unit."""
    size = 0
    if isinstance(value, str) and (found := _SIZE.fullmatch(value.strip())) is not None:
        size = int(Fraction(found[1]) * (1024 if found[3] else 1000) ** " KMGT".index(found[2].upper() or " "))
    elif isinstance(value, Integral):
        size = int(value)
    if not 2**26 <= size < 2**63:
        expected = 'text such as "2GiB" or "500 MB", or a whole number of bytes; at least 64 MiB'
        raise InvalidParameterError(name, typed(value), expected)
    return size


def finite_number(value: object, name: str) -> float:
    """A finite number that a double holds exactly."""
    expected = "a finite number that a double holds"
    exact = exact_number(value, name, expected=expected)
    if Fraction(float(exact)) != exact:
        raise InvalidParameterError(name, value, expected)
    return float(exact)


def exact_number(value: object, name: str, *, expected: str = "a finite number") -> Fraction:
    """A finite number, exactly, within the range of doubles; a float is taken as its binary value."""
    if isinstance(value, float) and math.isfinite(value):
        return Fraction(value)
    return decimal_fraction(value, name, expected=expected)


def finite_bounds(value: object, name: str = "bounds") -> tuple[Fraction, Fraction]:
    """Two finite numbers that doubles hold or are nearest to, the first below the second; read as decimals.

    See `decimal_fraction`. Beyond 2^52, where the nearest double may be another whole number, it has to be this one.
    """
    expected = "two finite numbers, lower < upper"
    lower, upper = _two(value, name, decimal_fraction, expected)
    if not float(lower) < float(upper):
        raise InvalidParameterError(name, Shown(f"({float(lower)!r}, {float(upper)!r})"), expected)
    if not (double_holds(lower) and double_holds(upper)):
        hint = "From 2^53 on, doubles skip whole numbers, and the answer would be about others."
        raise InvalidParameterError(name, Shown(f"({lower}, {upper})"), "bounds that a double holds", hint)
    return lower, upper


def whole_or_double_bounds(value: object, name: str) -> tuple[int | float, int | float]:
    """Two finite numbers, the first not above the second, each as a double or a whole number that no double holds.

    So numbers can be compared with them exactly. A float from 2^52 on is the whole number that it equals.
    """
    expected = "two finite numbers, lower <= upper"
    lower, upper = _two(value, name, _whole_or_double, expected)
    if not lower <= upper:
        raise InvalidParameterError(name, Shown(f"({lower!r}, {upper!r})"), expected)
    return lower, upper


def _whole_or_double(value: object, name: str, *, expected: str) -> int | float:
    exact = decimal_fraction(value, name, expected=expected)
    if abs(exact) < _FIRST_WHOLE:
        return float(exact)
    exact = Fraction(value) if isinstance(value, float) else exact
    if exact.denominator != 1:
        raise InvalidParameterError(name, value, expected, "From 2^52 on, they have to be whole numbers.")
    if exact == (nearest := float(exact)):
        return nearest
    if abs(exact) >= 10**37:  # engines have no larger whole numbers
        raise InvalidParameterError(name, value, expected, "Whole numbers may have 37 digits.")
    return int(exact)


_FIRST_WHOLE = 2**52  # from here on, all doubles are whole numbers


def double_holds(exact: Fraction) -> bool:
    """Whether a double holds the number, or is written as it; where doubles have fractions, the nearest will do."""
    nearest = float(exact)
    return abs(exact) < _FIRST_WHOLE or exact in (Fraction(nearest), Fraction(repr(nearest)))


def _two(value: object, name: str, read: Callable[..., End], expected: str) -> tuple[End, End]:
    if not isinstance(value, (tuple, list)):
        hint = "If none is publicly known, Dataset.upper_bound finds a largest one, at a cost of its own."
        raise InvalidParameterError(name, value, expected, hint if value is None or isinstance(value, str) else "")
    pair = cast("Sequence[object]", value)
    if len(pair) != 2:
        raise InvalidParameterError(name, Shown(f"<{len(pair)} of them>"), expected)
    return read(pair[0], name, expected=expected), read(pair[1], name, expected=expected)


def decimal_fraction(value: object, name: str, *, expected: str) -> Fraction:
    """The number a caller means: a float stands for the shortest decimal that denotes it, anything else for itself."""
    if isinstance(value, float):
        exact = Fraction(repr(float(value))) if math.isfinite(value) else None
    elif isinstance(value, Decimal):
        exact = Fraction(value) if value.is_finite() and -400 < value.adjusted() < 400 else None
    else:
        exact = as_fraction(value)
    with suppress(OverflowError):
        if exact is not None and math.isfinite(float(exact)):
            return exact
    raise InvalidParameterError(name, value, expected)


def whole_sensitivity(value: object, name: str = "sensitivity") -> int:
    """A whole number >= 1, given as any integer type or as a float; beyond 2^53 rounded *up* to a double."""
    number = positive_sensitivity(value, name)
    if not number.is_integer():
        hint = "Noise on whole numbers needs the sensitivity of a whole number: round first."
        raise InvalidParameterError(name, value, "a whole number >= 1", hint)
    return int(number)


def whole_bounds(value: object, name: str = "bounds", *, within: tuple[int, int] | None = None) -> tuple[int, int]:
    """Two whole numbers, the first below the second."""
    expected = "two whole numbers, lower < upper"
    lower, upper = _two(value, name, whole_number, expected)
    got = Shown(f"({describe(lower)}, {describe(upper)})")
    if lower >= upper:
        raise InvalidParameterError(name, got, expected)
    if within is None:
        return lower, upper
    if not (lower <= within[1] and within[0] <= upper):
        raise InvalidParameterError(name, got, "bounds that fit into 64 bits")
    return max(lower, within[0]), min(upper, within[1])


def whole_number(value: object, name: str, *, expected: str = "a whole number") -> int:
    """A whole number of any integer type (never a bool or a float)."""
    if isinstance(value, bool) or not (isinstance(value, Integral) and hasattr(value, "__index__")):
        raise InvalidParameterError(name, value, expected)
    return int(value)


def text_of(path: str | os.PathLike[str], name: str, expected: str, *, most: int) -> str:
    """The text of a public file in UTF-8 of at most so many megabytes, without a byte-order mark; or an error."""
    if not isinstance(cast(object, path), str | os.PathLike) or "\0" in str(path):
        raise InvalidParameterError(name, path, f"the path of {expected}")
    reason = ""
    try:
        if os.stat(path).st_size <= most * 1_000_000:
            with open(path, encoding="utf-8-sig") as file:
                return file.read()
        expected = f"a file of at most {most:,} MB"
    except UnicodeDecodeError:
        expected = f"{expected}, in UTF-8"
    except OSError as failure:
        reason = f"{os.strerror(failure.errno)}." if failure.errno else ""
    raise InvalidParameterError(name, Shown(repr(os.fspath(path))), expected, reason)


def fraction_up(exact: Fraction) -> float:
    """The smallest double that is at least `exact`; infinite where no finite one is."""
    try:
        nearest = exact.numerator / exact.denominator
    except OverflowError:
        return math.inf if exact > 0 else -sys.float_info.max
    numerator, denominator = nearest.as_integer_ratio()  # several times as fast as a comparison of fractions
    is_less = numerator * exact.denominator < exact.numerator * denominator
    return math.nextafter(nearest, math.inf) if is_less else nearest


def fraction_down(exact: Fraction) -> float:
    """The largest double that is at most `exact`."""
    return 0.0 - fraction_up(-exact)  # never a negative zero


def in_digits(value: float, digits: int, *, up: bool = False) -> float:
    """`value` with so many digits, rounded down, or `up`: a number that people read, on the safe side."""
    context = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    rounded = float(context.create_decimal(repr(float(value))))
    return rounded if math.isfinite(rounded) else float(value)


def divided(value: float, share: float) -> tuple[float, float]:
    """A share of `value`, and the rest: two doubles that together never exceed it."""
    part = fraction_down(Fraction(value) * Fraction(share))
    return part, fraction_down(Fraction(value) - Fraction(part))


OTHER_WORDS = {
    "most_common": "mode argmax most_frequent",
    "least_common": "rarest argmin",
    "mean": "avg average",
    "variance": "var spread",
    "std": "stddev stdev sd spread",
    "quantile": "percentile percentile_cont percentile_disc max maximum min minimum",
    "quantiles": "percentiles describe",
    "upper_bound": "max maximum",
    "sum": "total",
    "count": "size len nunique",
    "histogram": "value_counts hist counts frequencies",
    "density": "distribution kde",
    "values": "value_counts unique distinct nunique count_distinct candidates where filter query isin",
    "top_k": "topk top nlargest",
    "candidates": "values categories keys choices",
    "between": "where filter query range bounds clip",
    "bounds": "range between clip limits",
    "clip": "range between bounds limits",
    "by": "groupby group_by partition_by",
    "epsilon": "eps budget privacy_budget",
    "k": "n top",
    "level": "q quantile percentile",
    "levels": "q quantiles percentiles",
    "unit": "private_key privacy_key privacy_id privacy_unit id user user_id",
    "neighbours": "neighbors neighbouring neighboring adjacency",
    "max_values_per_unit": "max_contributions contributions max_partitions_contributed",
    "table": "source data file path",
    "best_price": "price",
    "ledger": "budget account accounts",
    "open": "create new add init",
    "show": "list ls accounts status info balance remaining",
    "history": "log entries charges",
}
"""Arguments, questions and commands, each with what pandas, SQL, OpenDP or another question here calls it."""

LONGEST_WORD = 100  # a longer one is compared with no name: that takes the square of its length


def words_meant(given: object, known: Iterable[object], *, said: Mapping[str, str] = {}) -> list[str]:
    """Those of the `known` names that `given` may stand for, by its letters, or as `said` has other words for some."""
    if not isinstance(given, str) or len(given) > LONGEST_WORD:
        return []
    from difflib import get_close_matches

    names = {_plain(each): each for each in known if isinstance(each, str) and len(each) <= LONGEST_WORD}
    word = _plain(given)
    meant = [word] if word in names else [each for each in names if word in said.get(each, "").split()]
    return [names[each] for each in meant or get_close_matches(word, names, n=1) if names[each] != given]


def did_you_mean(given: object, known: Iterable[object], *, said: Mapping[str, str] = {}) -> str:
    """The hint of an error at what `words_meant` finds; empty if that is nothing."""
    meant = words_meant(given, known, said=said)
    return f"Did you mean {' or '.join(map(repr, meant))}?" if meant else ""


def _plain(word: str) -> str:
    return word.strip().casefold().replace("-", "_").replace(" ", "_")

"""The values that the candidates stated in a certificate allow.

Bounds and prices may have been given as fractions that no double is: what is compared with them has room for their
rounding, and for no more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, cast

from dpselect.certificate_text import wrong
from dpselect.release import Release

_ROUNDINGS = 2.0
"""Units in the last place of the larger bound: each bound and the answer are rounded by at most a half."""


def check_value(release: Release) -> None:
    """Refuse a value that none of the stated candidates is; of several groups, the value of any.

    Raises:
        InvalidCertificateError: names the value, or the candidates if there are none of that description.
    """
    answers: Iterable[Any] = release.value.values() if isinstance(release.value, dict) else [release.value]
    for answer in answers:
        values = cast("list[Any]", answer) if isinstance(answer, list) else [answer]
        if not _is_possible(values, release):
            raise wrong("value", "one that the stated candidates allow")


def _is_possible(values: list[Any], release: Release) -> bool:
    public = release.candidates
    match release.task:
        case "density":
            return _are_shares(values, release.arguments.get("sample_size"))
        case "best_price" if "count" in public:
            return _is_price(float(values[0]), public)
        case "best_price" | "quantile" | "quantiles" | "mean":
            levels = cast("list[float]", release.arguments.get("levels", [0.0]))
            ordered = [value for _, value in sorted(zip(levels, values, strict=True))]
            within = all(public["lower"] <= value <= public["upper"] for value in values)
            # A mean is of values on the grid, and need not be on it.
            placed = [] if release.task == "mean" else values
            return within and (public["source"] == "bounds" or _on_grid(placed, public)) and ordered == sorted(ordered)
        case _:
            return _among_listed(values, public)


def _among_listed(values: list[Any], public: Mapping[str, Any]) -> bool:
    if not len(values) <= public["count"] <= (2 if public["kind"] == "booleans" else math.inf):
        raise wrong("candidates.count", "at least the number selected, of such a kind")
    if "range" in public:
        first, last, step = (public["range"][name] for name in ("first", "last", "step"))
        listed = range(first, last + (1 if step > 0 else -1), step) if step else range(0)
        if public["kind"] != "whole numbers" or not listed or listed[-1] != last or _size(listed) != public["count"]:
            raise wrong("candidates.range", "a range with the stated number of whole numbers")
        if not all(value in listed for value in values):
            return False
    return len(set(values)) == len(values)


def _size(listed: range) -> int:
    return (listed[-1] - listed[0]) // listed.step + 1  # len() refuses more than 2^63


def _is_price(price: float, public: Mapping[str, Any]) -> bool:
    lowest, highest = public["lowest"], public["highest"]
    if not 0 < lowest <= highest or (lowest == highest) != (public["count"] == 1):
        raise wrong("candidates", "possible prices")
    if "common_unit" in public:
        unit = Fraction(public["common_unit"])
        if float(round(Fraction(price) / unit) * unit) != price:
            return False
    return price in (lowest, highest) if public["count"] <= 2 else lowest <= price <= highest


def _on_grid(values: Iterable[float], public: Mapping[str, Any]) -> bool:
    """Whether each is a point of the grid, as far as doubles can decide."""
    lower, upper, count = Fraction(public["lower"]), Fraction(public["upper"]), public["count"]
    room = Fraction(_ROUNDINGS * math.ulp(max(abs(public["lower"]), abs(public["upper"]))))
    steps = count - 1
    if not steps or abs(Fraction(public["step"]) * steps - (upper - lower)) > room + (upper - lower) / 2**52:
        raise wrong("candidates.step", "a step that leads from one bound to the other")
    step = (upper - lower) / steps
    return all(
        abs(lower + round((Fraction(value) - lower) / step) * step - Fraction(value)) <= room for value in values
    )


def _are_shares(values: list[float], sample_size: int | None) -> bool:
    """Shares of all units; for a sample, whole numbers of its points, without units that have no value."""
    total = math.fsum(values)
    if not all(0.0 <= value <= 1.0 for value in values) or total > 1.0 + 1e-9:
        return False
    if sample_size is None:
        return total > 1.0 - 1e-9
    return all(abs(value * sample_size - round(value * sample_size)) <= 1e-6 for value in values)

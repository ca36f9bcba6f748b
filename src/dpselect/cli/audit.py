"""``dpselect audit``: look for an event that refutes the claim of a mechanism in a module of Python."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from importlib import import_module
from typing import Any

from dpselect.cli.streams import escaped, escaped_lines
from dpselect.errors import InvalidParameterError, Shown, did_you_mean, typed

BROKEN = 1
"""The exit status if the claim is refuted."""


def audit(
    sampler: str,
    *,
    claimed_epsilon: float,
    claimed_delta: float = 0.0,
    neighbours: str = "neighbours",
    draws: int,
    confidence: float = 0.999,
    as_json: bool = False,
) -> int:
    """Look for an event which shows that a mechanism is less private than claimed.

    dpselect audit mine:noisy_count --claimed-epsilon 1 --draws 20000

    The file mine.py, in this folder, has the function noisy_count, from a neighbour to
    an output, and the list neighbours, such as [(0, 1)], of pairs of what it takes.
    The exit status is 1 if the claim is refuted. If it is not, that does not show
    that it holds.

    Args:
        sampler: MODULE:FUNCTION. The module is run.
        claimed_epsilon: Epsilon that is claimed, > 0.
        claimed_delta: Delta that is claimed.
        neighbours: Name in the module of a tuple of two neighbours, or of a list of such tuples.
        draws: Draws for each neighbour, at most.
        confidence: With which the lower bound holds, below 1.
        as_json: Print JSON.
    """
    import dpselect as dps

    place, _, name = sampler.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as `python -m` does
    try:
        module = import_module(place)
    except Exception as error:  # noqa: BLE001 - a module may raise anything
        what = Shown(f"<{type(error).__name__} while {escaped(place)!r} was imported>")
        raise InvalidParameterError("sampler", what, "MODULE:FUNCTION, as in mine:noisy_count") from None

    report = dps.audit(
        _found(module, name, "sampler"),
        _found(module, neighbours, "neighbours"),
        claimed_epsilon=claimed_epsilon,
        claimed_delta=claimed_delta,
        draws=draws,
        confidence=confidence,
    )
    text = json.dumps(asdict(report) | {"broken": report.broken}) if as_json else str(report)
    print(escaped_lines(text))
    return BROKEN if report.broken else 0


def _found(module: object, name: str, argument: str) -> Any:
    if name in vars(module):
        return vars(module)[name]
    raise InvalidParameterError(argument, typed(name), "a name in the module", did_you_mean(name, vars(module)))

"""An estimator as a configuration sets it up: made anew for each run, and checked before anything is charged."""

# scikit-learn comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, cast

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from dpselect.errors import InvalidParameterError, Shown, typed
from dpselect.mechanisms.best_of_runs import is_generator
from dpselect.privacy import Neighbours

Configuration = Mapping[str, Any]


def all_combinations(configurations: object) -> Sequence[Configuration]:
    """All combinations of values.

    Raises:
        InvalidParameterError: not a mapping from names to lists of values, or a list of such mappings.

    >>> all_combinations([{"depth": [1, 2]}, {"bins": [5]}])
    [{'depth': 1}, {'depth': 2}, {'bins': 5}]
    """
    try:
        listed = cast("list[Configuration]", list(ParameterGrid(cast(Any, configurations))))
    except (TypeError, ValueError):
        listed = []
    if not listed:
        expected = "a mapping from names of parameters to lists of values, or a list of them"
        raise InvalidParameterError("configurations", configurations, expected)
    return listed


def configured(estimator: Any, configuration: Configuration) -> Any:
    """A clone of `estimator` with clones of the values.

    An estimator may be a value. Were it the same object in every run, a later run would fit the released one again.
    """
    values = {name: clone(value, safe=False) for name, value in configuration.items()}
    return cast(Any, clone(estimator)).set_params(**values)


def check_all(estimator: Any, listed: Sequence[Configuration], *, epsilon: float, neighbours: Neighbours) -> bool:
    """Refuse what would spend more than is charged, draw the same noise in each run, or show how many runs there were.

    Args:
        estimator: as it was given.
        listed: all configurations.
        epsilon: of one fit.
        neighbours: of the search.

    Returns:
        Whether each estimator has a parameter ``epsilon``.

    Raises:
        InvalidParameterError: one of them cannot be made, or is refused.

    Proof: ``proofs/private_search.md``.
    """
    if isinstance(estimator, type):
        shown = Shown(f"<class {estimator.__name__}>")
        hint = f"Make one first: {estimator.__name__}(...)."
        raise InvalidParameterError("estimator", shown, "an estimator of scikit-learn, not its class", hint)
    if not (hasattr(estimator, "get_params") and hasattr(estimator, "fit")):
        raise InvalidParameterError("estimator", estimator, "an estimator of scikit-learn")
    have_epsilon = True
    for configuration in listed:
        named = _parameters(estimator, configuration)
        for name, value in named:
            last = name.rpartition("__")[2]
            why = _refused(last, value, neighbours)
            if why is not None:
                where = "configurations" if _is_set_by(configuration, name) else "estimator"
                raise InvalidParameterError(where, Shown(f"<{name}>"), *why)
            if last == "epsilon" and not (isinstance(value, Real) and value <= epsilon):
                hint = f"As a configuration sets it up, the estimator has a larger {name}, or one that is no number."
                raise InvalidParameterError("estimator_epsilon", epsilon, "at least that of every configuration", hint)
        have_epsilon = have_epsilon and any(name.rpartition("__")[2] == "epsilon" for name, _ in named)
    return have_epsilon


def _refused(name: str, value: object, neighbours: Neighbours) -> tuple[str, str] | None:
    """What is expected in place of a parameter, and why; None if it is not refused."""
    if name == "estimator_epsilon":
        return "an estimator that is not a search itself", "One fit of a search costs more than one of its estimator."
    if is_generator(value) or (name == "random_state" and value is not None):
        hint = "Each run has to draw anew, and with it all runs would draw the same noise. Leave it None."
        return "an estimator without a fixed random state", hint
    if value is None:
        return None
    if name in ("ledger", "account"):
        hint = "Its entries would show how many runs there were. Give the search a ledger instead."
        return "an estimator without a ledger", hint
    if name == "memory":
        hint = "Runs would share what one of them fitted, and it stays on the disk. Leave it None."
        return "an estimator without a cache", hint
    if name == "delta" and not (isinstance(value, Real) and value == 0):
        return "an estimator whose delta is 0", "A run's delta is not accounted for in what the search costs."
    if name == "neighbours" and not (isinstance(value, str) and value == neighbours):
        return f"an estimator with neighbours={str(neighbours)!r}", "It has to be the same as that of the search."
    return None


def _parameters(estimator: Any, configuration: Configuration) -> list[tuple[str, object]]:
    """Names and values of the estimator as it is set up, deep; and generators and estimators wherever they stand."""
    inside: dict[int, Any] = {}
    beside: dict[int, Any] = {}
    named: dict[str, object] = {}
    try:
        shared = clone(estimator) is estimator
        if not shared:
            one, other = configured(estimator, configuration), configured(estimator, configuration)
            named, theirs = one.get_params(deep=True), other.get_params(deep=True)
            # A copy's memo has all that it copied: what is in both is not made anew.
            copy.deepcopy(one, inside)
            copy.deepcopy(other, beside)
            alike = any(_is_estimator(value) and value is theirs.get(name) for name, value in named.items())
            shared = alike or bool(inside.keys() & beside.keys())
        copies = list(inside.values())
        deep = [pair for each in copies if _is_estimator(each) for pair in each.get_params(deep=True).items()]
    except Exception:  # noqa: BLE001 - whatever an estimator's own methods raise
        raise _refusal(estimator, configuration) from None
    if shared:
        hint = "Runs that share an object can leave traces in it, which show how many there were."
        raise InvalidParameterError("estimator", estimator, "one whose clones share nothing", hint)
    return [*named.items(), *((type(each).__name__, each) for each in copies if is_generator(each)), *deep]


def _is_estimator(value: object) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


def _refusal(estimator: Any, configuration: Configuration) -> InvalidParameterError:
    """Why it cannot be made."""
    try:
        known: set[str] = set(copy.deepcopy(cast(Any, clone(estimator))).get_params())
    except Exception:  # noqa: BLE001 - as above
        return InvalidParameterError("estimator", estimator, "an estimator that scikit-learn can clone and copy")
    unknown = next((name for name in configuration if name not in known), None)
    if unknown is not None:
        return InvalidParameterError("configurations", typed(unknown), "parameters of the estimator")
    expected = "values that the estimator takes and scikit-learn can clone and copy"
    return InvalidParameterError("configurations", Shown("<a configuration>"), expected)


def _is_set_by(configuration: Configuration, name: str) -> bool:
    return any(name == each or name.startswith(f"{each}__") for each in configuration)

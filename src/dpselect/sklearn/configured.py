"""An estimator as a configuration sets it up: made anew for each run, and checked before anything is charged."""

# scikit-learn comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, cast

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from dpselect.errors import InvalidParameterError, Shown, typed
from dpselect.mechanisms.best_of_runs import is_generator

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


def check_all(estimator: Any, listed: Sequence[Configuration], *, epsilon: float) -> bool:
    """Refuse what would spend more than is charged, draw the same noise in each run, or show how many runs there were.

    Args:
        estimator: as it was given.
        listed: all configurations.
        epsilon: of one fit.

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
        names = {name for name, _ in _checked(estimator, configuration, epsilon)}
        have_epsilon = have_epsilon and "epsilon" in names
    return have_epsilon


def _checked(estimator: Any, configuration: Configuration, epsilon: float) -> Iterator[tuple[str, object]]:
    for name, value in _parameters(estimator, configuration):
        last = name.rpartition("__")[2]
        where = "configurations" if _is_set_by(configuration, name) else "estimator"
        if last in ("ledger", "account") and value is not None:
            hint = "Its entries would show how many runs there were. Give the search a ledger instead."
            raise InvalidParameterError(where, Shown(f"<{name}>"), "an estimator without a ledger", hint)
        if (last == "random_state" and value is not None) or is_generator(value):
            hint = "Each run has to draw anew, and with it all runs would draw the same noise. Leave it None."
            raise InvalidParameterError(where, Shown(f"<{name}>"), "an estimator without a fixed random state", hint)
        if last == "epsilon" and not (isinstance(value, Real) and value <= epsilon):
            hint = f"As a configuration sets it up, the estimator has a larger {name}, or one that is no number."
            raise InvalidParameterError("estimator_epsilon", epsilon, "at least that of every configuration", hint)
        yield last, value


def _parameters(estimator: Any, configuration: Configuration) -> list[tuple[str, object]]:
    """Names and values of the estimator as it is set up, deep."""
    try:
        return list(_within(configured(estimator, configuration)))
    except Exception:  # noqa: BLE001 - whatever an estimator's own methods raise
        raise _refusal(estimator, configuration) from None


def _refusal(estimator: Any, configuration: Configuration) -> InvalidParameterError:
    """Why it cannot be made."""
    try:
        known: set[str] = set(cast(Any, clone(estimator)).get_params())
    except Exception:  # noqa: BLE001 - as above
        return InvalidParameterError("estimator", estimator, "an estimator that scikit-learn can clone")
    unknown = next((name for name in configuration if name not in known), None)
    if unknown is not None:
        return InvalidParameterError("configurations", typed(unknown), "parameters of the estimator")
    expected = "values that the estimator takes and scikit-learn can clone"
    return InvalidParameterError("configurations", Shown("<a configuration>"), expected)


def _within(made: Any) -> Iterator[tuple[str, object]]:
    """Also of estimators that stand in lists and mappings."""
    named = made.get_params(deep=True)
    yield from named.items()
    for value in named.values():
        yield from _in_container(value)


def _in_container(value: Any) -> Iterator[tuple[str, object]]:
    members = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
    for member in cast("Iterable[Any]", members):
        yield from _within(member) if hasattr(member, "get_params") else _in_container(member)


def _is_set_by(configuration: Configuration, name: str) -> bool:
    return any(name == each or name.startswith(f"{each}__") for each in configuration)

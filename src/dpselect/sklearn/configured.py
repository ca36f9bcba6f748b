"""An estimator as a configuration sets it up: made anew for each run, and checked before anything is charged."""

# scikit-learn comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence, Set
from fractions import Fraction
from numbers import Real
from typing import Any, cast

from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import VotingClassifier
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import FeatureUnion, Pipeline

from dpselect.accounting.rounding import fraction_up
from dpselect.checks import positive_epsilon
from dpselect.errors import InvalidParameterError, Shown, typed
from dpselect.mechanisms.best_of_runs import is_generator
from dpselect.privacy import Neighbours

Configuration = Mapping[str, Any]


def all_combinations(configurations: object) -> Sequence[Configuration]:
    """All combinations of values.

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


def check_all(
    estimator: Any, listed: Sequence[Configuration], *, epsilon: float, rows: int, neighbours: Neighbours
) -> bool:
    """Refuse what would spend more than is charged, draw the same noise in each run, or show how many runs there were.

    Args:
        estimator: as it was given.
        listed: all configurations.
        epsilon: of one fit, for a unit.
        rows: how many of them a unit may have. An estimator sees no units, so its epsilon is that of a row.
        neighbours: of the search.

    Returns:
        Whether each estimator has a parameter ``epsilon``.

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
        made, copies, named = _made(estimator, configuration)
        for name, value in named:
            last = name.rpartition("__")[2]
            why = _refused(last, value, neighbours)
            if why is not None:
                is_set = any(name == each or name.startswith(f"{each}__") for each in configuration)
                where = "configurations" if is_set else "estimator"
                raise InvalidParameterError(where, Shown(f"<{name}>"), *why)
            if last == "epsilon" and not (isinstance(value, Real) and value <= epsilon):
                hint = f"As a configuration sets it up, the estimator has a larger {name}, or one that is no number."
                raise InvalidParameterError("estimator_epsilon", epsilon, "at least that of every configuration", hint)
        row = _cost_of_a_row(made, copies)
        if row * rows > Fraction(positive_epsilon(epsilon, "estimator_epsilon")):
            hint = (
                f"As a configuration sets it up, one fit costs {fraction_up(row)!r} for a row, of all parts together."
            )
            if rows > 1:
                hint += f" A unit may have {rows} rows; max_rows_per_unit=1 uses one of each."
            raise InvalidParameterError("estimator_epsilon", epsilon, f"at least {fraction_up(row * rows)!r}", hint)
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


_FIT_EACH_ONCE = (Pipeline, FeatureUnion, ColumnTransformer, VotingClassifier)
"""Estimators that fit each one in them once, on the rows that they get."""


def _cost_of_a_row(made: Any, copies: Sequence[object]) -> Fraction:
    """The sum of the epsilons of all estimators in one, wherever they stand.

    An estimator with an epsilon of its own states what one fit costs with all that it holds; but no less than they do.
    """
    counted: set[int] = set()

    def cost(each: Any) -> Fraction:
        if id(each) in counted:
            return Fraction(0)
        counted.add(id(each))
        held = each.get_params(deep=False)
        inner = sum(map(cost, _estimators(list(held.values()))), Fraction(0))
        if "epsilon" in held:  # rounded as mechanisms round it; one that is not positive is no privacy loss
            is_none = isinstance(held["epsilon"], Real) and held["epsilon"] <= 0
            return inner if is_none else max(Fraction(positive_epsilon(held["epsilon"])), inner)
        if inner and type(each) not in _FIT_EACH_ONCE:
            names = ", ".join(known.__name__ for known in _FIT_EACH_ONCE)
            hint = f"It may fit the private estimators in it several times. {names} fit each once."
            raise InvalidParameterError("estimator", Shown(f"<{type(each).__name__}>"), "one of known cost", hint)
        return inner

    return sum(map(cost, [made, *filter(_is_estimator, copies)]), Fraction(0))


def _estimators(values: object) -> list[Any]:
    """The estimators among values, also in lists, tuples, sets and mappings."""
    if _is_estimator(values):
        return [values]
    if isinstance(values, Mapping):
        values = list(cast("Mapping[object, object]", values).values())
    if not isinstance(values, list | tuple | Set):
        return []
    return [found for value in cast("Iterable[object]", values) for found in _estimators(value)]


def _made(estimator: Any, configuration: Configuration) -> tuple[Any, Sequence[object], list[tuple[str, object]]]:
    """The estimator as it is set up, and all that it holds.

    Returns:
        A copy; what was copied with it; and the names and values of its parameters, deep, and of generators and
        estimators wherever they stand.
    """
    inside: dict[int, Any] = {}
    beside: dict[int, Any] = {}
    named: dict[str, object] = {}
    made: Any = estimator
    try:
        shared = clone(estimator) is estimator
        if not shared:
            one, other = configured(estimator, configuration), configured(estimator, configuration)
            named, theirs = one.get_params(deep=True), other.get_params(deep=True)
            # A copy's memo has all that it copied: what is in both is not made anew.
            made = copy.deepcopy(one, inside)
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
    generators = ((type(each).__name__, each) for each in copies if is_generator(each))
    return made, copies, [*named.items(), *generators, *deep]


def _is_estimator(value: object) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


def _refusal(estimator: Any, configuration: Configuration) -> InvalidParameterError:
    """Why it cannot be made."""
    try:
        known: set[str] = set(copy.deepcopy(cast(Any, clone(estimator))).get_params())
    except Exception:  # noqa: BLE001 - as above
        return InvalidParameterError("estimator", estimator, "an estimator that scikit-learn can clone and copy")
    if unknown := [name for name in configuration if name not in known]:
        return InvalidParameterError("configurations", typed(unknown[0]), "parameters of the estimator")
    expected = "values that the estimator takes and scikit-learn can clone and copy"
    return InvalidParameterError("configurations", Shown("<a configuration>"), expected)

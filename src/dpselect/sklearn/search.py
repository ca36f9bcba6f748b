"""A search among configurations of a private estimator, with an honest cost.

Each configuration sets the estimator up anew for each run, and is checked before anything is charged.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import VotingClassifier
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from dpselect.accounting import Event, Run
from dpselect.checks import fraction_up, function, number_within, positive_count, positive_epsilon
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown, typed
from dpselect.mechanisms import BestOfRuns, GeometricMechanism
from dpselect.mechanisms.best_of_runs import is_generator
from dpselect.privacy import Neighbours, neighbouring_relation
from dpselect.sklearn.estimators import Charged
from dpselect.sklearn.parts import checked_labels, checked_rows, divided, rows_right, sum_of_scores, taken, unit_of_rows

Configuration = Mapping[str, Any]

_STEPS = 1024  # scores of a row between 0 and 1 are rounded to multiples of 1/1024, so that their sums are exact


def _has(method: str) -> Callable[[Any], bool]:
    def check(search: PrivateSearchCV) -> bool:
        return hasattr(getattr(search, "best_estimator_", search.estimator), method)

    return check


@dataclass(eq=False, repr=False)
class PrivateSearchCV(MetaEstimatorMixin, Charged):
    """Fits a private estimator with a secret number of random configurations, and keeps the best by a noisy score.

    The private counterpart of scikit-learn's ``RandomizedSearchCV``. Units are divided at random, each for itself, into
    one part for fitting and one for scoring, for the whole search. Each run takes a random configuration, fits the
    estimator on the first part, and counts how many rows of the second it predicts correctly, with noise. A unit is in
    one of both, so a run costs the larger of `estimator_epsilon` and `score_epsilon`. The best run is released; the
    whole costs what `dpselect.mechanisms.BestOfRuns` says, about two to three times one run, for any number of runs on
    average.

    **Every** ``fit`` **is a separate release.** With a ledger it is charged before the first run. The number of runs
    and the time they take have to stay secret: let nobody watch, and let the estimator print nothing, and leave nothing
    outside of itself.

    Args:
        estimator: a private estimator. Its ``predict`` looks at each row alone. It has no ledger of its own, because
            entries there would show the number of runs, and no fixed ``random_state``.
        configurations: what to try, from public knowledge: a mapping from names of parameters to lists of values, or a
            list of such mappings; all their combinations. Values may be estimators. Each run fits a clone of the
            estimator, with clones of the values, on a copy of the rows.
        estimator_epsilon: privacy loss of one ``fit`` of the estimator for one *unit*, > 0, whatever the configuration.
            You vouch for it, because no library can read it off an estimator. It is refused if it is less than the sum
            of all parameters named ``epsilon``, times `max_rows_per_unit` if there are ``groups``; an estimator without
            one causes a warning. ``docs/sklearn.md`` says which estimators are refused.
        score_epsilon: privacy loss of one score, > 0.
        expected_runs: how many runs there are on average, > 1; their number is geometric.
        scoring: None: the number of rows that are predicted correctly. Or a function of the estimator, ``X`` and ``y``
            that returns a number for each row from that row alone; it is clipped to 0 and 1, and what is no number
            counts as 0.
        scoring_share: the part of the units that scores are computed on, from 0.01 to 0.5.
        max_rows_per_unit: with ``groups`` in ``fit``, how many rows of a unit are used, the first ones. The epsilon of
            the estimator counts as many times.
        neighbours: ``"add_remove"`` or ``"replace_one"``, which takes no ``groups``.
        unit, ledger, account: as for `PrivateSelectKBest`; with groups, a unit is what a group represents.

    Attributes:
        best_estimator_: the best run's estimator; as private as the whole.
        best_params_: its configuration.
        best_score_: its noisy score: a number of rows (or of their scores), not a share, because how many rows there
            are may be private.
        event_: what the fit cost, for accounting.
        n_features_in_: number of features seen in ``fit``.

    ``fit`` raises `InvalidParameterError` or `InvalidDataError`, both of them a ``ValueError``, or what the ledger
    raises. If no run gave a model, the charge stands.

    Proof: ``proofs/private_search.md``.

    >>> import numpy as np
    >>> from dpselect.sklearn import PrivateTreeClassifier
    >>> X = np.array([[age, 70 - age % 7] for age in range(20, 60)] * 100)
    >>> y = np.where(X[:, 0] < 40, "young", "old")
    >>> tree = PrivateTreeClassifier(epsilon=1.0, classes=["old", "young"], bounds=(0, 100))
    >>> search = PrivateSearchCV(tree, {"depth": [1, 3], "bins": [4, 10]}, estimator_epsilon=1.0, score_epsilon=1.0,
    ...                          expected_runs=5)
    >>> print(search.plan())
    The best of 5 runs on average (geometric), each at epsilon = 1: epsilon = 2.27369 in total.
    >>> bool(search.fit(X, y).predict([[25, 66], [55, 66]]).tolist() == ["young", "old"])
    True
    """

    estimator: Any
    configurations: object
    _: KW_ONLY
    estimator_epsilon: float
    score_epsilon: float
    expected_runs: float
    scoring: Callable[[Any, Any, Any], Any] | None = None
    scoring_share: float = 0.3
    max_rows_per_unit: int = 1

    def plan(self) -> BestOfRuns:
        """The cost of one ``fit``, to be printed before anything is spent.

        Raises:
            InvalidParameterError: an argument is out of range.
        """
        fitting = positive_epsilon(self.estimator_epsilon, "estimator_epsilon")
        scoring = positive_epsilon(self.score_epsilon, "score_epsilon")
        return BestOfRuns(epsilon_per_run=max(fitting, scoring), expected_runs=self.expected_runs)

    def fit(self, X: Any, y: Any, groups: Any = None) -> PrivateSearchCV:
        """Charge, if there is a ledger, and search.

        Args:
            X: what the estimator takes, rows first.
            y: shape ``(rows,)``, the label of each row.
            groups: shape ``(rows,)``, the unit of each row; a row without one (None, NaN, NaT, NA) is left out. None:
                each row is a unit of its own.
        """
        plan, relation = self.plan(), neighbouring_relation(self.neighbours)
        if self.scoring is not None:
            function(self.scoring, "scoring", expected="a function of the estimator, X and y, or None")
        most = positive_count(self.max_rows_per_unit, "max_rows_per_unit", at_most=2**20)
        share = number_within(self.scoring_share, "scoring_share", 0.01, 0.5, "a number from 0.01 to 0.5")
        if groups is not None and relation is Neighbours.REPLACE_ONE:
            hint = "A unit with other groups in its place could change the number of rows. Use neighbours='add_remove'."
            raise InvalidParameterError("groups", Shown("<given>"), "None with neighbours='replace_one'", hint)
        most = 1 if groups is None else most
        listed = _all_combinations(self.configurations)
        if not _check_all(self.estimator, listed, epsilon=self.estimator_epsilon, rows=most, neighbours=relation):
            # What has no epsilon is most likely not private, and then nothing is.
            said = f"{type(self.estimator).__name__} has no parameter epsilon. If it is not private by itself, neither"
            warnings.warn(f"{said} is this search: estimator_epsilon is what you vouch for.", stacklevel=2)
        table, rows = checked_rows(X, sparse=self.estimator.__sklearn_tags__().input_tags.sparse)
        labels = checked_labels(y, rows=rows)
        validate_data(self, table, skip_check_array=True)  # the names and the number of features
        fitting, scoring = divided(unit_of_rows(groups, rows), share=share, most=most)
        steps = 1 if self.scoring is None else _STEPS
        noise = GeometricMechanism(epsilon=self.score_epsilon, sensitivity=steps * most)

        def run(place: int) -> tuple[float, Any]:
            # Everything is made anew for each run, so that none leaves traces for others.
            fitted = _configured(self.estimator, listed[place])
            fitted = fitted.fit(taken(table, fitting), taken(labels, fitting))
            scored, right = taken(table, scoring), taken(labels, scoring)
            if len(right) == 0:
                score = 0
            elif self.scoring is None:
                score = rows_right(fitted.predict(scored), right)
            else:
                score = sum_of_scores(self.scoring(fitted, scored, right), rows=len(right), steps=steps)
            return noise.draw(score) / steps, fitted

        if (ledger := self._spending(fitted="best_estimator_").ledger) is not None:
            paid = Run(event=plan.event, mechanism="BestOfRuns", neighbours=relation, unit=self.unit)
            ledger.charge(str(self.account), paid)
        best = plan.run(run, range(len(listed)))
        if best is None or best.failed:  # a geometric number of runs is never 0
            hint = "Its error may depend on the data, so it is not shown. The charge stands. Try it on public rows."
            raise InvalidDataError("estimator", Shown("<failed>"), "one that can be fitted and scored", hint)
        self.best_estimator_ = best.output
        self.best_params_ = dict(listed[best.configuration])
        self.best_score_ = best.score
        self.event_: Event = plan.event
        return self

    @available_if(_has("predict"))
    def predict(self, X: Any) -> NDArray[Any]:
        """What the best estimator predicts; no further cost."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probabilities that the best estimator predicts; no further cost."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(X)

    @available_if(_has("score"))
    def score(self, X: Any, y: Any) -> float:
        """The best estimator's own score on other rows. *Not* private: it reads these rows."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.score(X, y)

    @property
    def classes_(self) -> Any:
        """The labels, of classifiers."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.classes_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = self.estimator.__sklearn_tags__()
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.input_tags = inner.input_tags
        return tags


def _all_combinations(configurations: object) -> Sequence[Configuration]:
    try:
        listed = cast("list[Configuration]", list(ParameterGrid(cast(Any, configurations))))
    except (TypeError, ValueError):
        listed = []
    if not listed:
        expected = "a mapping from names of parameters to lists of values, or a list of them"
        raise InvalidParameterError("configurations", configurations, expected)
    return listed


def _configured(estimator: Any, configuration: Configuration) -> Any:
    """A clone of `estimator` with clones of the values, which may be estimators; all copied.

    A clone may share objects with what it was made of: a later run would change what is released.
    """
    values = {name: clone(value, safe=False) for name, value in configuration.items()}
    made, values = copy.deepcopy((cast(Any, clone(estimator)), values))
    return made.set_params(**values)


def _check_all(
    estimator: Any, listed: Sequence[Configuration], *, epsilon: float, rows: int, neighbours: Neighbours
) -> bool:
    """Refuse what would spend more than is charged, draw the same noise in each run, or show how many runs there were.

    A fit costs `epsilon` for a unit, which may have so many `rows`: an estimator sees no units, so its own epsilon is
    that of a row. Returns whether each configuration has one. Proof: ``proofs/private_search.md``.
    """
    if isinstance(estimator, type):
        shown = Shown(f"<class {estimator.__name__}>")
        hint = f"Make one first: {estimator.__name__}(...)."
        raise InvalidParameterError("estimator", shown, "an estimator of scikit-learn, not its class", hint)
    if not (hasattr(estimator, "get_params") and hasattr(estimator, "fit")):
        raise InvalidParameterError("estimator", estimator, "an estimator of scikit-learn")
    have_epsilon = True
    for configuration in listed:
        copies, named = _made(estimator, configuration)
        for name, value in named:
            if (why := _refused(name.rpartition("__")[2], value, neighbours)) is not None:
                is_set = any(name == each or name.startswith(f"{each}__") for each in configuration)
                where = "configurations" if is_set else "estimator"
                raise InvalidParameterError(where, Shown(f"<{name}>"), *why)
        row = _cost_of_a_row(copies)
        if row * rows > Fraction(positive_epsilon(epsilon, "estimator_epsilon")):
            hint = f"As a configuration sets it up, one fit costs {fraction_up(row)!r} for a row, all parts together."
            if rows > 1:
                hint += f" A unit may have {rows} rows; max_rows_per_unit=1 uses one of each."
            raise InvalidParameterError("estimator_epsilon", epsilon, f"at least {fraction_up(row * rows)!r}", hint)
        have_epsilon = have_epsilon and row > 0
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


def _cost_of_a_row(copies: Sequence[object]) -> Fraction:
    """The sum of the epsilons of all estimators in one, the first of these, wherever they stand.

    An estimator with an epsilon of its own states what one fit costs with all that it holds; but no less than they do.
    """
    counted: set[int] = set()
    fit_each_once = (Pipeline, FeatureUnion, ColumnTransformer, VotingClassifier)  # on the rows that they get

    def cost(each: Any) -> Fraction:
        if id(each) in counted:
            return Fraction(0)
        counted.add(id(each))
        held = each.get_params(deep=False)
        inner = sum(map(cost, _estimators(list(held.values()))), Fraction(0))
        if "epsilon" in held:  # rounded as mechanisms round it; one that is not positive is no privacy loss
            is_none = isinstance(held["epsilon"], Real) and held["epsilon"] <= 0
            return inner if is_none else max(Fraction(positive_epsilon(held["epsilon"])), inner)
        if inner and type(each) not in fit_each_once:
            names = ", ".join(known.__name__ for known in fit_each_once)
            hint = f"It may fit the private estimators in it several times. {names} fit each once."
            raise InvalidParameterError("estimator", Shown(f"<{type(each).__name__}>"), "one of known cost", hint)
        return inner

    return sum(map(cost, filter(_is_estimator, copies)), Fraction(0))


def _estimators(values: object) -> list[Any]:
    """The estimators among values, also in lists, tuples, sets and mappings."""
    if _is_estimator(values):
        return [values]
    if isinstance(values, Mapping):
        values = list(cast("Mapping[object, object]", values).values())
    if not isinstance(values, list | tuple | Set):
        return []
    return [found for value in cast("Iterable[object]", values) for found in _estimators(value)]


def _made(estimator: Any, configuration: Configuration) -> tuple[Sequence[Any], list[tuple[str, object]]]:
    """The estimator as it is set up and all that is in it; and the names and values of parameters.

    The latter are those of all estimators, wherever they stand, deep; and random generators, by their types.
    """
    inside = dict[int, Any]()
    try:
        copies = [copy.deepcopy(_configured(estimator, configuration), inside), *inside.values()]
        named = [pair for each in copies if _is_estimator(each) for pair in each.get_params(deep=True).items()]
    except Exception:  # noqa: BLE001 - whatever an estimator's own methods raise
        if not configuration:
            expected = "an estimator that scikit-learn can clone and copy"
            raise InvalidParameterError("estimator", estimator, expected) from None
        _made(estimator, {})  # else it is the configuration
        known: set[str] = set(estimator.get_params())
        got = next((typed(name) for name in configuration if name not in known), Shown("<a configuration>"))
        expected = "parameters of the estimator, with values that it takes and scikit-learn can clone and copy"
        raise InvalidParameterError("configurations", got, expected) from None
    parts = {id(copies[0]), *map(id, _estimators([value for _, value in named]))}
    # One that is its own clone may go on drawing from a state that every run would start from.
    if not parts <= {*map(id, inside.values())} or any(clone(each) is each for each in copies if _is_estimator(each)):
        hint = "Runs that share an object can leave traces in it, which show how many there were."
        raise InvalidParameterError("estimator", estimator, "one whose clones and copies share nothing", hint)
    return copies, named + [(type(each).__name__, each) for each in copies if is_generator(each)]


def _is_estimator(value: object) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)

"""What a unit of several rows, and several private estimators, cost in a search: an exact law, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import dpselect as dps
from dpselect.sklearn import PrivateSearchCV, PrivateSelectKBest, PrivateTreeClassifier
from tests.drawn_answers import planned
from tests.sklearn.read_rows import scores

EPSILON, ROWS = 0.25, 5
"""What a fit costs for a row, and how many rows a unit has."""

X = np.array([[age, 70 - age % 7] for age in range(20, 60)] * 10)
y = (X[:, 0] >= 40).astype(int)
PEOPLE = np.arange(len(y)) // ROWS


def tree(epsilon: float = EPSILON) -> PrivateTreeClassifier:
    return PrivateTreeClassifier(epsilon=epsilon, classes=[0, 1], bounds=(0, 100), depth=1)


def selector(epsilon: float = EPSILON) -> PrivateSelectKBest:
    return PrivateSelectKBest(1, epsilon=epsilon, classes=[0, 1], bounds=(0, 100))


def search(estimator: Any, epsilon: float, **changed: Any) -> PrivateSearchCV:
    settings: dict[str, Any] = {"score_epsilon": 1.0, "expected_runs": 1.5, "max_rows_per_unit": ROWS}
    return PrivateSearchCV(estimator, {}, estimator_epsilon=epsilon, **settings | changed)


def loss_of_a_selection(rows: int) -> float:
    """The largest log ratio of the exact laws of `selector`'s draw: without a unit, and with one that has so many rows.

    Both features are right about a hundred rows of others, and only the first one about the unit's.
    """
    asked = planned("best_features", features=["a", "b"], k=1, weights=(1, 1), settings="", epsilon=EPSILON)
    laws = []
    for more in (0, rows):
        first = np.array([5.0] * 50 + [95.0] * (50 + more))
        second = np.array([5.0] * 50 + [95.0] * 50 + [5.0] * more)
        classes = np.array([0] * 50 + [1] * (50 + more))
        laws.append(
            asked.mechanism.mechanism.pmf(np.array(scores([first, second], classes, bounds=(0, 100), bins=(10, 10))))
        )
    return float(np.abs(np.log(laws[0] / laws[1])).max())


def test_a_unit_loses_what_a_row_does_for_each_of_its_rows() -> None:
    """The law that the search has to charge for; the control is a unit of one row."""
    assert loss_of_a_selection(1) == pytest.approx(EPSILON)
    assert loss_of_a_selection(ROWS) == pytest.approx(ROWS * EPSILON)


@pytest.mark.parametrize("make", [tree, selector])
def test_a_rows_epsilon_is_not_taken_for_a_units(make: Any, tmp_path: Any) -> None:
    """Before anything is charged; and one row of each unit is one way out."""
    estimator = make() if make is tree else make_pipeline(make(), tree(1e-9))
    with dps.Ledger(f"sqlite:///{tmp_path}/budget.db") as ledger:
        ledger.open_account("people", epsilon=9.0, unit="row")
        for stated in (EPSILON, 1.2499):
            asked = search(estimator, stated, ledger=ledger, account="people")
            with pytest.raises(
                dps.errors.InvalidParameterError, match=r"^estimator_epsilon=\S+ expected at least 1\.25"
            ) as no:
                asked.fit(X, y, groups=PEOPLE)
            assert "A unit may have 5 rows; max_rows_per_unit=1 uses one of each." in str(no.value)
            assert "\n" not in str(no.value)
        assert ledger.remaining("people") == 9.0
    search(estimator, 1.2501).fit(X, y, groups=PEOPLE)
    search(estimator, 0.2501, max_rows_per_unit=1).fit(X, y, groups=PEOPLE)
    search(estimator, 0.2501).fit(X, y)  # without groups, each row is a unit


def test_what_is_charged_is_what_was_stated() -> None:
    asked = search(tree(), ROWS * EPSILON)
    assert asked.plan().epsilon_per_run == ROWS * EPSILON >= loss_of_a_selection(ROWS) * (1 - 1e-9)
    assert asked.fit(X, y, groups=PEOPLE).event_ == asked.plan().event


def test_a_tenth_is_rounded_as_mechanisms_round_it() -> None:
    """The double 0.1 is above a tenth, so that three of them are above three tenths."""
    voting = VotingClassifier([(name, tree(0.1)) for name in "abc"])
    with pytest.raises(dps.errors.InvalidParameterError, match=r"at least 0\.30000000000000004"):
        search(voting, 0.3).fit(X, y)
    search(voting, 0.30000000000000004).fit(X, y)
    search(tree(Fraction(1, 10)), 0.1).fit(X, y)  # type: ignore[arg-type]


BOTH = Pipeline([("best", selector()), ("clf", tree())])
SEVERAL = {
    "pipeline": (BOTH, 2),
    "union": (Pipeline([("all", FeatureUnion([("a", selector()), ("b", selector())])), ("clf", tree())]), 3),
    "columns": (Pipeline([("all", ColumnTransformer([("a", selector(), [0, 1])])), ("clf", tree())]), 2),
    "voting": (VotingClassifier([("a", tree()), ("b", BOTH)]), 3),
    "with others": (Pipeline([("scale", StandardScaler()), ("clf", tree())]), 1),
}


@pytest.mark.parametrize("kind", SEVERAL)
@pytest.mark.parametrize("rows", [1, ROWS])
def test_parts_add_up(kind: str, rows: int) -> None:
    estimator, parts = SEVERAL[kind]
    exact = parts * rows * EPSILON
    groups = {} if rows == 1 else {"groups": PEOPLE}
    with pytest.raises(dps.errors.InvalidParameterError, match=f"expected at least {exact!r}"):
        search(estimator, exact - 0.001).fit(X, y, **groups)
    search(estimator, exact).fit(X, y, **groups)


class Wrapper(ClassifierMixin, BaseEstimator):
    """Says what one fit of it costs, with all that it holds."""

    def __init__(self, epsilon: float = 1.0, inner: Any = None) -> None:
        self.epsilon = epsilon
        self.inner = inner

    def fit(self, X: Any, y: Any) -> Wrapper:
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), int)


class Silent(Wrapper):
    """The same, without saying so."""

    def __init__(self, inner: Any = None) -> None:
        self.inner = inner


@pytest.mark.parametrize(
    "estimator",
    [
        BaggingClassifier(tree(), n_estimators=3),
        OneVsRestClassifier(tree()),
        StackingClassifier([("a", tree())], final_estimator=tree()),
        Pipeline([("clf", BaggingClassifier(tree()))]),
        Silent({"a": [(1, tree())]}),
    ],
)
def test_what_may_fit_a_private_estimator_several_times_is_refused(estimator: Any) -> None:
    with pytest.raises(
        dps.errors.InvalidParameterError, match=r"^estimator=<\w+>: expected one of known cost\. .* VotingClass"
    ):
        search(estimator, 100.0).fit(X, y)


def test_an_estimator_may_state_its_own_cost() -> None:
    """No less than that of what it holds."""
    search(Wrapper(0.5, [tree(), tree()]), 0.5).fit(X, y)
    search(Wrapper(1.0, tree()), 1.0).fit(X, y)
    with pytest.raises(dps.errors.InvalidParameterError, match=r"at least 0\.75"):
        search(Wrapper(0.5, {"a": (tree(), [tree(), tree()])}), 0.7).fit(X, y)
    with pytest.raises(dps.errors.InvalidParameterError, match=r"at least 5\.0"):
        search(Wrapper(1.0), 4.9).fit(X, y, groups=PEOPLE)

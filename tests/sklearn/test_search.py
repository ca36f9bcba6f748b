"""The private search as scikit-learn sees it, what it costs, and what it refuses."""

from __future__ import annotations

import math
import re
import threading
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar
from unittest import SkipTest

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import dpselect as dps
from dpselect.sklearn import PrivateSearchCV, PrivateTreeClassifier

ANEW = "it expects the same model when fitted again; each fit divides the rows anew, and draws anew"
NOT_APPLICABLE = {
    "check_dtype_object": "it wants an error because of what one cell holds; here that cell counts as missing",
    "check_estimators_empty_data_messages": "it wants an error where there are no rows; how many there are is private",
    "check_classifiers_classes": "it fits labels that are not among the public classes",
    "check_classifiers_train": "it expects the classes that y has, not the public ones",
    "check_classifiers_regression_target": "it wants an error because of what a label is; here that row is left out",
    "check_supervised_y_no_nan": "it wants an error because of what a label is; here that row is left out",
    "check_supervised_y_2d": ANEW,
    "check_fit_idempotent": ANEW,
    "check_classifier_data_not_an_array": ANEW,
}
"""The same list, with the same reasons, is in ``docs/sklearn.md``."""

LEFT_OUT = {"check_pipeline_consistency", "check_array_api_input"}


class CountingClassifier(ClassifierMixin, BaseEstimator):
    """A naive private classifier: noisy counts of each class, for each value of one feature."""

    def __init__(self, epsilon: float = 1.0, feature: int = 0) -> None:
        self.epsilon = epsilon
        self.feature = feature

    def fit(self, X: Any, y: Any) -> CountingClassifier:
        counts = np.zeros((10, 2), np.int64)
        np.add.at(counts, (np.asarray(X)[:, self.feature].astype(int), np.asarray(y)), 1)
        noise = dps.GeometricMechanism(epsilon=self.epsilon, sensitivity=1)
        self.counts_ = noise.draw_many(counts.ravel()).reshape(counts.shape)
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.counts_[np.asarray(X)[:, self.feature].astype(int)].argmax(axis=1)


def people(rows: int = 1200) -> tuple[np.ndarray, np.ndarray]:
    """The second feature decides; the first and the third say nothing."""
    places = np.arange(rows)
    return np.column_stack([places % 3, places % 10, places % 7]), (places % 10 >= 5).astype(int)


def search(**changed: Any) -> PrivateSearchCV:
    settings: dict[str, Any] = {"estimator": CountingClassifier(), "configurations": {"feature": [0, 1, 2]}}
    settings |= {"estimator_epsilon": 1.0, "score_epsilon": 1.0, "expected_runs": 12}
    return PrivateSearchCV(**settings | changed)


def of_trees() -> PrivateSearchCV:
    tree = PrivateTreeClassifier(epsilon=1e9, classes=[0, 1, 2], bounds=(-10, 10), bins=20, depth=3)
    return PrivateSearchCV(tree, {"depth": [3]}, estimator_epsilon=1e9, score_epsilon=1e6, expected_runs=1.5)


@pytest.mark.sampled(5)
@pytest.mark.filterwarnings("ignore:fitted again:UserWarning")
@parametrize_with_checks([of_trees()], expected_failed_checks=lambda _: NOT_APPLICABLE)
def test_the_checks_of_scikit_learn(estimator: PrivateSearchCV, check: Any) -> None:
    try:
        check(estimator)
    except SkipTest as by_scikit_learn:
        said = str(by_scikit_learn)
        assert check.func.__name__ in LEFT_OUT
        assert "non deterministic" in said or "SCIPY_ARRAY_API" in said


def test_the_docs_say_which_checks_do_not_apply() -> None:
    page = (Path(dps.__file__).parents[2] / "docs" / "sklearn.md").read_text(encoding="utf-8")
    table, _, below = page.partition("These do not apply to `PrivateSearchCV`")[2].partition("\n\n`check_")
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(NOT_APPLICABLE)
    assert "`check_classifiers_one_label` fails in some runs, only because of the noise" in below


def test_the_configuration_that_decides_is_found() -> None:
    X, y = people()
    found = [search(expected_runs=100).fit(X, y) for _ in range(6)]
    best = next(each for each in found if each.best_params_ == {"feature": 1})
    assert (best.predict(X) == y).mean() > 0.95
    assert best.score(X, y) > 0.95
    assert best.classes_.tolist() == [0, 1]
    assert abs(best.best_score_ - 360) < 125  # about 0.3 of the rows, all of them right
    assert best.event_ == best.plan().event


def test_frames_keep_their_kind_and_functions_score_each_row() -> None:
    X, y = people(300)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    kinds: set[type] = set()

    def closeness(fitted: CountingClassifier, part: Any, labels: Any) -> Any:
        kinds.add(type(part))
        right = (fitted.predict(part) == labels).astype(float)
        return np.where(right > 0, 7.0, math.nan)  # clipped to 1; what is no number counts as 0

    fitted = search(scoring=closeness, score_epsilon=50.0, estimator_epsilon=50.0).fit(frame, pd.Series(y))
    assert kinds == {pd.DataFrame}
    assert fitted.best_score_ * 1024 % 1 == 0
    assert 0 <= fitted.best_score_ < 150
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c"]


def test_it_is_charged_once_and_before_the_first_run(tmp_path: Any) -> None:
    ledger = dps.Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.open_account("people", epsilon=3.0, unit="person")
    X, y = people(60)
    asked = search(ledger=ledger, account="people", unit="person")
    asked.fit(X, y)
    assert ledger.remaining("people") == pytest.approx(3.0 - asked.event_.epsilon)
    with pytest.raises(dps.errors.ChargeRefusedError):
        asked.fit(X, y)
    with pytest.raises(dps.errors.InvalidAccountError):
        search(ledger=ledger, account="people").fit(X, y)
    ledger.disconnect()


class Loud(CountingClassifier):
    def fit(self, X: Any, y: Any) -> Loud:
        warnings.warn("41 rows", stacklevel=2)
        super().fit(X, y)
        return self


def test_warnings_of_runs_are_not_shown() -> None:
    X, y = people(60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search(estimator=Loud()).fit(X, y)


class Broken(CountingClassifier):
    def fit(self, X: Any, y: Any) -> Broken:
        raise RuntimeError("41 rows")


class Marking(CountingClassifier):
    """Leaves traces wherever it can: in itself, in what it is given, and in its parameters."""

    seen: ClassVar[set[str]] = set()

    def __init__(self, epsilon: float = 1.0, feature: int = 0, notes: Any = None) -> None:
        super().__init__(epsilon, feature)
        self.notes = notes

    def fit(self, X: Any, y: Any) -> Marking:
        self.seen.add(repr([np.asarray(X).tolist(), np.asarray(y).tolist(), self.notes, hasattr(self, "fits_")]))
        super().fit(X, y)
        self.fits_ = getattr(self, "fits_", 0) + 1
        if self.notes is not None:
            self.notes.append("fitted")
        self._spoil(X)
        return self

    def predict(self, X: Any) -> np.ndarray:
        self.seen.add(repr(np.asarray(X).tolist()))
        found = super().predict(X)
        self._spoil(X)
        return found

    @staticmethod
    def _spoil(X: Any) -> None:
        if isinstance(X, list):
            for row in X:
                row[0] = 9
        elif isinstance(X, pd.DataFrame):
            X.iloc[:, 0] = 9
        else:
            X[:, 0] = 9


@pytest.mark.parametrize("kind", [np.asarray, np.ndarray.tolist, pd.DataFrame])
def test_no_run_leaves_traces_for_another(kind: Any) -> None:
    """Each one fits the same estimator on the same rows, so the released one shows nothing of their number."""
    X, y = people(60)
    Marking.seen.clear()
    shared, notes = Marking(), ["none"]
    values = {"clf": [shared], "clf__notes": [notes]}
    table = kind(X)
    for _ in range(3):
        fitted = search(
            estimator=Pipeline([("clf", CountingClassifier())]), configurations=values, expected_runs=50
        ).fit(table, y)
        assert len(Marking.seen) == 2  # what fit and predict got: always the same
        Marking.seen.clear()
        best = fitted.best_estimator_["clf"]
        assert best is not shared
        assert best.fits_ == 1
        assert best.notes == ["none", "fitted"]
        assert fitted.best_params_ == {"clf": shared, "clf__notes": ["none"]}
    assert not hasattr(shared, "fits_")
    assert np.array_equal(np.asarray(table), X)


def test_the_law_above_can_fail() -> None:
    X, y = people(60)
    Marking.seen.clear()
    one = Marking(notes=[])
    for _ in range(2):
        one.fit(X, y)
    assert len(Marking.seen) == one.fits_ == len(one.notes) == 2


def test_rows_without_a_unit_are_neither_fitted_on_nor_scored() -> None:
    X, y = people(60)
    for missing in (None, math.nan, pd.NaT, pd.NA):
        groups: list[Any] = list(range(30)) + [missing] * 30
        Marking.seen.clear()
        search(estimator=Marking(), configurations={"feature": [1]}, expected_runs=1.5).fit(X, y, groups=groups)
        used = [row for text in Marking.seen for row in re.findall(r"\[(\d+, \d+, \d+)\]", text)]
        assert sorted(used) == sorted(", ".join(map(str, row)) for row in X[:30].tolist())
    with pytest.raises(dps.errors.InvalidDataError, match="The charge stands"):  # there is nothing to learn from
        search(estimator=Broken()).fit(X, y, groups=[None] * 60)


def tree(**changed: Any) -> PrivateTreeClassifier:
    return PrivateTreeClassifier(**{"epsilon": 0.5, "classes": [0, 1]} | changed)


class Holder(CountingClassifier):
    """An estimator that keeps others where scikit-learn does not look for their parameters."""

    def __init__(self, epsilon: float = 0.5, feature: int = 0, inner: Any = None) -> None:
        super().__init__(epsilon, feature)
        self.inner = inner


LEDGER = {"ledger": "sqlite:///a.db", "account": "a"}
IN_PIPELINE = Pipeline([("clf", tree())])


@pytest.mark.parametrize(
    ("estimator", "values", "said"),
    [
        (IN_PIPELINE, {"clf": [tree(), tree(epsilon=50.0)]}, "estimator_epsilon=0.5.* at least 50.0. .* costs 50.0"),
        (IN_PIPELINE, {"clf": [tree()], "clf__epsilon": [0.5, 50.0]}, "estimator_epsilon=0.5.* at least 50.0"),
        (IN_PIPELINE, {"steps": [[("clf", tree(epsilon=50.0))]]}, "estimator_epsilon=0.5.* at least 50.0"),
        (Pipeline([("clf", tree(epsilon=0.6))]), {"clf__depth": [1]}, "estimator_epsilon=0.5.* at least 0.6"),
        (Holder(), {"inner": [[{"a": (tree(epsilon=50.0), 1)}]]}, "estimator_epsilon=0.5.* at least 50.0"),
        (IN_PIPELINE, {"clf__epsilon": ["1"]}, "epsilon=<str>: expected a finite number > 0"),
        (IN_PIPELINE, {"clf": [tree(**LEDGER)]}, "configurations=<clf__account>.* without a ledger"),
        (IN_PIPELINE, {"clf__ledger": ["sqlite:///a.db"]}, "configurations=<clf__ledger>.* without a ledger"),
        (IN_PIPELINE, {"clf__account": ["a"]}, "configurations=<clf__account>.* without a ledger"),
        (Pipeline([("clf", tree(**LEDGER))]), {"clf__depth": [1]}, "estimator=<clf__account>.* without a ledger"),
        (Holder(inner=[tree(**LEDGER)]), {"feature": [1]}, "estimator=<account>.* without a ledger"),
        (LogisticRegression(random_state=0), {"C": [1.0]}, "estimator=<random_state>.* draw the same noise"),
        (LogisticRegression(), {"random_state": [None, 7]}, "configurations=<random_state>.* Leave it None"),
        (IN_PIPELINE, {"clf": [LogisticRegression(random_state=0)]}, "configurations=<clf__random_state>"),
        (Holder(), {"inner": [np.random.default_rng(0)]}, "configurations=<inner>.* fixed random state"),
        (IN_PIPELINE, {"clf": [PrivateTreeClassifier]}, "configurations=<a configuration>.* can clone"),
        (IN_PIPELINE, {"clf": [threading.Lock()]}, "configurations=<a configuration>.* can clone"),
        (IN_PIPELINE, {"clf__depht": [1]}, "configurations='clf__depht': expected parameters of the estimator"),
        (PrivateTreeClassifier, {"depth": [1]}, r"estimator=<class PrivateTreeClassifier>.* PrivateTreeClassifier\("),
        (Holder(inner=threading.Lock()), {"feature": [1]}, "estimator=<Holder>.* can clone"),
        (tree(), [], "configurations=<list>.* a mapping"),
    ],
)
def test_each_configured_estimator_is_checked_before_anything_is_charged(
    estimator: Any, values: Any, said: str, tmp_path: Any
) -> None:
    ledger = dps.Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.open_account("people", epsilon=3.0, unit="person")
    given: dict[str, Any] = {"estimator": estimator, "configurations": values, "estimator_epsilon": 0.5}
    with pytest.raises(dps.errors.InvalidParameterError, match=f"^{said}"):
        search(**given, ledger=ledger, account="people", unit="person").fit(*people(20))
    assert ledger.remaining("people") == 3.0
    ledger.disconnect()


def test_only_what_is_fitted_is_checked() -> None:
    """A part that each configuration replaces is never fitted."""
    replaced = Pipeline([("clf", tree(epsilon=50.0, **LEDGER))])
    chosen = search(
        estimator=replaced, configurations={"clf": [tree(depth=1)]}, estimator_epsilon=0.5, expected_runs=1.5
    )
    assert chosen.fit(*people(60)).best_estimator_["clf"].depth == 1


def test_a_search_of_failures_says_so_and_not_why() -> None:
    X, y = people(60)
    with pytest.raises(dps.errors.InvalidDataError, match="The charge stands") as refused:
        search(estimator=Broken()).fit(X, y)
    assert "41" not in str(refused.value)


def test_an_estimator_without_an_epsilon_is_vouched_for() -> None:
    X, y = people(60)
    plain = PrivateSearchCV(
        LogisticRegression(), {"C": [0.5, 1.0]}, estimator_epsilon=1.0, score_epsilon=1.0, expected_runs=2
    )
    with pytest.warns(UserWarning, match="LogisticRegression has no parameter epsilon.* what you vouch for"):
        plain.fit(X, y)
    with warnings.catch_warnings(record=True) as said:
        search().fit(X, y)
    assert not said


def test_fitting_again_without_a_ledger_is_said() -> None:
    X, y = people(60)
    fitted = search().fit(X, y)
    with pytest.warns(UserWarning, match="its epsilon adds"):
        fitted.fit(X, y)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"estimator_epsilon": 0}, "estimator_epsilon"),
        ({"estimator_epsilon": 0.5}, "estimator_epsilon"),
        ({"configurations": {"epsilon": [0.5, 2.0]}}, "estimator_epsilon"),
        ({"score_epsilon": math.nan}, "score_epsilon"),
        ({"expected_runs": 1}, "expected_runs"),
        ({"configurations": {"depth": [3]}}, "configurations"),
        ({"configurations": 3}, "configurations"),
        ({"estimator": 3}, "estimator"),
        ({"scoring": "f1"}, "scoring"),
        ({"scoring_share": 0.9}, "scoring_share"),
        ({"max_rows_per_unit": 0}, "max_rows_per_unit"),
        ({"neighbours": "none"}, "neighbours"),
        ({"ledger": "sqlite:///nowhere.db"}, "account"),
        (
            {
                "estimator": PrivateTreeClassifier(epsilon=1.0, classes=[0, 1], ledger="sqlite:///a.db", account="a"),
                "configurations": {"depth": [1]},
            },
            "without a ledger",
        ),
    ],
)
def test_bad_arguments_fit_nothing(changed: dict[str, Any], named: str) -> None:
    X, y = people(20)
    with pytest.raises(dps.errors.InvalidParameterError, match=named):
        search(**changed).fit(X, y)


def test_bad_groups() -> None:
    X, y = people(20)
    with pytest.raises(dps.errors.InvalidDataError, match="groups"):
        search().fit(X, y, groups=[1, 2])
    for wrong, said in (((5, y), "X=5: expected rows"), ((X, 5), "y=5: expected one label for each row")):
        with pytest.raises(dps.errors.InvalidDataError, match=f"^{said}"):
            search().fit(*wrong)
    with pytest.raises(dps.errors.InvalidDataError, match=r"^groups=5"):
        search().fit(X, y, groups=5)
    with pytest.raises(dps.errors.InvalidDataError, match=r"^groups=<2 dimensions>"):
        search().fit(X, y, groups=[[1]] * 20)
    with pytest.raises(dps.errors.InvalidDataError, match="y"):
        search().fit(X, y[:3])


def test_noise_is_for_no_more_than_what_is_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the number is no double: the nearest one is larger than a tenth."""
    made: list[float] = []

    def mechanism(*, epsilon: Any, sensitivity: Any) -> dps.GeometricMechanism:
        made.append(dps.GeometricMechanism(epsilon=epsilon, sensitivity=sensitivity).epsilon)
        return dps.GeometricMechanism(epsilon=epsilon, sensitivity=sensitivity)

    monkeypatch.setattr("dpselect.sklearn.search.GeometricMechanism", mechanism)
    search(score_epsilon=Fraction(1, 10), expected_runs=1.5).fit(*people(20))
    assert Fraction(made[0]) <= Fraction(1, 10) < Fraction(0.1)


def test_a_run_costs_the_larger_of_fitting_and_scoring() -> None:
    for fitting, scoring in ((2.0, 1.0), (1.0, 2.0)):
        assert search(estimator_epsilon=fitting, score_epsilon=scoring).plan().epsilon_per_run == 2.0

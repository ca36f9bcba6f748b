"""The private tree as scikit-learn sees it, and as an account pays for it."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import dpselect as dps
from dpselect.sklearn import PrivateTreeClassifier

NOT_APPLICABLE = {
    "check_dtype_object": "it wants an error because of what one cell holds; here that cell counts as missing",
    "check_estimators_empty_data_messages": "it wants an error where there are no rows; how many there are is private",
    "check_classifiers_classes": "it fits labels that are not among the public classes",
    "check_classifiers_train": "it expects the classes that y has, not the public ones",
    "check_classifiers_regression_target": "it wants an error because of what a label is; here that row is left out",
    "check_supervised_y_no_nan": "it wants an error because of what a label is; here that row is left out",
}
"""The same list, with the same reasons, is in ``docs/sklearn.md``."""

BY_NOISE = {
    "check_fit_idempotent",
    "check_supervised_y_2d",
    "check_classifier_data_not_an_array",
    "check_classifiers_one_label",
}
"""These fail where there is noise. Without, they are among the checks below, and pass."""

LEFT_OUT = {"check_pipeline_consistency", "check_array_api_input"}


def tree(**changed: Any) -> PrivateTreeClassifier:
    settings: dict[str, Any] = {"epsilon": 50.0, "classes": [0, 1, 2], "bounds": (-10, 10), "bins": 20, "depth": 3}
    return PrivateTreeClassifier(**settings | changed)


@pytest.mark.sampled(7)
@pytest.mark.filterwarnings("ignore:fitted again:UserWarning")
@parametrize_with_checks([tree(epsilon=1e9)], expected_failed_checks=lambda _: NOT_APPLICABLE)
def test_the_checks_of_scikit_learn(estimator: PrivateTreeClassifier, check: Any) -> None:
    try:
        check(estimator)
    except SkipTest as by_scikit_learn:
        said = str(by_scikit_learn)
        assert check.func.__name__ in LEFT_OUT
        assert "non deterministic" in said or "SCIPY_ARRAY_API" in said


def test_the_docs_say_which_checks_do_not_apply_and_which_fail_by_noise() -> None:
    page = (Path(dps.__file__).parents[2] / "docs" / "sklearn.md").read_text(encoding="utf-8")
    table, _, below = page.partition("These do not apply to `PrivateTreeClassifier`")[2].partition("\n\nFor the tag")
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(NOT_APPLICABLE)
    own = below.partition("These do not apply to")[0]
    (noise,) = (line for line in own.splitlines() if "because of the noise" in line)
    assert set(re.findall(r"`(check_\w+)`", noise)) == BY_NOISE
    assert not BY_NOISE & set(NOT_APPLICABLE)


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore:fitted again:UserWarning", "ignore:A column-vector y:sklearn.exceptions.DataConversionWarning"
)
def test_these_fail_by_noise() -> None:
    """Each at some time, when it is run often enough; the control of the test above."""
    failed: set[str] = set()
    for _ in range(200):
        results = check_estimator(tree(epsilon=1.0), on_fail=None, on_skip=None)
        failed |= {each["check_name"] for each in results if each["status"] == "failed"}
        if failed >= BY_NOISE:
            return
    raise AssertionError(BY_NOISE - failed)


def test_labels_are_required_by_name() -> None:
    with pytest.raises(dps.errors.InvalidDataError, match=r"^y=None.* This estimator requires y to be passed"):
        tree().fit(np.zeros((3, 2)), None)


def stripes(rows: int = 900) -> tuple[np.ndarray, np.ndarray]:
    """Three classes by the second feature; the first says nothing."""
    places = np.arange(rows)
    return np.column_stack([places % 7, places % 9]).astype(float), places % 9 // 3


def test_what_separates_the_classes_is_learnt() -> None:
    X, y = stripes()
    fitted = tree(bounds=(0, 9), bins=9, epsilon=20.0).fit(X, y)
    assert fitted.score(X, y) > 0.95
    assert fitted.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(len(X)))


def test_names_bounds_and_text_labels() -> None:
    X, y = stripes()
    frame = pd.DataFrame(X, columns=["noise", "signal"])
    words = pd.Series(np.array(["low", "middle", "high"])[y])
    settings: dict[str, Any] = {"bounds": {"noise": (0, 7), "signal": (0, 9)}, "bins": {"noise": 7, "signal": 9}}
    fitted = tree(classes=["low", "middle", "high"], epsilon=20.0, **settings).fit(frame, words)
    assert (fitted.predict(frame) == words.to_numpy()).mean() > 0.95
    assert fitted.feature_names_in_.tolist() == ["noise", "signal"]
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame[["signal", "noise"]])


def test_missing_values_have_a_bin_of_their_own_and_bounds_may_be_left_out() -> None:
    X, y = stripes()
    X[y == 2, 1] = np.nan
    fitted = tree(bounds=None, bins=5, epsilon=30.0).fit(X, y)
    assert (fitted.predict(X)[y == 2] == 2).all()


def test_nothing_of_the_rows_is_kept() -> None:
    X, y = stripes(rows=3142)
    fitted = tree(epsilon=1.0).fit(X, y)
    known = {"n_features_in_", "tree_", "event_", "classes_", "_cuts"}
    assert set(vars(fitted)) == {*fitted.get_params(), *known}
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))


def test_fitting_again_without_a_ledger_is_said() -> None:
    X, y = stripes()
    fitted = tree().fit(X, y)
    with pytest.warns(UserWarning, match="its epsilon adds"):
        fitted.fit(X, y)


def test_each_fit_is_charged_until_the_account_is_empty(tmp_path: Path) -> None:
    X, y = stripes()
    url = f"sqlite:///{tmp_path / 'budget.db'}"
    ledger = dps.Ledger(url)
    ledger.open_account("people", epsilon=1.0, unit="person")
    asked = tree(epsilon=0.5, unit="person", ledger=url, account="people")
    asked.fit(X, y)
    assert ledger.remaining("people") == 0.5
    with pytest.raises(dps.errors.ChargeRefusedError):  # the second fold
        cross_val_score(clone(asked), X, y, cv=2, error_score="raise")
    with pytest.raises(dps.errors.ChargeRefusedError):
        asked.fit(X, y)
    assert ledger.remaining("people") < 0.5


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"unit": "row"}, dps.errors.InvalidAccountError),
        ({"neighbours": "replace_one"}, dps.errors.InvalidAccountError),
        ({"depth": 0}, dps.errors.InvalidParameterError),
        ({"classes": [0]}, dps.errors.InvalidParameterError),
        ({"criterion": "entropy"}, dps.errors.InvalidParameterError),
        ({"account": None}, dps.errors.InvalidParameterError),
        ({"bounds": (1, 0)}, dps.errors.InvalidParameterError),
    ],
)
def test_what_is_refused_costs_nothing(tmp_path: Path, changed: dict[str, Any], error: type[Exception]) -> None:
    url = f"sqlite:///{tmp_path / 'budget.db'}"
    ledger = dps.Ledger(url)
    ledger.open_account("people", epsilon=1.0, unit="person")
    with pytest.raises(error):
        tree(**{"epsilon": 0.5, "unit": "person", "ledger": url, "account": "people"} | changed).fit(*stripes())
    assert ledger.remaining("people") == 1.0


def test_a_password_is_not_kept() -> None:
    asked = tree(ledger="postgresql://ann:SENTINEL@localhost/none", account="people")
    with pytest.raises(dps.errors.InvalidParameterError) as refused:
        asked.fit(*stripes())
    assert "SENTINEL" not in str(refused.value)

"""The selector as scikit-learn sees it: its own checks, pipelines, names, clones."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import dpselect as dps
from dpselect.sklearn import PrivateSelectKBest
from tests.sklearn.read_rows import names_of

NOT_APPLICABLE = {
    "check_dtype_object": "it wants an error because of what one cell holds; here that cell counts as missing",
    "check_estimators_empty_data_messages": "it wants an error where there are no rows; how many there are is private",
    "check_fit_idempotent": "each fit is a new draw",
}
"""The same list, with the same reasons, is in ``docs/sklearn.md``."""

LEFT_OUT = {
    "check_pipeline_consistency",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
    "check_array_api_input",
}
"""What scikit-learn does not ask of a selector that draws, or without a setting of the whole process."""


def selector(k: int = 1, **changed: Any) -> PrivateSelectKBest:
    return PrivateSelectKBest(k, **{"epsilon": 1.0, "classes": [0, 1, 2], "bounds": (-4, 4)} | changed)


@pytest.mark.sampled(18)
@pytest.mark.filterwarnings("ignore:fitted again:UserWarning")
@parametrize_with_checks(
    [selector(), selector(neighbours="replace_one", delta=1e-6)], expected_failed_checks=lambda _: NOT_APPLICABLE
)
def test_the_checks_of_scikit_learn(estimator: PrivateSelectKBest, check: Any) -> None:
    try:
        check(estimator)
    except SkipTest as by_scikit_learn:
        said = str(by_scikit_learn)
        assert check.func.__name__ in LEFT_OUT
        assert "non deterministic" in said or "SCIPY_ARRAY_API" in said


def informative(rows: int = 400, *, place: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Of three features the one at `place` tells the classes apart; the others are the same for all rows."""
    y = np.arange(rows) % 2
    X = np.zeros((rows, 3))
    X[:, place] = np.where(y == 1, 3.0, -3.0)
    return X, y


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_feature_that_tells_the_classes_apart_is_kept(place: int) -> None:
    X, y = informative(place=place)
    fitted = selector().fit(X, y)  # 400 rows right against 200: another one is kept with probability e^-200
    assert fitted.selected_.tolist() == [place]
    assert fitted.get_support().tolist() == [each == place for each in range(3)]
    assert np.array_equal(fitted.transform(X), X[:, [place]])


def test_names_are_those_of_the_frame() -> None:
    X, y = informative()
    frame = pd.DataFrame(X, columns=["height", "income", "weight"])
    fitted = selector(2, bounds={"weight": (0, 1), "income": (-4, 4), "height": (0, 1)}).fit(frame, y)
    assert fitted.release_.value[0] == "income"
    assert set(fitted.get_feature_names_out()) == set(fitted.release_.value)
    kept = fitted.set_output(transform="pandas").transform(frame)
    assert list(kept.columns) == list(fitted.get_feature_names_out())


def test_features_without_names_or_with_equal_ones_are_told_apart_by_position() -> None:
    for names in (None, [0, 1], ["a", "a"], ["a", ""], ["a"]):
        assert names_of(names, 2) == range(2)
    assert names_of(np.array(["a", "b"], dtype=object), 2) == ("a", "b")


def test_before_fit_there_is_nothing() -> None:
    with pytest.raises(NotFittedError):
        selector().get_support()
    with pytest.raises(NotFittedError):
        selector().transform(np.zeros((2, 3)))


def test_in_a_pipeline_and_frozen_in_folds() -> None:
    X, y = informative()
    once = selector().fit(X, y)
    frozen = make_pipeline(FrozenEstimator(once), DecisionTreeClassifier(max_depth=1))
    release = once.release_
    assert cross_val_score(frozen, X, y, cv=3).tolist() == [1.0, 1.0, 1.0]
    assert once.release_ is release
    assert make_pipeline(selector(), DecisionTreeClassifier()).fit(X, y).score(X, y) == 1.0


def test_a_clone_has_drawn_nothing() -> None:
    X, y = informative()
    copied = clone(selector(class_weights=[1, 2, 3]).fit(X, y))
    assert not hasattr(copied, "release_")
    assert copied.get_params()["class_weights"] == [1, 2, 3]


def test_fitting_again_without_a_ledger_is_said() -> None:
    X, y = informative()
    fitted = selector().fit(X, y)
    with pytest.warns(UserWarning, match="its epsilon adds"):
        fitted.fit(X, y)


def test_a_fitted_selector_holds_no_scores() -> None:
    X, y = informative(rows=3142)
    fitted = selector().fit(X, y)
    assert sorted(vars(fitted)) == sorted([*fitted.get_params(), "n_features_in_", "release_", "selected_"])
    for private in (3142, 1571):
        assert str(private) not in repr(fitted) + str(fitted.release_) + fitted.release_.to_json()
        assert pickle.dumps(private)[2:-1] not in pickle.dumps(fitted, protocol=0)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.release_.to_json() == fitted.release_.to_json()


def test_the_package_does_not_import_scikit_learn_by_itself() -> None:
    code = "import sys, dpselect; dpselect.Dataset, dpselect.planning; print('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_without_scikit_learn_the_extra_is_named() -> None:
    code = "import sys; sys.modules['sklearn'] = None; import dpselect.sklearn"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr
    assert "pip install '.[sklearn]'" in said.splitlines()[-1]


def test_the_docs_say_which_checks_do_not_apply() -> None:
    page = (Path(dps.__file__).parents[2] / "docs" / "sklearn.md").read_text(encoding="utf-8")
    assert all(f"`{check}`" in page for check in (*NOT_APPLICABLE, *LEFT_OUT))

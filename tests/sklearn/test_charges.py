"""Each fit is a release: charged first, refused when nothing is left, free under its request id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import dpselect as dps
from dpselect import verify
from dpselect.sklearn import PrivateSelectKBest

X = np.array([[0, 3], [3, 3], [3, 0], [0, 0]] * 30)
Y = X[:, 0]


def opened(path: Path, **limits: Any) -> str:
    ledger = f"sqlite:///{path / 'budget.db'}"
    dps.Ledger(ledger).open_account("people", unit="person", **limits)
    return ledger


def selector(ledger: Any, **changed: Any) -> PrivateSelectKBest:
    settings = {"epsilon": 0.5, "classes": [0, 3], "bounds": (0, 4), "unit": "person", "account": "people"}
    return PrivateSelectKBest(1, ledger=ledger, **settings | changed)


def test_each_fit_is_charged_until_the_account_is_empty(tmp_path: Path) -> None:
    asked = selector(opened(tmp_path, epsilon=1.0))
    receipts = [asked.fit(X, Y).release_.receipt, clone(asked).fit(X, Y).release_.receipt]
    assert [receipt["sequence"] for receipt in receipts if receipt] == [1, 2]
    before = asked.release_
    with pytest.raises(dps.errors.ChargeRefusedError):
        asked.fit(X, Y)
    assert asked.release_ is before


def test_cross_validation_is_charged_for_each_fold(tmp_path: Path) -> None:
    asked = make_pipeline(selector(opened(tmp_path, epsilon=1.0)), DecisionTreeClassifier())
    with pytest.raises(dps.errors.ChargeRefusedError):
        cross_val_score(asked, X, Y, cv=3, error_score="raise")


def test_under_one_request_id_the_answer_is_the_stored_one(tmp_path: Path) -> None:
    ledger = opened(tmp_path, epsilon=0.5)
    first = selector(ledger, request="r1").fit(X, Y)
    again = selector(ledger, request="r1").fit(X[::-1, ::-1], Y)  # whatever is handed over
    assert again.release_.to_json() == first.release_.to_json()
    assert again.selected_.tolist() == first.selected_.tolist()
    with pytest.raises(dps.errors.RequestReusedError):
        selector(ledger, request="r1", bounds=(0, 5)).fit(X, Y)


@pytest.mark.parametrize("changed", [{"bins": 3}, {"classes": [3, 0]}, {"class_weights": [1, 2]}, {"bounds": (0, 3)}])
def test_another_question_is_another_question(tmp_path: Path, changed: dict[str, Any]) -> None:
    ledger = opened(tmp_path, epsilon=9.0, delta=1e-6)
    selector(ledger, request="r1").fit(X, Y)
    with pytest.raises(dps.errors.RequestReusedError):
        selector(ledger, request="r1", **changed).fit(X, Y)


def test_the_account_protects_the_same_unit_under_the_same_relation(tmp_path: Path) -> None:
    ledger = opened(tmp_path, epsilon=9.0)
    for changed in ({"unit": "row"}, {"neighbours": "replace_one"}):
        with pytest.raises(dps.errors.InvalidAccountError):
            selector(ledger, **changed).fit(X, Y)
    assert dps.Ledger(ledger).open_account("both", epsilon=1.0, unit="person", neighbours="replace_one")
    assert selector(ledger, account="both", neighbours="replace_one").fit(X, Y).release_.receipt


@pytest.mark.parametrize("changed", [{}, {"neighbours": "replace_one"}, {"class_weights": [1, 9], "delta": 1e-6}])
def test_certificates_are_recomputed(changed: dict[str, Any]) -> None:
    settings = {"epsilon": 0.5, "classes": [0, 3], "bounds": (0, 4)} | changed
    release = PrivateSelectKBest(2, **settings).fit(X, Y).release_
    checked = verify(release.to_json())
    assert checked.error_bound
    assert checked.epsilon <= 0.5
    for old, new in (('"classes": 2', '"classes": 1'), ('"weighted rows"', '"ranks"'), ('"rounds": 1', '"rounds": 2')):
        with pytest.raises(dps.errors.InvalidCertificateError):
            verify(release.to_json().replace(old, new))
    assert "the best rule on each selected feature is right about at most" in release.accuracy


def test_a_ledger_with_a_password_is_shown_without_it(tmp_path: Path) -> None:
    ledger = dps.Ledger(opened(tmp_path, epsilon=9.0))
    fitted = clone(selector(ledger)).fit(X, Y)
    assert fitted.release_.receipt
    shown = selector(dps.Ledger("postgresql://ann:SENTINEL@localhost/none"))
    assert "SENTINEL" not in repr(shown) + str(shown.get_params())

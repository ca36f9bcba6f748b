"""What a private search refuses before anything is charged: runs that cost more than is said, or share something."""

from __future__ import annotations

import random
import threading
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

import dpselect as dps
from dpselect.sklearn import PrivateSearchCV, PrivateSelectKBest, PrivateTreeClassifier

X = np.array([[age, 70 - age % 7] for age in range(20, 60)] * 10)
y = X[:, 0] >= 40


def tree(**changed: Any) -> PrivateTreeClassifier:
    return PrivateTreeClassifier(**{"epsilon": 1.0, "classes": [0, 1], "bounds": (0, 100)} | changed)


def search(estimator: Any, values: Any = None, **changed: Any) -> PrivateSearchCV:
    settings: dict[str, Any] = {"estimator_epsilon": 1.0, "score_epsilon": 1.0, "expected_runs": 5}
    return PrivateSearchCV(estimator, values or {}, **settings | changed)


class Holder(ClassifierMixin, BaseEstimator):
    """A model that says nothing of the rows, and keeps what it is given."""

    shared: ClassVar[Any] = None

    def __init__(self, epsilon: float = 1.0, inner: Any = None) -> None:
        self.epsilon = epsilon
        self.inner = inner
        self.kept = self.shared

    def fit(self, X: Any, y: Any) -> Holder:
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), int)


class OneForAll(Holder):
    def __sklearn_clone__(self) -> OneForAll:
        return self


class OneForCopiesToo(OneForAll):
    def __deepcopy__(self, memo: Any) -> OneForCopiesToo:
        return self


class Registered(Holder):
    """Its clones share a list, and its copies do not."""

    shared: ClassVar[Any] = []


class Locked(Holder):
    """It can be cloned and not copied."""

    shared: ClassVar[Any] = threading.Lock()


def in_pipeline(step: Any, **changed: Any) -> Pipeline:
    return Pipeline([("clf", step)], **changed)


NOISE = "the same noise"
SHARED = r"share nothing\. Runs that share"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (search(tree(delta=0.5, depth=8)), "estimator=<delta>.* whose delta is 0"),
        (search(tree(delta="1")), "estimator=<delta>.* whose delta is 0"),
        (search(tree(), {"delta": [0.0, 1e-9]}), "configurations=<delta>.* whose delta is 0"),
        (search(in_pipeline(tree(delta=0.5))), "estimator=<clf__delta>.* whose delta is 0"),
        (search(Holder(inner={"a": (tree(delta=0.5),)})), "estimator=<delta>.* whose delta is 0"),
        (search(tree(), neighbours="replace_one"), "estimator=<neighbours>.* neighbours='replace_one'"),
        (search(tree(neighbours="replace_one")), "estimator=<neighbours>.* neighbours='add_remove'"),
        (search(in_pipeline(tree()), neighbours="replace_one"), "estimator=<clf__neighbours>"),
        (search(tree(neighbours=np.zeros(2))), "estimator=<neighbours>"),
        (search(search(tree(), {"depth": [1]})), "estimator=<estimator_epsilon>.* not a search itself"),
        (search(in_pipeline(search(tree(), {"depth": [1]}))), "estimator=<clf__estimator_epsilon>.* not a search"),
        (search(Holder(inner=[search(tree())])), "estimator=<estimator_epsilon>.* not a search itself"),
        (search(Holder(), {"inner": [search(tree())]}), "configurations=<inner__estimator_epsilon>.* not a search"),
        (search(in_pipeline(tree(), memory="/nowhere")), "estimator=<memory>.* without a cache"),
        (search(in_pipeline(tree()), {"memory": ["/nowhere"]}), "configurations=<memory>.* without a cache"),
        (search(Holder(inner=[np.random.default_rng(0)])), f"estimator=<PCG64>.* {NOISE}"),
        (search(Holder(inner=(1, (random.Random(0),)))), f"estimator=<Random>.* {NOISE}"),
        (search(Holder(inner={"a": [{"b": np.random.RandomState(0)}]})), f"estimator=<MT19937>.* {NOISE}"),
        (search(Holder(), {"inner": [[np.random.PCG64(0)]]}), f"estimator=<PCG64>.* {NOISE}"),
        (search(Holder(inner={np.random.default_rng(0)})), f"estimator=<PCG64>.* {NOISE}"),
        (search(OneForAll()), f"estimator=<OneForAll>.* {SHARED}"),
        (search(in_pipeline(OneForAll())), f"estimator=<Pipeline>.* {SHARED}"),
        (search(Holder(inner=[OneForAll()])), f"estimator=<Holder>.* {SHARED}"),
        (search(OneForCopiesToo()), f"estimator=<OneForCopiesToo>.* {SHARED}"),
        (search(in_pipeline(OneForCopiesToo())), f"estimator=<Pipeline>.* {SHARED}"),
        (search(in_pipeline(tree()), {"clf": [tree(), OneForCopiesToo()]}), f"estimator=<Pipeline>.* {SHARED}"),
        (search(Holder(inner={"a": [OneForCopiesToo()]})), f"estimator=<Holder>.* {SHARED}"),
        (search(Pipeline([("a", FrozenEstimator(tree())), ("b", tree())])), f"estimator=<Pipeline>.* {SHARED}"),
        (search(Locked()), "estimator=<Locked>.* can clone and copy"),
    ],
)
def test_what_would_cost_more_or_be_shared_is_refused(asked: PrivateSearchCV, said: str, tmp_path: Any) -> None:
    ledger = dps.Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.open_account("people", epsilon=3.0, unit="row")
    with pytest.raises(dps.errors.InvalidParameterError, match=f"^{said}"):
        asked.set_params(ledger=ledger, account="people").fit(X, y)
    assert ledger.remaining("people") == 3.0
    ledger.disconnect()


SELECTOR = PrivateSelectKBest(1, epsilon=0.5, classes=[0, 1], bounds=(0, 100))


@pytest.mark.parametrize(
    "asked",
    [
        search(tree(delta=0)),
        search(tree(neighbours=dps.Neighbours.REPLACE_ONE), neighbours="replace_one"),
        search(Pipeline([("best", SELECTOR), ("clf", tree(epsilon=0.5))]), {"clf__depth": [1, 2]}),
        search(VotingClassifier([("a", tree(epsilon=0.5)), ("b", tree(epsilon=0.5))])),
        search(Holder(inner=[np.zeros(3), {"a": ("b", {7})}, tree(epsilon=0.5)])),
    ],
)
def test_others_are_fitted(asked: PrivateSearchCV) -> None:
    asked.fit(X, y)


@pytest.mark.parametrize("estimator", [Registered(), in_pipeline(Registered()), Registered(inner=[Holder(0.25)])])
def test_runs_share_nothing_even_where_clones_do(estimator: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run fits, and all that is in it, no other run sees, nor whoever asked."""
    seen: list[Any] = []

    def fit(self: Any, X: Any, y: Any) -> Any:
        for each in (self, *(self.inner or ())):
            assert not hasattr(each, "classes_")
            each.classes_ = np.array([0, 1])
            seen.append(each)
        if self.kept is not None:
            self.kept.append("seen")
            assert len(self.kept) == 1
        return self

    monkeypatch.setattr(Holder, "fit", fit)
    monkeypatch.setattr("dpselect.mechanisms.best_of_runs.RunCount.draw", lambda *_, **__: 5)
    is_step = isinstance(estimator, Pipeline)
    best = search(estimator, {"clf__epsilon" if is_step else "epsilon": [0.5]}).fit(X, y).best_estimator_
    assert (estimator[-1] if is_step else estimator).epsilon == 1.0
    fitted = best[-1] if is_step else best
    assert fitted.epsilon == 0.5
    assert len(seen) == len({*map(id, seen)}) == 5 * (1 + len(fitted.inner or ()))
    assert any(fitted is each for each in seen)
    assert Registered.shared == []


def test_groups_are_refused_where_units_are_replaced() -> None:
    """By the arguments alone. A group that becomes None would change the number of rows, which may be public then."""
    asked = search(tree(neighbours="replace_one"), neighbours="replace_one")
    with pytest.raises(dps.errors.InvalidParameterError, match=r"^groups=<given>: expected None with neighbours"):
        asked.fit(X, y, groups=[None] * len(y))
    search(tree()).fit(X, y, groups=np.arange(len(y)))

"""Which features predict a class best: the question of `dpselect.sklearn.PrivateSelectKBest`, about arrays."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Annotated, Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from dpselect import questions
from dpselect.questions.arguments import Argument, DeltaIfLess, Epsilon, K
from dpselect.questions.declared import Columns, Price, Question
from dpselect.summaries import PublicCandidates, PublicFeatures

Features = Annotated[object, Argument("list", "Names of the features.")]
Weights = Annotated[Sequence[int], Argument("levels", "What a row of each class counts for.")]
Settings = Annotated[str, Argument("text", "Hash of the bins and of the labels of the classes.")]


class BestFeatures(Question, name="best_features"):
    """The `k` features that predict the class of a row best, each by itself. It is asked by an estimator, of arrays."""

    column: Annotated[str, Argument("text", "What the candidates are.")] = "features"
    features: Features
    k: K
    weights: Weights
    settings: Settings
    epsilon: Epsilon
    delta: DeltaIfLess = 0.0

    def lists(self, planned: Any, /) -> dict[str, Any]:
        return {"features": planned.choices.words()}

    def planned(self, columns: Columns, /, **price: Unpack[Price]) -> questions.Question[Any]:
        names = PublicCandidates.given(self.features, argument="features")
        weights = tuple(map(int, self.weights))
        features = PublicFeatures(names=names, bins=(), weights=weights)  # rows are tallied by who has them
        return questions.BestFeatures.planned(features, self.k, delta=self.delta, **price)


def settings_hash(*settings: object) -> str:
    """Of public settings, which a certificate does not list: of arrays all numbers count."""
    return sha256(repr([_exact(each) for each in settings]).encode()).hexdigest()


def _exact(setting: Any) -> Any:
    if isinstance(setting, np.ndarray):
        numbers = cast("NDArray[Any]", setting)
        return str(numbers.dtype), numbers.shape, numbers.tobytes()
    return [_exact(each) for each in cast("list[Any]", setting)] if isinstance(setting, list | tuple) else setting

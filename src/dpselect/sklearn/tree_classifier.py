"""A decision tree classifier that is fitted privately."""

# scikit-learn comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUntypedBaseClass=false, reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from dpselect.accounting import Run
from dpselect.ledger import Ledger
from dpselect.privacy import neighbouring_relation
from dpselect.questions.features import settings_hash
from dpselect.questions.words import identity_text
from dpselect.recipes import DecisionTree, GrownTree
from dpselect.rows.frames import check_distinct_names
from dpselect.sklearn.reading import (
    Bins,
    Features,
    column,
    distinct_classes,
    feature_bins,
    feature_names,
    numbers,
    positions,
)
from dpselect.sklearn.select_k_best import ledger_of


class PrivateTreeClassifier(ClassifierMixin, BaseEstimator):
    """A decision tree whose splits and leaves are (`epsilon`, `delta`)-differentially private *of a row*.

    **One row has to be everything that one person (or other unit) contributes.** In each level every node selects one
    of all (feature, cut) pairs by the exact private selection of this library, with half of the published noise, as
    these scores are monotone when a row is added or removed. Each leaf releases a noisy count of each class. Nothing
    else of the rows is kept: predictions cost nothing.

    **Every** ``fit`` **is a separate release and costs** `epsilon` **again**, including each refit, each fitted clone
    and each fold of a cross-validation. With a ledger each fit is charged before it is drawn, and refused if the
    account is empty. To choose among settings, use `PrivateSearchCV` or set them by public knowledge.

    As everywhere in scikit-learn, nothing is checked before ``fit``. ``fit`` checks arguments, types and shapes; the
    contents of rows never decide whether it fails.

    Args:
        epsilon: privacy loss of one fit, > 0.
        classes: the public list of labels, at least two, all text or all numbers. Never taken from ``y``. A row with
            another label is left out.
        bounds: smallest and largest value of a feature, public as well; as for `PrivateSelectKBest`. None, the default:
            bins that grow with the numbers.
        bins: number of bins for each feature, or one number for each; cuts lie between bins. A missing value belongs to
            a bin of its own, above the others.
        depth: levels of splits, from 1 to 12.
        criterion: ``"gini"``, ``"max"`` or ``"entropy"``, which has the most noise.
        most_rows: a public bound on the number of rows; only ``"entropy"`` needs it.
        leaf_share: the part of epsilon that the counts in the leaves cost.
        delta: probability with which the guarantee may fail, from 0 to below 1.
        neighbours: ``"add_remove"``, with a private number of rows, or ``"replace_one"``, with twice the noise.
        unit: your name for what a row represents; with a ledger, the unit that the account protects.
        ledger: a `dpselect.Ledger` or its URL, without a password in it. Requires `account`.
        account: name of the account to which each fit is charged.

    Attributes:
        tree_: the `dpselect.recipes.GrownTree`: released, so it may be shown.
        event_: what the fit cost, for accounting.
        classes_: the labels.
        n_features_in_: number of features seen in ``fit``.
        feature_names_in_: their names, if ``X`` had any.

    ``fit`` raises `InvalidParameterError` or `InvalidDataError`, both of them a ``ValueError``, or what the ledger
    raises (see `dpselect.Ledger.charge`); nothing is drawn then.

    Proof: ``proofs/split_scores.md``.

    >>> import numpy as np
    >>> X = np.array([[age, 70 - age % 7] for age in range(20, 60)] * 50)
    >>> y = np.where(X[:, 0] < 40, "young", "old")
    >>> tree = PrivateTreeClassifier(epsilon=2.0, classes=["old", "young"], bounds=(0, 100), depth=2).fit(X, y)
    >>> tree.predict([[25, 66], [55, 66]]).tolist()
    ['young', 'old']
    """

    def __init__(
        self,
        *,
        epsilon: float,
        classes: object,
        bounds: object = None,
        bins: object = 10,
        depth: int = 4,
        criterion: str = "gini",
        most_rows: int | None = None,
        leaf_share: float = 0.2,
        delta: float = 0.0,
        neighbours: str = "add_remove",
        unit: str = "row",
        ledger: Ledger | str | Path | None = None,
        account: str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.classes = classes
        self.bounds = bounds
        self.bins = bins
        self.depth = depth
        self.criterion = criterion
        self.most_rows = most_rows
        self.leaf_share = leaf_share
        self.delta = delta
        self.neighbours = neighbours
        self.unit = unit
        self.ledger = ledger
        self.account = account

    def fit(self, X: Any, y: Any) -> PrivateTreeClassifier:
        """Charge, if there is a ledger, and grow the tree: one release from the rows.

        Args:
            X: shape ``(rows, features)``, a dense array, data frame or list of rows, of numbers. Each value is read
                alone; anything that is not a number is missing.
            y: shape ``(rows,)``, the label of each row.
        """
        table = numbers(X)
        labels = distinct_classes(self.classes)
        classes = positions(y, labels, rows=table.rows)
        if getattr(y, "ndim", 1) == 2:
            said = "A column-vector y was passed when a 1d array was expected: y.ravel()"
            warnings.warn(said, DataConversionWarning, stacklevel=2)
        check_distinct_names(X, argument="X")
        validate_data(self, X, skip_check_array=True)  # the names and the number of features
        names = feature_names(getattr(self, "feature_names_in_", None), len(table.columns))
        self._cuts: tuple[Bins, ...] = feature_bins(self.bounds, self.bins, names, classes=len(labels))
        planned = DecisionTree(
            epsilon=self.epsilon,
            bins=tuple(cut.count + 1 for cut in self._cuts),
            classes=len(labels),
            depth=self.depth,
            criterion=cast(Any, self.criterion),
            most_rows=self.most_rows,
            leaf_share=self.leaf_share,
            delta=self.delta,
            neighbours=neighbouring_relation(self.neighbours),
        )
        codes = self._codes(table)
        ledger = ledger_of(self, fitted="tree_")
        if ledger is not None:
            settings = {name: value for name, value in self.get_params().items() if name not in ("ledger", "account")}
            question = {"ask": "tree", "settings": settings_hash(sorted(settings.items()), labels)}
            run = Run(event=planned.event, mechanism="DecisionTree", neighbours=planned.neighbours, unit=self.unit)
            ledger.charge(str(self.account), run, question=identity_text(question, unit=self.unit))
        self.tree_: GrownTree = planned.grow(codes, classes)
        self.event_ = planned.event
        self.classes_ = np.array(labels)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The most frequent class of each row's leaf, shape ``(rows,)``; no further cost."""
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The noisy shares of the classes in each row's leaf, shape ``(rows, classes)``; no further cost."""
        check_is_fitted(self)
        table = numbers(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self.tree_.shares()[self.tree_.apply(self._codes(table))]

    def _codes(self, table: Features) -> NDArray[np.int64]:
        """The bin of each row in each feature; a missing value has the last one."""
        codes = np.empty(table.shape, np.int64)
        for place, cut in enumerate(self._cuts):
            values = column(table, place)
            codes[:, place] = np.where(np.isnan(values), cut.count, cut.places(values))
        return codes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = True
        return tags

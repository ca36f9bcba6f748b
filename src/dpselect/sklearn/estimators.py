"""What is fitted privately on rows: a selector of the k best features, and a decision tree classifier."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from dpselect.accounting import Run
from dpselect.certificates.release import Release, identity_text
from dpselect.checks import positive_counts
from dpselect.errors import InvalidParameterError, Shown, may_hold_password
from dpselect.ledger import Ledger
from dpselect.privacy import neighbouring_relation
from dpselect.questions.query import Query
from dpselect.questions.selection import BestFeatures
from dpselect.recipes import DecisionTree, GrownTree
from dpselect.rows.scan import Source
from dpselect.session.answering import Spending, TableQuestion
from dpselect.sklearn import reading
from dpselect.summaries import CandidateTotals, PublicBins, PublicCandidates


def _labelled(
    estimator: Any, X: Any, y: Any
) -> tuple[Sequence[Source], tuple[object, ...], NDArray[np.int64], PublicCandidates]:
    """The rows, the public labels, which of them each row has, and the names of the features; nothing is drawn."""
    table = reading.numbers(X)
    labels = reading.distinct_classes(estimator.classes)
    classes = reading.positions(y, labels, rows=table[0].size)
    validate_data(estimator, X, skip_check_array=True)  # the names and the number of features
    return table, labels, classes, reading.feature_names(getattr(estimator, "feature_names_in_", None), len(table))


@dataclass(eq=False, repr=False, kw_only=True)
class Charged(BaseEstimator):
    """An estimator of which each fit is a release, charged to a ledger if there is one."""

    neighbours: str = "add_remove"
    unit: str = "row"
    ledger: Ledger | str | Path | None = None
    account: str | None = None

    def _spending(self, *, fitted: str) -> Spending:
        """What charges the account. Without one it warns if the estimator was `fitted`, as an attribute tells.

        Parameters are shown by the estimator's ``repr`` and kept by its pickles, so a URL has no password.
        """
        if isinstance(self.ledger, str) and self.ledger.startswith("postgres") and may_hold_password(self.ledger):
            hint = "The estimator's repr would show it. Give dpselect.Ledger(url) instead, whose repr does not."
            raise InvalidParameterError("ledger", Shown("<URL with a password>"), "a URL without one", hint)
        spending = Spending(self.ledger, self.account)
        if self.ledger is None and hasattr(self, fitted):
            said = "fitted again without a ledger: this is another release, and its epsilon adds to earlier ones"
            warnings.warn(said, stacklevel=3)
        return spending

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        tags.non_deterministic = True
        return tags


@dataclass(eq=False, repr=False)
class PrivateSelectKBest(SelectorMixin, Charged):
    """Selects the `k` features that each, by itself, classify the most rows correctly.

    The private counterpart of scikit-learn's ``SelectKBest``. Each feature is cut into public bins; its score is the
    number of rows whose class is the most frequent one in their bin. A row changes each score by at most 1, so the `k`
    winners can be drawn with (`epsilon`, `delta`)-differential privacy *of a row*: **one row has to be everything that
    one person (or other unit) contributes.** Scores are never stored: only the selected features are released, and each
    fit is a new draw.

    **Every** ``fit`` **is a separate release and costs** `epsilon` **again**, including each refit, each fitted clone
    and each fold of a cross-validation. With a ledger each fit is charged before it is drawn, and refused if the
    account is empty. Without one you have to add up the costs, and only fitting the same object again gives a warning.
    ``docs/sklearn.md`` shows how to select once and use the features in many folds.

    As everywhere in scikit-learn, nothing is checked before ``fit``. ``fit`` checks arguments, types and shapes; the
    contents of rows never decide whether it fails.

    Args:
        k: number of features to select, from 1 to the number of features.
        epsilon: privacy loss of one fit, of all `k` selections together, > 0.
        classes: the public list of labels, at least two, all text or all numbers. Never taken from ``y``: a class that
            only one person has would reveal that person. A row with another label is left out.
        bounds: smallest and largest value of a feature, public as well; values beyond a bound count as that bound. One
            pair for all features, a list of pairs, or a mapping from the names of a data frame's columns to pairs. None
            in place of a pair, the default: bins that grow with the numbers, for which nothing has to be known.
        bins: number of bins of equal width for each feature (without bounds, for each factor of ten), or one such
            number per feature. A missing value (NaN, ``None``, anything that is not a number) has a bin of its own.
        class_weights: weight of a row of each class, whole numbers from 1 to 2^20 in the order of `classes`, such as
            ``[1, 20]`` if the second class is rare. Public: not the frequencies of ``y``. The noise grows with the
            highest weight. None: 1 for each.
        delta: probability with which the guarantee may fail, from 0 to below 1; see `dpselect.top_k`.
        neighbours: ``"add_remove"``, with a private number of rows, or ``"replace_one"``, with twice the noise.
        unit: your name for what a row represents; with a ledger, the unit that the account protects.
        ledger: a `dpselect.Ledger` or its URL, without a password in it. Requires `account`.
        account: name of the account to which each fit is charged.
        request: an id of your choice: the same arguments under the same id return the release that the ledger has
            stored, at no further cost, *whatever rows are passed*.

    Attributes:
        release_: the `dpselect.Release` with its certificate; its value holds the names (or positions) of the features.
        selected_: positions of the selected features, best first, shape ``(k,)``.
        n_features_in_: number of features seen in ``fit``.
        feature_names_in_: their names, if ``X`` had any.

    ``fit`` raises `InvalidParameterError` or `InvalidDataError`, both of them a ``ValueError``, or what the ledger
    raises (see `dpselect.Dataset`); nothing is drawn then.

    Proof: ``proofs/feature_scores.md`` and ``proofs/top_k.md``.

    >>> import numpy as np
    >>> X = np.array([[age, 70 - age % 7] for age in range(20, 60)] * 50)
    >>> y = np.where(X[:, 0] < 40, "young", "old")
    >>> selector = PrivateSelectKBest(1, epsilon=1.0, classes=["young", "old"], bounds=(0, 100))
    >>> selector.fit_transform(X, y)[:3, 0]  # the rules are right about 2,000 rows and about some 1,000
    array([20, 21, 22])
    >>> print(selector.release_.promise)
    Differentially private: epsilon = 1, when one row is added or removed.
    """

    k: int
    _: KW_ONLY
    epsilon: float
    classes: object
    bounds: object = None
    bins: object = 10
    class_weights: object = None
    delta: float = 0.0
    request: str | None = None

    def fit(self, X: Any, y: Any) -> PrivateSelectKBest:
        """Charge, if there is a ledger, and draw: one release from the rows.

        Args:
            X: shape ``(rows, features)``, a dense array, data frame or list of rows, of numbers. Each value is read
                alone; anything that is not a number is missing.
            y: shape ``(rows,)``, the label of each row.
        """
        table, labels, classes, names = _labelled(self, X, y)
        bins = reading.feature_bins(self.bounds, self.bins, names, classes=len(labels))
        many, expected = len(labels), f"a list of {len(labels)}: a weight for each class"
        given = (1,) * many if self.class_weights is None else self.class_weights
        # So weighted counts of any table that fits into memory stay far below 2^63.
        weights = positive_counts(given, "class_weights", at_most=1 << 20, expected=expected, count=many)
        question = BestFeatures(
            features=names,
            k=self.k,
            weights=weights,
            settings=reading.settings_hash(bins, labels),
            epsilon=self.epsilon,
            delta=self.delta,
        )
        asked = Query.planned(question, None, neighbours=neighbouring_relation(self.neighbours))

        def read(_: object) -> list[list[CandidateTotals]]:
            return [[reading.tally(table, classes, bins=bins, weights=weights)]]

        about: dict[str, Any] = {"unit": self.unit, "column": question.column, "request": self.request}
        planned = TableQuestion(asked=asked, lookups=asked.scans, read=read, **about)
        self.release_: Release = self._spending(fitted="release_").answers([planned])[0]
        place_of = {names[place]: place for place in range(len(names))}
        self.selected_ = np.array([place_of[each] for each in cast("list[Any]", self.release_.value)], dtype=np.int64)
        return self

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return np.isin(np.arange(cast(Any, self).n_features_in_), self.selected_)


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateTreeClassifier(ClassifierMixin, Charged):
    """A decision tree whose splits and leaves are (`epsilon`, `delta`)-differentially private *of a row*.

    **One row has to be everything that one person (or other unit) contributes.** In each level every node selects one
    of all (feature, cut) pairs by the exact private selection of this library, with half of the published noise, as
    these scores are monotone when a row is added or removed. Each leaf releases a noisy count of each class. Nothing
    else of the rows is kept: predictions cost nothing.

    **Every** ``fit`` **is a separate release and costs** `epsilon` **again**, as with `PrivateSelectKBest`, which says
    more of `classes` and `bounds`. To choose among settings, use `PrivateSearchCV` or set them by public knowledge.

    Args:
        epsilon: privacy loss of one fit, > 0.
        classes, bounds, neighbours, unit, ledger, account: as for `PrivateSelectKBest`.
        bins: as there; cuts lie between bins, and the bin of missing values is above the others.
        depth, criterion, most_rows, leaf_share, delta: as for `dpselect.recipes.DecisionTree`.

    Attributes:
        tree_: the `dpselect.recipes.GrownTree`: released, so it may be shown.
        event_: what the fit cost, for accounting.
        classes_: the labels.
        n_features_in_, feature_names_in_: as of `PrivateSelectKBest`, whose errors ``fit`` raises, too.

    Proof: ``proofs/split_scores.md``.

    >>> import numpy as np
    >>> X = np.array([[age, 70 - age % 7] for age in range(20, 60)] * 50)
    >>> y = np.where(X[:, 0] < 40, "young", "old")
    >>> tree = PrivateTreeClassifier(epsilon=2.0, classes=["old", "young"], bounds=(0, 100), depth=2).fit(X, y)
    >>> tree.predict([[25, 66], [55, 66]]).tolist()
    ['young', 'old']
    """

    epsilon: float
    classes: object
    bounds: object = None
    bins: object = 10
    depth: int = 4
    criterion: str = "gini"
    most_rows: int | None = None
    leaf_share: float = 0.2
    delta: float = 0.0

    def fit(self, X: Any, y: Any) -> PrivateTreeClassifier:
        """Charge, if there is a ledger, and grow the tree: one release from rows as `PrivateSelectKBest` takes them."""
        table, labels, classes, names = _labelled(self, X, y)
        if getattr(y, "ndim", 1) == 2:
            said = "A column-vector y was passed when a 1d array was expected: y.ravel()"
            warnings.warn(said, DataConversionWarning, stacklevel=2)
        self._cuts: tuple[PublicBins, ...] = reading.feature_bins(self.bounds, self.bins, names, classes=len(labels))
        alike = ["epsilon", "depth", "criterion", "most_rows", "leaf_share", "delta"]
        given: dict[str, Any] = {name: getattr(self, name) for name in alike}
        sizes, relation = tuple(cut.count + 1 for cut in self._cuts), neighbouring_relation(self.neighbours)
        planned = DecisionTree(bins=sizes, classes=len(labels), neighbours=relation, **given)
        codes = np.column_stack([*reading.codes(table, self._cuts)])
        if (ledger := self._spending(fitted="tree_").ledger) is not None:
            question = {"ask": "tree", "settings": reading.settings_hash(planned, self._cuts, labels)}
            run = Run(event=planned.event, mechanism="DecisionTree", neighbours=planned.neighbours, unit=self.unit)
            ledger.charge(str(self.account), run, question=identity_text(question, unit=self.unit))
        self.tree_: GrownTree = planned.grow(codes, classes)
        self.event_ = planned.event
        self.classes_ = np.array(labels)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The most frequent class of each row's leaf, shape ``(rows,)``; no further cost."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The noisy shares of the classes in each row's leaf, shape ``(rows, classes)``; no further cost."""
        check_is_fitted(self)
        table = reading.numbers(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self.tree_.shares()[self.tree_.apply(np.column_stack([*reading.codes(table, self._cuts)]))]

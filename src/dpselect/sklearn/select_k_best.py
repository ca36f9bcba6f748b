"""A transformer that keeps the k best features, selected privately."""

# scikit-learn comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUntypedBaseClass=false, reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from dpselect.certificates.release import Release
from dpselect.errors import InvalidParameterError, Shown
from dpselect.ledger import Ledger
from dpselect.ledger.question_identity import QuestionIdentity
from dpselect.privacy import neighbouring_relation
from dpselect.questions import BestFeatures
from dpselect.server_urls import may_hold_password
from dpselect.session.spending import Spending
from dpselect.sklearn.reading import column, numbers, positions
from dpselect.sklearn.settings import class_weights, distinct_classes, feature_bins, feature_names
from dpselect.summaries import PublicFeatures, RuleCounts


class PrivateSelectKBest(SelectorMixin, BaseEstimator):
    """Keeps the `k` features on which a rule that looks at one feature alone is right about the most rows.

    The private counterpart of scikit-learn's ``SelectKBest``. Each feature is cut into public bins; its score is the
    number of rows whose class is the most frequent one of their bin. A row moves each score by at most 1, so the `k`
    winners can be drawn with (`epsilon`, `delta`)-differential privacy *of a row*: **one row has to be all that one
    person (or whatever is to be protected) contributes.** Scores are never kept: only the selected features are
    released, and what was selected is a different draw each time.

    **Every** ``fit`` **is a release of its own and costs** `epsilon` **again**: also each refit, each clone, each fold
    of a cross-validation. With a ledger each is charged before it is drawn, and refused when the account is empty;
    without one, adding up is left to you, and only fitting the same object again gives a warning. To select once and
    use it in many folds, fit it by itself and put ``sklearn.frozen.FrozenEstimator(selector)`` into the pipeline
    (``docs/sklearn.md``).

    Nothing is checked before ``fit``, as in all of scikit-learn. There arguments, types and shapes are; no row's
    content ever decides whether it fails.

    Args:
        k: how many features to keep, from 1 to the number of features.
        epsilon: privacy loss of one fit, of all `k` selections together, > 0.
        classes: the public list of labels, at least two, all text or all numbers. Never taken from ``y``: a class
            that one person has would give that person away. A row with another label is left out.
        bounds: smallest and largest value of a feature, public as well; values beyond count as the bound. One pair
            for all features, a list of pairs, or a mapping from the names of a data frame's columns to pairs.
        bins: into how many bins of one width each feature is cut, or one such number for each feature. A missing value
            (NaN, ``None``, what is no number) has a bin of its own.
        class_weights: what a row of each class counts for, whole numbers from 1 to 2^20 in the order of `classes`,
            such as ``[1, 20]`` where the second class is rare. Public: not the frequencies of ``y``. The noise grows
            with the highest. None: 1 for each.
        delta: probability with which the guarantee may fail, from 0 to below 1; see `dpselect.top_k`.
        neighbours: ``"add_remove"``, where the number of rows is private, or ``"replace_one"``, with twice the noise.
        unit: what a row is, in your words; with a ledger the word that the account protects.
        ledger: a `dpselect.Ledger` or its URL, without a password in it. Goes together with `account`.
        account: name of the account that each fit is charged to.
        request: an id of your choice for this act of asking: the same arguments under the same id return the release
            that the ledger has stored, at no further cost, *whatever rows are handed over*.

    Attributes:
        release_: the certificate, a `dpselect.Release`; its value holds the names (or positions) of the features.
        selected_: positions of the selected features, best first, shape ``(k,)``.
        n_features_in_: how many features there were.
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

    def __init__(
        self,
        k: int,
        *,
        epsilon: float,
        classes: object,
        bounds: object,
        bins: object = 10,
        class_weights: object = None,
        delta: float = 0.0,
        neighbours: str = "add_remove",
        unit: str = "row",
        ledger: Ledger | str | Path | None = None,
        account: str | None = None,
        request: str | None = None,
    ) -> None:
        self.k = k
        self.epsilon = epsilon
        self.classes = classes
        self.bounds = bounds
        self.bins = bins
        self.class_weights = class_weights
        self.delta = delta
        self.neighbours = neighbours
        self.unit = unit
        self.ledger = ledger
        self.account = account
        self.request = request

    def fit(self, X: Any, y: Any) -> PrivateSelectKBest:
        """Charge, if there is a ledger, and draw: one release from the rows.

        Args:
            X: shape ``(rows, features)``, a dense array, data frame or list of rows, of numbers. Each value is read
                alone; what is no number is missing.
            y: shape ``(rows,)``, the label of each row.
        """
        table = numbers(X)
        relation = neighbouring_relation(self.neighbours)
        labels = distinct_classes(self.classes)
        classes = positions(y, labels, rows=table.rows)
        validate_data(self, X, skip_check_array=True)  # the names and the number of features
        names = feature_names(getattr(self, "feature_names_in_", None), len(table.columns))
        features = PublicFeatures(
            names=names,
            bins=feature_bins(self.bounds, self.bins, names, classes=len(labels)),
            weights=class_weights(self.class_weights, len(labels)),
        )
        task = BestFeatures.planned(features, self.k, epsilon=self.epsilon, delta=self.delta, neighbours=relation)
        question = task.identity | {"classes": labels}
        asked = QuestionIdentity(task.terms.task, "", self.unit, "features", question)

        def tally() -> RuleCounts:
            return features.tally((column(table, place) for place in range(len(table.columns))), classes)

        spending = Spending(_without_password(self.ledger), self.account)
        if self.ledger is None and hasattr(self, "release_"):
            warnings.warn(
                "fitted again without a ledger: this is another release, and its epsilon adds to the earlier ones",
                stacklevel=2,
            )
        self.release_: Release = spending.answer(task, tally, asked, self.request)
        place_of = {names[place]: place for place in range(len(names))}
        self.selected_ = np.array([place_of[each] for each in cast("list[Any]", self.release_.value)], dtype=np.int64)
        return self

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        mask = np.zeros(cast(Any, self).n_features_in_, dtype=np.bool_)
        mask[self.selected_] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.non_deterministic = True
        return tags


def _without_password(ledger: Ledger | str | Path | None) -> Ledger | str | Path | None:
    """Parameters are shown by the estimator's ``repr`` and kept by its pickles."""
    if isinstance(ledger, str) and ledger.startswith("postgres") and may_hold_password(ledger):
        hint = "The estimator's repr would show it: give dpselect.Ledger(url) instead, which does not."
        raise InvalidParameterError("ledger", Shown("<URL with a password>"), "a URL without one", hint)
    return ledger

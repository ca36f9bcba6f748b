"""Feature selection, a classifier and a search for scikit-learn; needs the extra ``sklearn``.

The rest of the package does not import it.

``docs/sklearn.md`` describes how to use it, and which of scikit-learn's own checks do not apply.
"""

from dpselect.errors import MissingExtraError

try:
    import sklearn as _installed  # noqa: F401  # pyright: ignore
except ImportError as missing:
    raise MissingExtraError("estimators for scikit-learn", "sklearn") from missing

from dpselect.sklearn.estimators import PrivateSelectKBest, PrivateTreeClassifier
from dpselect.sklearn.search import PrivateSearchCV

__all__ = ["PrivateSearchCV", "PrivateSelectKBest", "PrivateTreeClassifier"]

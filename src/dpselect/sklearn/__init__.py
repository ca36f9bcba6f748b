"""Feature selection, a classifier and a search for scikit-learn; needs the extra ``sklearn``.

The rest of the package does not import it.

``docs/sklearn.md`` describes how to use it, and which of scikit-learn's own checks do not apply.
"""

from dpselect.errors import import_extra

import_extra("sklearn", "estimators for scikit-learn", "sklearn")

from dpselect.sklearn.estimators import PrivateSelectKBest, PrivateTreeClassifier  # noqa: E402
from dpselect.sklearn.search import PrivateSearchCV  # noqa: E402

__all__ = ["PrivateSearchCV", "PrivateSelectKBest", "PrivateTreeClassifier"]

"""Feature selection for scikit-learn; needs the extra ``sklearn``. Not imported by the rest of the package.

``docs/sklearn.md`` describes how to use it, and which of scikit-learn's own checks do not apply.
"""

from dpselect.errors import MissingExtraError

try:
    import sklearn as _installed  # noqa: F401  # pyright: ignore
except ImportError as missing:
    raise MissingExtraError("selectors for scikit-learn", "sklearn") from missing

from dpselect.sklearn.select_k_best import PrivateSelectKBest

__all__ = ["PrivateSelectKBest"]

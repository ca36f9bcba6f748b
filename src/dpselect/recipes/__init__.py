"""Larger algorithms that select: decision trees, synthetic histograms and tables, Bayesian networks.

Each recipe is a value made from public arguments, with an ``event`` that says what it costs before anything is drawn.
To charge a ledger, charge the event first (`dpselect.Ledger.charge`). What is in the rows never makes a recipe fail:
a number that is no bin counts as the nearest one. The study ``examples/recipes`` compares the mechanisms in them.
`dpselect.sklearn.PrivateTreeClassifier` is the tree for scikit-learn.
"""

from dpselect.recipes.adaptive_marginals import AdaptiveMarginals
from dpselect.recipes.decision_tree import DecisionTree, GrownTree
from dpselect.recipes.mwem import MWEM
from dpselect.recipes.parents import ParentChoice
from dpselect.recipes.split_scores import Entropy, Gini, MostFrequentClass

__all__ = [
    "MWEM",
    "AdaptiveMarginals",
    "DecisionTree",
    "Entropy",
    "Gini",
    "GrownTree",
    "MostFrequentClass",
    "ParentChoice",
]

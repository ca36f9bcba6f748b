"""Larger algorithms that select: decision trees, synthetic histograms and tables, Bayesian networks.

Each recipe is a value made from public arguments, with an ``event`` that says what it costs before anything is drawn.
To charge a ledger, charge the event first (`dpselect.Ledger.charge`). What is in the rows never makes a recipe fail:
a number that is no bin counts as the nearest one. The study ``examples/recipes`` compares the mechanisms in them.
`dpselect.sklearn.PrivateTreeClassifier` is the tree for scikit-learn.
"""

from typing import TYPE_CHECKING

from dpselect.on_use import on_use

if TYPE_CHECKING:
    from dpselect.recipes.decision_tree import DecisionTree as DecisionTree
    from dpselect.recipes.decision_tree import Entropy as Entropy
    from dpselect.recipes.decision_tree import Gini as Gini
    from dpselect.recipes.decision_tree import GrownTree as GrownTree
    from dpselect.recipes.decision_tree import MostFrequentClass as MostFrequentClass
    from dpselect.recipes.synthetic import MWEM as MWEM
    from dpselect.recipes.synthetic import AdaptiveMarginals as AdaptiveMarginals
    from dpselect.recipes.synthetic import ParentChoice as ParentChoice
else:
    __getattr__, __dir__, __all__ = on_use(__name__, __file__)

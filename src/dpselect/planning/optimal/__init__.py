"""How close to the best possible a mechanism is: a linear program over all mechanisms on a lattice of scores."""

from dpselect.planning.optimal.ratio import Optimum, optimal_error, optimal_ratio

__all__ = ["Optimum", "optimal_error", "optimal_ratio"]

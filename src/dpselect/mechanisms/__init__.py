"""Mechanisms: from scores to a candidate. Values with their arguments; the drawing is in the compiled core."""

from dpselect.mechanisms.concave import ConcaveMechanism
from dpselect.mechanisms.exponential import ExponentialMechanism
from dpselect.mechanisms.interval import IntervalMechanism
from dpselect.mechanisms.laplace import LaplaceMechanism
from dpselect.mechanisms.mean import MeanMechanism
from dpselect.mechanisms.mechanism import Mechanism
from dpselect.mechanisms.noisy_max import ReportNoisyMax
from dpselect.mechanisms.permute_and_flip import PermuteAndFlip
from dpselect.mechanisms.piecewise_linear import PiecewiseLinearMechanism
from dpselect.mechanisms.price import PriceMechanism
from dpselect.mechanisms.quantile import QuantileMechanism
from dpselect.mechanisms.quantiles import QuantilesMechanism
from dpselect.mechanisms.top_k import TopKPlan, plan_top_k

__all__ = [
    "ConcaveMechanism",
    "ExponentialMechanism",
    "IntervalMechanism",
    "LaplaceMechanism",
    "MeanMechanism",
    "Mechanism",
    "PermuteAndFlip",
    "PiecewiseLinearMechanism",
    "PriceMechanism",
    "QuantileMechanism",
    "QuantilesMechanism",
    "ReportNoisyMax",
    "TopKPlan",
    "plan_top_k",
]

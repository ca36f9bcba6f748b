"""Mechanisms: from scores to a candidate. Values with their arguments; the drawing is in the compiled core."""

from dpselect.mechanisms.density import DensityMechanism
from dpselect.mechanisms.density_dimensions import CurveMechanism, MarginalsMechanism
from dpselect.mechanisms.exponential import ExponentialMechanism
from dpselect.mechanisms.geometric import GeometricMechanism
from dpselect.mechanisms.grid import GridCost, GridMechanism
from dpselect.mechanisms.integer_ceilings import IntegerCeiling
from dpselect.mechanisms.integers import IntegerMechanism
from dpselect.mechanisms.interval import IntervalMechanism
from dpselect.mechanisms.mechanism import Mechanism
from dpselect.mechanisms.noisy_max import ReportNoisyMax
from dpselect.mechanisms.permute_and_flip import PermuteAndFlip
from dpselect.mechanisms.quantile import QuantileMechanism
from dpselect.mechanisms.quantiles import QuantilesMechanism
from dpselect.mechanisms.randomized_response import CountEstimate, RandomizedResponse
from dpselect.mechanisms.smoothed_histogram import SmoothedHistogramMechanism
from dpselect.mechanisms.top_k import TopKPlan, plan_top_k

__all__ = [
    "CountEstimate",
    "CurveMechanism",
    "DensityMechanism",
    "ExponentialMechanism",
    "GeometricMechanism",
    "GridCost",
    "GridMechanism",
    "IntegerCeiling",
    "IntegerMechanism",
    "IntervalMechanism",
    "MarginalsMechanism",
    "Mechanism",
    "PermuteAndFlip",
    "QuantileMechanism",
    "QuantilesMechanism",
    "RandomizedResponse",
    "ReportNoisyMax",
    "SmoothedHistogramMechanism",
    "TopKPlan",
    "plan_top_k",
]

"""Mechanisms: from scores to a candidate. They are values with arguments; the compiled core draws."""

from dpselect.mechanisms.concave import ConcaveMechanism
from dpselect.mechanisms.density import DensityMechanism
from dpselect.mechanisms.density_dimensions import CurveMechanism, MarginalsMechanism
from dpselect.mechanisms.discrete_gaussian import DiscreteGaussianMechanism
from dpselect.mechanisms.exponential import ExponentialMechanism
from dpselect.mechanisms.geometric import GeometricMechanism
from dpselect.mechanisms.grid import GridCost, GridMechanism
from dpselect.mechanisms.integers import IntegerCeiling, IntegerMechanism
from dpselect.mechanisms.interval import IntervalMechanism
from dpselect.mechanisms.laplace import LaplaceMechanism
from dpselect.mechanisms.mean import MeanMechanism
from dpselect.mechanisms.mechanism import Mechanism
from dpselect.mechanisms.noisy_histogram import NoisyHistogramMechanism
from dpselect.mechanisms.noisy_max import ReportNoisyMax
from dpselect.mechanisms.noisy_order import NoisyOrder, OrderNoise, order_noise
from dpselect.mechanisms.partial import CandidateSelection, PartialSelection, PendingSelection, Winner
from dpselect.mechanisms.partition_selection import PartitionSelection
from dpselect.mechanisms.permute_and_flip import PermuteAndFlip
from dpselect.mechanisms.piecewise_linear import PiecewiseLinearMechanism
from dpselect.mechanisms.price import PriceMechanism
from dpselect.mechanisms.price_list import PriceListMechanism
from dpselect.mechanisms.private_bounds import PrivateBoundsMechanism
from dpselect.mechanisms.quantile import QuantileMechanism
from dpselect.mechanisms.quantiles import QuantilesMechanism, QuantilesMethod
from dpselect.mechanisms.randomized_response import CountEstimate, RandomizedResponse
from dpselect.mechanisms.smoothed_histogram import SmoothedHistogramMechanism
from dpselect.mechanisms.threshold_counts import ThresholdCounts
from dpselect.mechanisms.top_k import TopKPlan, plan_top_k
from dpselect.mechanisms.unbounded_quantile import UnboundedQuantileMechanism

__all__ = [
    "CandidateSelection",
    "ConcaveMechanism",
    "CountEstimate",
    "CurveMechanism",
    "DensityMechanism",
    "DiscreteGaussianMechanism",
    "ExponentialMechanism",
    "GeometricMechanism",
    "GridCost",
    "GridMechanism",
    "IntegerCeiling",
    "IntegerMechanism",
    "IntervalMechanism",
    "LaplaceMechanism",
    "MarginalsMechanism",
    "MeanMechanism",
    "Mechanism",
    "NoisyHistogramMechanism",
    "NoisyOrder",
    "OrderNoise",
    "PartialSelection",
    "PartitionSelection",
    "PendingSelection",
    "PermuteAndFlip",
    "PiecewiseLinearMechanism",
    "PriceListMechanism",
    "PriceMechanism",
    "PrivateBoundsMechanism",
    "QuantileMechanism",
    "QuantilesMechanism",
    "QuantilesMethod",
    "RandomizedResponse",
    "ReportNoisyMax",
    "SmoothedHistogramMechanism",
    "ThresholdCounts",
    "TopKPlan",
    "UnboundedQuantileMechanism",
    "Winner",
    "order_noise",
    "plan_top_k",
]

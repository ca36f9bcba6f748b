"""Mechanisms: from scores to a candidate. They are values with arguments; the compiled core draws."""

from dpselect.mechanisms.above_threshold import AboveThreshold
from dpselect.mechanisms.best_of_runs import BestOfRuns, BestRun, best_of_runs
from dpselect.mechanisms.clipping_bound import ClippingBoundMechanism
from dpselect.mechanisms.concave import ConcaveMechanism
from dpselect.mechanisms.density import DensityMechanism
from dpselect.mechanisms.density_dimensions import CurveMechanism, MarginalsMechanism
from dpselect.mechanisms.different_sensitivities import GeneralizedSelection
from dpselect.mechanisms.discrete_gaussian import DiscreteGaussianMechanism
from dpselect.mechanisms.exponential import ExponentialMechanism
from dpselect.mechanisms.exponential_once import ExponentialNoiseTopK
from dpselect.mechanisms.gaussian_threshold import GaussianThresholdCounts
from dpselect.mechanisms.geometric import GeometricMechanism
from dpselect.mechanisms.grid import GridCost, GridMechanism
from dpselect.mechanisms.integers import IntegerCeiling, IntegerMechanism
from dpselect.mechanisms.interval import IntervalMechanism
from dpselect.mechanisms.laplace import LaplaceMechanism
from dpselect.mechanisms.lazy_selection import LazySelection, select_lazily
from dpselect.mechanisms.lead import Lead, Leads
from dpselect.mechanisms.mean import MeanMechanism
from dpselect.mechanisms.mechanism import Mechanism
from dpselect.mechanisms.noisy_histogram import NoisyHistogramMechanism
from dpselect.mechanisms.noisy_max import ReportNoisyMax
from dpselect.mechanisms.noisy_order import NoisyOrder, OrderNoise, order_noise
from dpselect.mechanisms.partial import CandidateSelection, PartialSelection, PendingSelection, Winner
from dpselect.mechanisms.partial_top_k import PartialTopK
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
from dpselect.mechanisms.stop_candidate import StopCandidate
from dpselect.mechanisms.threshold_counts import ThresholdCounts
from dpselect.mechanisms.top_k import TopKPlan, plan_top_k
from dpselect.mechanisms.top_k_set import TopKSet
from dpselect.mechanisms.unbounded_quantile import UnboundedQuantileMechanism
from dpselect.mechanisms.unknown_noise import NamingNoise, UnknownNoise, naming_noise, unknown_noise

__all__ = [
    "AboveThreshold",
    "BestOfRuns",
    "BestRun",
    "CandidateSelection",
    "ClippingBoundMechanism",
    "ConcaveMechanism",
    "CountEstimate",
    "CurveMechanism",
    "DensityMechanism",
    "DiscreteGaussianMechanism",
    "ExponentialMechanism",
    "ExponentialNoiseTopK",
    "GaussianThresholdCounts",
    "GeneralizedSelection",
    "GeometricMechanism",
    "GridCost",
    "GridMechanism",
    "IntegerCeiling",
    "IntegerMechanism",
    "IntervalMechanism",
    "LaplaceMechanism",
    "LazySelection",
    "Lead",
    "Leads",
    "MarginalsMechanism",
    "MeanMechanism",
    "Mechanism",
    "NamingNoise",
    "NoisyHistogramMechanism",
    "NoisyOrder",
    "OrderNoise",
    "PartialSelection",
    "PartialTopK",
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
    "StopCandidate",
    "ThresholdCounts",
    "TopKPlan",
    "TopKSet",
    "UnboundedQuantileMechanism",
    "UnknownNoise",
    "Winner",
    "best_of_runs",
    "naming_noise",
    "order_noise",
    "plan_top_k",
    "select_lazily",
    "unknown_noise",
]

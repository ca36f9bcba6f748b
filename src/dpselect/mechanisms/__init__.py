"""Mechanisms: from scores to a candidate. Values with their arguments; the drawing is in the compiled core."""

from dpselect.mechanisms.exponential import ExponentialMechanism
from dpselect.mechanisms.interval import IntervalMechanism
from dpselect.mechanisms.mechanism import Mechanism
from dpselect.mechanisms.noisy_max import ReportNoisyMax
from dpselect.mechanisms.permute_and_flip import PermuteAndFlip
from dpselect.mechanisms.price_list import PriceListMechanism
from dpselect.mechanisms.quantile import QuantileMechanism
from dpselect.mechanisms.quantiles import QuantilesMechanism
from dpselect.mechanisms.smoothed_histogram import SmoothedHistogramMechanism
from dpselect.mechanisms.top_k import TopKPlan, plan_top_k

__all__ = [
    "ExponentialMechanism",
    "IntervalMechanism",
    "Mechanism",
    "PermuteAndFlip",
    "PriceListMechanism",
    "QuantileMechanism",
    "QuantilesMechanism",
    "ReportNoisyMax",
    "SmoothedHistogramMechanism",
    "TopKPlan",
    "plan_top_k",
]

"""Mechanisms: from scores to a candidate. They are values with arguments; the compiled core draws."""

from typing import TYPE_CHECKING

from dpselect.on_use import on_use

if TYPE_CHECKING:
    from dpselect.mechanisms.above_threshold import AboveThreshold as AboveThreshold
    from dpselect.mechanisms.above_threshold import UnboundedQuantileMechanism as UnboundedQuantileMechanism
    from dpselect.mechanisms.best_of_runs import BestOfRuns as BestOfRuns
    from dpselect.mechanisms.best_of_runs import BestRun as BestRun
    from dpselect.mechanisms.density import DensityMechanism as DensityMechanism
    from dpselect.mechanisms.different_sensitivities import GeneralizedSelection as GeneralizedSelection
    from dpselect.mechanisms.exponential import ExponentialMechanism as ExponentialMechanism
    from dpselect.mechanisms.exponential import TopKSet as TopKSet
    from dpselect.mechanisms.integers import CountEstimate as CountEstimate
    from dpselect.mechanisms.integers import IntegerCeiling as IntegerCeiling
    from dpselect.mechanisms.integers import IntegerMechanism as IntegerMechanism
    from dpselect.mechanisms.integers import RandomizedResponse as RandomizedResponse
    from dpselect.mechanisms.mean import LaplaceMechanism as LaplaceMechanism
    from dpselect.mechanisms.mean import MeanMechanism as MeanMechanism
    from dpselect.mechanisms.mechanism import Lead as Lead
    from dpselect.mechanisms.mechanism import Mechanism as Mechanism
    from dpselect.mechanisms.noise import DiscreteGaussianMechanism as DiscreteGaussianMechanism
    from dpselect.mechanisms.noise import GeometricMechanism as GeometricMechanism
    from dpselect.mechanisms.noisy_counts import GaussianThresholdCounts as GaussianThresholdCounts
    from dpselect.mechanisms.noisy_counts import NoisyOrder as NoisyOrder
    from dpselect.mechanisms.noisy_counts import OrderNoise as OrderNoise
    from dpselect.mechanisms.noisy_counts import ThresholdCounts as ThresholdCounts
    from dpselect.mechanisms.noisy_counts import left_for_selection as left_for_selection
    from dpselect.mechanisms.noisy_counts import order_noise as order_noise
    from dpselect.mechanisms.noisy_max import ReportNoisyMax as ReportNoisyMax
    from dpselect.mechanisms.partition_selection import PartitionSelection as PartitionSelection
    from dpselect.mechanisms.partition_selection import StopCandidate as StopCandidate
    from dpselect.mechanisms.permute_and_flip import PermuteAndFlip as PermuteAndFlip
    from dpselect.mechanisms.permute_and_flip import select_lazily as select_lazily
    from dpselect.mechanisms.piecewise import ConcaveMechanism as ConcaveMechanism
    from dpselect.mechanisms.piecewise import PiecewiseLinearMechanism as PiecewiseLinearMechanism
    from dpselect.mechanisms.prices import PriceListMechanism as PriceListMechanism
    from dpselect.mechanisms.prices import PriceMechanism as PriceMechanism
    from dpselect.mechanisms.quantiles import QuantileMechanism as QuantileMechanism
    from dpselect.mechanisms.quantiles import QuantilesMechanism as QuantilesMechanism
    from dpselect.mechanisms.quantiles import QuantilesMethod as QuantilesMethod
    from dpselect.mechanisms.top_k import ExponentialNoiseTopK as ExponentialNoiseTopK
    from dpselect.mechanisms.top_k import TopKPlan as TopKPlan
    from dpselect.mechanisms.top_k import plan_top_k as plan_top_k
else:
    __getattr__, __dir__, __all__ = on_use(__name__, __file__)

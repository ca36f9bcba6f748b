"""Differentially private selection: exactly sampled, at the speed of ``argmax``.

Scores you computed yourself: `select`, `top_k`, `select_lazily`, and the mechanisms `PermuteAndFlip`,
`ExponentialMechanism`, `ReportNoisyMax`, `ExponentialNoiseTopK` (gaps: `Lead`, `Leads`); with a sensitivity for each
score: `GeneralizedSelection`; the k best as a set: `TopKSet`; in several places: `PartialSelection`. Numbers:
`quantile`, `median`, `quantiles`, `UnboundedQuantileMechanism`, `LaplaceMechanism`, `GeometricMechanism`,
`DiscreteGaussianMechanism`, `MeanMechanism`, `RandomizedResponse`; prices: `PriceListMechanism`, `PriceMechanism`.
Scores of numbers: `IntervalMechanism`, `PiecewiseLinearMechanism`, `ConcaveMechanism`, `IntegerMechanism`,
`GridMechanism`. Whole distributions: `NoisyHistogramMechanism`, `DensityMechanism`, `MarginalsMechanism`,
`CurveMechanism`; the values that occur: `PartitionSelection`, `ThresholdCounts`, `GaussianThresholdCounts`,
`StopCandidate`. Streams: `AboveThreshold`. Tuning: `best_of_runs`. Tables: `Dataset`, whose answers are each
a `Release`, and `DryRun`; `candidates_from` a public file; `Format` for files that are written in
another way. Several questions with one budget: `Plan`. Before spending: `planning`. What was spent: `accounting`.
Trees, synthetic tables and networks: `recipes`.

>>> import dpselect as dps
>>> visits = [120, 8301, 44]
>>> dps.select(visits, epsilon=0.5, sensitivity=1, monotonic=True, candidates=["/about", "/home", "/jobs"])
'/home'
"""

from typing import TYPE_CHECKING

from dpselect.on_use import on_use

__version__ = "0.1.0"

if TYPE_CHECKING:
    from dpselect import accounting as accounting
    from dpselect import planning as planning
    from dpselect import recipes as recipes
    from dpselect import testing as testing
    from dpselect.backends.public_column import candidates_from as candidates_from
    from dpselect.certificates.release import Release as Release
    from dpselect.errors import AnchorError as AnchorError
    from dpselect.errors import AnswerLostError as AnswerLostError
    from dpselect.errors import AnswerNotStoredWarning as AnswerNotStoredWarning
    from dpselect.errors import ChargeRefusedError as ChargeRefusedError
    from dpselect.errors import FaultError as FaultError
    from dpselect.errors import InvalidAccountError as InvalidAccountError
    from dpselect.errors import InvalidCandidatesError as InvalidCandidatesError
    from dpselect.errors import InvalidCertificateError as InvalidCertificateError
    from dpselect.errors import InvalidDataError as InvalidDataError
    from dpselect.errors import InvalidEventError as InvalidEventError
    from dpselect.errors import InvalidLimitError as InvalidLimitError
    from dpselect.errors import InvalidParameterError as InvalidParameterError
    from dpselect.errors import InvalidScoresError as InvalidScoresError
    from dpselect.errors import LedgerBusyError as LedgerBusyError
    from dpselect.errors import LedgerDamagedError as LedgerDamagedError
    from dpselect.errors import LedgerError as LedgerError
    from dpselect.errors import LedgerForkedError as LedgerForkedError
    from dpselect.errors import LedgerFullError as LedgerFullError
    from dpselect.errors import LedgerReadOnlyError as LedgerReadOnlyError
    from dpselect.errors import LedgerRolledBackError as LedgerRolledBackError
    from dpselect.errors import LedgerUnavailableError as LedgerUnavailableError
    from dpselect.errors import LedgerVersionError as LedgerVersionError
    from dpselect.errors import LimitExceededError as LimitExceededError
    from dpselect.errors import MissingExtraError as MissingExtraError
    from dpselect.errors import RequestReusedError as RequestReusedError
    from dpselect.errors import SelectionError as SelectionError
    from dpselect.errors import StreamEndedError as StreamEndedError
    from dpselect.errors import TableUnavailableError as TableUnavailableError
    from dpselect.errors import WrongAccountError as WrongAccountError
    from dpselect.formats import Format as Format
    from dpselect.ledger import Ledger as Ledger
    from dpselect.mechanisms import AboveThreshold as AboveThreshold
    from dpselect.mechanisms import BestOfRuns as BestOfRuns
    from dpselect.mechanisms import BestRun as BestRun
    from dpselect.mechanisms import ConcaveMechanism as ConcaveMechanism
    from dpselect.mechanisms import CurveMechanism as CurveMechanism
    from dpselect.mechanisms import DensityMechanism as DensityMechanism
    from dpselect.mechanisms import DiscreteGaussianMechanism as DiscreteGaussianMechanism
    from dpselect.mechanisms import ExponentialMechanism as ExponentialMechanism
    from dpselect.mechanisms import ExponentialNoiseTopK as ExponentialNoiseTopK
    from dpselect.mechanisms import GaussianThresholdCounts as GaussianThresholdCounts
    from dpselect.mechanisms import GeneralizedSelection as GeneralizedSelection
    from dpselect.mechanisms import GeometricMechanism as GeometricMechanism
    from dpselect.mechanisms import GridMechanism as GridMechanism
    from dpselect.mechanisms import IntegerCeiling as IntegerCeiling
    from dpselect.mechanisms import IntegerMechanism as IntegerMechanism
    from dpselect.mechanisms import IntervalMechanism as IntervalMechanism
    from dpselect.mechanisms import LaplaceMechanism as LaplaceMechanism
    from dpselect.mechanisms import LazySelection as LazySelection
    from dpselect.mechanisms import Lead as Lead
    from dpselect.mechanisms import Leads as Leads
    from dpselect.mechanisms import MarginalsMechanism as MarginalsMechanism
    from dpselect.mechanisms import MeanMechanism as MeanMechanism
    from dpselect.mechanisms import NoisyHistogramMechanism as NoisyHistogramMechanism
    from dpselect.mechanisms import PartialSelection as PartialSelection
    from dpselect.mechanisms import PartitionSelection as PartitionSelection
    from dpselect.mechanisms import PermuteAndFlip as PermuteAndFlip
    from dpselect.mechanisms import PiecewiseLinearMechanism as PiecewiseLinearMechanism
    from dpselect.mechanisms import PriceListMechanism as PriceListMechanism
    from dpselect.mechanisms import PriceMechanism as PriceMechanism
    from dpselect.mechanisms import QuantileMechanism as QuantileMechanism
    from dpselect.mechanisms import QuantilesMechanism as QuantilesMechanism
    from dpselect.mechanisms import RandomizedResponse as RandomizedResponse
    from dpselect.mechanisms import ReportNoisyMax as ReportNoisyMax
    from dpselect.mechanisms import SmoothedHistogramMechanism as SmoothedHistogramMechanism
    from dpselect.mechanisms import StopCandidate as StopCandidate
    from dpselect.mechanisms import ThresholdCounts as ThresholdCounts
    from dpselect.mechanisms import TopKSet as TopKSet
    from dpselect.mechanisms import UnboundedQuantileMechanism as UnboundedQuantileMechanism
    from dpselect.mechanisms.best_of_runs import best_of_runs as best_of_runs
    from dpselect.mechanisms.lazy_selection import select_lazily as select_lazily
    from dpselect.mechanisms.permute_and_flip import select as select
    from dpselect.mechanisms.quantile import median as median
    from dpselect.mechanisms.quantile import quantile as quantile
    from dpselect.mechanisms.quantiles import quantiles as quantiles
    from dpselect.mechanisms.top_k import top_k as top_k
    from dpselect.plans.answers import Answers as Answers
    from dpselect.plans.plan import Plan as Plan
    from dpselect.plans.plan_forecast import PlanForecast as PlanForecast
    from dpselect.privacy import ROWS as ROWS
    from dpselect.privacy import Neighbours as Neighbours
    from dpselect.session import Dataset as Dataset
    from dpselect.session import DryRun as DryRun
    from dpselect.session import Forecast as Forecast
    from dpselect.session.check import check as check
else:
    __getattr__, __dir__, __all__ = on_use(
        __name__,
        {
            "dpselect": "accounting planning recipes sklearn testing",
            "dpselect.backends.public_column": "candidates_from",
            "dpselect.certificates.release": "Release",
            "dpselect.errors": (
                "AnchorError AnswerLostError AnswerNotStoredWarning ChargeRefusedError FaultError "
                "InvalidAccountError InvalidCandidatesError InvalidCertificateError InvalidDataError "
                "InvalidEventError InvalidLimitError InvalidParameterError InvalidScoresError LedgerBusyError "
                "LedgerDamagedError LedgerError LedgerForkedError LedgerFullError LedgerReadOnlyError "
                "LedgerRolledBackError LedgerUnavailableError LedgerVersionError LimitExceededError "
                "MissingExtraError RequestReusedError SelectionError StreamEndedError TableUnavailableError "
                "WrongAccountError"
            ),
            "dpselect.formats": "Format",
            "dpselect.ledger": "Ledger",
            "dpselect.mechanisms": (
                "AboveThreshold BestOfRuns BestRun ConcaveMechanism CurveMechanism "
                "DensityMechanism DiscreteGaussianMechanism ExponentialMechanism ExponentialNoiseTopK "
                "GaussianThresholdCounts GeneralizedSelection GeometricMechanism GridMechanism IntegerCeiling "
                "IntegerMechanism IntervalMechanism LaplaceMechanism LazySelection Lead Leads "
                "MarginalsMechanism MeanMechanism NoisyHistogramMechanism PartialSelection PartitionSelection "
                "PermuteAndFlip PiecewiseLinearMechanism PriceListMechanism PriceMechanism "
                "QuantileMechanism QuantilesMechanism RandomizedResponse ReportNoisyMax "
                "SmoothedHistogramMechanism StopCandidate ThresholdCounts TopKSet UnboundedQuantileMechanism"
            ),
            "dpselect.mechanisms.best_of_runs": "best_of_runs",
            "dpselect.mechanisms.lazy_selection": "select_lazily",
            "dpselect.mechanisms.permute_and_flip": "select",
            "dpselect.mechanisms.quantile": "median quantile",
            "dpselect.mechanisms.quantiles": "quantiles",
            "dpselect.mechanisms.top_k": "top_k",
            "dpselect.plans.answers": "Answers",
            "dpselect.plans.plan": "Plan",
            "dpselect.plans.plan_forecast": "PlanForecast",
            "dpselect.privacy": "Neighbours ROWS",
            "dpselect.session": "Dataset DryRun Forecast",
            "dpselect.session.check": "check",
        },
    )
    __all__ += ["__version__"]
    __all__.remove("sklearn")  # needs an extra, which `import *` must not

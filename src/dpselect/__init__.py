"""Differentially private selection: exactly sampled, at the speed of ``argmax``.

Scores you computed yourself: `select`, `top_k`, `select_lazily`, and the mechanisms `PermuteAndFlip`,
`ExponentialMechanism`, `ReportNoisyMax`, `ExponentialNoiseTopK` (gaps: `Lead`, `Leads`); with a sensitivity for each
score: `GeneralizedSelection`; the k best as a set: `TopKSet`; in several places: `PartialSelection`. Numbers:
`quantile`, `median`, `quantiles`, `UnboundedQuantileMechanism`, `PrivateBoundsMechanism`, `ClippingBoundMechanism`,
`LaplaceMechanism`, `GeometricMechanism`, `DiscreteGaussianMechanism`, `MeanMechanism`, `RandomizedResponse`; prices:
`PriceListMechanism`, `PriceMechanism`.
Scores of numbers: `IntervalMechanism`, `PiecewiseLinearMechanism`, `ConcaveMechanism`, `IntegerMechanism`,
`GridMechanism`. Whole distributions: `NoisyHistogramMechanism`, `DensityMechanism`, `MarginalsMechanism`,
`CurveMechanism`; the values that occur: `PartitionSelection`, `ThresholdCounts`, `GaussianThresholdCounts`,
`StopCandidate`. Streams: `AboveThreshold`. Tuning: `best_of_runs`. Tables: `Dataset`, whose answers are each
a `Release`, and `DryRun`; `candidates_from` and `weights_from` a public file; `Format` for files that are written in
another way. Several questions with one budget: `Plan`. Before spending: `planning`. What was spent: `accounting`.
Trees, synthetic tables and networks: `recipes`.

>>> import dpselect as dps
>>> visits = [120, 8301, 44]
>>> dps.select(visits, epsilon=0.5, sensitivity=1, monotonic=True, candidates=["/about", "/home", "/jobs"])
'/home'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from dpselect import accounting
from dpselect.errors import (
    AnchorError,
    AnswerLostError,
    AnswerNotStoredWarning,
    ChargeRefusedError,
    FaultError,
    InvalidAccountError,
    InvalidCandidatesError,
    InvalidCertificateError,
    InvalidDataError,
    InvalidEventError,
    InvalidLimitError,
    InvalidParameterError,
    InvalidScoresError,
    LedgerBusyError,
    LedgerDamagedError,
    LedgerError,
    LedgerForkedError,
    LedgerFullError,
    LedgerReadOnlyError,
    LedgerRolledBackError,
    LedgerUnavailableError,
    LedgerVersionError,
    LimitExceededError,
    MissingExtraError,
    RequestReusedError,
    SelectionError,
    StreamEndedError,
    TableUnavailableError,
    WrongAccountError,
)
from dpselect.formats import Format
from dpselect.mechanisms import (
    AboveThreshold,
    BestOfRuns,
    BestRun,
    ClippingBoundMechanism,
    ConcaveMechanism,
    CurveMechanism,
    DensityMechanism,
    DiscreteGaussianMechanism,
    ExponentialMechanism,
    ExponentialNoiseTopK,
    GaussianThresholdCounts,
    GeneralizedSelection,
    GeometricMechanism,
    GridMechanism,
    IntegerCeiling,
    IntegerMechanism,
    IntervalMechanism,
    LaplaceMechanism,
    LazySelection,
    Lead,
    Leads,
    MarginalsMechanism,
    MeanMechanism,
    NoisyHistogramMechanism,
    PartialSelection,
    PartitionSelection,
    PermuteAndFlip,
    PiecewiseLinearMechanism,
    PriceListMechanism,
    PriceMechanism,
    PrivateBoundsMechanism,
    QuantileMechanism,
    QuantilesMechanism,
    RandomizedResponse,
    ReportNoisyMax,
    SmoothedHistogramMechanism,
    StopCandidate,
    ThresholdCounts,
    TopKSet,
    UnboundedQuantileMechanism,
)
from dpselect.mechanisms.best_of_runs import best_of_runs
from dpselect.mechanisms.lazy_selection import select_lazily
from dpselect.mechanisms.permute_and_flip import select
from dpselect.mechanisms.quantile import median, quantile
from dpselect.mechanisms.quantiles import quantiles
from dpselect.mechanisms.top_k import top_k
from dpselect.privacy import Neighbours

if TYPE_CHECKING:
    from dpselect import planning, recipes, testing
    from dpselect.backends.public_column import candidates_from, weights_from
    from dpselect.certificates.release import Release
    from dpselect.ledger import Ledger
    from dpselect.plans.answers import Answers
    from dpselect.plans.plan import Plan
    from dpselect.plans.plan_forecast import PlanForecast
    from dpselect.session import Dataset, DryRun, Forecast
    from dpselect.session.check import check

__version__ = "0.1.0"

__all__ = [
    "AboveThreshold",
    "AnchorError",
    "AnswerLostError",
    "AnswerNotStoredWarning",
    "Answers",
    "BestOfRuns",
    "BestRun",
    "ChargeRefusedError",
    "ClippingBoundMechanism",
    "ConcaveMechanism",
    "CurveMechanism",
    "Dataset",
    "DensityMechanism",
    "DiscreteGaussianMechanism",
    "DryRun",
    "ExponentialMechanism",
    "ExponentialNoiseTopK",
    "FaultError",
    "Forecast",
    "Format",
    "GaussianThresholdCounts",
    "GeneralizedSelection",
    "GeometricMechanism",
    "GridMechanism",
    "IntegerCeiling",
    "IntegerMechanism",
    "IntervalMechanism",
    "InvalidAccountError",
    "InvalidCandidatesError",
    "InvalidCertificateError",
    "InvalidDataError",
    "InvalidEventError",
    "InvalidLimitError",
    "InvalidParameterError",
    "InvalidScoresError",
    "LaplaceMechanism",
    "LazySelection",
    "Lead",
    "Leads",
    "Ledger",
    "LedgerBusyError",
    "LedgerDamagedError",
    "LedgerError",
    "LedgerForkedError",
    "LedgerFullError",
    "LedgerReadOnlyError",
    "LedgerRolledBackError",
    "LedgerUnavailableError",
    "LedgerVersionError",
    "LimitExceededError",
    "MarginalsMechanism",
    "MeanMechanism",
    "MissingExtraError",
    "Neighbours",
    "NoisyHistogramMechanism",
    "PartialSelection",
    "PartitionSelection",
    "PermuteAndFlip",
    "PiecewiseLinearMechanism",
    "Plan",
    "PlanForecast",
    "PriceListMechanism",
    "PriceMechanism",
    "PrivateBoundsMechanism",
    "QuantileMechanism",
    "QuantilesMechanism",
    "RandomizedResponse",
    "Release",
    "ReportNoisyMax",
    "RequestReusedError",
    "SelectionError",
    "SmoothedHistogramMechanism",
    "StopCandidate",
    "StreamEndedError",
    "TableUnavailableError",
    "ThresholdCounts",
    "TopKSet",
    "UnboundedQuantileMechanism",
    "WrongAccountError",
    "__version__",
    "accounting",
    "best_of_runs",
    "candidates_from",
    "check",
    "median",
    "planning",
    "quantile",
    "quantiles",
    "recipes",
    "select",
    "select_lazily",
    "testing",
    "top_k",
    "weights_from",
]

# Loaded on first use: tables bring a database engine with them, and selecting from scores needs none of this.
_LOADED_ON_USE = {
    "Answers": "dpselect.plans.answers",
    "Dataset": "dpselect.session",
    "DryRun": "dpselect.session",
    "Forecast": "dpselect.session",
    "Ledger": "dpselect.ledger",
    "Plan": "dpselect.plans.plan",
    "PlanForecast": "dpselect.plans.plan_forecast",
    "Release": "dpselect.certificates.release",
    "candidates_from": "dpselect.backends.public_column",
    "weights_from": "dpselect.backends.public_column",
    "check": "dpselect.session.check",
    "planning": "dpselect.planning",
    "recipes": "dpselect.recipes",
    "sklearn": "dpselect.sklearn",
    "testing": "dpselect.testing",
}


def __getattr__(name: str) -> object:
    if name in _LOADED_ON_USE:
        module = import_module(_LOADED_ON_USE[name])
        return module if module.__name__ == f"{__name__}.{name}" else getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

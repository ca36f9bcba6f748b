"""Differentially private selection: exactly sampled, at the speed of ``argmax``.

Scores you computed yourself: `select`, `top_k`, `select_lazily`, and the mechanisms `PermuteAndFlip`,
`ExponentialMechanism`, `ReportNoisyMax`; with a sensitivity for each score: `GeneralizedSelection`; the k best as a
set: `TopKSet`. Numbers: `LaplaceMechanism`, `GeometricMechanism`. Streams: `AboveThreshold`. Tuning: `best_of_runs`.
All other mechanisms: `mechanisms`. Tables: `Dataset`, whose answers are each a `Release`, and `DryRun`;
`candidates_from` a public file; `Format` for files that are written in another way; `ROWS` if each row is another
person; `verify` a certificate. Several questions with one budget: `Plan`; a page about answers: `report`. What others
wrote: `audit`, `falsify_sensitivity`. Before spending: `planning`. What was spent: `accounting`. Trees, synthetic
tables and networks: `recipes`. All errors: `errors`.

>>> import dpselect as dps
>>> visits = [120, 8301, 44]
>>> dps.select(visits, epsilon=0.5, sensitivity=1, monotonic=True, candidates=["/about", "/home", "/jobs"])
'/home'
"""

from typing import TYPE_CHECKING

from dpselect.on_use import on_use

__version__ = "0.2.0"

if TYPE_CHECKING:
    from dpselect import accounting as accounting
    from dpselect import errors as errors
    from dpselect import mechanisms as mechanisms
    from dpselect import planning as planning
    from dpselect import recipes as recipes
    from dpselect import testing as testing
    from dpselect.auditing.audit import audit as audit
    from dpselect.auditing.moved_scores import falsify_sensitivity as falsify_sensitivity
    from dpselect.certificates.checking import verify as verify
    from dpselect.certificates.release import Release as Release
    from dpselect.errors import SelectionError as SelectionError
    from dpselect.formats import Format as Format
    from dpselect.ledger import Ledger as Ledger
    from dpselect.mechanisms import AboveThreshold as AboveThreshold
    from dpselect.mechanisms import DiscreteGaussianMechanism as DiscreteGaussianMechanism
    from dpselect.mechanisms import ExponentialMechanism as ExponentialMechanism
    from dpselect.mechanisms import ExponentialNoiseTopK as ExponentialNoiseTopK
    from dpselect.mechanisms import GeneralizedSelection as GeneralizedSelection
    from dpselect.mechanisms import GeometricMechanism as GeometricMechanism
    from dpselect.mechanisms import LaplaceMechanism as LaplaceMechanism
    from dpselect.mechanisms import PermuteAndFlip as PermuteAndFlip
    from dpselect.mechanisms import RandomizedResponse as RandomizedResponse
    from dpselect.mechanisms import ReportNoisyMax as ReportNoisyMax
    from dpselect.mechanisms import TopKSet as TopKSet
    from dpselect.mechanisms.best_of_runs import best_of_runs as best_of_runs
    from dpselect.mechanisms.permute_and_flip import select as select
    from dpselect.mechanisms.permute_and_flip import select_lazily as select_lazily
    from dpselect.mechanisms.top_k import top_k as top_k
    from dpselect.plans.answers import Answers as Answers
    from dpselect.plans.answers import report as report
    from dpselect.plans.division import PlanForecast as PlanForecast
    from dpselect.plans.plan import Plan as Plan
    from dpselect.privacy import ROWS as ROWS
    from dpselect.privacy import Neighbours as Neighbours
    from dpselect.rows.opening import candidates_from as candidates_from
    from dpselect.session.answering import Forecast as Forecast
    from dpselect.session.check import check as check
    from dpselect.session.dataset import Dataset as Dataset
    from dpselect.session.dataset import DryRun as DryRun
else:
    __getattr__, __dir__, __all__ = on_use(__name__, __file__, "charts", "ledger", "sklearn")
    __all__ += ["__version__"]

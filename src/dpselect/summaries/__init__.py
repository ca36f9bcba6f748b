"""What a backend returns: small, private, and without a way back to the rows; and the public set that it is over."""

from dpselect.summaries.candidates import (
    MANY_CANDIDATES,
    MOST_CANDIDATES,
    CandidateKind,
    DistantCandidates,
    PublicCandidates,
    candidate_kind,
)
from dpselect.summaries.clip import PublicClip
from dpselect.summaries.condition import PublicCondition
from dpselect.summaries.dates import public_dates
from dpselect.summaries.domain import GrowingBins, PublicBins, PublicDomain
from dpselect.summaries.features import HIGHEST_WEIGHT, MOST_CELLS, PublicFeatures
from dpselect.summaries.groups import PublicGroups
from dpselect.summaries.private import CandidateCounts, CandidateTotals, NameCounts, RuleCounts, UnitTotals, UnitValues

__all__ = [
    "HIGHEST_WEIGHT",
    "MANY_CANDIDATES",
    "MOST_CANDIDATES",
    "MOST_CELLS",
    "CandidateCounts",
    "CandidateKind",
    "CandidateTotals",
    "DistantCandidates",
    "GrowingBins",
    "NameCounts",
    "PublicBins",
    "PublicCandidates",
    "PublicClip",
    "PublicCondition",
    "PublicDomain",
    "PublicFeatures",
    "PublicGroups",
    "RuleCounts",
    "UnitTotals",
    "UnitValues",
    "candidate_kind",
    "public_dates",
]

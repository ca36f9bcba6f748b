"""What is read of rows, and what an engine returns: small, private, without a way back to the rows."""

from typing import TYPE_CHECKING

from dpselect.on_use import on_use

if TYPE_CHECKING:
    from dpselect.arguments import CandidateKind as CandidateKind
    from dpselect.summaries.candidates import CandidateTotals as CandidateTotals
    from dpselect.summaries.candidates import PublicCandidates as PublicCandidates
    from dpselect.summaries.candidates import as_date as as_date
    from dpselect.summaries.candidates import members as members
    from dpselect.summaries.domain import PublicBins as PublicBins
    from dpselect.summaries.domain import PublicClip as PublicClip
    from dpselect.summaries.domain import PublicDomain as PublicDomain
    from dpselect.summaries.domain import are_dates as are_dates
    from dpselect.summaries.domain import candidate_kind as candidate_kind
    from dpselect.summaries.domain import public_dates as public_dates
    from dpselect.summaries.scans import CountsOf as CountsOf
    from dpselect.summaries.scans import NameCounts as NameCounts
    from dpselect.summaries.scans import NamesOf as NamesOf
    from dpselect.summaries.scans import PublicGroups as PublicGroups
    from dpselect.summaries.scans import Scan as Scan
    from dpselect.summaries.scans import TotalsOf as TotalsOf
    from dpselect.summaries.scans import UnitsOf as UnitsOf
    from dpselect.summaries.scans import UnitValues as UnitValues
    from dpselect.summaries.scans import ValuesIn as ValuesIn
else:
    __getattr__, __dir__, __all__ = on_use(__name__, __file__)

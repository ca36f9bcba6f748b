"""What a backend hands up: small, private, and without a way back to the rows; and the public set it is over."""

from dpselect.summaries.candidates import CandidateKind, PublicCandidates
from dpselect.summaries.counts import CandidateCounts

__all__ = ["CandidateCounts", "CandidateKind", "PublicCandidates"]

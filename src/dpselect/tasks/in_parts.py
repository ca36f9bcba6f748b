"""Helpers for questions that may be drawn in parts, where the scores are."""

from __future__ import annotations

from dataclasses import replace

from dpselect.release import Release
from dpselect.summaries import DistantCandidates, PublicCandidates


def asked_of(candidates: PublicCandidates | DistantCandidates) -> object:
    """The candidates, as they tell one question from others."""
    return candidates if isinstance(candidates, DistantCandidates) else candidates.values


def in_parts(release: Release) -> Release:
    """The release of what was drawn in parts, with the page that proves this way of drawing."""
    return replace(release, proofs=(*release.proofs, "proofs/partial_selection.md"))

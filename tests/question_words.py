"""Names of questions, what declares each, and what is said of an answer: one place that knows where these stand."""

from __future__ import annotations

from typing import Any

from dpselect.questions import wording
from dpselect.questions.question import BY_NAME, QUESTIONS

NAMES = tuple(BY_NAME)
"""The questions of a table, by the names of their methods."""

DECLARED: dict[str, Any] = {name: BY_NAME[name] for name in NAMES}
"""The class of each."""

TASKS: dict[str, Any] = {**QUESTIONS}
"""What certificates name: some questions are others than their method, by their arguments."""


def provenance(release: Any) -> str:
    """What drew the value, and what from, and the number of groups."""
    return release.provenance


def reported(release: Any, value: Any) -> Any:
    """A value as its release reports it."""
    return wording.reported(release, value)

"""An answer from a summary made by hand: what the runner of questions does when rows are read."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from dpselect.certificates.release import Release, draft
from dpselect.questions.question import Priced


def drawn_answer(question: Priced[Any], summary: object, *, column: str, unit: str, time: datetime) -> Release:
    """Drawn and certified."""
    planned = draft(question, column=column, unit=unit, time=time)
    return planned.answered(question.released(summary))

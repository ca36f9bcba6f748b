"""What a request id stands for."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, all of it public, so that asking the same again can be told from asking something else."""

    task: str
    source: str
    unit: str
    column: str
    arguments: dict[str, Any]

    @property
    def text(self) -> str:
        """The same for the same question."""
        words = [self.task, self.source, self.unit, self.column]
        for name, value in sorted(self.arguments.items()):
            exact = value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
            words += [name, sha256(exact).hexdigest()]
        return repr(words)

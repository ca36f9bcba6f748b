"""What a process remembers of charges whose outcome it did not hear, and of answers that it could not store yet."""

from __future__ import annotations

import pytest

from dpselect.ledger import Ledger, requests


def forget() -> None:
    """As in a new process."""
    requests._attempts.clear()  # pyright: ignore[reportPrivateUsage]
    requests._answers.clear()  # pyright: ignore[reportPrivateUsage]


def answers_to_store() -> set[str]:
    """The hashes of the entries whose answers are still to be stored."""
    return {*requests._answers}  # pyright: ignore[reportPrivateUsage]


def has_unheard(ledger: Ledger) -> bool:
    """Whether there is a charge of which it is unknown whether it was recorded."""
    here = ledger._address  # pyright: ignore[reportPrivateUsage]
    return any(each.charge.ledger == here for each in requests._attempts)  # pyright: ignore[reportPrivateUsage]


def forbid_second_attempts(patch: pytest.MonkeyPatch) -> None:
    """From here on a test fails in which something is tried again after a failure."""
    patch.setattr(requests.Patience, "lasts", lambda _: pytest.fail("it tried again"))


def as_another_process(patch: pytest.MonkeyPatch) -> None:
    """From here on this is a fork of the process that it was."""
    patch.setattr(requests, "_attempts", [])

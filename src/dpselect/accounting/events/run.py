"""What ran, for people and ledgers: an event, and the words that composition does not need."""

from __future__ import annotations

from dataclasses import dataclass

from dpselect.accounting.events.groups import Event, checked_event
from dpselect.errors import InvalidParameterError, Shown
from dpselect.privacy import Neighbours, neighbouring_relation

_LONGEST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One thing that ran: its `event` is what it costs, the rest says what it was and whom the cost protects.

    Args:
        event: the privacy property that was proved of it; all that composition looks at.
        mechanism: name of the mechanism, as exported by `dpselect`. For people: two runs with equal events cost the
            same whatever their names.
        neighbours: which data sets the guarantee compares. Runs under different relations do not add up.
        unit: who is protected, in the caller's words. Runs for different units do not add up.

    Raises:
        InvalidParameterError: no event, an empty or overlong text, or no neighbouring relation.

    >>> from dpselect.accounting.events import LaplaceProfileEvent
    >>> run = Run(event=LaplaceProfileEvent(epsilon=0.5), mechanism="PermuteAndFlip", neighbours="add_remove",
    ...           unit="session")
    >>> run.event.epsilon, run.unit
    (0.5, 'session')
    """

    event: Event
    mechanism: str
    neighbours: Neighbours
    unit: str

    def __post_init__(self) -> None:
        checked_event(self.event)
        object.__setattr__(self, "neighbours", neighbouring_relation(self.neighbours))
        for name in ("mechanism", "unit"):
            object.__setattr__(self, name, _text(getattr(self, name), name))


def _text(value: object, name: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST:
        got = Shown(f"<text of length {len(value)}>") if isinstance(value, str) else value
        raise InvalidParameterError(name, got, f"a text of 1 to {_LONGEST} characters")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidParameterError(name, Shown("<text with lone surrogates>"), "a text that UTF-8 can hold") from None
    return str(value)

"""Anchors: how far each account of a ledger had come, noted outside of it, so that an older copy in its place is seen.

A ledger cannot prove its own age. An anchor can: it only ever moves forward, and lies where whoever restores, loses or
rewrites the ledger does not restore, lose or rewrite it with it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from dpselect.errors import AnchorError
from dpselect.ledger.accounts import State
from dpselect.ledger.chain import anchor_check, canonical
from dpselect.ledger.costs import Cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """How far an account had come.

    Attributes:
        account: its name.
        sequence: of its last entry; -1 of an account that was lost as a whole, and written off.
        hash: of that entry and all before it.
        state: what the account said then, as the ledger writes it: its limit and all that is spent.
        seal: of the account's row then, which covers its terms, too.
        written_off: the sequence that the anchor was at, where the ledger had lost entries and their cost was written
            off as spent; else None. Only such a head may go back.
    """

    account: str
    sequence: int
    hash: str
    state: str
    seal: str
    written_off: int | None = None

    def to_line(self) -> str:
        """As one line of text, with a hash of its own that shows damage."""
        held = {"account": self.account, "sequence": self.sequence, "hash": self.hash, "state": self.state}
        held |= {"seal": self.seal} | ({} if self.written_off is None else {"written_off": self.written_off})
        return canonical(held | {"check": anchor_check(canonical(held))})

    @classmethod
    def from_line(cls, line: str) -> Head:
        """What `to_line` wrote.

        Raises:
            ValueError: it did not write this.
        """
        held: dict[str, Any] = json.loads(line)
        check = held.pop("check")
        if anchor_check(line.replace(f'"check":"{check}",', "", 1)) != check:
            raise ValueError("damaged")
        are_texts = all(isinstance(held.get(name), str) for name in ("account", "hash", "state", "seal"))
        are_counts = all(type(count) is int for count in (held.get("sequence"), held.get("written_off", 0)))
        if not are_texts or not are_counts:
            raise ValueError("not a head")
        head = cls(**held)
        if not (-1 <= head.sequence < _MOST_ENTRIES and -1 <= (head.written_off or 0) < _MOST_ENTRIES):
            raise ValueError("not a number of an entry")
        return head


@runtime_checkable
class Anchor(Protocol):
    """A place outside of the ledger that remembers heads. Whatever keeps texts for good can be one."""

    def heads(self, ledger: str) -> dict[str, Head]:
        """The head of each account of the ledger of this id, by name: the first that was noted of the largest sequence,
        since the last that was written off. Empty if none was noted yet, and nothing is made then.

        Raises:
            AnchorError: it cannot be read, is damaged, or belongs to another ledger.
        """
        ...

    def note(self, ledger: str, head: Head) -> None:
        """Keep one more head; when this returns it will be found after any crash.

        Raises:
            AnchorError: it cannot be written.
        """
        ...


class Heads:
    """What an anchor knows of one ledger, line by line."""

    __slots__ = ("_by_account", "_totals")

    def __init__(self) -> None:
        self._by_account: dict[str, Head] = {}
        self._totals: dict[str, Cost] = {}

    def by_account(self) -> dict[str, Head]:
        """The head of each account, by its name."""
        return dict(self._by_account)

    def take(self, line: str) -> None:
        """Take in the next line.

        Raises:
            ValueError: no ledger wrote it, or it gives back what was spent.
        """
        if not line.startswith(_SUMMARY):
            self._take(Head.from_line(line))
            return
        held: dict[str, Any] = json.loads(line)
        if canonical(held) != line or held["check"] != anchor_check(canonical({"all": held["all"]})):
            raise ValueError("not a line of an earlier version")

    def _take(self, head: Head) -> None:
        """Heads may be noted in another order than entries were written in. The first of one number counts.

        No head gives back what was spent. Only what was written off goes back to a smaller number, and only from where
        the anchor was.
        """
        known = self._by_account.get(head.account)
        is_later = known is None or (head.written_off is None and head.sequence > known.sequence)
        if is_later or (known is not None and head.written_off is not None and head.written_off == known.sequence):
            total = State.from_text(head.state).total
            if known is not None and not total.covers(self._totals[head.account]):
                raise ValueError("what was spent is not given back")
            self._by_account[head.account], self._totals[head.account] = head, total


_MOST_ENTRIES = 2**63

_SUMMARY = '{"all":'
"""How a line of an earlier version begins that repeats all heads. It is skipped: the lines before it say the same, and
whoever may add lines could add one that repeats older heads."""


def damaged(anchor: str, place: int) -> AnchorError:
    """The error for a line that no ledger wrote; `place` says where it is."""
    return AnchorError(anchor, f"its entry at {place} is damaged. Keep the damaged anchor, and restore it from a copy.")


def of_another(anchor: str) -> AnchorError:
    """The error for an anchor that belongs to another ledger."""
    return AnchorError(anchor, "it belongs to another ledger. Give each ledger an anchor of its own.")


def unknown(anchor: Anchor, account: str) -> AnchorError:
    """The error for an anchor that is missing or empty, or was not there when the account was opened."""
    text = (
        f"it knows nothing of account {account!r}: it is missing, was emptied, is another one, or the process that"
        " opened the account ended before it was noted. Nothing was charged. Put the right one back; `dpselect ledger"
        " anchor` notes what the ledger has now, and cannot show what was lost before."
    )
    return AnchorError(name_of(anchor), text)


def name_of(anchor: Anchor) -> str:
    """As messages call it; what a caller's own object says of itself is not known to be public."""
    return str(anchor) if type(anchor).__module__.startswith("dpselect.") else type(anchor).__name__

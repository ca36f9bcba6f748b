"""Anchors: how far each account of a ledger had come, noted outside of it, so that an older copy in its place is seen.

A ledger cannot prove its own age. An anchor can: it only ever moves forward, and lies where whoever restores, loses or
rewrites the ledger does not restore, lose or rewrite it with it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from dpselect.errors import AnchorError
from dpselect.ledger.chain import anchor_check, canonical


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
        stated = {name: value for name, value in held.items() if name != "check"}
        texts = [stated.get(name) for name in ("account", "hash", "state", "seal")]
        counts = [stated.get("sequence"), stated.get("written_off", 0)]
        are_texts = all(isinstance(text, str) for text in texts)
        if len(stated) not in (5, 6) or not are_texts or not all(type(count) is int for count in counts):
            raise ValueError("no head")
        head = cls(**stated)
        if head.to_line() != line:
            raise ValueError("no head")
        return head


@runtime_checkable
class Anchor(Protocol):
    """A place outside of the ledger that remembers heads. Whatever keeps texts for good can be one."""

    def heads(self, ledger: str) -> dict[str, Head]:
        """The head of each account of the ledger of this id, by name: the one with the largest sequence, since the last
        that was written off. Empty if none was noted yet.

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


def latest(heads: dict[str, Head], head: Head) -> None:
    """Take `head` in: entries may be noted in another order than they were written in."""
    known = heads.get(head.account)
    if known is None or head.written_off is not None or head.sequence > known.sequence:
        heads[head.account] = head


def damaged(anchor: str, place: int) -> AnchorError:
    """Of a line that no ledger wrote."""
    return AnchorError(
        anchor, f"line {place} is damaged. Nothing was charged. Keep the file, and put back a copy of it."
    )


def of_another(anchor: str) -> AnchorError:
    """Of an anchor that was given to the wrong ledger."""
    text = "it belongs to another ledger. Nothing was charged. Give each ledger an anchor of its own."
    return AnchorError(anchor, text)

"""The chain of hashes that shows whether an account's entries are those once written.

Each hash covers an entry's exact text and the hash before it, so that no entry can be changed, left out or moved
without changing every later hash. The account's seal covers its running total and the last hash.

Whoever can write the database can also rewrite a whole chain, or put back an older copy of it: no file can prove its
own age. A hash kept elsewhere can, and every receipt contains one.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

FIRST = "0" * 64
"""The hash before an account's first entry."""

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical(held: dict[str, Any]) -> str:
    """JSON that is the same text for equal objects: one line, keys sorted."""
    return _ENCODER.encode(held)


def entry_hash(previous: str, body: str) -> str:
    """The hash of an entry, given the hash before it."""
    return _digest("entry", previous, body)


def release_hash(entry: str, body: str) -> str:
    """The hash of a stored release, given the hash of its charge."""
    return _digest("release", entry, body)


def account_seal(number: int, name: str, terms: str, state: str, head: str) -> str:
    """The hash of everything in an account's row."""
    return _digest("account", str(number), name, terms, state, head)


def anchor_check(held: str) -> str:
    """The checksum of a line of an anchor."""
    return _digest("anchor", held)


def question_digest(*parts: str) -> str:
    """The hash of a question, stored in place of its words."""
    return _digest("question", *parts)


def _digest(*parts: str) -> str:
    """Each part is preceded by its length, so that different lists never give the same bytes."""
    encoded = [part.encode() for part in parts]
    joined = b"".join([b"%d:%b" % (len(each), each) for each in encoded])
    return hashlib.sha256(b"dpselect ledger 1" + joined).hexdigest()

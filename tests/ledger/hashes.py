"""Texts and hashes of a ledger as somebody writes them who has nothing of the package: from docs/ledger.md alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any


def canonical(held: Mapping[str, Any]) -> str:
    """JSON in one line of ASCII without blanks, keys sorted."""
    return json.dumps(held, sort_keys=True, separators=(",", ":"))


def digest(of: str, *parts: str) -> str:
    """The hash of an entry, a release, an account's row or a line of an anchor: each part behind its length."""
    whole = b"dpselect ledger 1"
    for part in (of, *parts):
        whole += str(len(part.encode())).encode() + b":" + part.encode()
    return sha256(whole).hexdigest()

"""A certificate as somebody writes it anew who knows how its hashes are made, and has nothing of the package.

The text and both hashes are made here from the description alone, so that tests of edited certificates do not rest on
the code that they test.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any


def canonical_json(held: Mapping[str, Any]) -> str:
    """The text of a certificate: one line, keys sorted."""
    return json.dumps(held, sort_keys=True, allow_nan=False, ensure_ascii=False)


def digest(held: Mapping[str, Any]) -> str:
    """The digest that fits all other fields."""
    rest = {name: value for name, value in held.items() if name != "digest"}
    return sha256(canonical_json(rest).encode()).hexdigest()


def question_hash(held: Mapping[str, Any]) -> str:
    """The hash that a receipt holds: of everything that was known before the draw."""
    known = {name: value for name, value in held.items() if name not in ("value", "receipt", "digest")}
    for noisy in [name for name in ("usable", "counts") if name in known]:
        known[noisy] = {name: value for name, value in known[noisy].items() if name != "count"}
    return sha256(b"dpselect question 1" + canonical_json(known).encode()).hexdigest()


def edited(text: str, **changes: Any) -> str:
    """The certificate with some fields changed, `a__b` for b in a, and a digest that fits."""
    held = json.loads(text)
    for path, value in changes.items():
        at = held
        *inner, last = path.split("__")
        for name in inner:
            at = at[name]
        at[last] = value
    return canonical_json(held | {"digest": digest(held)})

"""Entries and receipts from database rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from dpselect.accounting.events import Run, from_json
from dpselect.accounting.rounding import fraction_down, fraction_up
from dpselect.ledger.chain import FIRST, canonical
from dpselect.ledger.records import Entry, Receipt


def entry_of(row: Mapping[Any, Any]) -> Entry:
    """The entry of a row of the entries."""
    body: dict[str, Any] = json.loads(row["body"])
    epsilon, delta, what = 0.0, 0.0, ""
    if body["kind"] == "charge":
        run = from_json(body["event"])
        event = run.event if isinstance(run, Run) else run
        epsilon, delta = event.epsilon, event.delta
        what = run.mechanism if isinstance(run, Run) else type(event).__name__
    elif body["kind"] in ("open", "limit"):
        epsilon = fraction_down(Fraction(body["epsilon"]))
    if body["kind"] == "open":
        delta = fraction_up(Fraction(json.loads(body["terms"])["delta"]))
    return Entry(
        sequence=row["sequence"],
        kind=body["kind"],
        time=body["time"],
        epsilon=epsilon,
        delta=delta,
        what=what,
        request=row["request"],
        note=body.get("note", ""),
        hash=row["hash"],
        body=body,
        release=row["release"],
    )


def receipt_of(row: Mapping[Any, Any]) -> Receipt:
    """The receipt of a charge, with its stored release if there is one."""
    body: dict[str, Any] = json.loads(row["body"])
    return Receipt(
        account=body["account"],
        sequence=row["sequence"],
        hash=row["hash"],
        time=body["time"],
        request=row["request"],
        release=row["release"],
    )


def exported(rows: Iterable[Mapping[Any, Any]]) -> Iterator[str]:
    """An account's entries as JSON, with what each hash is made of."""
    previous = FIRST
    for row in rows:
        held = {"entry": json.loads(row["body"]), "previous": previous, "hash": row["hash"]}
        yield canonical(held if row["release"] is None else held | {"release": row["release"]})
        previous = row["hash"]

"""What a privacy budget buys, before any of it is spent; and the ledgers that keep accounts of budgets."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import dpselect as dps
from dpselect.arguments import Argument, Exact
from dpselect.checks import positive_count, positive_epsilon, positive_sensitivity, probability
from dpselect.cli.commands import Json
from dpselect.privacy import Neighbours

if TYPE_CHECKING:
    from dpselect.ledger import Account

_CHOICES = {  # in JSON, each has the name under which `dpselect` exports it
    "permute-and-flip": "PermuteAndFlip",
    "exponential mechanism": "ExponentialMechanism",
    "Laplace noisy max": "ReportNoisyMax",
}


def plan(
    *,
    candidates_count: int,
    sensitivity: float = 1.0,
    monotonic: bool = False,
    epsilon: Annotated[list[float] | None, Argument("levels", "")] = None,
    confidence: float = 0.99,
    expected_error: float | None = None,
    within: float | None = None,
    as_json: Json = False,
) -> None:
    """Compute how accurate an answer will be at each epsilon, before any epsilon is spent.

    dpselect plan --candidates-count 41270 --monotonic \\
        --within 20

    Never plan with private scores: the plan, epsilon and the mechanism would depend
    on them, and reveal them without any noise. So no option takes a table, and the
    errors hold for any scores. With numbers that are already public, such as last
    year's published counts, plan in Python: dpselect.planning.

    Args:
        candidates_count: Number of candidates.
        sensitivity: Largest change of any score by one unit. With the default, errors are in multiples of this change.
        monotonic: One unit changes all scores in the same direction, as for counts when a unit is added or removed.
            Halves the epsilon needed for a given error.
        epsilon: Privacy loss to plan for, or several: 0.1,0.3,1. Default: 0.01,0.03,0.1,0.3,1,3,10.
        confidence: Confidence level of the error bound.
        expected_error: Find the epsilon that brings the expected error down to this.
        within: Find the epsilon that keeps the error within this, at the confidence level.
    """
    from dpselect.planning import epsilon_for, error_curve

    count = positive_count(candidates_count, "candidates_count", at_most=sys.maxsize)
    setting: dict[str, Any] = {"n": count, "sensitivity": positive_sensitivity(sensitivity), "monotonic": monotonic}
    kinds = {name: getattr(dps, name) for name in _CHOICES.values()}
    epsilons = sorted({positive_epsilon(each) for each in epsilon or (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)})
    levels = {"expected_error": None, "error_bound": probability(confidence, "confidence")}
    rows: list[dict[str, Any]] = [{"epsilon": each, **{name: {} for name in kinds}} for each in epsilons]
    for name, kind in kinds.items():
        for what, level in levels.items():
            curve = error_curve(kind, **setting, epsilons=epsilons, confidence=level).tolist()
            for row, error in zip(rows, curve, strict=True):
                row[name][what] = error if math.isfinite(error) else None
    targets: list[Any] = [{"expected_error": expected_error}, {"within": within, "confidence": levels["error_bound"]}]
    targets = [each for each in targets if None not in each.values()]
    for each in targets:
        each["epsilon"] = {name: epsilon_for(kind, **setting, **each) for name, kind in kinds.items()}
    found = {"candidates_count": setting.pop("n"), **setting, "confidence": levels["error_bound"]}
    found |= {"version": dps.__version__, "table": rows, "targets": targets}
    if as_json:
        print(json.dumps(found, sort_keys=True, allow_nan=False, ensure_ascii=False))
    else:
        print(*_planned(found), sep="\n")


def _planned(plan: Mapping[str, Any]) -> Iterator[str]:
    """A table of the errors, what to choose, the epsilons of wanted errors, and what the table does not say."""
    from dpselect.privacy import as_text
    from dpselect.questions.records import counted
    from dpselect.questions.wording import rounded_up, text_table

    def shown(number: float | None) -> str:
        return "inf" if number is None else rounded_up(number)

    alike = ", all in the same direction (monotonic)" if plan["monotonic"] else ""
    sure = f"{(Decimal(repr(plan['confidence'])) * 100).normalize():f} %"  # with all digits: 0.9999999 is not 100 %
    yield f"One selection among {counted(plan['candidates_count'], 'candidate')}, in the worst case over all scores."
    yield "An error is how far the selected score is below the best. One unit (a person, a session) changes each score"
    yield f"by at most {as_text(plan['sensitivity'])}{alike}.\n"
    lines = [
        (as_text(row["epsilon"]), shown(row[name]["expected_error"]), shown(row[name]["error_bound"]), said)
        for row in plan["table"]
        for said, name in _CHOICES.items()
    ]
    yield text_table(["epsilon", "expected", f"{sure} bound", "mechanism"], lines, right={0, 1, 2}) + "\n"
    compared = "permute-and-flip never errs more than the exponential mechanism, whatever the scores"
    is_one = plan["candidates_count"] == 1
    yield "With one candidate no mechanism can err." if is_one else f"At the same epsilon {compared}."
    for target in plan["targets"]:
        wanted = f"An expected error of at most {as_text(target.get('expected_error'))}"
        if "within" in target:
            wanted = f"Staying within {as_text(target['within'])} of the best with {sure} confidence"
        prices = (f"{shown(target['epsilon'][name])} ({said})" for said, name in _CHOICES.items())
        yield f"{wanted} takes epsilon = {', '.join(prices)}."
    if not is_one:
        yield "For Laplace noise the expected errors are the worst known, but not proved to be the worst."
    yield "Planned from public arguments only; nothing was spent."


Url = Annotated[str, Argument("any text", "File or database of the ledger.")]
Name = Annotated[str, Argument("any text", "Name of the account.")]
OneOrAll = Annotated[str | None, Argument("any text", "Name of an account. Default: all.")]
Anchor = Annotated[str | None, Argument("any text", "File that records the latest entry of each account.")]
Limit = Annotated[Exact, Argument("exact", "")]
"""A decimal of few digits is the double that it is as the epsilon of a question, which so fits into it."""

_HISTORY = {"entry": "sequence", **{each: each for each in ("time", "kind", "what", "epsilon", "request", "note")}}
_VERIFIED = {"account": "account", "entries": "entries", "intact up to": "head"}
"""The heads of tables, each with the name of its number or text in JSON."""


def open(
    ledger: Url,
    account: Name,
    *,
    epsilon: Limit,
    delta: Limit = 0.0,
    set_aside: Limit = 0.0,
    unit: str | None = None,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """Open an account: all answers charged to it stay within epsilon.

    If LEDGER is a file that is not there, it is created.

    dpselect ledger open sqlite:///budget.db clicks \\
        --epsilon 3 --unit session

    Args:
        epsilon: Limit, compared exactly. A fraction such as 1/10 is exact. A decimal of up to 15 digits counts as the
            nearest double, as it does for a question's epsilon: 0.5 and 0.25 are exact, 0.1 is a little more than a
            tenth. So one 0.1 fits into 0.1 but not into 1/10, and ten of them fit into 1.000001 but not into 1.
        delta: Probability with which epsilon may fail, written like epsilon. Above 0, it allows more answers, from
            about ten on.
        set_aside: Part of delta reserved for mechanisms that have a delta of their own.
        unit: Column that identifies who is protected. Default: that of the first answer.
        neighbours: Which tables the guarantee compares: add-remove, or replace-one if the number of units is public.
    """
    limits = {"epsilon": epsilon, "delta": delta, "set_aside": set_aside}
    with dps.Ledger(ledger, anchor=anchor) as opened:
        _show_accounts([opened.open_account(account, unit=unit, neighbours=neighbours, **limits)], as_json)


def show(ledger: Url, account: OneOrAll = None, *, as_json: Json = False) -> None:
    """Show what is left of an account, or of all accounts."""
    with dps.Ledger(ledger) as opened:
        _show_accounts(opened.accounts() if account is None else [opened.account(account)], as_json)


def history(ledger: Url, account: Name, *, last: int | None = None, as_json: Json = False) -> None:
    """Show the entries of an account, in order.

    Args:
        last: Number of entries, counted from the end. Default: all.
    """
    with dps.Ledger(ledger) as opened:
        found = opened.entries(account, last=last)
        while page := [*islice(found, 1000)]:  # a long history need not fit into memory
            _print(as_json, [entry.to_dict() for entry in page], _HISTORY)


def limit(
    ledger: Url, account: Name, *, epsilon: Limit, reason: str = "", anchor: Anchor = None, as_json: Json = False
) -> None:
    """Raise or lower the limit of an account; the change is an entry of its own.

    Args:
        epsilon: New limit, a decimal or a fraction such as 1/3; at least what is spent.
        reason: Why the limit changes, and who allowed it. The entry contains it.
    """
    with dps.Ledger(ledger, anchor=anchor) as opened:
        _show_accounts([opened.set_limit(account, epsilon=epsilon, reason=reason)], as_json)


def close(ledger: Url, account: Name, *, anchor: Anchor = None, as_json: Json = False) -> None:
    """Close an account permanently: nothing more can be charged to it."""
    with dps.Ledger(ledger, anchor=anchor) as opened:
        _show_accounts([opened.close(account)], as_json)


def verify(ledger: Url, account: OneOrAll = None, *, anchor: Anchor = None, as_json: Json = False) -> None:
    """Check that the entries are unchanged, and that no limit was exceeded.

    A ledger alone cannot show that all of it was rewritten, or that it was
    replaced by an older copy. Its anchor can, and so can any receipt:
    dpselect verify CERTIFICATE --ledger LEDGER looks one up.
    """
    with dps.Ledger(ledger, anchor=anchor) as opened:
        _print(as_json, [each.to_dict() for each in opened.verify(account)], _VERIFIED)


def anchor(ledger: Url, *, to: str, as_json: Json = False) -> None:
    """Record the latest entry of each account outside the ledger.

    Keep the anchor where it is not lost or restored together with the ledger:
    on another disk.

    Args:
        to: File to append to.
    """
    with dps.Ledger(ledger) as opened:
        heads = opened.anchor(to)
    noted = [{"account": each.account, "sequence": each.sequence, "hash": each.hash} for each in heads]
    _print(as_json, noted, {"account": "account", "noted up to entry": "sequence", "hash": "hash"})


def backup(ledger: Url, *, to: str, anchor: Anchor = None, as_json: Json = False) -> None:
    """Copy the ledger into a new file while others continue to charge, and verify the copy.

    LEDGER is a file. For a database on a server, make a dump instead. A lost
    ledger is restored in the same way, from its copy: with --anchor, unless
    charges are missing in it.

    Args:
        to: File of the copy, which must not exist yet.
    """
    with dps.Ledger(ledger, anchor=anchor) as opened:
        if anchor is not None:
            opened.verify()
        _print(as_json, [each.to_dict() for each in opened.backup(to)], _VERIFIED)


def _show_accounts(found: Sequence[Account], as_json: bool) -> None:
    """What was promised, and what is left."""
    names = ["account", "unit", "epsilon", "spent", "left", "delta"]
    if any(account.set_aside for account in found):  # of delta, for questions that have a delta of their own
        names += ["set_aside", "set_aside_left"]
    heads = {name.replace("_", " "): name for name in (*names, "entries")}
    _print(as_json, [account.to_dict() for account in found], heads)


def _print(as_json: bool, objects: Sequence[Mapping[str, Any]], heads: Mapping[str, str]) -> None:
    """For programs an object on each line; for people a table."""
    if not as_json:
        from dpselect.questions.wording import text_table

        print(text_table([*heads], [[_cell(each, name) for name in heads.values()] for each in objects]))
        return
    for each in objects:
        print(json.dumps(each, sort_keys=True, allow_nan=False, ensure_ascii=False))


def _cell(held: Mapping[str, Any], name: str) -> str:
    """For people: without the last digits of times and of sums of doubles, which JSON keeps."""
    value = held[name]
    if name == "entries" and not held["open"]:
        return f"{value}, closed"
    if value is None or (name == "epsilon" and held.get("kind") == "close"):
        return ""
    if name == "time":
        return value.partition(".")[0].replace("T", " ")
    return f"{value:.12g}" if isinstance(value, float) else str(value)

"""What `dpselect.audit` finds beside DP-Sniper's and DP-Auditorium's methods, at equal draws and equal confidence.

``python -m benchmarks.audit_peers | python docs/blocks.py docs/auditing.md peers`` renews the tables of the document,
in less than an hour on two cores. With ``--missed 1000000`` it takes up once more, with so many draws, what each method
missed, and prints the block ``missed``.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain

from tests.auditing.broken import BROKEN
from tests.auditing.cases import Case
from tests.auditing.right import RIGHT
from threadpoolctl import threadpool_limits

from benchmarks.audit_methods import METHODS
from dpselect.auditing.audit import Flat, flat, lower_bound

OURS = "dps.audit"
ERROR = 0.001
Found = dict[str, tuple[float, float]]
"""By the method's name: the bound of epsilon, and the seconds of one processor that drawing and the method took."""


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audit_peers", description=__doc__)
    parser.add_argument("--draws", type=int, nargs=2, default=[6000, 50_000], help="for each neighbour, few and many")
    parser.add_argument("--seeds", type=int, default=3, help="audits of each broken mechanism")
    parser.add_argument("--runs", type=int, default=28, help="audits of each right mechanism, of 1,000 draws")
    parser.add_argument("--missed", type=int, metavar="DRAWS", help="only what is missed, once more with so many draws")
    given = parser.parse_args()
    few, many = given.draws
    if given.missed:
        for line in _missed(many, given.missed):
            print(line, flush=True)
        return
    tasks = [(case.what, seed, draws) for draws in (many, few) for case in BROKEN for seed in range(given.seeds)]
    tasks += [(case.what, seed, 1000) for case in RIGHT for seed in range(given.runs)]
    found: dict[tuple[str, int, int], Found] = {}
    with ProcessPoolExecutor(2) as pool:
        for task, each in zip(tasks, pool.map(_audited, tasks, chunksize=4), strict=True):
            found[task] = each
            print(*task, *(f"{bound:.2f}" for bound, _ in each.values()), file=sys.stderr, flush=True)
    audits = {
        draws: [[found[case.what, seed, draws] for seed in range(given.seeds)] for case in BROKEN]
        for draws in (few, many)
    }
    alarms = [found[case.what, seed, 1000] for case in RIGHT for seed in range(given.runs)]
    claims = [case.epsilon for case in RIGHT for _ in range(given.runs)]
    for line in chain(_bounds(audits[many]), [""], _methods(audits, alarms, claims)):
        print(line)


def _bounds(audits: list[list[Found]]) -> Iterator[str]:
    yield f"| broken mechanism, claims epsilon = 1 | {' | '.join([OURS, *METHODS])} |"
    yield "|---" * (2 + len(METHODS)) + "|"
    for case, several in zip(BROKEN, audits, strict=True):
        bounds = [sorted(each[name][0] for each in several) for name in (OURS, *METHODS)]
        cells = [_cell(statistics.median(each), each[0] >= case.epsilon) for each in bounds]
        yield f"| {case.what} | {' | '.join(cells)} |"


def _cell(bound: float, always: bool) -> str:
    return "–" if bound <= 0 else f"{bound:.2f}" if always else f"({bound:.2f})"


def _methods(audits: dict[int, list[list[Found]]], right: list[Found], claims: list[float]) -> Iterator[str]:
    few, many = audits
    each = f"{sum(map(len, audits[few])):,} audits"
    yield (
        f"| method | mechanisms found in each audit, of {len(BROKEN)}, {many:,} draws | {few:,} draws "
        f"| audits that find, of {each}, {many:,} draws | {few:,} draws | false alarms, of {len(right):,} | seconds |"
    )
    yield "|---|---|---|---|---|---|---|"
    for name in (OURS, *METHODS):
        hits = {
            draws: [
                [found[name][0] >= case.epsilon for found in several]
                for case, several in zip(BROKEN, audits[draws], strict=True)
            ]
            for draws in (many, few)
        }
        cells = [str(sum(map(all, each))) for each in hits.values()] + [
            str(sum(map(sum, each))) for each in hits.values()
        ]
        alarms = sum(found[name][0] > claim for found, claim in zip(right, claims, strict=True))
        seconds = statistics.mean(found[name][1] for several in audits[many] for found in several)
        yield f"| {name} | {' | '.join(cells)} | {alarms} | {seconds:.1f} |"


def _missed(few: int, many: int) -> Iterator[str]:
    """One row for each method: how many it finds at last, and what it still misses."""
    found: dict[str, list[str]] = {name: [] for name in METHODS}
    missed: dict[str, list[str]] = {name: [] for name in METHODS}
    longest = 0.0
    for case in BROKEN:
        first = _audited((case.what, 0, few))
        again = [name for name in METHODS if first[name][0] < case.epsilon]
        later = _audited((case.what, 0, many), again) if again else {}
        for name in again:
            bound, seconds = later[name]
            longest = max(longest, seconds)
            (found if bound >= case.epsilon else missed)[name].append(case.what)
            print(case.what, name, f"{bound:.2f}", f"{seconds:.0f} s", file=sys.stderr, flush=True)
    yield f"| method | missed with {few:,} draws | of these found with {many:,} | missed with both |"
    yield "|---|---|---|---|"
    for name in METHODS:
        found_late, never = len(found[name]), missed[name]
        yield f"| {name} | {found_late + len(never)} | {found_late} | {', '.join(never) or '–'} |"
    yield ""
    yield f"The longest of these took {longest:.0f} seconds of one processor."


def _audited(task: tuple[str, int, int], methods: Sequence[str] = (OURS, *METHODS)) -> Found:
    what, seed, draws = task
    (case,) = (each for each in [*BROKEN, *RIGHT] if each.what == what)
    with threadpool_limits(1):
        began = time.process_time()
        first, second = drawn(case, seed, draws)
        drawing = time.process_time() - began
        # So large a claim stops no audit before the last draw.
        size = draws // 2
        claim = 0.999 * lower_bound(size, 0, size, error=ERROR / 2 / 4, delta=case.delta)
        ours = partial(_ours, case, seed, draws, claim)
        found = {OURS: _timed(ours, 0.0)} if OURS in methods else {}
        for name in methods:
            if name in METHODS:
                method = partial(METHODS[name], first, second, case.epsilon, case.delta, ERROR, seed)
                found[name] = _timed(method, drawing)
        return found


def _ours(case: Case, seed: int, draws: int, claim: float) -> float:
    return case.audited(seed, draws, claimed_epsilon=claim, confidence=1 - ERROR).lower_bound


def _timed(method: partial[float], before: float) -> tuple[float, float]:
    began = time.process_time()
    bound = method()
    return (0.0 if math.isnan(bound) else bound), before + time.process_time() - began


def drawn(case: Case, seed: int, draws: int) -> tuple[list[Flat], list[Flat]]:
    """As `dpselect.audit` draws: both neighbours in turn, and errors are outputs."""
    sampler, outputs = case.start(seed), ([], [])
    for _ in range(draws):
        for neighbour, found in zip(case.neighbours, outputs, strict=True):
            try:
                found.append(flat(sampler(neighbour)))
            except Exception as error:  # noqa: BLE001 - as in an audit
                found.append({"the error": type(error).__name__, "the text of the error": str(error)})
    return outputs


if __name__ == "__main__":
    main()

"""Put each error of the list into a copy of the tree, run the tests that have to notice, report who lived.

Exit status 1 if the untouched code fails, if an entry does not fit the code, or if any error is not noticed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.mutants.mutation import Mutation, WrongMutationError, read_list
from tests.mutants.workshop import ROOT, Verdict, Workshop

KILLED = {Verdict.FAILED, Verdict.HUNG}


def main() -> int:
    """Run all of them, or those whose names contain the words given."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("words", nargs="*", help="only mutations whose name contains one of these")
    words: list[str] = parser.parse_args().words
    mutations = [each for each in read_list() if not words or any(word in each.name for word in words)]
    try:
        for mutation in mutations:
            mutation.mutated((ROOT / mutation.file).read_text(encoding="utf-8"))
    except WrongMutationError as error:
        print(error, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="dpselect-mutants-") as directory:
        workshop = Workshop(Path(directory))
        if not _untouched_code_passes(workshop, mutations):
            return 1
        lived = [mutation for mutation in mutations if not _is_killed(workshop, mutation)]
    print(f"{len(mutations) - len(lived)} of {len(mutations)} killed")
    for mutation in lived:
        print(f"LIVED: {mutation.name} ({mutation.file})")
    return 1 if lived else 0


def _untouched_code_passes(workshop: Workshop, mutations: list[Mutation]) -> bool:
    """A test that fails anyway would kill everything."""
    for command in dict.fromkeys(command for mutation in mutations for command in mutation.killed_by):
        verdict = workshop.run(command)
        print(f"untouched: {command}: {verdict.value}", flush=True)
        if verdict is not Verdict.PASSED:
            print(workshop.said())
            return False
    return True


def _is_killed(workshop: Workshop, mutation: Mutation) -> bool:
    original = workshop.put_in(mutation)
    try:
        started = time.monotonic()
        verdicts = {command: workshop.run(command) for command in mutation.killed_by}
    finally:
        workshop.put_back(mutation, original)
    killed = all(verdict in KILLED for verdict in verdicts.values())
    print(f"{'killed' if killed else 'LIVED '} {mutation.name} ({time.monotonic() - started:.0f} s)", flush=True)
    for command, verdict in verdicts.items():
        if verdict not in KILLED:
            print(f"  {command}: {verdict.value}\n{workshop.said()}")
    return killed


if __name__ == "__main__":
    sys.exit(main())

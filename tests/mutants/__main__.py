"""Put each error of the list into a copy of the tree, run the tests that have to notice, report who lived.

Exit status 1 if the untouched code fails, if an entry does not fit the code, or if any error is not noticed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.mutation import Command, Mutation, WrongMutationError, read_list
from tests.mutants.workshop import ROOT, Verdict, Workshop

KILLED = {Verdict.FAILED, Verdict.HUNG}


def main() -> int:
    """Run all of them, or those whose names contain the words given."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("words", nargs="*", help="only mutations whose name contains one of these")
    parser.add_argument("--files", action="append", metavar="START", help="only those of files that start with this")
    parser.add_argument("--shard", type=_shard, default=(1, 1), metavar="I/N", help="part I of N of them")
    asked = parser.parse_args()
    mutations = chosen(read_list(), asked.words, asked.files or [], *asked.shard)
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


def chosen(
    mutations: Sequence[Mutation], words: Sequence[str] = (), files: Sequence[str] = (), part: int = 1, parts: int = 1
) -> list[Mutation]:
    """Part `part` of those that have one of the words in their name and one of the starts in their file."""
    named = [each for each in mutations if not words or any(word in each.name for word in words)]
    return [each for each in named if not files or each.file.startswith(tuple(files))][part - 1 :: parts]


def _shard(text: str) -> tuple[int, int]:
    part, parts = map(int, text.split("/"))
    if not 1 <= part <= parts:
        raise ValueError
    return part, parts


def _untouched_code_passes(workshop: Workshop, mutations: list[Mutation]) -> bool:
    """A test that fails anyway would kill everything.

    Files are run in one go, which takes a fraction of the time; if anything fails, one by one, to see which.
    """
    commands = list(dict.fromkeys(mutation.killed_by for mutation in mutations))
    together = Command("pytest", tuple(dict.fromkeys(path for each in commands for path in whole_files(each))))
    if len(together.arguments) > 1 and workshop.run(together, seconds=None) is Verdict.PASSED:
        print(f"untouched: {len(together.arguments)} paths at once: {Verdict.PASSED.value}", flush=True)
        commands = [command for command in commands if not whole_files(command)]
    for command in commands:
        verdict = workshop.run(command)
        print(f"untouched: {command}: {verdict.value}", flush=True)
        if verdict is not Verdict.PASSED:
            print(workshop.said())
            return False
    return True


def whole_files(command: Command) -> tuple[str, ...]:
    """What a command of pytest runs, if it is all of some files."""
    plain = command.tool == "pytest" and not any(each.startswith("-") or "::" in each for each in command.arguments)
    return command.arguments if plain else ()


def _is_killed(workshop: Workshop, mutation: Mutation) -> bool:
    original = workshop.put_in(mutation)
    try:
        started = time.monotonic()
        verdict = workshop.run(mutation.killed_by)
    finally:
        workshop.put_back(mutation, original)
    killed = verdict in KILLED
    print(f"{'killed' if killed else 'LIVED '} {mutation.name} ({time.monotonic() - started:.0f} s)", flush=True)
    if not killed:
        print(f"  {mutation.killed_by}: {verdict.value}\n{workshop.said()}")
    return killed


if __name__ == "__main__":
    sys.exit(main())

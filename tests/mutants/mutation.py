"""One deliberate error: where it goes, and which tests have to fail because of it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).with_name("mutations.toml")


class WrongMutationError(Exception):
    """An entry of the list does not describe one change of the code as it stands."""


@dataclass(frozen=True, slots=True)
class Command:
    """A run of some tests.

    Attributes:
        tool: ``"cargo"`` for the Rust core, ``"pytest"`` for everything above it.
        arguments: parts of test names for cargo, paths for pytest.
    """

    tool: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join((self.tool, *self.arguments))


@dataclass(frozen=True, slots=True)
class Mutation:
    """A line of code, what it becomes, and who has to notice.

    Attributes:
        name: what is wrong afterwards.
        file: path from the root of the repository.
        old: the text to replace; it stands in `file` exactly once.
        new: what replaces it; compiles, and is wrong.
        killed_by: what has to fail.
    """

    name: str
    file: str
    old: str
    new: str
    killed_by: Command

    def mutated(self, source: str) -> str:
        """`source` with the error in it.

        Raises:
            WrongMutationError: `old` does not stand in `source` exactly once, or nothing would change.
        """
        found = source.count(self.old)
        if found != 1:
            raise WrongMutationError(f"{self.name}: the old text stands {found} times in {self.file}, not once")
        if self.old == self.new:
            raise WrongMutationError(f"{self.name}: the new text is the old one")
        return source.replace(self.old, self.new)


def read_list(path: Path = LIST) -> list[Mutation]:
    """All mutations.

    Raises:
        WrongMutationError: an entry lacks something, has something unknown, or does not name tests of one tool.
    """
    return [_mutation(entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutation"]]


def _mutation(entry: dict[str, object]) -> Mutation:
    texts = {name: entry.pop(name, None) for name in ("name", "file", "old", "new")}
    commands = [
        Command(tool, tuple(str(each) for each in arguments))
        for tool in ("cargo", "pytest")
        if isinstance(arguments := entry.pop(tool, None), list)
    ]
    if entry or len(commands) != 1 or not all(isinstance(text, str) for text in texts.values()):
        raise WrongMutationError(f"{texts['name']}: needs name, file, old, new, and tests for one tool, no more")
    return Mutation(**{name: str(text) for name, text in texts.items()}, killed_by=commands[0])

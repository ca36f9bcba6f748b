"""Where several processes share the tests, each reads only the files that it runs.

To know all tests takes 15 seconds, and each process of pytest-xdist would do it. So these share files; a process reads
a file when it is to be run. Tests on Spark run in one process, so a file that may hold some is two parts.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest


def shared_by_file(config: pytest.Config) -> bool:
    """Some tests of a file can only be chosen by who has read it."""
    return not (config.option.keyword or config.option.markexpr or any("::" in each for each in config.args))


def on_spark(nodeid: str) -> bool:
    return "spark" in nodeid.lower()


class WholeFile(pytest.Item):
    """The tests of a file, or of those the ones on Spark, or the others."""

    def __init__(self, *, collectors: Sequence[pytest.Collector], spark: bool | None = None, **given: Any) -> None:
        super().__init__(**given)
        self._collectors, self._spark = collectors, spark

    def _read(self) -> list[pytest.Item]:
        gc.disable()
        try:
            items = [item for each in self._collectors for item in self.session.genitems(each)]
            self.config.hook.pytest_collection_modifyitems(session=self.session, config=self.config, items=items)
        finally:
            gc.enable()
        return [item for item in items if self._spark in (None, on_spark(item.nodeid))]

    def run(self, following: pytest.Item | None) -> None:
        items, known = self._read(), self.session.items
        if not items:  # as after a test: what the next one does not need is torn down
            self.session._setupstate.teardown_exact(following)  # pyright: ignore[reportPrivateUsage]
        place = known.index(self)
        for item, after in pairwise([*items, following]):
            known[place] = item  # what is reported has to be what is being run
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if self.session.shouldfail or self.session.shouldstop:
                break
        known[place] = self

    def runtest(self) -> None:
        raise NotImplementedError("its tests are run, one by one")


def parts(parent: pytest.Collector, path: Path, collectors: list[pytest.Collector], text: str) -> Iterator[WholeFile]:
    nodeid = collectors[0].nodeid
    given = {"name": path.name, "path": path, "collectors": collectors}
    if "spark" in text.lower() or "engines" in text:
        yield WholeFile.from_parent(parent, **given, nodeid=nodeid, spark=False)
        yield WholeFile.from_parent(parent, **given, nodeid=f"{nodeid} on Spark", spark=True)
    else:
        yield WholeFile.from_parent(parent, **given, nodeid=nodeid)

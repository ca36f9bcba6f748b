"""What the parser reads from the signature of a command, once for all tests of a process.

Reading it takes up to 50 ms, longer than most commands, and the parser does it several times for each call. It is used
in `make test`. In `make test-slow` each call reads the signature anew, as for users.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def shared_arguments() -> Iterator[None]:
    """Each caller gets arguments of its own, without the words that another call had."""
    from cyclopts import App
    from cyclopts.argument import ArgumentCollection

    assemble = App.assemble_argument_collection
    known: dict[tuple[Any, ...], tuple[App, ArgumentCollection]] = {}

    def assembled(app: App, **how: Any) -> ArgumentCollection:
        key = (id(app), app.default_command, app.app_stack.default_parameter, *sorted(how.items()))
        if key not in known:
            known[key] = app, assemble(app, **how)  # with the app, so that no other one gets its number
        found = known[key][1]
        # A copy would share the parts of arguments that have some; no command here has such arguments.
        return assemble(app, **how) if any(each.children for each in found) else found.copy(reset_tokens=True)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(App, "assemble_argument_collection", assembled)
        yield

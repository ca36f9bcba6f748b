"""The layers of the package, from the contract that `make lint` checks: ``python docs/layers.py`` prints them.

A part of ``CONTRIBUTING.md``, kept up to date by ``make readme``; a test compares the two.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

_PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def layers(project: str) -> str:
    """The highest layer first, as a block of Markdown; modules on one line do not import each other.

    >>> contract = 'type = "layers"\\ncontainers = ["dpselect"]\\nlayers = ["cli", "errors"]'
    >>> print(layers(f"[[tool.importlinter.contracts]]\\n{contract}"))
    ```text
    cli
    errors
    ```
    """
    contracts = tomllib.loads(project)["tool"]["importlinter"]["contracts"]
    (found,) = (each for each in contracts if each["type"] == "layers" and each["containers"] == ["dpselect"])
    return "\n".join(["```text", *found["layers"], "```"])


if __name__ == "__main__":
    print(layers(_PROJECT.read_text(encoding="utf-8")))

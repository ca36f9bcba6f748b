"""``dpselect completion``: the script with which a shell completes commands and options."""

from __future__ import annotations

from typing import Literal


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print a script that lets SHELL complete commands and options.

    source <(dpselect completion bash)

    In zsh the same after compinit; in fish: dpselect completion fish | source

    Args:
        shell: The one to write for.
    """
    from dpselect.cli.main import app

    print(app.generate_completion(prog_name="dpselect", shell=shell))

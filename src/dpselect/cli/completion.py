"""``dpselect completion``: the script with which a shell completes commands and options."""

from __future__ import annotations

from typing import Literal

from dpselect.cli.app import app


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print a completion script for SHELL.

    source <(dpselect completion bash)

    In zsh, run the same after compinit. In fish: dpselect completion fish | source

    Args:
        shell: Shell that will run the script.
    """
    script = app.generate_completion(prog_name="dpselect", shell=shell)
    # Offer files where nothing else is offered, as bash does for commands without a script.
    print(script.replace("\ncomplete -F ", "\ncomplete -o filenames -o default -F "))

"""``dpselect plan``: how good an answer will be, from public arguments alone."""

from dpselect.cli.plan.command import plan

__all__ = ["plan"]

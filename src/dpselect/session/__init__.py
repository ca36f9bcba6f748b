"""Where data and questions meet: the only layer that knows a table, a task and the order of steps."""

from dpselect.session.dataset import Dataset
from dpselect.session.dry_run import DryRun
from dpselect.session.forecast import Forecast

__all__ = ["Dataset", "DryRun", "Forecast"]

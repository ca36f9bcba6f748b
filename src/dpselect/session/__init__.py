"""Where data and questions meet: the only layer that knows a table, a task and the order of steps."""

from typing import TYPE_CHECKING

from dpselect.on_use import on_use

if TYPE_CHECKING:
    from dpselect.session.dataset import Dataset as Dataset
    from dpselect.session.dry_run import DryRun as DryRun
    from dpselect.session.forecast import Forecast as Forecast
else:
    __getattr__, __dir__, __all__ = on_use(
        __name__,
        {
            "dpselect.session.dataset": "Dataset",
            "dpselect.session.dry_run": "DryRun",
            "dpselect.session.forecast": "Forecast",
        },
    )

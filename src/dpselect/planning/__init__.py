"""Before anything is spent: the accuracy of the answer, the epsilon for a target accuracy, and the best mechanism.

Never plan with private scores: such a plan would be a function of the data, released without noise. Plan with the
number of candidates alone, with last year's published figures, or with made-up scores of the expected shape.
"""

from typing import TYPE_CHECKING

from dpselect.on_use import on_use

if TYPE_CHECKING:
    from dpselect.mechanisms.noisy_counts import OrderNoise as OrderNoise
    from dpselect.mechanisms.noisy_counts import naming_noise as naming_noise
    from dpselect.mechanisms.noisy_counts import order_noise as order_noise
    from dpselect.mechanisms.noisy_counts import unknown_noise as unknown_noise
    from dpselect.planning.curves import epsilon_for as epsilon_for
    from dpselect.planning.curves import error_curve as error_curve
    from dpselect.planning.optimal import optimal_error as optimal_error
    from dpselect.planning.optimal import optimal_ratio as optimal_ratio
    from dpselect.planning.plots import plot_error as plot_error
    from dpselect.planning.plots import plot_pmf as plot_pmf
    from dpselect.planning.worst_case import Bounds as Bounds
    from dpselect.planning.worst_case import Recommendation as Recommendation
    from dpselect.planning.worst_case import lead_shown as lead_shown
    from dpselect.planning.worst_case import recommend as recommend
    from dpselect.planning.worst_case import recommendation as recommendation
    from dpselect.planning.worst_case import worst_case_bounds as worst_case_bounds
    from dpselect.planning.worst_case import worst_case_error as worst_case_error
else:
    __getattr__, __dir__, __all__ = on_use(__name__, __file__)

"""Composition: the total guarantee of several releases, by named theorems, and filters for costs
that depend on earlier answers.
"""

from .composition import advanced, advanced_renyi, advanced_renyi_loose, basic
from .filters import FILTERS, Filter
from .game import composition_game
from .optimal_composition import Composition, optimal, optimal_curve
from .parallel import parallel
from .stability import stable

__all__ = [
    "FILTERS",
    "Composition",
    "Filter",
    "advanced",
    "advanced_renyi",
    "advanced_renyi_loose",
    "basic",
    "composition_game",
    "optimal",
    "optimal_curve",
    "parallel",
    "stable",
]

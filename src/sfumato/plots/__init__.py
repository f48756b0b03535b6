"""Pictures, drawn from arrays and plain records. Nothing here knows what an answer is or where a
number came from.
"""

from .bars import Bars, Bins, bars, bins
from .beliefs import beliefs
from .budget_curve import Purse, budget
from .graphs import Graph, graphs
from .histogram_bars import cells
from .law_plots import Panel, laws
from .orders import orders
from .privacy_profiles import profiles
from .ratio_plot import ratios
from .spending import spending
from .successes import Column, successes
from .tradeoffs import Tradeoff, tradeoffs

__all__ = [
    "Bars",
    "Bins",
    "Column",
    "Graph",
    "Panel",
    "Purse",
    "Tradeoff",
    "bars",
    "beliefs",
    "bins",
    "budget",
    "cells",
    "graphs",
    "laws",
    "orders",
    "profiles",
    "ratios",
    "spending",
    "successes",
    "tradeoffs",
]

"""Draw plots from arrays and plain records. This package knows neither answers nor data."""

from .bars import Bars, Bins, bars, bins
from .beliefs import beliefs
from .budget_curve import Purse, budget
from .graphs import Graph, graphs
from .histogram_bars import cells
from .law_plots import LawPanel, laws
from .lines import MOST_LINES, Line, lines
from .orders import orders
from .privacy_profiles import profiles
from .ratio_plot import ratios
from .spending import spending
from .successes import SuccessRate, successes
from .tradeoffs import Tradeoff, tradeoffs

__all__ = [
    "MOST_LINES",
    "Bars",
    "Bins",
    "Graph",
    "LawPanel",
    "Line",
    "Purse",
    "SuccessRate",
    "Tradeoff",
    "bars",
    "beliefs",
    "bins",
    "budget",
    "cells",
    "graphs",
    "laws",
    "lines",
    "orders",
    "profiles",
    "ratios",
    "spending",
    "successes",
    "tradeoffs",
]

"""Pictures, drawn from arrays and plain records. Nothing here knows what an answer is or where a
number came from.
"""

from .answer import Bars, Bins, bars, bins
from .beliefs import beliefs
from .budget import Purse, budget
from .cells import cells
from .graphs import Graph, graphs
from .laws import Panel, laws
from .orders import orders
from .profiles import profiles
from .ratios import ratios
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

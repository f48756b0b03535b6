"""Pictures, drawn from arrays and plain records. Nothing here knows what an answer is or where a number came from."""

from .graphs import Graph, graphs
from .laws import Panel, laws
from .ratios import ratios

__all__ = ["Graph", "Panel", "graphs", "laws", "ratios"]

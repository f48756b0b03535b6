"""What is promised about neighbours, as values: notions, their algebra, and what follows from
what.
"""

from .approx import Approx
from .gdp import GDP
from .guarantee import Guarantee, Relation
from .mixed import Together
from .pure import Pure
from .random_dp import RandomDP
from .renyi import Renyi
from .zcdp import ZCDP

__all__ = [
    "GDP",
    "ZCDP",
    "Approx",
    "Guarantee",
    "Pure",
    "RandomDP",
    "Relation",
    "Renyi",
    "Together",
]

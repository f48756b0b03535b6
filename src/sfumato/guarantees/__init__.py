"""Privacy guarantees as values: the notions (Pure, Approx, zCDP, GDP, Rényi), their algebra, and
the conversions between them.
"""

from .approx import Approx
from .gdp import GDP
from .guarantee import Guarantee, Relation
from .mixed import Mixed
from .pure import Pure
from .random_dp import RandomDP
from .renyi import Renyi
from .zcdp import ZCDP

__all__ = [
    "GDP",
    "ZCDP",
    "Approx",
    "Guarantee",
    "Mixed",
    "Pure",
    "RandomDP",
    "Relation",
    "Renyi",
]

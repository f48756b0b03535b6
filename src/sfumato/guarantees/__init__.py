"""Privacy guarantees as values: the notions (Pure, Approx, zCDP, GDP, Rényi), their algebra, and
the conversions between them.
"""

# Notions register when they are imported, and refusals list them in this order.
# isort: off
from .guarantee import Guarantee, Relation
from .pure import Pure
from .approx import Approx
from .zcdp import ZCDP
from .renyi import Renyi
from .gdp import GDP
from .random_dp import RandomDP
from .mixed import Mixed

# isort: on

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

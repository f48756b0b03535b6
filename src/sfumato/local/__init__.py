"""The local model: whoever is asked perturbs the answer before it leaves the hand, and nobody has
to be trusted with it.
"""

from . import presets
from .base import Oracle
from .best import Best, best
from .bloom import BloomEstimate
from .direct import Direct
from .estimate import Aggregate, Estimate
from .frequency import FrequencyOracle
from .hadamard import Hadamard
from .hashing import Hashing
from .heavy import PrefixTree
from .heavy_search import Hitter, Hitters
from .multi import Several
from .numbers import NumberOracle
from .numbers_estimate import MeanEstimate
from .numbers_onebit import OneBit
from .numbers_piecewise import Piecewise
from .ordinal import Ordinal
from .ordinal_estimate import Distribution
from .panel import Panel
from .question import restore
from .rappor import Rappor, Remembered
from .reports import Reports
from .shuffle import Amplification, amplification, shuffle
from .sketch import Sketch
from .subset import Subset
from .unary import Unary

__all__ = [
    "Aggregate",
    "Amplification",
    "Best",
    "BloomEstimate",
    "Direct",
    "Distribution",
    "Estimate",
    "FrequencyOracle",
    "Hadamard",
    "Hashing",
    "Hitter",
    "Hitters",
    "MeanEstimate",
    "NumberOracle",
    "OneBit",
    "Oracle",
    "Ordinal",
    "Panel",
    "Piecewise",
    "PrefixTree",
    "Rappor",
    "Remembered",
    "Reports",
    "Several",
    "Sketch",
    "Subset",
    "Unary",
    "amplification",
    "best",
    "presets",
    "restore",
    "shuffle",
]

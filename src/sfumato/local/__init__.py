"""The local model: each person perturbs the answer before sending it, so nobody has to be trusted
with the value.
"""

from . import presets
from .amplification import Amplification, amplification
from .bloom import BloomEstimate
from .choose_oracle import Best, best
from .decoding.joint_answers import JointEstimate, associate
from .decoding.sparse_decoder import SparseEstimate
from .direct import Direct
from .frequency_estimate import Estimate, ReportTotals
from .frequency_oracle import FrequencyOracle
from .hadamard import Hadamard
from .hashing import Hashing
from .many_questions import Questionnaire
from .mixer import shuffle
from .numeric.mean_estimate import MeanEstimate
from .numeric.number_oracle import NumberOracle
from .numeric.one_bit import OneBit
from .numeric.piecewise import Piecewise
from .oracle import Oracle
from .ordered.ordinal import Ordinal
from .ordered.ordinal_estimate import Distribution
from .panel import Panel
from .prefix.fragment_puzzle import FragmentPuzzle
from .prefix.prefix_search import Hitter, Hitters
from .prefix.prefix_tree import PrefixTree
from .rappor import Rappor, Remembered
from .remembered.open_rappor import OpenRappor
from .report_store import ReportStore
from .restore_question import restore
from .sketch import Sketch
from .subset import Subset
from .unary import Unary
from .wire_reports import Reports

__all__ = [
    "Amplification",
    "Best",
    "BloomEstimate",
    "Direct",
    "Distribution",
    "Estimate",
    "FragmentPuzzle",
    "FrequencyOracle",
    "Hadamard",
    "Hashing",
    "Hitter",
    "Hitters",
    "JointEstimate",
    "MeanEstimate",
    "NumberOracle",
    "OneBit",
    "OpenRappor",
    "Oracle",
    "Ordinal",
    "Panel",
    "Piecewise",
    "PrefixTree",
    "Questionnaire",
    "Rappor",
    "Remembered",
    "ReportStore",
    "ReportTotals",
    "Reports",
    "Sketch",
    "SparseEstimate",
    "Subset",
    "Unary",
    "amplification",
    "associate",
    "best",
    "presets",
    "restore",
    "shuffle",
]


def __dir__() -> list[str]:
    return sorted(__all__)  # without the modules, whose names are nearly the same

"""The mechanisms: frozen records of public parameters, each with its law of noise, the sensitivity
that it covers and the guarantees that it promises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .above_threshold import AboveThreshold, best_share, textbook_accuracy
from .combined import Combined
from .discrete_gaussian import DiscreteGaussian
from .exponential import Exponential
from .gaussian import Gaussian, classical_sigma
from .gibbs import Gibbs, gibbs_beta
from .hierarchy import Hierarchy, best_branching
from .histogram import Histogram
from .inverse_sensitivity import InverseSensitivity
from .key_selection import GaussianThreshold, LaplaceThreshold
from .keys.count_threshold import CountThreshold
from .laplace import Laplace
from .linear.linear_queries import LinearQueries
from .linear.workloads import (
    Workload,
    all_ranges,
    identity,
    matrix,
    prefixes,
    rectangles,
    total,
)
from .mean import Mean
from .noisy_max import NoisyMax
from .optimal_selection import OptimalSelection
from .permute_and_flip import PermuteAndFlip
from .prefix_sums import PrefixSums
from .propose_test_release import ProposeTestRelease
from .quantile import Quantile
from .randomized_response import RandomizedResponse
from .series.running_sums import RunningSums
from .shared.bins import Edges
from .shared.categories import Labels
from .shared.counting import counts
from .shared.error_formulas import for_each
from .shared.prefix_strategies import Strategy, square_root_factor, strategies
from .shared.response_estimate import ResponseEstimate
from .shared.selection import score_sensitivity
from .smooth import SmoothLaplace
from .staircase import Staircase, staircase_limit
from .subsampled import Subsampled
from .top_k import TopK
from .weighted_quantile import WeightedQuantile

if TYPE_CHECKING:
    from .shared.mechanism import Mechanism

__all__ = [
    "AboveThreshold",
    "Combined",
    "CountThreshold",
    "DiscreteGaussian",
    "Edges",
    "Exponential",
    "Gaussian",
    "GaussianThreshold",
    "Gibbs",
    "Hierarchy",
    "Histogram",
    "InverseSensitivity",
    "Labels",
    "Laplace",
    "LaplaceThreshold",
    "LinearQueries",
    "Mean",
    "NoisyMax",
    "OptimalSelection",
    "PermuteAndFlip",
    "PrefixSums",
    "ProposeTestRelease",
    "Quantile",
    "RandomizedResponse",
    "ResponseEstimate",
    "RunningSums",
    "SmoothLaplace",
    "Staircase",
    "Strategy",
    "Subsampled",
    "TopK",
    "WeightedQuantile",
    "Workload",
    "all_ranges",
    "best_branching",
    "best_share",
    "classical_sigma",
    "counts",
    "for_each",
    "gibbs_beta",
    "identity",
    "matrix",
    "prefixes",
    "rectangles",
    "score_sensitivity",
    "square_root_factor",
    "staircase_limit",
    "strategies",
    "textbook_accuracy",
    "total",
]

MECHANISMS: tuple[type[Mechanism], ...] = (
    Laplace,
    Staircase,
    Gaussian,
    DiscreteGaussian,
    RandomizedResponse,
    Exponential,
    PermuteAndFlip,
    NoisyMax,
    TopK,
    AboveThreshold,
    LaplaceThreshold,
    GaussianThreshold,
    OptimalSelection,
    CountThreshold,
    Histogram,
    Hierarchy,
    Mean,
    Quantile,
    WeightedQuantile,
    InverseSensitivity,
    ProposeTestRelease,
    SmoothLaplace,
    Gibbs,
    PrefixSums,
    RunningSums,
    LinearQueries,
    Combined,
    Subsampled,
)
"""All mechanisms, in the order in which audits list them."""


def __dir__() -> list[str]:
    return sorted(["MECHANISMS", *__all__])  # without the modules, whose names are nearly the same

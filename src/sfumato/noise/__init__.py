"""Exact integer laws of noise, and the continuous laws for comparison."""

from .bernoulli import Bernoulli
from .bits import SystemBits
from .choice import Choice
from .discrete_gaussian_noise import DiscreteGaussian
from .geometric import Geometric
from .rounded_normal import RoundedNormal
from .staircase_noise import Staircase

__all__ = [
    "Bernoulli",
    "Choice",
    "DiscreteGaussian",
    "Geometric",
    "RoundedNormal",
    "Staircase",
    "SystemBits",
]

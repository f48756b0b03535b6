"""Exact integer laws of noise, and the continuous laws for comparison."""

from .bernoulli import Bernoulli
from .bits import SystemBits
from .choice import Choice
from .discrete_gaussian_noise import DiscreteGaussianLaw
from .geometric import Geometric
from .rounded_normal import RoundedNormal
from .staircase_noise import StaircaseLaw

__all__ = [
    "Bernoulli",
    "Choice",
    "DiscreteGaussianLaw",
    "Geometric",
    "RoundedNormal",
    "StaircaseLaw",
    "SystemBits",
]

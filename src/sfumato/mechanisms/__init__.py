"""Laws of noise with the sensitivity they cover: frozen records of public things, with the promises they keep."""

from .gaussian import Gaussian, classical_sigma
from .laplace import Laplace

__all__ = ["Gaussian", "Laplace", "classical_sigma"]

"""Private releases of statistics and functions of whole datasets, each with its promise."""

from . import fits
from .bernstein import Bernstein
from .calibration import noise_for
from .curve import Curve
from .denoise import denoise
from .released_value import Released
from .robust import inverse_sensitivity, propose_test_release, smooth_sensitivity
from .sampled_noise import SampledNoise

__all__ = [
    "Bernstein",
    "Curve",
    "Released",
    "SampledNoise",
    "denoise",
    "fits",
    "inverse_sensitivity",
    "noise_for",
    "propose_test_release",
    "smooth_sensitivity",
]

"""Statistics and functions of whole datasets, released with what they promise."""

from .released import Released
from .robust import inverse_sensitivity, propose_test_release, smooth_sensitivity

__all__ = ["Released", "inverse_sensitivity", "propose_test_release", "smooth_sensitivity"]

"""Ready fits: each a small record of public things, called on data, giving a function of points;
with its sensitivity on a lattice where there is one.
"""

from .kernel_density import KernelDensity
from .linear import LinearRegression
from .logistic import LogisticRegression
from .priestley_chao import PriestleyChao

__all__ = ["KernelDensity", "LinearRegression", "LogisticRegression", "PriestleyChao"]

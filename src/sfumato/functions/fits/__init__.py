"""Ready-made fits: each is a small record of public settings; calling it on data returns a function
of points. A fit also knows its sensitivity on a lattice, if it has one.
"""

from .kernel_density import KernelDensity
from .linear import LinearRegression
from .logistic import LogisticRegression
from .priestley_chao import PriestleyChao

__all__ = ["KernelDensity", "LinearRegression", "LogisticRegression", "PriestleyChao"]

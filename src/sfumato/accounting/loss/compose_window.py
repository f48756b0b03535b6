"""The mesh of a sum of losses, and the Fourier transform of the weights that turn the sum into δ.

*Weights*   r_d = (1 − e^(−dh))·e^(−λdh) for d ≥ 1, 0 else: δ at a number of the lattice is the
            correlation of the tilted law with r.
*Errors*    a few units in the last place of each value, counted in `compose_fourier`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .loss_lattice import Integers
from .loss_laws import Doubles


@dataclass(frozen=True, slots=True, kw_only=True)
class Mesh:
    """The lattice of a sum: N numbers of spacing h, and the tilt λ."""

    h: float
    size: int
    tilt: float

    @property
    def period(self) -> float:
        return self.h * self.size


def window(mesh: Mesh, nodes: Integers) -> tuple[NDArray[np.complex128], float]:
    """Return Σ_d r_d·e^(iyd) over d ≥ 1, y = 2πn/N, at the nodes, and an upper bound on the mean of
    its absolute value over all N nodes.

    It is 1/(e^z − 1) − 1/(e^(z+h) − 1) for z = λh − iy; written without a difference, e^z·(e^h −
    1)/((e^z − 1)(e^(z+h) − 1)).
    """
    sine, cosine = _half_angles(mesh.size)
    square = 4 * sine * sine

    def length(real: float) -> Doubles:
        """|e^(real − iy) − 1|² = (e^real − 1)² + 4·e^real·sin²(y/2)."""
        return math.expm1(real) ** 2 + math.exp(real) * square

    a, b = mesh.tilt * mesh.h, (mesh.tilt + 1) * mesh.h
    size = math.exp(a) * math.expm1(mesh.h) / np.sqrt(length(a) * length(b))
    mean = (2 * float(size.sum()) - float(size[0])) / mesh.size * (1 + 1e-9)
    s, c = sine[nodes], cosine[nodes]
    turn = 1 - 2 * s * s - 2j * s * c

    def less_one(real: float) -> NDArray[np.complex128]:
        """e^(real − iy) − 1 = (e^real − 1)·cos y − 2·sin²(y/2) − i·e^real·sin y."""
        return math.expm1(real) * (1 - 2 * s * s) - 2 * s * s - 2j * math.exp(real) * s * c

    return math.exp(a) * math.expm1(mesh.h) * turn / (less_one(a) * less_one(b)), mean


@lru_cache(maxsize=4)
def _half_angles(size: int) -> tuple[Doubles, Doubles]:
    """Return sin and cos of πn/N for the nodes of a real transform."""
    angles = np.pi / size * np.arange(size // 2 + 1)
    return np.sin(angles), np.cos(angles)

"""Sums of many independent losses by Fourier transforms of tilted measures, with a bound on all
floating-point errors.

*Curve*     For a measure ν on the lattice, δ(c_m) = Σ_{j>m} ν_j·(1 − e^(−(j−m)h)). With the weights
            e^(λhj) put on ν and taken off again, every error is relative to the size of δ near its
            saddle point, so that 10⁻¹⁸ is no harder than 10⁻³.
*Sum*       S_m = Σ_j ν̃_j·r_(j−m), r_d = (1 − e^(−dh))·e^(−λdh) for d ≥ 1, with indices taken
            modulo N: ν̃ has the transform Π f_i^k_i, r a closed one.
*Wrapped*   Indices modulo N add only terms that are not negative: an upper bound stays one. From a
            lower bound they are taken off: at most e^(−λT)/(1 − e^(−λT)) from below, T = Nh, and
            for any c > λ at most κ(c)·e^(K(c) − c·hm − (c−λ)T)/(1 − e^(−(c−λ)T)) from above, with
            K(c) = Σ k·ln Σ w·e^(chj) and κ(c) = max (1 − e^(−x))·e^(−cx) = c^c/(1 + c)^(1+c).
*Errors*    Transforms: 16·2⁻⁵³·log₂N of the 2-norm is assumed, about twice what is proved for radix
            2 (Higham 2002, Theorem 24.2). A node in error by e has a k-th power in error by at most
            (1 + e)^k − 1, as |f| ≤ 1; repeated squaring adds 3k·2⁻⁵³.
*Proof*     docs/proofs/certified-composition.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from operator import mul

import numpy as np
from numpy.typing import NDArray

from .compose_window import Mesh, window
from .loss_lattice import Integers, Measure
from .loss_laws import FARTHEST, FUNCTION, NOTHING, UNIT, Doubles, sum_by_bin

_FAINT = -80.0  # ln of a power that counts as zero
_ROUND = 16 * UNIT
_MANY = 256


@dataclass(frozen=True, slots=True, eq=False)
class Sum:
    """The curve of a sum of independent losses at every number of the lattice, modulo the
    period.
    """

    mesh: Mesh
    parts: tuple[tuple[Measure, int], ...]
    nodes: Integers
    """The frequencies at which the transform of the sum is not negligible."""
    values: NDArray[np.complex128]
    """The transform there, times that of r, doubled where it stands for two frequencies."""
    dense: Doubles | None
    """S at every number, where the frequencies are many; else None."""
    off: float
    """A bound on the error of S, for all numbers."""
    scale: float
    """Σ k·ln M, the logarithm of the scale of S."""
    doubt: float
    """A bound on the error of `scale`, including the errors of the weights."""

    @property
    def slack(self) -> float:
        """The total distance of the losses from the lattice."""
        return sum(k * measure.slack for measure, k in self.parts)

    def infinite(self, outward: float) -> float:
        """Return the chance of an infinite loss, 1 − Π(1 − p)^k, rounded up if `outward` is 1 and
        down if it is −1.
        """
        exponent = sum(
            k * math.log1p(-min(measure.infinite, 1 - UNIT)) for measure, k in self.parts
        )
        return max(
            0.0, -math.expm1(exponent * (1 + outward * 64 * UNIT)) * (1 + outward * 64 * UNIT)
        )

    def above(self, numbers: Integers) -> Doubles:
        """Bound δ at these numbers of the lattice from above. The bound is never zero, because
        underflow hides positive masses.
        """
        height = np.maximum(self._heights(numbers) + self.off, 0.0)
        finite = (
            height
            * np.exp(np.minimum(700.0, self._level(numbers) + self._doubt(numbers)))
            * (1 + FUNCTION)
        )
        return np.where(
            np.isnan(finite),
            1.0,
            np.minimum(1.0, (finite + self.infinite(1.0) + NOTHING) * (1 + 4 * UNIT)),
        )

    def below(self, numbers: Integers) -> Doubles:
        """Bound δ at these numbers of the lattice from below."""
        height = np.maximum(self._heights(numbers) - self.off, 0.0)
        scaled = (
            height
            * np.exp(np.minimum(700.0, self._level(numbers) - self._doubt(numbers)))
            * (1 - FUNCTION)
        )
        finite = (
            np.maximum(0.0, np.minimum(scaled, 1.0) - self._wrapped(numbers))
            if all(m.mass.any() for m, _ in self.parts)
            else np.zeros(numbers.size)
        )
        return np.where(
            np.isnan(finite), 0.0, np.minimum(1.0, (finite + self.infinite(-1.0)) * (1 - 8 * UNIT))
        )

    def _heights(self, numbers: Integers) -> Doubles:
        n = self.mesh.size
        if self.dense is not None:
            return np.asarray(self.dense[numbers % n])
        turns = np.outer(numbers % n, self.nodes) % n  # whole numbers: the angle is reduced exactly
        heights: Doubles = (np.exp(2j * np.pi / n * turns) @ self.values).real / n
        return heights

    def _level(self, numbers: Integers) -> Doubles:
        return np.asarray(self.scale - self.mesh.tilt * self.mesh.h * numbers)

    def _doubt(self, numbers: Integers) -> Doubles:
        return np.asarray(
            self.doubt
            + 4 * UNIT * (abs(self.scale) + np.abs(self.mesh.tilt * self.mesh.h * numbers))
        )

    def _wrapped(self, numbers: Integers) -> Doubles:
        tilt, period = self.mesh.tilt, self.mesh.period
        from_below = math.exp(-tilt * period) / -math.expm1(-tilt * period)
        from_above = np.minimum.reduce(
            [self._beyond(numbers, tilt + step / period) for step in (20.0, 60.0, 180.0)]
        )
        return np.asarray((from_below + from_above) * 1.001)

    def _beyond(self, numbers: Integers, c: float) -> Doubles:
        """Bound the wrapped mass of losses more than a period above, by Chernoff's bound at c."""
        h, gap = self.mesh.h, (c - self.mesh.tilt) * self.mesh.period
        moment = sum(k * (log_sum(measure, c * h) + measure.error) for measure, k in self.parts)
        peak = c * math.log(c) - (1 + c) * math.log1p(c)
        return np.asarray(
            np.exp(np.minimum(700.0, moment + peak - c * h * numbers - gap + 1e-3))
            / -math.expm1(-gap)
        )


def add(parts: tuple[tuple[Measure, int], ...], mesh: Mesh) -> Sum:
    """Add independent losses: each measure, that many times."""
    n, tilt = mesh.size, mesh.tilt * mesh.h
    transform_error = _ROUND * max(1.0, math.log2(n))
    node, scale, doubt = 0.0, 0.0, 0.0
    faces: list[tuple[NDArray[np.complex128], int]] = []
    for measure, k in parts:
        size = log_sum(measure, tilt)
        exponent = tilt * measure.numbers
        # where that cuts, the mass is zero
        weights = measure.mass * np.exp(np.minimum(exponent - size, 700.0))
        folded = sum_by_bin(measure.numbers % n, weights, n)
        faces.append((np.fft.rfft(folded), k))
        mass = float(folded.sum())
        node += k * (
            transform_error * math.sqrt(n * float((folded * folded).sum()))
            + 64 * UNIT * mass
            + max(0.0, mass - 1.0)
        )
        scale += k * size
        doubt += k * (
            measure.error
            + (4 * float(np.abs(exponent).max()) + 4 * abs(size) + 32) * UNIT
            + FUNCTION
        )
    nodes, power, waste = _power(faces)
    turned, mean = window(mesh, nodes)
    product = power * turned
    heights = np.abs(product)
    norm = math.sqrt(2 * float((heights * heights).sum()) / n)
    off = (
        mean * (math.expm1(min(700.0, node)) + waste)
        + transform_error * norm * 2
        + 4096 * UNIT * float(heights.sum()) / n
    )
    total = None
    if nodes.size > _MANY:
        spectrum = np.zeros(n // 2 + 1, dtype=np.complex128)
        spectrum[nodes] = product
        total = np.fft.irfft(spectrum, n)
    return Sum(
        mesh,
        parts,
        nodes,
        product * np.where((nodes == 0) | (2 * nodes == n), 1.0, 2.0),
        total,
        off * (1 + 1e-9),
        scale,
        doubt * (1 + 1e-6),
    )


def _power(
    faces: list[tuple[NDArray[np.complex128], int]],
) -> tuple[Integers, NDArray[np.complex128], float]:
    """Return the nodes at which Π f^k is not negligible, its values there, and a bound on the error
    of computing it from the f, for all nodes.
    """
    size = sum(k * np.log(np.maximum(np.abs(f), 1e-300)) for f, k in faces)
    nodes = np.flatnonzero(size > _FAINT)
    with np.errstate(under="ignore"):
        product: NDArray[np.complex128] = reduce(mul, (_raise(f[nodes], k) for f, k in faces))
    return nodes, product, 3 * UNIT * sum(k for _, k in faces) * 1.01 + math.exp(_FAINT)


def _raise(base: NDArray[np.complex128], k: int) -> NDArray[np.complex128]:
    """Return base^k, by squaring."""
    power: NDArray[np.complex128] | None = None
    while k:
        if k & 1:
            power = base if power is None else power * base
        k >>= 1
        base = base * base if k else base
    return np.ones_like(base) if power is None else power


def log_sum(measure: Measure, slope: float) -> float:
    """Return ln Σ w·e^(slope·j)."""
    if not measure.mass.any():
        return FARTHEST  # every loss is infinite: any mass is too much
    with np.errstate(divide="ignore"):
        exponent = np.log(measure.mass) + slope * measure.numbers
    top = float(exponent.max())
    return top + math.log(float(np.exp(exponent - top).sum()))

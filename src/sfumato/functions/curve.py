"""A released curve: noisy values on a lattice, and the Bernstein polynomial that interpolates them.

It holds only numbers that may be published: no data, no fit, no noise. Anything computed from it is
post-processing.

*Error*      of the noise. For the whole curve at once: the basis is not negative and sums to 1, so
             the curve errs by no more than the coefficient that errs most; iterated, by its errors
             at many nodes and what a polynomial can do in between. At given points, each by itself:
             a weighted sum of independent noise, by Chernoff's bound for Laplace, by its normal law
             for Gaussian. The error of the approximation itself depends on the function:
             smoothness.py.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from ..exact.balls import up
from ..exact.numbers import Number, is_whole, probability
from ..guarantees import Guarantee, RandomDP
from ..guarantees.stored_guarantee import check_fields, ratio
from ..guarantees.stored_guarantee import record as promise_record
from ..guarantees.stored_guarantee import restore as restore_promise
from ..mechanisms.gaussian import Gaussian
from ..mechanisms.laplace import Laplace
from ..mechanisms.shared.additive import Additive
from ..mechanisms.shared.stored_mechanism import record as noise_record
from ..mechanisms.shared.stored_mechanism import restore as restore_noise
from . import function_refusals as refusals
from .lattice import Lattice
from .polynomial import Floats, corrected, corrected_weights, evaluate, weights
from .sampled_noise import SampledNoise, base_of

VERSION = 1
# nodes per degree: in between a polynomial is at most 1/cos(π/16) times as large, along each axis
# (Ehlich & Zeller 1964)
_FINE = 8
_NODES = 1 << 25
_SHARES = np.concatenate([np.linspace(0.02, 0.9, 45), 1 - np.geomspace(0.09, 0.002, 15)])
_UP = 1 + 1e-9
_CELLS = 1 << 21


@dataclass(frozen=True, slots=True, repr=False)
class Curve:
    """A function that may be published: call it at points of its box, shape (n,), in d dimensions
    (n, d).
    """

    lattice: Lattice
    iterations: int
    coefficients: tuple[float, ...]
    noise: Additive | SampledNoise
    promise: Guarantee

    def __post_init__(self) -> None:
        typed = (
            isinstance(self.lattice, Lattice)
            and isinstance(self.noise, Additive | SampledNoise)
            and isinstance(self.promise, Guarantee)
        )
        if (
            not typed
            or not is_whole(self.iterations)
            or len(self.coefficients) != self.lattice.size
            or not all(map(math.isfinite, self.coefficients))
        ):
            raise refusals.CURVE_PARTS_DISAGREE()
        # the promise of the plain mechanism would be for all pairs
        if isinstance(self.promise, RandomDP) and isinstance(self.noise, Additive):
            object.__setattr__(self, "noise", SampledNoise(self.noise, self.promise))

    def __call__(self, points: ArrayLike) -> Any:
        """Evaluate the curve: a float at one point, an array at many."""
        values = evaluate(corrected(self._values(), self.iterations), self.lattice.unit(points))
        point_shape = np.shape(points)
        shape = point_shape if self.lattice.dimensions == 1 else point_shape[:-1]
        return values.reshape(shape) if shape else float(values[0])

    @overload
    def error(self, confidence: Number = 0.95, *, at: None = None) -> float: ...
    @overload
    def error(self, confidence: Number = 0.95, *, at: ArrayLike) -> float | Floats: ...
    def error(self, confidence: Number = 0.95, *, at: ArrayLike | None = None) -> float | Floats:
        """Return half the width of a band that holds the noiseless curve: everywhere at once, or at
        each of the points `at` separately.
        """
        if at is None:
            return self._band(confidence)
        missing = float(1 - probability(confidence, "confidence", zero=False))
        points = self.lattice.unit(at)
        widths = (
            np.concatenate(
                [self._widths(self._weights(part), missing) for part in self._parts(points)]
            )
            if len(points)
            else np.zeros(0)
        )
        shape = np.shape(at) if self.lattice.dimensions == 1 else np.shape(at)[:-1]
        return widths.reshape(shape) if shape else float(widths[0])

    @property
    def size(self) -> int:
        return self.lattice.size

    def to_json(self) -> str:
        """Write the curve as text for `Curve.from_json`."""
        about = {
            "sfumato": "curve",
            "version": VERSION,
            "degree": self.lattice.degree,
            "bounds": [[str(low), str(high)] for low, high in self.lattice.bounds],
            "iterations": self.iterations,
            "coefficients": [float(c).hex() for c in self.coefficients],
            "noise": {
                **noise_record(base_of(self.noise)),
                "promises": [promise_record(promise) for promise in self.noise.promises],
            },
            "promise": promise_record(self.promise),
        }
        return json.dumps(about, ensure_ascii=False)

    @classmethod
    def from_json(cls, content: str) -> Curve:
        """Read a curve from the text of `to_json`."""
        try:
            stored = json.loads(content)
            if stored["sfumato"] != "curve" or stored["version"] != VERSION:
                raise KeyError
            lattice = Lattice(
                degree=stored["degree"],
                bounds=[(ratio(low), ratio(high)) for low, high in stored["bounds"]],
            )
            coefficients = tuple(float.fromhex(c) for c in stored["coefficients"])
            noise = restore_noise(stored["noise"])
            if not isinstance(noise, Additive | SampledNoise):
                raise KeyError
            curve = cls(
                lattice,
                stored["iterations"],
                coefficients,
                noise,
                restore_promise(stored["promise"]),
            )
            check_fields(stored, json.loads(curve.to_json()))
            return curve
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
            raise refusals.NOT_A_STORED_CURVE(content=content) from None

    def _values(self) -> Floats:
        return np.array(self.coefficients).reshape(self.lattice.shape)

    def _band(self, confidence: Number) -> float:
        """Bound the largest noise. For an iterated curve, bound the errors at Chebyshev's nodes and
        add a little for the points in between; on lattices too large for that, use 2^h − 1 times
        the largest noise.
        """
        largest = float(self.noise.error(confidence, values=self.lattice.size))
        if self.iterations == 1:
            return largest
        most = (math.ldexp(1.0, self.iterations) - 1.0) * largest
        degree, dimensions = self.lattice.degree, self.lattice.dimensions
        count = _FINE * degree
        if count**dimensions * self.lattice.size > _NODES:
            return most
        axis = (1.0 - np.cos((2 * np.arange(count) + 1) * math.pi / (2 * count))) / 2.0
        nodes = np.stack(np.meshgrid(*(axis,) * dimensions, indexing="ij"), axis=-1).reshape(
            -1, dimensions
        )
        missing = float(1 - probability(confidence, "confidence", zero=False))
        node_weights = np.concatenate([self._weights(part) for part in self._parts(nodes)])
        return min(
            most,
            self._common(node_weights, missing) / math.cos(math.pi / (2 * _FINE)) ** dimensions,
        )

    def _common(self, weights: Floats, missing: float) -> float:
        """Find a width that holds all weighted sums of noise at once, one per row: their chances to
        leave it add up to at most `missing`.
        """
        outside = _outside(base_of(self.noise), weights)
        low, high = 0.0, float(self._widths(weights, missing / len(weights)).max())
        while high - low > 1e-4 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if float(outside(middle).sum()) > missing else (low, middle)
        return high

    def _parts(self, points: Floats) -> list[Floats]:
        most = max(1, _CELLS // self.lattice.size)
        return [points[start : start + most] for start in range(0, len(points), most)]

    def _weights(self, points: Floats) -> Floats:
        return corrected_weights(weights(points, self.lattice.degree), self.iterations).reshape(
            len(points), -1
        )

    def _widths(self, weights: Floats, missing: float) -> Floats:
        """For each row of weights, find a width that the weighted sum of noise leaves with at most
        this probability, by bisection on the bound of that probability.
        """
        outside = _outside(base_of(self.noise), weights)
        low, high = np.zeros(len(weights)), np.full(len(weights), float(self.noise.error(0.5)))
        while (far := outside(high) > missing).any():
            high = np.where(far, 2 * high, high)
        for _ in range(40):
            middle = (low + high) / 2
            far = outside(middle) > missing
            low, high = np.where(far, middle, low), np.where(far, high, middle)
        return high

    def __repr__(self) -> str:
        iterated = "" if self.iterations == 1 else f", iterated {self.iterations} times"
        half = up(Fraction(self.error(0.95)))
        return (
            f"Curve of degree {self.lattice.degree} on {self.lattice.box}{iterated} · "
            f"{self.promise} · ±{half:.3g} everywhere at 95 %"
        )

    def __reduce__(self) -> tuple[Callable[[str], Curve], tuple[str]]:
        """Pickle the stored text, so that nothing else travels along."""
        return Curve.from_json, (self.to_json(),)


def _outside(noise: Additive, weights: Floats) -> Callable[[float | Floats], Floats]:
    """Bound P(|Σ w·Z| > x) for each row of weights w, including the rounding to the grid."""
    squares, total = np.square(weights), np.abs(weights).sum(axis=1)
    half = float(noise.step) / 2 * total
    if isinstance(noise, Gaussian):
        from scipy.special import ndtr

        spread = float(noise.sigma) * np.sqrt(squares.sum(axis=1))
        # Σ w·N, its rounding, and that of the values
        return lambda x: np.asarray(2 * ndtr(-np.maximum(x - 2 * half, 0.0) / spread) * _UP)
    assert isinstance(noise, Laplace)
    scale = float(noise.scale)
    # any s is right; the best of these is near the least
    s = _SHARES[:, None] / np.sqrt(squares.max(axis=1))
    costs = np.stack([-np.log1p(-squares * np.square(shares)[:, None]).sum(axis=1) for shares in s])
    return lambda x: np.asarray(
        np.exp(
            np.minimum(
                math.log(2.0) + (costs - s * (np.maximum(x - half, 0.0) / scale)).min(axis=0), 0.0
            )
        )
        * _UP
    )

"""Prefix sums of a stream of integers, all n of them, by the square-root factorisation.

*Law*        The matrix A of prefix sums is R·R for the lower triangular Toeplitz matrix R of c_j =
             C(2j, j)/4^j. With r_j = ⌊c_j·2^s + ½⌋, whole numbers, the release is y = r * x + z: a
             convolution of integers, and rounded normal noise z_t of deviation σ·2^s on each entry.
             The sums are a fixed function of y, ⌊(ℓ * y) + ½⌋ with ℓ the series of A·r⁻¹ to 200
             bits: post-processing, in integers.
*Promise*    μ-GDP with μ² = Δ²·Σ r_j²/(σ·2^s)², an exact rational, where a neighbour changes one
             x_t by at most Δ. Also when x_t is chosen in the light of what was published before
             (Denisov, McMahan, Rush, Smith & Thakurta 2022).
*Error*      The noise of the last sum, the largest, has deviation σ·√(Σ_{j<n} ℓ_j²): at equal μ,
             Δ/μ·Σ_{j<n} c_j², which is 3.27 at n = 1024 and grows like (ln n)/π, where separate
             noise has √n (Fichtenberger, Henzinger & Upadhyay 2023). `strategies` in
             prefix_strategies.py compares.
*Proof*      docs/proofs/prefix-sums.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NoReturn, Unpack

import numpy as np
from attrs import field
from flint import arb, arb_series, ctx, fmpz, fmpz_poly
from numpy.typing import NDArray

from ..exact.balls import ball, below, evaluate, floor, least, normal_cdf, precision, sqrt_up
from ..exact.numbers import Number, is_whole, probability, text
from ..guarantees import GDP, Guarantee, Relation
from ..guarantees.guarantee import relation_of, unit_of
from ..keywords import spell_out
from ..noise.bits import SYSTEM, Bits
from ..noise.rounded_normal import RoundedNormal
from ..records import LAST, record
from .shared import grid as grids
from .shared import mechanism_refusals as refusals
from .shared.additive import check_integer_sensitivity
from .shared.calibrated import Way, check_delta_of, choose_way, solve, squared_mu
from .shared.mechanism import Mechanism, Neighbours
from .stated.audit_example import STREAMS, AuditExample

LONGEST = 1 << 16
"""The longest stream: its coefficients take a second or so to compute."""

_FINE = 200  # bits of the series that post-processes
# the noise has between 2^28 and 2^30 steps of the grid, and more where the coefficients need it
_STEPS = 30
_COARSEST = 20


def _check_length(value: int) -> int:
    if is_whole(value, 1, LONGEST):
        return value
    raise refusals.STREAM_LENGTH_OUT_OF_RANGE(length=value, most=LONGEST)


def _check_sensitivity(value: Number) -> Fraction:
    return Fraction(math.floor(check_integer_sensitivity(value)))


@record(kw_only=True, init=False)
class PrefixSums(Mechanism):
    """All n prefix sums of a stream, for the price of one vector."""

    length: int = field(converter=_check_length)
    sensitivity: Fraction = field(converter=_check_sensitivity)
    _mu_squared: Fraction = field(converter=solve, repr=False, eq=False)
    scale_bits: int = field(init=False, metadata=LAST)
    sigma: Fraction = field(init=False)
    law: RoundedNormal = field(init=False, repr=False, eq=False)
    relation: Relation | None = field(default=None, converter=relation_of, metadata=LAST)
    unit: str | None = field(default=None, converter=unit_of, metadata=LAST)

    @spell_out(Neighbours)
    def __init__(
        self,
        *,
        length: int,
        sensitivity: Number = 1,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        **neighbours: Unpack[Neighbours],
    ) -> None:
        example = "PrefixSums(length=365, epsilon=1, delta=1e-6)"
        way = choose_way(example, {"epsilon": epsilon, "rho": rho, "mu": mu}, delta=delta)
        check_delta_of(way, example)
        self.__attrs_init__(length=length, sensitivity=sensitivity, mu_squared=way, **neighbours)

    def _solve(self, way: Way) -> Fraction:
        return squared_mu(way)

    @scale_bits.default
    def _choose_scale_bits(self) -> int:
        about = float(self.sensitivity) * math.sqrt(
            (1.1 + math.log(self.length) / math.pi) / self._mu_squared
        )  # not below σ; only a power of two follows from it
        return max(_COARSEST, _STEPS - math.ceil(math.log2(about)))

    @sigma.default
    def _choose_sigma(self) -> Fraction:
        return sqrt_up(self.moves_squared / self._mu_squared)

    @law.default
    def _build_law(self) -> RoundedNormal:
        return RoundedNormal(sigma=self.sigma * (1 << self.scale_bits))

    @property
    def moves_squared(self) -> Fraction:
        """The squared L2 distance that one change of Δ makes, exactly: that of the first column,
        the longest.
        """
        return self.sensitivity**2 * Fraction(
            sum(r * r for r in root_coefficients(self.length, self.scale_bits)),
            1 << 2 * self.scale_bits,
        )

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (GDP.from_square(self.moves_squared / self.sigma**2, **self._neighbours),)

    def perturb(self, values: object, *, bits: Bits = SYSTEM) -> NDArray[np.int64]:
        """The n noisy prefix sums of n integers."""
        stream = grids.whole_numbers(values)
        if stream is None or stream.ndim != 1:
            raise refusals.NOT_A_ROW_OF_INTEGERS(name="values", type=type(values).__name__)
        if len(stream) != self.length:
            raise refusals.UNEXPECTED_LENGTH(values=len(stream), length=self.length)
        y = _product(root_coefficients(self.length, self.scale_bits), stream.tolist())
        noise = self.law.sample(self.length, bits).tolist()
        return _saturate(self._finish([a + b for a, b in zip(y, noise, strict=True)]))

    def start(self, *, bits: Bits = SYSTEM) -> RunningCount:
        """Start a running count: `add` takes one value at a time and returns the sum so far."""
        return RunningCount(self, bits)

    def deviation(self, at: int | None = None) -> float:
        """The standard deviation of the noise in the sum of the first `at` values, all n by
        default, before it is rounded to an integer.
        """
        return evaluate(lambda: ball(self._spread(at)).sqrt() * ball(self.sigma))

    def error(self, confidence: Number = 0.95) -> int:
        """Half the width of an interval that holds the last, and so any, exact sum with this
        probability, each by itself.
        """
        missing = 1 - probability(confidence, "confidence")
        spread = sqrt_up(self._spread(None)) * self.sigma
        slack = Fraction(
            sum(abs(c) for c in inverse_coefficients(self.length, self.scale_bits)),
            1 << (_FINE + 1),
        )  # of rounding the noise; ½ for the sum
        widths = (
            least(lambda x: below(lambda: 2 * normal_cdf(-ball(x)), lambda: ball(missing)))
            if missing < 1
            else Fraction(0)
        )
        return math.floor(widths * spread + slack / (1 << self.scale_bits) + Fraction(1, 2))

    def _spread(self, at: int | None) -> Fraction:
        """Σ ℓ_j² over the first `at` coefficients."""
        series = inverse_coefficients(self.length, self.scale_bits)[
            : self.length if at is None else at
        ]
        return Fraction(sum(c * c for c in series), 1 << 2 * _FINE)

    def _finish(self, y: Sequence[int]) -> list[int]:
        return [
            round_scaled(total, self.scale_bits)
            for total in _product(inverse_coefficients(self.length, self.scale_bits), y)
        ]

    def __repr__(self) -> str:
        where = "".join(
            f", {name}={value!r}"
            for name, value in (("relation", self.relation), ("unit", self.unit))
            if value is not None
        )
        return (
            f"PrefixSums(length={self.length}, sensitivity={text(self.sensitivity)}, "
            f"sigma={text(self.sigma)}{where})"
        )

    why_no_law = "the noise of all sums is correlated, and no place differs by itself"
    why_no_loss_pair = "the pair of μ-GDP dominates"
    why_not_restored = "its noise was fitted to a promise that is not one of its fields"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        return [
            AuditExample(
                "PrefixSums",
                lambda e: cls(length=4, epsilon=e, delta="1e-6"),
                STREAMS,
                at_once=False,
                slow=4,
            )
        ]


class RunningCount:
    """A running count. It holds the values so far, so it can be neither copied nor stored."""

    __slots__ = ("__bits", "__mechanism", "__values", "__y")

    def __init__(self, mechanism: PrefixSums, bits: Bits) -> None:
        self.__mechanism, self.__bits = mechanism, bits
        self.__values: list[int] = []
        self.__y: list[int] = []

    def add(self, value: int) -> int:
        """Add a value and return the noisy sum of all values so far."""
        mechanism = self.__mechanism
        if len(self.__values) == mechanism.length:
            raise refusals.STREAM_FULL(length=mechanism.length)
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise refusals.NOT_AN_INTEGER(name="value", type=type(value).__name__)
        self.__values.append(int(value))
        t = len(self.__values)
        now = sum(
            r * x
            for r, x in zip(
                root_coefficients(mechanism.length, mechanism.scale_bits)[:t],
                reversed(self.__values),
                strict=True,
            )
        )
        self.__y.append(now + mechanism.law.draw(self.__bits))
        series = inverse_coefficients(mechanism.length, mechanism.scale_bits)[:t]
        return round_scaled(
            sum(c * v for c, v in zip(series, reversed(self.__y), strict=True)),
            mechanism.scale_bits,
        )

    def __repr__(self) -> str:
        return f"RunningCount({len(self.__values)} of {self.__mechanism.length})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise refusals.STREAM_COPIED()


def round_scaled(total: int, scale_bits: int) -> int:
    """⌊total/2^(200 + s) + ½⌋."""
    return (total + (1 << (_FINE + scale_bits - 1))) >> (_FINE + scale_bits)


@lru_cache(maxsize=16)
def root_coefficients(length: int, scale_bits: int) -> tuple[int, ...]:
    """r_j = ⌊2^s·c_j + ½⌋ up to an error in c_j of n·2^-128: c_(j+1) = c_j·(2j + 1)/(2j + 2),
    rounded down to 128 more bits. Any integers would do.
    """
    guard = scale_bits + 128
    coefficients, c = [], 1 << guard
    for j in range(length):
        coefficients.append((c + (1 << 127)) >> 128)
        c = c * (2 * j + 1) // (2 * j + 2)
    return tuple(coefficients)


@lru_cache(maxsize=16)
def inverse_coefficients(length: int, scale_bits: int) -> tuple[int, ...]:
    """ℓ_j·2^200, to the nearest integer: the series of 2^s/((1 − u)·Σ r_j·u^j)."""
    with precision(_FINE + 64 + 4 * length.bit_length()):
        before, ctx.cap = ctx.cap, length
        try:
            series = arb(1 << scale_bits) / (
                arb_series([1, -1])
                * arb_series([fmpz(r) for r in root_coefficients(length, scale_bits)])
            )
            return tuple(
                floor((series[j] * ball(1 << _FINE) + ball(Fraction(1, 2))).mid()) or 0
                for j in range(length)
            )
        finally:
            ctx.cap = before


def _product(series: Sequence[int], values: Sequence[int]) -> list[int]:
    """The first n coefficients of the convolution, exactly."""
    n = len(values)
    product = fmpz_poly([fmpz(a) for a in series[:n]]) * fmpz_poly([fmpz(v) for v in values])
    return [int(product[i]) for i in range(n)]


def _saturate(sums: list[int]) -> NDArray[np.int64]:
    return np.array([max(-(2**63), min(2**63 - 1, v)) for v in sums], dtype=np.int64)

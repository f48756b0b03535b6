"""Sketch: each person picks one of many public hash functions and reports its bucket by bits, or by
one bit. Count-mean sketches, like Apple's.

*Law*        A row j of `rows` is uniform, and part of the report. Count-mean sketch: a bit for each
             of m buckets, the own one h_j(v) with p, the others with q = 1 − p, p =
             e^(ε/2)/(e^(ε/2) + 1) rounded down (`optimised`: ½ and 1/(e^ε + 1)). Hadamard sketch
             (`hadamard=True`): a column l uniform in [0, m) and the sign H[h_j(v), l], kept with t
             = e^ε/(e^ε + 1) rounded down: one bit (Apple 2017).
*Promise*    The row and the column are independent of the value; odds = p(1 − q)/(q(1 − p)), or
             t/(1 − t), at most e^ε.
*Error*      With c the exact chance that two values share a bucket: true p, false q + (p − q)c
             (Hadamard: t and ½ for p and q), over the draw of the hash functions and of the coins.
             All people share the functions, so collisions do not average out over people but over
             rows: Var = (coins)/n + (c(1 − c)·Σf_u² + (c₃ − c²)·Σ_{u≠w} f_u·f_w)/(rows·(1 − c)²),
             sums over the other values. Without frequencies the worst is taken: all others one
             value. An interval pays half of its β for them, by Bernstein's inequality over the
             rows.
*Report*     A row and m bits, or a row, a column and a sign: as long for a million categories as
             for ten.
*Proof*      docs/proofs/local-sketch.md
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Unpack

import numpy as np
from attrs import field
from flint import arb
from numpy.typing import NDArray

from ..exact.balls import ball, evaluate
from ..exact.numbers import Number, is_whole, positive
from ..keywords import spell_out
from ..mechanisms.shared.response_estimate import Target
from ..mechanisms.stated.audit_example import AuditExample
from ..noise.bits import Bits
from ..records import check_flag, record
from . import local_refusals as refusals
from .client import Question
from .direct import keep_probability
from .frequency_oracle import FrequencyOracle
from .hadamard import negative, transform
from .lib.audit_inputs import category_example
from .lib.biased_coins import Bytes, below, flags, padding_is_clear
from .lib.dyadic_probability import ONE, as_fraction
from .lib.hash_families import meeting, shared_functions, shared_hash, to_bucket
from .oracle import UnitOptions, plain_categories
from .unary import bit_odds, bit_probabilities, draw_bits
from .wire_reports import pack_integers, unpack_integers, width_for

MOST_ROWS = 1 << 17
MOST_SIZE = 1 << 16
_CELLS = 1 << 23  # of a sketch that is made: 64 MiB


@record(kw_only=True, init=False)
class Sketch(FrequencyOracle):
    """A count-mean sketch, of bits or of one Hadamard coefficient."""

    rows: int
    size: int
    hadamard: bool = field(converter=check_flag)
    optimised: bool = field(converter=check_flag)
    seed: str
    p: int  # of 2^64
    q: int

    @spell_out(UnitOptions)
    def __init__(
        self,
        *,
        epsilon: Number,
        categories: Iterable[Hashable],
        rows: int = 2048,
        size: int = 1024,
        hadamard: bool = False,
        optimised: bool = False,
        seed: str = "sfumato",
        **about: Unpack[UnitOptions],
    ) -> None:
        _sizes(rows, size)
        if hadamard and optimised:
            raise refusals.HADAMARD_SKETCH_OPTIMISED()
        if hadamard and size & (size - 1):
            raise refusals.HADAMARD_SIZE_NOT_A_POWER_OF_TWO(size=size)
        exact_epsilon = positive(epsilon, "epsilon")
        p, q = (
            (keep_probability(exact_epsilon, 2), ONE // 2)
            if hadamard
            else bit_probabilities(exact_epsilon, symmetric=not optimised)
        )
        self.__attrs_init__(
            categories=categories,
            epsilon=exact_epsilon,
            rows=rows,
            size=size,
            hadamard=hadamard,
            optimised=optimised,
            seed=str(seed),
            p=p,
            q=q,
            **about,
        )

    @property
    def kind(self) -> str:  # type: ignore[override]  # depends on a field
        return "hadamard-sketch" if self.hadamard else "sketch"

    @property
    def meet(self) -> Fraction:
        """The probability that two categories share a bucket of a row."""
        return meeting(self.size)

    @property
    def true_support(self) -> Fraction:
        return as_fraction(self.p)

    @property
    def false_support(self) -> Fraction:
        return as_fraction(self.q) + (self.true_support - as_fraction(self.q)) * self.meet

    @property
    def odds(self) -> Fraction:
        return Fraction(self.p, ONE - self.p) if self.hadamard else bit_odds(self.p, self.q)

    @property
    def most(self) -> int:
        return self.k

    @property
    def width(self) -> int:
        return width_for(self.rows) + (
            width_for(2 * self.size) if self.hadamard else -(-self.size // 8)
        )

    def constants(self) -> Question:
        bits = {} if self.hadamard else {"other": str(self.q)}
        return {
            "categories": plain_categories(self.labels),
            "own": str(self.p),
            **bits,
            "rows": self.rows,
            "size": self.size,
            "seed": self.seed,
        }

    def arguments(self) -> Question:
        numbers = {
            "epsilon": str(self.epsilon),
            "rows": self.rows,
            "size": self.size,
            "seed": self.seed,
        }
        switches = {name: True for name in ("hadamard", "optimised") if getattr(self, name)}
        return {**numbers, **switches}

    def _draw(self, codes: NDArray[np.int64], bits: Bits) -> Bytes:
        rows = below(self.rows, codes.size, bits)
        places = to_bucket(
            shared_hash(shared_functions(self.seed, self.rows), rows, codes), self.size
        )
        if not self.hadamard:
            body = draw_bits(places, self.p, self.q, self.size, bits)
        else:
            columns = below(self.size, codes.size, bits)
            # the true sign where the coin shows heads
            minus = negative(places & columns) == flags(self.p, codes.size, bits)
            body = pack_integers(2 * columns + minus, width_for(2 * self.size))
        return np.concatenate([pack_integers(rows, width_for(self.rows)), body], axis=1)

    def _well_formed(self, payload: Bytes) -> NDArray[np.bool_]:
        rows, body = self._parts(payload)
        well_formed = (
            unpack_integers(body) < 2 * self.size
            if self.hadamard
            else padding_is_clear(body, self.size)
        )
        return (rows < self.rows) & well_formed

    def _tally(self, payload: Bytes) -> NDArray[np.int64]:
        """Count for each category the support of its bucket in every row: from the sketch if it
        fits into memory, else report by report.
        """
        rows, body = self._parts(payload)
        functions, counts = shared_functions(self.seed, self.rows), np.zeros(self.k, dtype=np.int64)
        support = self._support(rows, body) if self.rows * self.size <= _CELLS else None
        each_row, each_report = np.arange(self.rows), np.arange(len(rows))
        signs = unpack_integers(body) if self.hadamard else each_report
        for code in range(self.k):
            places = to_bucket(shared_hash(functions, slice(None), code), self.size)
            if support is not None:
                counts[code] = support[each_row, places].sum()
            elif self.hadamard:
                counts[code] = np.count_nonzero(negative(places[rows] & signs >> 1) == (signs & 1))
            else:
                counts[code] = np.count_nonzero(
                    body[each_report, places[rows] >> 3] & (128 >> (places[rows] & 7))
                )
        return counts

    def _support(self, rows: NDArray[np.int64], body: Bytes) -> NDArray[np.int64]:
        """Count the reports of each row that support each bucket: the count-mean sketch itself."""
        in_row = np.bincount(rows, minlength=self.rows)
        if self.hadamard:
            signs = unpack_integers(body)
            cells = np.bincount(
                2 * self.size * rows + signs, minlength=2 * self.size * self.rows
            ).reshape(self.rows, self.size, 2)
            return (in_row[:, None] + transform(cells[:, :, 0] - cells[:, :, 1])) // 2
        support = np.zeros((self.rows, self.size), dtype=np.int64)
        sorted_ = body[np.argsort(rows, kind="stable")]
        ends = np.cumsum(in_row)
        for row in np.flatnonzero(in_row).tolist():
            bits = np.unpackbits(
                sorted_[ends[row] - in_row[row] : ends[row]], axis=1, count=self.size
            )
            support[row] = bits.sum(axis=0)
        return support

    def _parts(self, payload: Bytes) -> tuple[NDArray[np.int64], Bytes]:
        head = width_for(self.rows)
        return unpack_integers(payload[:, :head]), payload[:, head:]

    def _exact_variance(
        self, n: int, f: Fraction, target: Target, frequencies: tuple[Fraction, ...] | None = None
    ) -> Fraction:
        """Add two variances: of coins and people given the hash functions, averaged over them, and
        of the hash functions themselves.
        """
        c, spread, rest = self.meet, self.true_support - as_fraction(self.q), 1 - f
        squares = (
            rest**2
            if frequencies is None
            else sum((g * g for g in frequencies), Fraction(0)) - f * f
        )
        row = (
            c * (1 - c) * squares + (meeting(self.size, 3) - c * c) * (rest**2 - squares)
        ) / self.rows
        if target == "data":
            report = f * self.true_support * (1 - self.true_support) + rest * (
                self.false_support * (1 - self.false_support) - spread**2 * c * (1 - c) / self.rows
            )
        else:
            share = self.false_support + (self.true_support - self.false_support) * f
            report = share * (1 - share) - spread**2 * row
        return report / (n * (self.true_support - self.false_support) ** 2) + row / (1 - c) ** 2

    def _shared_variance(self) -> float:
        return float(self.meet / (1 - self.meet) / self.rows)

    def _slack(self, missing: Fraction) -> tuple[Fraction, Fraction]:
        """Apply Bernstein's inequality: rows are independent, and each moves the share by at most 1
        with variance at most c(1 − c).
        """

        def deviation() -> arb:
            chance, size = ball(4 / missing).log(), ball(self.meet * (1 - self.meet))
            return (
                chance / 3 + ((chance / 3) ** 2 + 2 * self.rows * size * chance).sqrt()
            ) / self.rows

        return missing / 2, Fraction(evaluate(deviation, "up")) / (1 - self.meet)

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        return [category_example(cls, rows=4, size=8)]

    @classmethod
    def kinds(cls) -> tuple[str, ...]:
        return ("sketch", "hadamard-sketch")


def _sizes(rows: int, size: int) -> None:
    for name, value, least, most in (("rows", rows, 1, MOST_ROWS), ("size", size, 2, MOST_SIZE)):
        if not is_whole(value, least, most):
            raise refusals.SIZE_OUT_OF_RANGE(name=name, value=value, least=least, most=most)

"""Subset: report a set of d categories that contains the true one with a larger probability. Subset
selection.

*Law*        With probability p = d·e^ε/(d·e^ε + k − d), rounded down, the set is the own category
             and d − 1 uniform others, else d uniform others. d is the integer next to k/(e^ε + 1)
             with the smallest variance (Ye & Barg 2018; Wang et al. 2016).
*Promise*    A set with the own category has probability p/C(k−1, d−1), one without (1 − p)/C(k−1,
             d): odds = p(k − d)/((1 − p)·d) ≤ e^ε.
*Error*      p as it stands, q = (p(d − 1) + (1 − p)d)/(k − 1). Nowhere more error than the other
             oracles here; its reports are long.
*Report*     k bits, d of them 1.
*Proof*      docs/proofs/local-subset.md
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from attrs import field
from numpy.typing import NDArray

from ..exact.balls import ball, decide, floor
from ..exact.numbers import is_whole
from ..noise.bits import Bits
from ..records import PARTIAL, record
from . import local_refusals as refusals
from .client import Question
from .frequency_estimate import variance
from .frequency_oracle import FrequencyOracle
from .lib.biased_coins import Bytes, column_counts, flags, padding_is_clear
from .lib.dyadic_probability import ONE, as_fraction, down
from .oracle import plain_categories

_KEYS = 1 << 20  # random keys in one pass


def _choose_size(size: int | None, record: FrequencyOracle = PARTIAL) -> int:
    k = record.k
    if size is None:
        return best_size(record.epsilon, k)
    if not is_whole(size, 1, k - 1):
        raise refusals.SUBSET_OUT_OF_RANGE(size=size, most=k - 1, categories=k)
    return size


@record(kw_only=True)
class Subset(FrequencyOracle):
    """Subset selection."""

    kind = "subset"
    size: int = field(default=None, converter=_choose_size)
    keep: int = field(init=False)  # of 2^64

    @keep.default
    def _choose_keep(self) -> int:
        return _keep(self.epsilon, self.k, self.size)

    @property
    def true_support(self) -> Fraction:
        return as_fraction(self.keep)

    @property
    def false_support(self) -> Fraction:
        return _false_support(self.keep, self.k, self.size)

    @property
    def odds(self) -> Fraction:
        return Fraction(self.keep * (self.k - self.size), (ONE - self.keep) * self.size)

    @property
    def most(self) -> int:
        return self.size

    @property
    def width(self) -> int:
        return -(-self.k // 8)

    def constants(self) -> Question:
        return {
            "categories": plain_categories(self.labels),
            "own": str(self.keep),
            "size": self.size,
        }

    def arguments(self) -> Question:
        return {"epsilon": str(self.epsilon), "size": self.size}

    def _draw(self, codes: NDArray[np.int64], bits: Bits) -> Bytes:
        inside = flags(self.keep, codes.size, bits)
        out = np.empty((codes.size, self.width), dtype=np.uint8)
        step = max(1, _KEYS // self.k)
        for start in range(0, codes.size, step):
            part = slice(start, start + step)
            out[part] = np.packbits(self._sets(codes[part], inside[part], bits), axis=1)
        return out

    def _sets(
        self, codes: NDArray[np.int64], inside: NDArray[np.bool_], bits: Bits
    ) -> NDArray[np.bool_]:
        """Choose the d smallest of random keys, with the true category first or last. If two keys
        tie at the edge, all keys are drawn again: a tie favours no set.
        """
        chosen = np.empty((codes.size, self.k), dtype=np.bool_)
        open_ = np.arange(codes.size)
        while open_.size:
            keys = (
                bits.words(-(-open_.size * self.k // 2))
                .view(np.uint32)[: open_.size * self.k]
                .reshape(open_.size, self.k)
            )
            keys >>= np.uint32(1)
            keys += np.uint32(1)
            keys[np.arange(open_.size), codes[open_]] = np.where(
                inside[open_], np.uint32(0), np.uint32(0xFFFFFFFF)
            )
            edge = np.partition(keys, self.size - 1, axis=1)[:, self.size - 1]
            chosen[open_] = keys <= edge[:, None]
            open_ = open_[chosen[open_].sum(axis=1) != self.size]
        return chosen

    def _well_formed(self, payload: Bytes) -> NDArray[np.bool_]:
        right: NDArray[np.bool_] = np.bitwise_count(payload).sum(axis=1) == self.size
        return padding_is_clear(payload, self.k) & right

    def _tally(self, payload: Bytes) -> NDArray[np.int64]:
        return column_counts(payload, self.k)


def _keep(epsilon: Fraction, k: int, size: int) -> int:
    return down(lambda: 1 / (1 + ball(Fraction(k - size, size)) * (-ball(epsilon)).exp()))


def _false_support(keep: int, k: int, size: int) -> Fraction:
    return (as_fraction(keep) * (size - 1) + (1 - as_fraction(keep)) * size) / (k - 1)


def best_size(epsilon: Fraction, k: int) -> int:
    """Return the integer next to k/(e^ε + 1), not below 1, with the smaller variance at frequency
    0.
    """
    near = 0 if epsilon > 64 else decide(lambda: floor(k / (1 + ball(epsilon).exp())))
    keeps = {d: _keep(epsilon, k, d) for d in (near, near + 1) if 1 <= d < k}
    return min(
        keeps,
        key=lambda d: variance(
            as_fraction(keeps[d]), _false_support(keeps[d], k, d), Fraction(0), 1, "data"
        ),
    )

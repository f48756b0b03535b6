"""The histogram of one or several columns over public cells.

*Law*        The count of each cell, with independent noise of `Laplace` (or, where a δ is allowed
             and its exact variance is smaller, `Gaussian`).
*Promise*    A person is in one cell. Add-remove: one count moves by 1, L1 = L2 = 1. Replace: two
             counts move by 1, L1 = 2, L2 = √2, and so the same noise promises twice as much. The
             number of cells and of columns does not matter.
*Error*      P(max over k cells > r) = 1 − P(|Z| ≤ r)^k from the exact law; at most s·ln(k/β)/ε, s =
             1 or 2.
*Steps*      Bins are half-open, the last one closed. A number outside the public range counts in
             the first or last bin ("clip") or not at all ("drop"); NaN, None and unknown categories
             count nowhere. All of this is decided row by row, so it changes no sensitivity.
*Proof*      docs/proofs/histogram.md
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Unpack, cast

import numpy as np
from attrs import field
from numpy.typing import NDArray

from ..exact.numbers import Number
from ..guarantees import Guarantee, Relation
from ..guarantees.guarantee import unit_of
from ..keywords import spell_out
from ..noise.bits import SYSTEM, Bits
from ..records import LAST, PARTIAL, record
from .gaussian import Gaussian
from .laplace import Laplace
from .shared import mechanism_refusals as refusals
from .shared.bins import OUTSIDE, Axis, BinOptions, EdgeLists, Edges, Outside, axes_of
from .shared.calibrated import Way, choose_way
from .shared.counting import epsilon_of, laplace_or_gaussian
from .shared.error_formulas import for_each
from .shared.histogram_result import PrivateHistogram
from .shared.mechanism import Mechanism, PublicFields, require_relation
from .stated.audit_example import CHANGED, GROWN, AuditExample
from .stated.stated_laws import ShiftedNoise


def _check_relation(value: str | None) -> Relation:
    return require_relation(value, refusals.HISTOGRAM_WITHOUT_RELATION)


def _check_outside(value: Outside) -> Outside:
    if value not in OUTSIDE:
        raise refusals.UNKNOWN_OUTSIDE(outside=value)
    return value


def _choose_noise(way: Way, record: Histogram = PARTIAL) -> Laplace | Gaussian:
    moved, neighbours = Fraction(moves(record.relation)), record._neighbours
    if way.name == "epsilon":
        return laplace_or_gaussian(
            l1=moved, l2_squared=moved, epsilon=way.value, delta=way.delta, **neighbours
        )
    if way.delta is not None:
        raise refusals.DELTA_WITH_ERROR()
    each = for_each(way.confidence, record.size)
    return Laplace(sensitivity=moved, error=way.value, confidence=each, **neighbours)


@record(kw_only=True, init=False)
class Histogram(Mechanism):
    """Counts over public cells, at a promise of ε or (ε, δ), or within an error that holds for all
    cells at once.
    """

    axes: tuple[Axis, ...]
    outside: Outside = field(default="clip", converter=_check_outside, metadata=LAST)
    relation: Relation = field(default=None, converter=_check_relation, metadata=LAST)
    unit: str | None = field(default=None, converter=unit_of, metadata=LAST)
    noise: Laplace | Gaussian = field(converter=_choose_noise)

    @spell_out(BinOptions, outside="clip")
    def __init__(
        self,
        *,
        edges: EdgeLists | None = None,
        categories: Iterable[Hashable] | None = None,
        axes: Iterable[Axis] | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        error: Number | None = None,
        confidence: Number = 0.95,
        **options: Unpack[BinOptions],
    ) -> None:
        example = "Histogram(edges=range(0, 101, 10), epsilon=1, relation='replace')"
        ways = {"epsilon": epsilon, "error": error}
        way = choose_way(example, ways, delta=delta, confidence=confidence)
        self.__attrs_init__(axes=axes_of(edges, categories, axes), noise=way, **options)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many cells each axis has."""
        return tuple(len(axis) for axis in self.axes)

    @property
    def size(self) -> int:
        """How many cells there are."""
        return math.prod(self.shape)

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return self.noise.promises

    def perturb(self, data: Iterable[object], *, bits: Bits = SYSTEM) -> PrivateHistogram:
        """Count and add noise: for one column, a two-dimensional array of rows, or a list of
        columns.
        """
        return PrivateHistogram(self, self.noise.perturb(self.tally(data), bits=bits))

    def error(self, confidence: Number = 0.95, *, simultaneous: bool = False) -> int | float:
        """A bound on the noise of one cell, or of all cells at once, that holds with this
        probability.
        """
        return self.noise.error(confidence, values=self.size if simultaneous else 1)

    def tally(self, data: Iterable[object]) -> NDArray[np.int64]:
        """The exact counts. Secret: this is data, not an answer."""
        columns: list[Iterable[object]] = [data]
        if len(self.axes) != 1:
            listed = data.T if isinstance(data, np.ndarray) and data.ndim == 2 else data
            columns = list(cast(Iterable[Iterable[object]], listed))
        if len(columns) != len(self.axes):
            raise refusals.UNEXPECTED_COLUMNS(columns=len(columns), axes=len(self.axes))
        places = [
            axis.codes(c, self.outside) if isinstance(axis, Edges) else axis.codes(c, drop=True)
            for axis, c in zip(self.axes, columns, strict=True)
        ]
        if len({len(p) for p in places}) != 1:
            raise refusals.COLUMNS_OF_DIFFERENT_LENGTH()
        counted = np.all([p >= 0 for p in places], axis=0)
        cells = np.ravel_multi_index([p[counted] for p in places], self.shape)
        return np.bincount(cells, minlength=self.size).astype(np.int64).reshape(self.shape)

    why_no_loss_pair = "the pair of the noise's promise: a person is in one cell, or in two"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        return [
            AuditExample(
                "Histogram",
                lambda e: cls(edges=[0, 1, 2, 3, 4], epsilon=e, relation="add-remove"),
                GROWN,
            ),
            AuditExample(
                "Histogram, replace",
                lambda e: cls(edges=[0, 5, 11], epsilon=e, relation="replace"),
                CHANGED,
            ),
        ]

    def output_laws(self, x: Iterable[object], y: Iterable[object]) -> ShiftedNoise | None:
        counts_x, counts_y = self.tally(x).ravel(), self.tally(y).ravel()
        differ = np.flatnonzero(counts_x != counts_y)
        if self.noise.grid is not None or len(differ) != 1:
            return None
        at = int(differ[0])
        return ShiftedNoise(self.noise.law, int(counts_x[at]), int(counts_y[at]), f"[{at}]")

    def draw_once(self, x: Iterable[object]) -> NDArray[np.int64]:
        return self.perturb(x).counts

    def draw_many(self, x: Iterable[object], n: int) -> NDArray[np.generic] | None:
        """Tally once, and draw the noise of all draws together."""
        if self.noise.grid is not None or self.noise.size is not None:
            return None
        return np.asarray(self.noise.perturb(np.tile(self.tally(x).ravel(), (n, 1))))

    @classmethod
    def arguments_of(cls, public: PublicFields) -> PublicFields:
        return {"epsilon": epsilon_of(public["noise"])}


def moves(relation: Relation) -> int:
    """The number of counts that one person moves by 1."""
    return 1 if relation == "add-remove" else 2

"""k-means of numbers between public bounds: noisy sums and counts of clusters, step by step.

*Row*       u in [−S, S]^d, integers, S = 2¹⁰. It belongs to the nearest of k public centres,
            integers, too: distances are compared exactly. It adds S to the count and u to the sums
            of its cluster: its squared norm is at most S²·(1 + d) (docs/proofs/models.md).
*Centres*   begin at evenly spread points that the bounds alone decide, and move to noisy means;
            a cluster that the noise drowns moves next to the largest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import is_whole
from ..keywords import spell_out
from ..mechanisms import Gaussian
from ..noise.law import Integers
from ..release import Step, Tables
from ..tables.plan.codes.coded_rows import CodedRows
from ..tables.plan.codes.column_codes import as_doubles
from ..tables.plan.statements import EngineStatement
from ..templates.summary import Summary
from . import learn_refusals as refusals
from .estimator import NumberModelOptions, PrivateModel
from .model_arrays import read_features
from .model_columns import ModelColumns
from .model_noise import ModelCost, sums_move
from .model_plan import ModelPlan, TrainingSteps
from .moment_steps import CELL_BITS, code_numbers, unit_values

Doubles = NDArray[np.float64]

SCALE = 1 << 10
MOST_CLUSTERS, MOST_STEPS = 1000, 50
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71)


def spread_points(count: int, columns: int) -> Doubles:
    """Return evenly spread points of the cube [−1, 1]^columns: Halton's."""
    points = np.zeros((count, columns))
    for column in range(columns):
        base = _PRIMES[column % len(_PRIMES)]
        for place in range(count):
            left, part = place + 1 + column // len(_PRIMES), 1.0
            while left:
                part /= base
                points[place, column] += part * (left % base)
                left //= base
    return 2.0 * points - 1.0


@dataclass(frozen=True, slots=True, eq=False)
class ClusterTrainer:
    """Steps of noisy sums by the nearest centre."""

    coded: CodedRows
    values: tuple[NDArray[np.int64], ...]  # of the codes of each column, between −S and S
    clusters: int
    count: int

    @property
    def text(self) -> str:
        return f"k-means: {self.count} steps of {self.clusters} clusters"

    @property
    def move(self) -> int:
        """The squared sensitivity of a step."""
        return sums_move(self.coded.bounding, SCALE**2 * (1 + len(self.values)))

    def steps(self, statement: EngineStatement, noise: Sequence[Gaussian]) -> TrainingSteps:
        """Move the centres to the noisy means of their clusters."""
        centres = spread_points(self.clusters, len(self.values))
        row = float(1 << self.coded.bounding.bits) * SCALE
        rows = np.zeros(self.clusters)
        for step, gaussian in enumerate(noise):
            add = partial(self._add_by_cluster, np.rint(centres * SCALE))
            (summed,) = yield Step(() if step else (statement,), add, (gaussian,))
            table = summed.astype(np.float64).reshape(self.clusters, -1) / row
            deviation = float(gaussian.sigma) / row
            rows = np.maximum(table[:, 0], deviation)
            means = np.clip(table[:, 1:] / rows[:, None], -1.0, 1.0)
            drowned = table[:, 0] < 3.0 * deviation
            if step < len(noise) - 1 and drowned.any():
                largest = means[int(np.argmax(rows))]
                offsets = spread_points(self.clusters, len(self.values)) / (2.0 + step)
                means = np.where(drowned[:, None], np.clip(largest + offsets, -1.0, 1.0), means)
            centres = means
        return {"centres": centres.tolist(), "rows": rows.tolist()}

    def _add_by_cluster(self, centres: Doubles, tallies: Sequence[Tables]) -> list[Integers]:
        """Add up the rows of each cluster, by their weights. All numbers are integers below 2^53,
        so doubles hold them exactly, and a row's cluster does not depend on its place.
        """
        total = np.zeros((self.clusters, 1 + len(self.values)), dtype=np.int64)
        squares = (centres**2).sum(axis=1)
        for packs, weights in self.coded.batches(tallies[0][0]):
            rows = np.empty((1 + len(self.values), len(packs[0])))
            rows[0] = SCALE
            for row, codes, values in zip(rows[1:], packs, self.values, strict=True):
                row[:] = values[codes]
            nearest = (2.0 * centres @ rows[1:] - squares[:, None]).argmax(axis=0)
            weighed = rows if weights is None else rows * weights
            for column, values in enumerate(weighed):
                sums = np.bincount(nearest, values, minlength=self.clusters)
                total[:, column] += sums.astype(np.int64)
        return [total.ravel()]


class KMeans(PrivateModel):
    """Clusters of rows by the nearest of k centres.

    n_clusters   the number of centres
    steps        how often they move
    bounds       of columns without declared bounds: {"age": (0, 100)}

    >>> bounds = {"age": (0, 100), "spend": (0, 300)}
    >>> model = sf.learn.KMeans(n_clusters=3, epsilon=1, bounds=bounds)
    >>> model = model.fit(visits, features=["age", "spend"])
    >>> model.cluster_centers_.shape
    (3, 2)
    """

    _has_target = False
    _estimator_type = "clusterer"

    @spell_out(NumberModelOptions)
    def __init__(
        self, *, n_clusters: int = 8, steps: int = 5, **options: Unpack[NumberModelOptions]
    ) -> None:
        self.n_clusters, self.steps = n_clusters, steps
        self._set_all(options)

    def _make_plan(self, columns: ModelColumns, cost: ModelCost) -> ModelPlan:
        for name, value, most in (
            ("n_clusters", self.n_clusters, MOST_CLUSTERS),
            ("steps", self.steps, MOST_STEPS),
        ):
            if not is_whole(value, 1, most):
                raise refusals.OPTION_OUT_OF_RANGE(
                    name=name, value=value, range=f"from 1 to {most}", example=5
                )
        coded = code_numbers(columns, columns.features)
        values = tuple(
            unit_values(columns.cells(name, CELL_BITS), columns.ends(name), SCALE)
            for name in columns.features
        )
        trainer = ClusterTrainer(coded, values, self.n_clusters, self.steps)
        noise, mechanism = cost.divide(
            [trainer.move] * self.steps, [Fraction(1, self.steps)] * self.steps, coded.bounding
        )
        return ModelPlan("k-means", columns, coded, trainer, noise, mechanism)

    @property
    def cluster_centers_(self) -> Doubles:
        """The centres, in units of the columns."""
        middles, halves = self.fitted.scales.T
        return np.asarray(middles + halves * np.asarray(self.fitted.stored.read("centres")))

    @property
    def cluster_counts_(self) -> Doubles:
        """The noisy number of rows of each cluster, at the last step."""
        return np.asarray(self.fitted.stored.read("rows"))

    def predict(self, X: object) -> NDArray[np.int64]:
        """Return the cluster of each row: the nearest centre in units of the bounds."""
        names = self.fitted.features
        columns = read_features(X, names)
        middles, halves = self.fitted.scales.T
        values = np.column_stack([as_doubles(columns[name]) for name in names])
        units = np.nan_to_num(np.clip((values - middles) / halves, -1.0, 1.0))
        centres = np.asarray(self.fitted.stored.read("centres"))
        scores = 2.0 * units @ centres.T - (centres**2).sum(axis=1)
        return np.asarray(scores.argmax(axis=1))

    def _describe(self) -> Summary:
        fitted = self.fitted
        return Summary(
            title=fitted.heading,
            heads=("rows, about", *fitted.features),
            rows=[
                (f"{rows:,.0f}", *(f"{value:.4g}" for value in centre))
                for rows, centre in zip(self.cluster_counts_, self.cluster_centers_, strict=True)
            ],
            numbers=frozenset(range(1 + len(fitted.features))),
            notes=[fitted.receipt_note],
        )

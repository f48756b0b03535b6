"""Principal components of numbers between public bounds, from one noisy matrix of moments."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import is_whole
from ..keywords import spell_out
from ..tables.plan.codes.column_codes import as_doubles
from ..templates.summary import Summary
from . import learn_refusals as refusals
from .estimator import NumberModelOptions, PrivateModel
from .linear_models import moments_of, plan_moments
from .model_arrays import read_features
from .model_columns import ModelColumns
from .model_noise import ModelCost
from .model_plan import ModelPlan

Doubles = NDArray[np.float64]


class PCA(PrivateModel):
    """Principal components: the directions in which the columns vary most.

    n_components   how many directions
    bounds         of columns without declared bounds: {"age": (0, 100)}

    >>> model = sf.learn.PCA(n_components=1, epsilon=1, bounds={"age": (0, 100), "spend": (0, 300)})
    >>> model = model.fit(visits, features=["age", "spend"])
    >>> model.transform({"age": [30], "spend": [20]}).shape
    (1, 1)
    """

    _has_target = False

    @spell_out(NumberModelOptions)
    def __init__(self, *, n_components: int = 2, **options: Unpack[NumberModelOptions]) -> None:
        self.n_components = n_components
        self._set_all(options)

    def _make_plan(self, columns: ModelColumns, cost: ModelCost) -> ModelPlan:
        most = len(columns.features)
        if not is_whole(self.n_components, 1, most):
            raise refusals.OPTION_OUT_OF_RANGE(
                name="n_components",
                value=self.n_components,
                range=f"from 1 to {most}, the number of features",
                example=1,
            )
        return plan_moments(columns, columns.features, cost, "principal components")

    @property
    def mean_(self) -> Doubles:
        """The mean of each column."""
        middles, halves = self.fitted.scales.T
        return np.asarray(middles + halves * np.clip(moments_of(self.fitted).means, -1.0, 1.0))

    @property
    def covariance_(self) -> Doubles:
        """The covariance of the columns."""
        halves = self.fitted.scales[:, 1]
        return np.asarray(moments_of(self.fitted).covariance * np.outer(halves, halves))

    def _directions(self) -> tuple[Doubles, Doubles]:
        values, vectors = np.linalg.eigh(self.covariance_)
        vectors = vectors[:, ::-1]
        largest = np.abs(vectors).argmax(axis=0)
        signs = np.sign(vectors[largest, np.arange(len(largest))])
        return np.maximum(values[::-1], 0.0), (vectors * signs).T

    @property
    def components_(self) -> Doubles:
        """The directions, one in each row, the largest variance first."""
        return self._directions()[1][: self.n_components]

    @property
    def explained_variance_(self) -> Doubles:
        """The variance along each direction."""
        return self._directions()[0][: self.n_components]

    @property
    def explained_variance_ratio_(self) -> Doubles:
        """The share of all variance along each direction."""
        values = self._directions()[0]
        return np.asarray(values[: self.n_components] / max(float(values.sum()), 1e-300))

    def transform(self, X: object) -> Doubles:
        """Return the coordinates of rows along the directions; missing values count as the mean."""
        names = self.fitted.features
        columns = read_features(X, names)
        mean = self.mean_
        values = np.column_stack([as_doubles(columns[name]) for name in names])
        centred = np.where(np.isnan(values), 0.0, values - mean)
        return np.asarray(centred @ self.components_.T)

    def fit_transform(self, X: object, y: object = None) -> Doubles:
        """Fit arrays, and return the coordinates of their rows. The coordinates are those of exact
        rows: they are not private.
        """
        return self.fit(X).transform(X)

    def _describe(self) -> Summary:
        fitted = self.fitted
        rows = [
            (f"{place}", f"{share:.1%}", ", ".join(f"{weight:.3g}" for weight in direction))
            for place, (share, direction) in enumerate(
                zip(self.explained_variance_ratio_, self.components_, strict=True), 1
            )
        ]
        return Summary(
            title=fitted.heading,
            heads=("direction", "variance", ", ".join(fitted.features)),
            rows=rows,
            numbers=frozenset([0, 1]),
            notes=[fitted.receipt_note],
        )

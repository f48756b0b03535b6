"""Linear regression from one noisy matrix of moments.

*Solution*    b = (M + Λ)⁻¹·h, with M and h the noisy moments, in units of half the bounds. Λ is
              public: a ridge of the size of the noise, so that directions that the noise drowns
              have no weight, and `alpha`.
*Interval*    b − β = (M + Λ)⁻¹·(e − E·β), exactly, with β the solution for the exact moments with
              the same Λ, and E, e the noise. Its law is normal with a known matrix at β, which b
              stands in for. `population=True` adds the variance of sampling rows.
*More*        Means, covariances and correlations of all columns are read from the same matrix.
*Proof*       docs/proofs/models.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number, non_negative, probability
from ..keywords import spell_out
from ..tables.plan.codes.column_codes import as_doubles
from ..templates.summary import Summary
from .estimator import NumberModelOptions, PrivateModel, r_squared
from .fitted_model import FittedModel
from .model_arrays import read_features
from .model_columns import ModelColumns
from .model_noise import ModelCost
from .model_plan import ModelPlan
from .moment_steps import CELL_BITS, MomentTrainer, NoisyMoments, code_numbers, unit_values

Doubles = NDArray[np.float64]

_RIDGE = 0.5  # of the penalty, in units of σ·√columns: about a quarter of the noise's norm


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient with its interval."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """The solution of the normal equations, in units of half the bounds; the intercept first."""

    moments: NoisyMoments
    penalty: Doubles  # the diagonal of Λ

    @cached_property
    def inverse(self) -> Doubles:
        """(M + Λ)⁻¹; directions that the noise has made negative are left out."""
        values, vectors = np.linalg.eigh(self.moments.matrix[:-1, :-1] + np.diag(self.penalty))
        least = self.moments.sigma
        inverted = np.where(values > least, 1.0 / np.maximum(values, least), 0.0)
        return np.asarray((vectors * inverted) @ vectors.T)

    @cached_property
    def coefficients(self) -> Doubles:
        """b."""
        return np.asarray(self.inverse @ self.moments.matrix[:-1, -1])

    @cached_property
    def noise_covariance(self) -> Doubles:
        """The covariance of b by the noise."""
        moves = np.column_stack(
            [
                self.inverse @ (direction[:-1, -1] - direction[:-1, :-1] @ self.coefficients)
                for direction in self.moments.directions()
            ]
        )
        return np.asarray(moves @ moves.T) * self.moments.sigma**2

    @cached_property
    def sampling_covariance(self) -> Doubles:
        """The covariance of b by the draw of the rows, every residual with the same variance."""
        matrix, beta = self.moments.matrix, self.coefficients
        left = matrix[-1, -1] - 2 * beta @ matrix[:-1, -1] + beta @ matrix[:-1, :-1] @ beta
        variance = max(float(left), self.moments.sigma) / self.moments.rows
        return np.asarray(self.inverse @ matrix[:-1, :-1] @ self.inverse) * variance


class LeastSquares(PrivateModel):
    """Least squares from one noisy matrix of moments, with intervals of the coefficients.

    epsilon    with `delta`, what the model costs; or `promise`, a GDP, zCDP or Approx
    bounds     of features and the target without declared bounds: {"age": (0, 100)}; of the target
               of arrays under the name None
    ledger     for arrays: the ledger that is charged

    Rows where a column is missing are left out. Predictions stay within the target's bounds.

    >>> model = sf.learn.LinearRegression(epsilon=1, bounds={"age": (0, 100), "spend": (0, 300)})
    >>> model = model.fit(visits, target="spend", features=["age"])
    >>> [coefficient.name for coefficient in model.coefficients()]
    ['intercept', 'age']
    """

    _estimator_type = "regressor"
    _public_name = "LinearRegression"

    @spell_out(NumberModelOptions)
    def __init__(self, **options: Unpack[NumberModelOptions]) -> None:
        self._set_all(options)

    def _make_plan(self, columns: ModelColumns, cost: ModelCost) -> ModelPlan:
        return plan_moments(columns, (*columns.features, columns.target), cost, "linear regression")

    @property
    def moments(self) -> NoisyMoments:
        """The noisy moments, the target last."""
        return moments_of(self.fitted)

    @property
    def solution(self) -> LinearSolution:
        """The solution in units of half the bounds."""
        moments = self.moments
        penalty = self._alphas() + _RIDGE * moments.sigma * len(moments.matrix) ** 0.5
        penalty[0] = 0.0
        return LinearSolution(moments, penalty)

    def _alphas(self) -> Doubles:
        """The penalty that was asked for, beside that of the noise."""
        return np.zeros(self.n_features_in_ + 1)

    @property
    def _to_columns(self) -> Doubles:
        """What turns the solution into intercept and coefficients in units of the columns."""
        middles, halves = self.fitted.scales.T
        to_columns = np.diag(np.concatenate([[halves[-1]], halves[-1] / halves[:-1]]))
        to_columns[0, 1:] = -halves[-1] * middles[:-1] / halves[:-1]
        return to_columns

    @property
    def coef_(self) -> Doubles:
        """The coefficients."""
        return np.asarray(self._to_columns @ self.solution.coefficients)[1:]

    @property
    def intercept_(self) -> float:
        """The intercept."""
        return float((self._to_columns @ self.solution.coefficients)[0] + self.fitted.scales[-1, 0])

    def coefficients(
        self, *, confidence: Number = 0.95, population: bool = False
    ) -> tuple[Coefficient, ...]:
        """Return the intercept and the coefficients with intervals: of what the same regression
        gives without noise, or with `population=True` of the population that rows are drawn from.
        """
        level = float(probability(confidence, "confidence", zero=False))
        solution = self.solution
        covariance = solution.noise_covariance
        if population:
            covariance = covariance + solution.sampling_covariance
        to_columns = self._to_columns
        deviation = np.sqrt((to_columns @ covariance @ to_columns.T).diagonal())
        half = NormalDist().inv_cdf((1 + level) / 2) * deviation
        values = [self.intercept_, *self.coef_.tolist()]
        names = ["intercept", *self.fitted.features]
        return tuple(
            Coefficient(name, value, value - width, value + width)
            for name, value, width in zip(names, values, half.tolist(), strict=True)
        )

    @property
    def covariance_(self) -> Doubles:
        """The covariance of all columns, the target last."""
        halves = self.fitted.scales[:, 1]
        return np.asarray(self.moments.covariance * np.outer(halves, halves))

    @property
    def correlation_(self) -> Doubles:
        """The correlation of all columns, the target last; between −1 and 1."""
        covariance = self.moments.covariance
        deviation = np.sqrt(covariance.diagonal())
        correlation = covariance / np.outer(deviation, deviation)
        return np.asarray(np.clip(correlation, -1.0, 1.0), dtype=np.float64)

    def predict(self, X: object) -> Doubles:
        """Return the prediction for each row, within the bounds of the target."""
        names = self.fitted.features
        columns = read_features(X, names)
        total: Doubles = np.full(1, self.intercept_)
        ends = self.fitted.scales
        for (middle, half), name, weight in zip(ends, names, self.coef_, strict=False):
            value = np.clip(as_doubles(columns[name]), middle - half, middle + half)
            total = total + weight * np.where(np.isnan(value), middle, value)
        middle, half = ends[-1].tolist()
        return np.asarray(np.clip(total, middle - half, middle + half))

    def score(self, X: object, y: object) -> float:
        """Return R², the share of the target's variance that is explained."""
        return r_squared(np.asarray(y, dtype=np.float64), self.predict(X))

    def _describe(self) -> Summary:
        fitted = self.fitted
        return Summary(
            title=fitted.heading,
            heads=("term", "coefficient", "low", "high"),
            rows=[
                (each.name, *(f"{number:.5g}" for number in (each.value, each.low, each.high)))
                for each in self.coefficients()
            ],
            numbers=frozenset([1, 2, 3]),
            notes=[
                f"about {self.moments.rows:,.0f} rows; low to high: 95 %, of the privacy noise",
                fitted.receipt_note,
            ],
        )


class Ridge(LeastSquares):
    """Ridge regression: `LinearRegression` with the penalty `alpha` of scikit-learn's `Ridge`."""

    _public_name = "Ridge"

    @spell_out(NumberModelOptions)
    def __init__(self, *, alpha: Number = 1, **options: Unpack[NumberModelOptions]) -> None:
        self.alpha = alpha
        self._set_all(options)

    def _alphas(self) -> Doubles:
        alpha = float(non_negative(self.alpha, "alpha"))
        return np.concatenate([[0.0], alpha / self.fitted.scales[:-1, 1] ** 2])


def plan_moments(
    columns: ModelColumns, names: tuple[str, ...], cost: ModelCost, name: str
) -> ModelPlan:
    """Plan the measurement of the moments of these columns."""
    coded = code_numbers(columns, names)
    values = tuple(
        unit_values(columns.cells(each, CELL_BITS), columns.ends(each)) for each in names
    )
    trainer = MomentTrainer(coded, values)
    noise, mechanism = cost.divide([trainer.move], [Fraction(1)], coded.bounding)
    return ModelPlan(name, columns, coded, trainer, noise, mechanism)


def moments_of(fitted: FittedModel) -> NoisyMoments:
    """Return the noisy moments of a fitted model."""
    return NoisyMoments.of(fitted.stored.read("sums"), float(fitted.sigmas[0]), fitted.row)

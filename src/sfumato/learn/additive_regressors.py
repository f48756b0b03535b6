"""Additive models of numbers: a mean, or a quantile, between public bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number, open_probability
from ..keywords import spell_out
from ..tables.plan.codes.coded_rows import CodedRows
from .additive_models import STEPS, AdditiveModel
from .additive_steps import (
    ONE,
    AdditiveTrainer,
    clamped_residuals,
    linear_link,
    quantile_residuals,
    read_steps,
)
from .estimator import ModelOptions, r_squared
from .model_columns import ModelColumns
from .model_noise import ModelCost
from .model_plan import ModelPlan

Doubles = NDArray[np.float64]

_TARGET_BITS = 10
_SMOOTHED = ONE // 8  # of the quantile loss, on both sides
_QUANTILE = 1.0  # its curvature, where a quarter of the rows lie that near
_LINEAR = 1.0  # curvature of the loss of squares


class AdditiveRegressor(AdditiveModel):
    """Predict a number between public bounds by a sum of shapes, one for each feature.

    The parameters are those of `AdditiveClassifier`; the bounds of the target are declared, or
    stated in `bounds` with those of the features; for arrays under the name None.

    >>> model = sf.learn.AdditiveRegressor(epsilon=1, bounds={"age": (0, 100), "spend": (0, 300)})
    >>> model = model.fit(visits, target="spend", features=["age", "city"])
    >>> len(model.predict({"age": [30, 60], "city": ["Roma", "Bari"]}))
    2
    """

    _estimator_type = "regressor"

    @spell_out(ModelOptions)
    def __init__(self, *, steps: int = STEPS, **options: Unpack[ModelOptions]) -> None:
        self.steps = steps
        self._set_all(options)

    def _make_plan(self, columns: ModelColumns, cost: ModelCost) -> ModelPlan:
        target = columns.cells(columns.target, _TARGET_BITS)
        low, high = columns.ends(columns.target)
        codes = [*(columns.code(name) for name in columns.features), target]
        coded = CodedRows.of(columns.rows, codes, [len(codes) - 1], packed=len(codes) - 1)
        values = np.array(
            [round(ONE * (2 * centre - low - high) / (high - low)) for centre in target.centres]
        )
        values = np.clip(np.append(values, 0), -ONE, ONE)
        residuals, loss, curvature = self._loss()
        trainer = AdditiveTrainer(
            coded, values, linear_link(), residuals, loss, curvature, read_steps(self.steps)
        )
        return self._plan_steps(columns, cost, trainer)

    def _loss(self) -> tuple[NDArray[np.int64], str, float]:
        """Return the slope of the loss for each difference, its name and its curvature."""
        return clamped_residuals(), "squares", _LINEAR

    @property
    def _ends(self) -> tuple[Fraction, Fraction]:
        return self.fitted.ends[self.fitted.target]

    @property
    def _unit(self) -> float:
        return float(self._ends[1] - self._ends[0]) / 2

    @property
    def _middle(self) -> float:
        return float(self._ends[1] + self._ends[0]) / 2

    @property
    def _axis(self) -> str:  # type: ignore[override]  # the name of the target
        return self.fitted.target

    def predict(self, X: object) -> Doubles:
        """Return the prediction for each row, within the bounds of the target."""
        low, high = map(float, self._ends)
        return np.clip(self.score_rows(X), low, high)

    def score(self, X: object, y: object) -> float:
        """Return R², the share of the target's variance that is explained."""
        return r_squared(np.asarray(y, dtype=np.float64), self.predict(X))


class QuantileRegressor(AdditiveRegressor):
    """Predict a quantile of a number between public bounds by a sum of shapes.

    The parameters are those of `AdditiveRegressor`, with the `quantile`. Its loss is smoothed over
    a sixteenth of the distance between the target's bounds on both sides.

    >>> bounds = {"age": (0, 100), "spend": (0, 300)}
    >>> model = sf.learn.QuantileRegressor(quantile=0.9, epsilon=1, bounds=bounds)
    >>> model = model.fit(visits, target="spend", features=["age", "city"])
    >>> len(model.predict({"age": [30, 60], "city": ["Roma", "Bari"]}))
    2
    """

    @spell_out(ModelOptions)
    def __init__(
        self,
        *,
        quantile: Number = 0.5,
        steps: int = 2 * STEPS,
        **options: Unpack[ModelOptions],
    ) -> None:
        self.quantile = quantile
        super().__init__(steps=steps, **options)

    def _loss(self) -> tuple[NDArray[np.int64], str, float]:
        quantile = open_probability(self.quantile, "quantile")
        return quantile_residuals(quantile, _SMOOTHED), f"the quantile {quantile}", _QUANTILE

    def score(self, X: object, y: object) -> float:
        """Return the share of the quantile loss of the best constant that is saved."""
        target, q = np.asarray(y, dtype=np.float64), float(self.quantile)

        def loss(predicted: Doubles | np.float64) -> float:
            above = target - predicted
            return float(np.maximum(q * above, (q - 1) * above).sum())

        constant = loss(np.quantile(target, q))
        return 1.0 - loss(self.predict(X)) / constant if constant else 0.0

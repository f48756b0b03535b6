"""Additive models: the score of a row is the sum of one number for each of its features' bins.

*Classifier*  the log odds of the second of two public classes.
*Regressor*   a number between public bounds.
*Shape*       of a feature: the number of each bin, with a band of the privacy noise. The shapes of
              all features are the whole model: it can be printed and checked by hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Unpack

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number, probability
from ..keywords import spell_out
from ..tables.declare.declaration import Key
from ..tables.plan.codes.coded_rows import CodedRows
from ..templates.summary import Summary
from . import learn_refusals as refusals
from .additive_steps import (
    ONE,
    AdditiveTrainer,
    clamped_residuals,
    logistic_link,
    read_steps,
)
from .binary_classifier import BinaryClassifier, read_classes
from .estimator import ModelOptions, PrivateModel
from .model_columns import MOST_CELLS, ModelColumns
from .model_noise import ModelCost
from .model_plan import ModelPlan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Doubles = NDArray[np.float64]

STEPS = 8
_LOGISTIC = 0.16  # curvature of the loss: p·(1 − p) on average


@dataclass(frozen=True, slots=True, eq=False)
class FeatureShape:
    """What a feature adds to the score, bin by bin, with the ends of a band of privacy noise."""

    feature: str
    labels: tuple[str, ...]
    values: Doubles
    low: Doubles
    high: Doubles
    counts: Doubles  # noisy numbers of rows


class AdditiveModel(PrivateModel):
    """What the additive classifier and the additive regressor share."""

    steps: int

    def shape(self, feature: str, *, confidence: Number = 0.95) -> FeatureShape:
        """Return what a feature adds to the score. The band is of the privacy noise alone: with
        this probability each value is as near to what the same steps would give without noise, as
        far as features are independent of each other.
        """
        fitted = self.fitted
        names = list(fitted.features)
        if feature not in names:
            raise refusals.COLUMNS_MISSING(place=f"no feature {feature}", columns=", ".join(names))
        place = names.index(feature)
        level = float(probability(confidence, "confidence", zero=False))
        values = self._numbers("weights", place) / ONE * self._unit
        deviation = self._numbers("deviations", place) * self._unit
        half = NormalDist().inv_cdf((1 + level) / 2) * deviation
        return FeatureShape(
            feature,
            _label_bins(fitted.codes[place].labels, self._numbers("bins", place)),
            values,
            values - half,
            values + half,
            self._numbers("counts", place),
        )

    def coefficients(self, *, confidence: Number = 0.95) -> dict[str, FeatureShape]:
        """Return the shapes of all features, by name."""
        names = self.fitted.features
        return {name: self.shape(name, confidence=confidence) for name in names}

    @property
    def intercept_(self) -> float:
        """The score before any feature is looked at."""
        intercept = self.fitted.stored.fields["intercept"]
        assert isinstance(intercept, int)
        return intercept / ONE * self._unit + self._middle

    def plot(self, feature: str, *, confidence: Number = 0.95) -> Figure:
        """Draw the shape of a feature with its band."""
        from ..plots import Bars, bars

        shape = self.shape(feature, confidence=confidence)
        drawn = Bars(shape.labels, shape.values, shape.low, shape.high)
        target = self.fitted.target
        return bars(drawn, title=f"{target} by {feature}", across=self._axis, up=feature)

    def score_rows(self, X: object) -> Doubles:
        """Return the score of each row: log odds, or the prediction before it is clipped."""
        fitted = self.fitted
        total = np.full(1, self.intercept_)
        for place, codes in enumerate(fitted.encode(X)):
            bins = self._numbers("bins", place).astype(np.int64)
            weights = self._numbers("weights", place) / ONE * self._unit
            total = total + weights[bins[codes]]
        return total

    _axis = ""

    @property
    def _unit(self) -> float:
        """What a score of 1 stands for."""
        return 1.0

    @property
    def _middle(self) -> float:
        """What a score of 0 stands for."""
        return 0.0

    def _numbers(self, name: str, place: int) -> Doubles:
        return np.asarray(self.fitted.stored.read(name)[place], dtype=np.float64)

    def _plan_steps(
        self, columns: ModelColumns, cost: ModelCost, trainer: AdditiveTrainer
    ) -> ModelPlan:
        """Give the steps of a trainer their noise."""
        cells = sum(code.size for code in trainer.coded.codes[:-1])
        if cells > MOST_CELLS:
            raise refusals.TOO_MANY_CELLS(cells=cells, most=MOST_CELLS)
        moves = trainer.moves
        noise, mechanism = cost.divide(
            [moved for moved, _ in moves], [share for _, share in moves], trainer.coded.bounding
        )
        name = (
            "additive classifier" if self._estimator_type == "classifier" else "additive regressor"
        )
        return ModelPlan(name, columns, trainer.coded, trainer, noise, mechanism)

    def _describe(self) -> Summary:
        fitted = self.fitted
        shapes = self.coefficients().values()
        spread = {
            shape.feature: float(np.sqrt(np.average(shape.values**2, weights=shape.counts)))
            for shape in shapes
        }
        most = sorted(shapes, key=lambda shape: -spread[shape.feature])
        return Summary(
            title=fitted.heading,
            heads=("feature", "bins", "moves the score by", "± noise, 95 %"),
            rows=[
                (
                    shape.feature,
                    f"{len(shape.values)}",
                    f"{spread[shape.feature]:.3g}",
                    f"{float(np.average((shape.high - shape.low) / 2, weights=shape.counts)):.2g}",
                )
                for shape in most
            ],
            numbers=frozenset([1, 2, 3]),
            notes=[fitted.receipt_note],
        )


class AdditiveClassifier(AdditiveModel, BinaryClassifier):
    """Tell two public classes apart by a sum of shapes, one for each feature.

    epsilon    with `delta`, what the model costs; or `promise`, a GDP, zCDP or Approx
    bounds     of numbers without declared bounds: {"age": (0, 100)}; three or more are edges of
               cells: {"gain": [0, 1, 5000, 100_000]}
    keys       of categories without declared keys: {"city": ["Bari", "Roma"]}
    classes    the two classes, if the target has no declared keys
    steps      the number of noisy gradients
    ledger     for arrays: the ledger that is charged

    >>> model = sf.learn.AdditiveClassifier(epsilon=1, bounds={"age": (0, 100), "spend": (0, 300)})
    >>> model = model.fit(visits, target="vip", features=["age", "spend"])
    >>> model.guarantee
    Approx(1, 1/1000000000, relation='add-remove', unit='user_id')
    """

    _axis = "log odds"

    @spell_out(ModelOptions)
    def __init__(
        self,
        *,
        classes: Iterable[Key] | None = None,
        steps: int = STEPS,
        **options: Unpack[ModelOptions],
    ) -> None:
        self.classes, self.steps = classes, steps
        self._set_all(options)

    def _make_plan(self, columns: ModelColumns, cost: ModelCost) -> ModelPlan:
        target = read_classes(columns, self.classes)
        if len(target.keys) != 2:
            raise refusals.CLASSES_NOT_TWO(count=len(target.keys), column=columns.target)
        codes = [*(columns.code(name) for name in columns.features), target]
        coded = CodedRows.of(columns.rows, codes, [len(codes) - 1], packed=len(codes) - 1)
        values = np.array([0, ONE, 0])  # the last one, of missing targets, occurs in no row
        trainer = AdditiveTrainer(
            coded,
            values,
            logistic_link(),
            clamped_residuals(),
            "the logistic loss",
            _LOGISTIC,
            read_steps(self.steps),
        )
        return self._plan_steps(columns, cost, trainer)


def _label_bins(labels: tuple[str, ...], bins: Doubles) -> tuple[str, ...]:
    """Return what each bin holds: the cells from the first to the last, or the keys."""
    merged: list[list[str]] = [[] for _ in range(int(bins.max()) + 1)]
    for label, at in zip(labels, bins, strict=True):
        merged[int(at)].append(label)
    return tuple(map(_join_labels, merged))


def _join_labels(labels: list[str]) -> str:
    first, *rest = labels
    if not rest:
        return first
    if " to " in first:
        ends = [label for label in labels if " to " in label]
        missing = " or missing" if len(ends) < len(labels) else ""
        return f"{first.partition(' to ')[0]} to {ends[-1].partition(' to ')[2]}{missing}"
    return f"{first} and {len(rest)} more" if len(labels) > 3 else ", ".join(labels)

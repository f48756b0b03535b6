"""Logistic regression of numbers between public bounds and categories with public keys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from ..keywords import spell_out
from ..tables.declare.declaration import Key
from ..tables.plan.codes.coded_rows import CodedRows
from ..tables.plan.codes.column_codes import CellCode, KeyCode, RowCode
from ..templates.summary import Summary
from . import learn_refusals as refusals
from .additive_steps import ONE, AdditiveTrainer, clamped_residuals, logistic_link, read_steps
from .binary_classifier import BinaryClassifier, read_classes
from .estimator import ModelOptions
from .logistic_steps import SCALE, LogisticTrainer
from .model_columns import ModelColumns
from .model_noise import ModelCost
from .model_plan import ModelPlan
from .moment_steps import unit_values

Doubles = NDArray[np.float64]

STEPS = 16


class LogisticClassifier(BinaryClassifier):
    """Tell two public classes apart by log odds that are linear in numbers, with one term for each
    key of a category.

    The parameters are those of `AdditiveClassifier`; a number has two bounds, and no edges.

    >>> model = sf.learn.LogisticRegression(epsilon=1, bounds={"age": (0, 100), "spend": (0, 300)})
    >>> model = model.fit(visits, target="vip", features=["age", "spend"])
    >>> model.terms_
    ('age', 'spend')
    """

    _public_name = "LogisticRegression"

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
        codes = [_code(columns, name) for name in columns.features]
        designs = tuple(_design(columns, code) for code in codes)
        places = len(codes)
        coded = CodedRows.of(columns.rows, [*codes, target], [places], packed=places)
        base = AdditiveTrainer(
            coded,
            np.array([0, ONE, 0]),
            logistic_link(),
            clamped_residuals(),
            "the logistic loss",
            0.16,
            read_steps(self.steps),
        )
        trainer = LogisticTrainer(base, designs)
        moves = trainer.moves
        noise, mechanism = cost.divide(
            [moved for moved, _ in moves], [share for _, share in moves], coded.bounding
        )
        return ModelPlan("logistic regression", columns, coded, trainer, noise, mechanism)

    @property
    def terms_(self) -> tuple[str, ...]:
        """The names of the terms: columns, and keys of categories."""
        return tuple(
            f"{code.name}={label}" if isinstance(code, KeyCode) else code.name
            for code in self.fitted.codes
            for label in (code.labels if isinstance(code, KeyCode) else ("",))
        )

    @property
    def _slopes(self) -> list[Doubles]:
        """The slopes of each feature's terms, a number's in units of half its bounds."""
        sizes = [code.size if isinstance(code, KeyCode) else 1 for code in self.fitted.codes]
        slopes = np.asarray(self.fitted.stored.read("slopes"))
        return np.split(slopes, np.cumsum(sizes)[:-1])

    @property
    def coef_(self) -> Doubles:
        """The coefficient of each term, in units of the columns: one row, as in scikit-learn."""
        ends = self.fitted.ends
        halves = [
            1.0 if isinstance(code, KeyCode) else float(ends[code.name][1] - ends[code.name][0]) / 2
            for code in self.fitted.codes
        ]
        parts = [slope / half for slope, half in zip(self._slopes, halves, strict=True)]
        return np.concatenate(parts)[None, :]

    @property
    def intercept_(self) -> float:
        """The log odds where all numbers are 0 and no category has a term."""
        intercept = self.fitted.stored.fields["intercept"]
        assert isinstance(intercept, float)
        for code, slope in zip(self.fitted.codes, self._slopes, strict=True):
            if not isinstance(code, KeyCode):
                low, high = map(float, self.fitted.ends[code.name])
                intercept -= float(slope[0]) * (high + low) / (high - low)
        return intercept

    def coefficients(self) -> dict[str, float]:
        """Return the intercept and the coefficient of each term, by name. No interval is known."""
        return {"intercept": self.intercept_} | dict(
            zip(self.terms_, self.coef_[0].tolist(), strict=True)
        )

    def score_rows(self, X: object) -> Doubles:
        """Return the log odds of each row; missing numbers count as the middle of their bounds."""
        total: Doubles = np.full(1, self.fitted.stored.fields["intercept"], dtype=np.float64)
        for code, slope, codes in zip(
            self.fitted.codes, self._slopes, self.fitted.encode(X), strict=True
        ):
            table = slope
            if isinstance(code, CellCode):
                table = slope[0] * unit_values(code, self.fitted.ends[code.name], SCALE) / SCALE
            total = total + table[codes]
        return total

    def _describe(self) -> Summary:
        return Summary(
            title=self.fitted.heading,
            heads=("term", "coefficient"),
            rows=[
                (term, f"{value:.4g}")
                for term, value in zip(self.terms_, self.coef_[0], strict=True)
            ],
            numbers=frozenset([1]),
            notes=[self.fitted.receipt_note],
        )


def _code(columns: ModelColumns, name: str) -> RowCode:
    """Return the code of a feature: keys, or cells of equal width."""
    listed = columns.listed_keys(name)
    return columns.code(name) if listed else columns.cells(name, 10)


def _design(columns: ModelColumns, code: RowCode) -> NDArray[np.int64]:
    """Return the terms of each code."""
    if isinstance(code, CellCode):
        return unit_values(code, columns.ends(code.name), SCALE)[:, None]
    return SCALE * np.eye(code.size, dtype=np.int64)

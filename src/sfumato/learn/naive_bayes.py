"""Naive Bayes: one step of noisy counts, of each code of each feature by class.

*Row*       has one code in each of k features and one class: it touches k counts, one for each
            feature, so its norm is √k (docs/proofs/models.md).
*Chances*   Counts below 0 count as 0. The chance of a bin given a class is drawn towards that of
            the bin among all rows, with the weight of the noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from ..keywords import spell_out
from ..mechanisms import Gaussian
from ..noise.law import Integers
from ..release import Step, Tables
from ..tables.declare.declaration import Key
from ..tables.plan.codes.coded_rows import CodedRows, add_by_code
from ..tables.plan.statements import EngineStatement
from ..templates.summary import Summary
from . import learn_refusals as refusals
from .binary_classifier import read_classes
from .estimator import ModelOptions, PrivateModel
from .merged_cells import merge_cells
from .model_columns import MOST_CELLS, ModelColumns
from .model_noise import ModelCost, counts_move
from .model_plan import ModelPlan, TrainingSteps

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ClassCountTrainer:
    """One step: the noisy counts of all codes by class."""

    coded: CodedRows  # the features, and the target as the last column
    classes: int

    @property
    def text(self) -> str:
        return f"naive Bayes: counts of cells by {self.classes} classes"

    @property
    def move(self) -> int:
        """The squared sensitivity."""
        return counts_move(self.coded.bounding, len(self.coded.codes) - 1)

    def steps(self, statement: EngineStatement, noise: Sequence[Gaussian]) -> TrainingSteps:
        """Count, and merge cells that few rows have."""
        (counted,) = yield Step((statement,), self._count, noise)
        row = float(1 << self.coded.bounding.bits)
        deviation = float(noise[0].sigma) / row
        features = self.coded.codes[:-1]
        ends = np.cumsum([code.size for code in features]) * self.classes
        bins, counts = [], []
        for code, part in zip(features, np.split(counted / row, ends[:-1]), strict=True):
            by_class = part.astype(np.float64).reshape(code.size, self.classes)
            merged = merge_cells(code, by_class.sum(axis=1), deviation * self.classes**0.5)
            totals = np.zeros((merged.size, self.classes))
            np.add.at(totals, merged.bins, by_class)
            bins.append(merged.bins.tolist())
            counts.append(totals.tolist())
        return {"bins": bins, "counts": counts, "deviation": deviation}

    def _count(self, tallies: Sequence[Tables]) -> list[Integers]:
        """Count the rows of each code of each feature in each class, by their weights."""
        sizes = [code.size * self.classes for code in self.coded.codes[:-1]]
        counts = [np.zeros(size, dtype=np.int64) for size in sizes]
        for packs, weights in self.coded.batches(tallies[0][0]):
            for place, size in enumerate(sizes):
                codes = packs[place] * self.classes + packs[-1]
                counts[place] = counts[place] + add_by_code(codes, weights, size)
        return [np.concatenate(counts)]


class NaiveBayes(PrivateModel):
    """Tell any number of public classes apart, as if features were independent in each class.

    The parameters are those of `AdditiveClassifier`, without steps. It needs the least budget for
    its one step; an additive model is better wherever features say the same thing twice.

    >>> model = sf.learn.NaiveBayes(epsilon=1, bounds={"age": (0, 100), "spend": (0, 300)})
    >>> model = model.fit(visits, target="vip", features=["age", "spend"])
    >>> model.predict_proba({"age": [30], "spend": [20]}).shape
    (1, 2)
    """

    _estimator_type = "classifier"

    @spell_out(ModelOptions)
    def __init__(
        self, *, classes: Iterable[Key] | None = None, **options: Unpack[ModelOptions]
    ) -> None:
        self.classes = classes
        self._set_all(options)

    def _make_plan(self, columns: ModelColumns, cost: ModelCost) -> ModelPlan:
        target = read_classes(columns, self.classes)
        if len(target.keys) < 2:
            raise refusals.CLASSES_MISSING(column=columns.target)
        codes = [*(columns.code(name) for name in columns.features), target]
        cells = sum(code.size for code in codes[:-1]) * len(target.keys)
        if cells > MOST_CELLS:
            raise refusals.TOO_MANY_CELLS(cells=cells, most=MOST_CELLS)
        coded = CodedRows.of(columns.rows, codes, [len(codes) - 1], packed=0)
        trainer = ClassCountTrainer(coded, len(target.keys))
        noise, mechanism = cost.divide([trainer.move], [Fraction(1)], coded.bounding)
        return ModelPlan("naive Bayes", columns, coded, trainer, noise, mechanism)

    @property
    def classes_(self) -> NDArray[np.generic]:
        """The classes."""
        return self.fitted.classes

    @property
    def class_counts_(self) -> Doubles:
        """The noisy number of rows of each class, as all features tell it."""
        totals = [np.asarray(counts) for counts in self.fitted.stored.read("counts")]
        weights = [1.0 / len(counts) for counts in totals]
        rows = np.average([counts.sum(axis=0) for counts in totals], axis=0, weights=weights)
        return np.maximum(rows, self._deviation)

    @property
    def _deviation(self) -> float:
        deviation = self.fitted.stored.fields["deviation"]
        assert isinstance(deviation, float)
        return deviation

    def predict_log_proba(self, X: object) -> Doubles:
        """Return the logarithms of the probabilities of the classes for each row."""
        fitted = self.fitted
        rows = self.class_counts_
        total = np.log(rows / rows.sum())[None, :]
        noise = 1.0 + self._deviation
        bins, counts = fitted.stored.read("bins"), fitted.stored.read("counts")
        for place, codes in enumerate(fitted.encode(X)):
            table = np.maximum(np.asarray(counts[place]), 0.0)
            overall = (table.sum(axis=1) + 1.0) / (table.sum() + len(table))
            chance = (table + noise * overall[:, None]) / (table.sum(axis=0) + noise)
            total = total + np.log(chance)[np.asarray(bins[place])[codes]]
        largest = total.max(axis=1, keepdims=True)
        summed = np.log(np.exp(total - largest).sum(axis=1, keepdims=True))
        return np.asarray(total - largest - summed)

    def predict_proba(self, X: object) -> Doubles:
        """Return the probabilities of the classes for each row."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: object) -> NDArray[np.generic]:
        """Return the likeliest class of each row."""
        return np.asarray(self.classes_[self.predict_log_proba(X).argmax(axis=1)])

    def score(self, X: object, y: object) -> float:
        """Return the share of rows whose class is predicted."""
        return float((self.predict(X) == np.asarray(y)).mean())

    def _describe(self) -> Summary:
        fitted = self.fitted
        return Summary(
            title=fitted.heading,
            heads=("class", "rows, about"),
            rows=[
                (str(name), f"{rows:,.0f}")
                for name, rows in zip(self.classes_, self.class_counts_, strict=True)
            ],
            numbers=frozenset([1]),
            notes=[fitted.receipt_note],
        )

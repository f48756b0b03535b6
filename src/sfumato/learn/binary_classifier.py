"""What classifiers of two classes share: they score each row by the log odds of the second one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..tables.declare.declaration import Key
from ..tables.plan.codes.column_codes import KeyCode
from . import learn_refusals as refusals
from .estimator import PrivateModel
from .model_columns import ModelColumns

Doubles = NDArray[np.float64]


class BinaryClassifier(PrivateModel):
    """Predict two public classes from the log odds of the second."""

    _estimator_type = "classifier"

    def score_rows(self, X: object) -> Doubles:
        """Return the log odds of the second class for each row."""
        raise NotImplementedError

    @property
    def classes_(self) -> NDArray[np.generic]:
        """The two classes."""
        return self.fitted.classes

    def decision_function(self, X: object) -> Doubles:
        """Return the log odds of the second class for each row."""
        return self.score_rows(X)

    def predict_proba(self, X: object) -> Doubles:
        """Return the probabilities of both classes for each row."""
        second = 1.0 / (1.0 + np.exp(-np.clip(self.score_rows(X), -700, 700)))
        return np.column_stack([1.0 - second, second])

    def predict(self, X: object) -> NDArray[np.generic]:
        """Return the likelier class of each row."""
        return self.classes_[(self.score_rows(X) > 0).astype(np.int64)]

    def score(self, X: object, y: object) -> float:
        """Return the share of rows whose class is predicted."""
        return float((self.predict(X) == np.asarray(y)).mean())


def read_classes(columns: ModelColumns, classes: Iterable[Key] | None) -> KeyCode:
    """Return the code of a target with public classes."""
    kind = columns.rows.schema[columns.target]
    if classes is None:
        listed = columns.rows.public_keys(columns.target)
    else:
        ((listed),) = columns.rows.group_by(
            columns.target, **{columns.target: list(classes)}
        ).domains
    named = tuple(key for key in listed if key is not None)
    if not named:
        raise refusals.CLASSES_MISSING(column=columns.target)
    return KeyCode(columns.target, kind, named)

"""What all models share: parameters as scikit-learn reads them, fitting, and what was paid.

The interface is scikit-learn's; the library is never imported. A parameter is stored as it was
passed, and checked when the model is fitted: `clone` and pipelines rely on it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Self, TypedDict, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from ..answers.answer_records import Paid
from ..exact.numbers import Number
from ..guarantees import Guarantee
from ..keywords import spell_out
from ..ledger import Ledger
from ..noise.bits import SYSTEM, Bits
from ..session.protected_table import Table
from ..tables.query.stages import Rows
from ..templates.summary import Summarized, Summary
from . import learn_refusals as refusals
from .fitted_model import FittedModel
from .model_arrays import protect_arrays
from .model_columns import Bounds, Keys, ModelColumns
from .model_noise import ARRAY_DELTA, ModelCost, spare_delta
from .model_plan import ModelPlan

if TYPE_CHECKING:
    import pyarrow as pa


class FitOptions(TypedDict, total=False):
    """The keywords of `fit`."""

    target: str
    features: Iterable[str]
    share: str | None
    fresh: bool
    timeout: float | None


class NumberModelOptions(TypedDict, total=False):
    """The parameters of every model."""

    epsilon: Number | None
    delta: Number | None
    promise: Guarantee | None
    bounds: Bounds | None
    ledger: Ledger | None


class ModelOptions(NumberModelOptions, total=False):
    """The parameters of models that also read categories."""

    keys: Keys | None


class PrivateModel(Summarized):
    """A model that is learned from a protected table, or from arrays, for one promise."""

    epsilon: Number | None
    delta: Number | None
    promise: Guarantee | None
    bounds: Bounds | None
    keys: Keys | None = None
    ledger: Ledger | None

    _estimator_type = ""
    _has_target = True
    _public_name = ""  # where it is not that of the class
    _fitted: FittedModel | None = None

    def _set_all(self, options: ModelOptions | NumberModelOptions) -> None:
        """Store parameters as they were passed."""
        for name in NumberModelOptions.__annotations__:
            setattr(self, name, options.get(name))
        if "keys" in self._names():
            self.keys = cast("ModelOptions", options).get("keys")

    @spell_out(FitOptions, fresh=False)
    def fit(
        self, X: Table | Rows | object, y: object = None, **options: Unpack[FitOptions]
    ) -> Self:
        """Learn from a protected table, with `target=` and `features=`, or from arrays X and y.

        The table's ledger is charged once. The same model of the same table again is the stored
        one, free of charge, unless `fresh` is true. Arrays are always learned from anew; `ledger=`
        of the model is charged, if it has one.
        """
        plan, is_table = self.plan(X, y, **options), isinstance(X, Table | Rows)
        try:
            return self.fit_plan(
                plan,
                share=options.get("share"),
                fresh=options.get("fresh", False) or not is_table,
                timeout=options.get("timeout"),
            )
        finally:
            if not is_table:
                plan.source.engine.close()

    def fit_plan(
        self,
        plan: ModelPlan,
        *,
        share: str | None = None,
        fresh: bool = False,
        timeout: float | None = None,
        bits: Bits = SYSTEM,
    ) -> Self:
        """Learn what a plan of this model says: one charge, or the stored model for nothing."""
        stored = plan.release(share=share, fresh=fresh, timeout=timeout, bits=bits)
        self._fitted = FittedModel.of(plan, stored)
        return self

    def plan(
        self, X: Table | Rows | object, y: object = None, **options: Unpack[FitOptions]
    ) -> ModelPlan:
        """Return what fitting would read and cost. Reads no row, costs nothing."""
        if isinstance(X, Table | Rows) or (y is None and self._has_target):
            columns = ModelColumns.of(
                X,
                options.get("target"),
                options.get("features"),
                self.bounds,
                self.keys,
                has_target=self._has_target,
            )
            cost = ModelCost.of(
                self.epsilon, self.delta, self.promise, spare_delta(columns.owner.budget)
            )
            return self._make_plan(columns, cost)
        cost = ModelCost.of(self.epsilon, self.delta, self.promise, ARRAY_DELTA)
        columns = protect_arrays(
            X, y if self._has_target else None, cost.guarantee, self.bounds, self.keys, self.ledger
        )
        return self._make_plan(columns, cost)

    def _make_plan(self, columns: ModelColumns, cost: ModelCost) -> ModelPlan:
        """Plan the model for these columns."""
        raise NotImplementedError

    @property
    def fitted(self) -> FittedModel:
        """What was learned; refused before `fit`."""
        if self._fitted is None:
            raise refusals.NOT_FITTED(model=type(self).__name__)
        return self._fitted

    @property
    def guarantee(self) -> Guarantee:
        """What the model promises."""
        return self.fitted.stored.cost

    @property
    def receipt(self) -> Paid:
        """The ledger entry that paid for the model."""
        return self.fitted.stored.paid

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The names of the features."""
        return np.array(self.fitted.features, dtype=object)

    @property
    def n_features_in_(self) -> int:
        """The number of features."""
        return len(self.fitted.features)

    @property
    def card(self) -> Summary:
        """What the model was learned from, with which noise, for which promise."""
        return self.fitted.card

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters by name, as scikit-learn does."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **parameters: object) -> Self:
        """Set parameters by name, as scikit-learn does."""
        names = self._names()
        for name, value in parameters.items():
            if name not in names:
                raise refusals.UNKNOWN_PARAMETER(
                    name=name, model=type(self).__name__, names=", ".join(names)
                )
            setattr(self, name, value)
        return self

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def __sklearn_is_fitted__(self) -> bool:
        return self._fitted is not None

    def __sklearn_tags__(self) -> SimpleNamespace:
        """Return the tags that scikit-learn asks for, as a record of the same form."""
        classifies = self._estimator_type == "classifier"
        return SimpleNamespace(
            estimator_type=self._estimator_type or None,
            target_tags=SimpleNamespace(
                required=self._has_target,
                one_d_labels=False,
                two_d_labels=False,
                positive_only=False,
                multi_output=False,
                single_output=True,
            ),
            transformer_tags=SimpleNamespace(preserves_dtype=["float64"])
            if hasattr(self, "transform")
            else None,
            classifier_tags=SimpleNamespace(poor_score=True, multi_class=False, multi_label=False)
            if classifies
            else None,
            regressor_tags=SimpleNamespace(poor_score=True)
            if self._estimator_type == "regressor"
            else None,
            array_api_support=False,
            no_validation=False,
            non_deterministic=True,
            requires_fit=True,
            _skip_test=False,
            input_tags=SimpleNamespace(
                one_d_array=False,
                two_d_array=True,
                three_d_array=False,
                sparse=False,
                categorical=True,
                string=True,
                dict=True,
                positive_only=False,
                allow_nan=True,
                pairwise=False,
            ),
        )

    def _summary(self) -> Summary:
        if self._fitted is None:
            stated = ", ".join(
                f"{name}={value!r}"
                for name, value in self.get_params().items()
                if value is not None
            )
            return Summary(
                title=f"{self._public_name or type(self).__name__}({stated}) · not fitted yet"
            )
        return self._describe()

    def _describe(self) -> Summary:
        """Summarize the fitted model."""
        raise NotImplementedError


def r_squared(target: NDArray[np.float64], predicted: NDArray[np.float64]) -> float:
    """Return R²: the share of the target's variance that a prediction explains."""
    left = float(((target - predicted) ** 2).sum())
    total = float(((target - target.mean()) ** 2).sum())
    return 1.0 - left / total if total else 0.0


def read_target(y: object) -> pa.ChunkedArray:
    """Return a target to compare with."""
    import pyarrow as pa

    return pa.chunked_array([pa.array(np.asarray(y))])

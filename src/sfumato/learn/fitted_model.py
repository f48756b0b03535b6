"""What stays of a model after it was fitted: public facts and noisy results. It holds no table, no
engine and no array, so a model may be pickled and sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..tables.plan.codes.column_codes import Codes, KeyCode, RowCode
from ..templates.summary import Summary
from .model_arrays import read_features
from .model_plan import ModelPlan, StoredModel

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class FittedModel:
    """Public facts of the plan, and what was learned."""

    name: str
    title: str
    target: str
    features: tuple[str, ...]
    codes: tuple[RowCode, ...]  # of the features
    target_code: RowCode
    ends: Mapping[str, tuple[Fraction, Fraction]]  # of features and target that are numbers
    sigmas: tuple[Fraction, ...]
    row: int  # what a row weighs at most
    about: tuple[tuple[str, str], ...]  # what the card says of rows, unit and steps
    stored: StoredModel

    @classmethod
    def of(cls, plan: ModelPlan, stored: StoredModel) -> FittedModel:
        """Take the public facts out of a plan."""
        columns, coded = plan.columns, plan.coded
        numbers = [
            name for name in (*columns.features, columns.target) if columns.is_bounded_number(name)
        ]
        return cls(
            plan.name,
            plan.title,
            columns.target,
            columns.features,
            coded.codes[: len(columns.features)],
            coded.codes[-1],
            {name: columns.ends(name) for name in numbers},
            tuple(gaussian.sigma for gaussian in plan.noise),
            1 << coded.bounding.bits,
            plan.about,
            stored,
        )

    @property
    def classes(self) -> NDArray[np.generic]:
        """The classes of the target."""
        assert isinstance(self.target_code, KeyCode)
        return np.array(self.target_code.keys)

    @property
    def scales(self) -> Doubles:
        """The middle of the bounds and half their distance, for features and target."""
        names = (*self.features, self.target) if self.target else self.features
        ends = [self.ends[name] for name in names]
        return np.array([[float(low + high) / 2, float(high - low) / 2] for low, high in ends])

    @property
    def receipt_note(self) -> str:
        """The ledger entry, for a note."""
        return f"receipt {self.stored.paid.number} of {self.stored.paid.when[:10]}"

    @property
    def heading(self) -> str:
        """The title and the cost."""
        return f"{self.title} · {self.stored.cost.numbers_text}"

    def encode(self, X: object) -> list[Codes]:
        """Return the codes of data to predict for, feature by feature."""
        columns = read_features(X, self.features)
        return [code.encode(columns[code.name]) for code in self.codes]

    @property
    def card(self) -> Summary:
        """What the model was learned from, with which noise, for which promise."""
        sigmas = list(dict.fromkeys(f"{float(sigma):.4g}" for sigma in self.sigmas))
        paid = self.stored.paid
        return Summary(
            title=self.title,
            heads=("fact", "value"),
            rows=[
                ("promise", self.stored.cost.numbers_text),
                *self.about,
                ("features", ", ".join(code.text for code in self.codes)),
                ("noise", f"Gaussian, σ = {', '.join(sigmas)} in units of the integers"),
                ("receipt", f"{paid.number} of {paid.when}"),
            ],
            notes=["Predictions, coefficients and plots of this model are free of charge."],
        )

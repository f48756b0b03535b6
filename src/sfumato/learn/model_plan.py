"""The plan of a model: what is read, which noise is added at each step, and the cost. It is public:
planning reads no data.

The release reads coded rows once, takes all steps, and charges once; the ledger stores the model
under its question, so that fitting it again is free (docs/proofs/models.md).
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from ..answers.answer_records import Paid
from ..guarantees import Guarantee
from ..ledger import Ledger, Receipt
from ..mechanisms import Combined, Gaussian
from ..noise.bits import SYSTEM, Bits
from ..noise.law import Integers
from ..release import Step, release_steps
from ..tables.engine.sources import TableSource
from ..tables.plan.codes.coded_rows import CodedRows
from ..tables.plan.statements import EngineStatement
from ..tables.query.owned_rows import table_source
from ..templates.summary import Summarized, Summary
from . import learn_refusals as refusals
from .model_columns import ModelColumns

VERSION = 1

Fields = dict[str, object]
"""What was learned, as JSON writes it."""

TrainingSteps = Generator[Step, list[Integers], Fields]


class Trainer(Protocol):
    """How a model is learned from coded rows, for noise that is fixed beforehand."""

    @property
    def text(self) -> str:
        """What the steps do, for the ledger."""
        ...

    def steps(self, statement: EngineStatement, noise: Sequence[Gaussian]) -> TrainingSteps:
        """Yield the steps, and return what was learned from their noisy integers."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class StoredModel:
    """What was learned, and the ledger entry that paid for it."""

    fields: Fields
    paid: Paid
    cost: Guarantee

    def read(self, name: str) -> list[float]:
        """Return a list of numbers."""
        values = self.fields[name]
        if not isinstance(values, list):
            raise refusals.STORED_DAMAGED()
        return values


@dataclass(frozen=True, eq=False, repr=False)
class ModelPlan(Summarized):
    """What a model reads and costs."""

    name: str
    columns: ModelColumns
    coded: CodedRows
    trainer: Trainer
    noise: tuple[Gaussian, ...]
    mechanism: Combined

    @property
    def source(self) -> TableSource:
        """The table and its engine."""
        return table_source(self.columns.rows)

    @property
    def ledger(self) -> Ledger:
        """The ledger that pays."""
        return self.columns.owner.ledger

    @cached_property
    def statements(self) -> tuple[EngineStatement, ...]:
        """What the engine runs, once."""
        return (self.coded.statement(self.source.table),)

    @property
    def cost(self) -> Guarantee:
        """What fitting costs: the ε and δ that were asked for, or μ."""
        return self.mechanism.promise

    @property
    def title(self) -> str:
        """The kind of model, and its target."""
        target = self.columns.target
        return f"{self.name} of {target}" if target else self.name

    @property
    def about(self) -> tuple[tuple[str, str], ...]:
        """What a card says of the rows, the unit and the steps."""
        bounding = self.coded.bounding
        unit = bounding.called or ", ".join(bounding.unit) or "row"
        return (
            ("protects", f"each {unit}, {bounding.relation}"),
            ("table", self.columns.rows.text.replace("\n", " · ")),
            ("steps", self.trainer.text),
        )

    @cached_property
    def text(self) -> str:
        """What is released, as text."""
        codes = self.coded.codes
        return "\n".join(
            [
                self.title,
                self.columns.rows.text,
                "by " + ", ".join(code.text for code in codes[: len(self.columns.features)]),
                self.trainer.text,
            ]
        )

    @cached_property
    def question_key(self) -> str:
        """The key of the stored model: what is read, and the noise of each step."""
        key = {
            "model": VERSION,
            "text": self.text,
            "declaration": self.columns.rows.declared,
            "codes": [[code.text, *code.labels] for code in self.coded.codes],
            "edges": [
                [name, *map(str, self.columns.edges(name))]
                for name in (*self.columns.features, self.columns.target)
                if self.columns.is_bounded_number(name)
            ],
            "noise": [str(gaussian.sigma) for gaussian in self.noise],
        }
        return json.dumps(key, ensure_ascii=False)

    def steps(self) -> TrainingSteps:
        """Learn, step by step."""
        return self.trainer.steps(self.statements[0], self.noise)

    def pack(self, result: Mapping[str, object], receipt: Receipt) -> bytes:
        """Write a model as it is stored."""
        paid = [receipt.number, receipt.digest, receipt.when]
        return json.dumps({"model": VERSION, "paid": paid, "learned": result}).encode()

    def release(
        self,
        *,
        share: str | None = None,
        fresh: bool = False,
        timeout: float | None = None,
        bits: Bits = SYSTEM,
    ) -> StoredModel:
        """Charge once, learn, and return the model; or the stored one, free of charge."""
        packed = release_steps(
            self, self.ledger, share=share, fresh=fresh, timeout=timeout, bits=bits
        )
        try:
            stored = json.loads(packed)
            if stored["model"] != VERSION:
                raise ValueError(stored)
            return StoredModel(stored["learned"], Paid(*stored["paid"]), self.cost)
        except (LookupError, TypeError, ValueError):
            raise refusals.STORED_DAMAGED() from None

    def _summary(self) -> Summary:
        codes = self.coded.codes
        return Summary(
            title=f"{self.title} · cost {self.cost.numbers_text} · nothing is read or charged",
            heads=("column", "codes"),
            rows=[(code.name, code.text.removeprefix(code.name).strip()) for code in codes],
            notes=[self.trainer.text, f"paid once, by the budget of {self.columns.rows.dataset}"],
        )

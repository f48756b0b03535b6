"""Pydantic models of all replies: the one definition of what the service says. Views build them,
FastAPI writes them as JSON and describes them in the OpenAPI document.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self, Unpack

from pydantic import BaseModel, ConfigDict, Field, SkipValidation

from ...guarantees import Guarantee
from ...guarantees.stored_guarantee import record
from ..roles import Role

Record = dict[str, object]
Scalar = str | int | float | bool | None
TableRow = dict[str, Scalar]


class ReplyModel(BaseModel):
    """A reply with these fields and no others. The OpenAPI document names its schema after the
    class, without `Model`.
    """

    model_config = ConfigDict(extra="forbid")

    def __init_subclass__(cls, **options: Unpack[ConfigDict]) -> None:
        cls.__name__ = cls.__qualname__ = cls.__name__.removesuffix("Model")
        super().__init_subclass__(**options)


class ProblemModel(ReplyModel):
    """Why there is no answer (RFC 9457), with the code of the refusal."""

    type: str
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    code: str
    place: str
    reason: str
    rewrite: str


class GuaranteeModel(ReplyModel):
    """A guarantee as the library stores it: exact numbers are text."""

    model_config = ConfigDict(extra="allow")
    sfumato: Literal["guarantee"]
    version: int
    notion: str

    @classmethod
    def of(cls, guarantee: Guarantee) -> Self:
        return cls.model_validate(record(guarantee))


class HealthModel(ReplyModel):
    status: Literal["ok"]
    version: str


class MeModel(ReplyModel):
    name: str
    role: Role
    expires: str
    datasets: list[str]


class ShortModel(ReplyModel):
    name: str
    unit: str
    relation: Literal["add-remove", "replace"]
    about: str


class ColumnSchemaModel(ReplyModel):
    name: str
    type: str
    bounds: Annotated[list[int | str], Field(min_length=2, max_length=2)] | None
    keys: list[Scalar] | None


class TableSchemaModel(ReplyModel):
    name: str
    columns: list[ColumnSchemaModel]
    declaration: str


class SchemaModel(ShortModel):
    max_rows: int | None
    max_groups: int | None
    table_rows: int
    version: str
    tables: list[TableSchemaModel]
    database: str | None
    example: str
    deadlines: list[float]


class PlannedColumnModel(ReplyModel):
    name: str
    kind: str


class TableModel(ReplyModel):
    """A table of an answer. Its rows may be many, and are not checked one by one."""

    columns: list[str]
    keys: list[str]
    rows: SkipValidation[list[TableRow]]


class SampleModel(TableModel):
    """An invented answer: nothing was read."""

    invented: Literal[True]


class CachedPlanModel(ReplyModel):
    """A plan without what changes with every charge."""

    cost: GuaranteeModel
    promise: GuaranteeModel
    error: dict[str, float | str | None]
    explained: list[str]
    columns: list[PlannedColumnModel]
    keys: list[str]
    deadline: float
    rows: int | None
    sample: SampleModel


class PlanModel(CachedPlanModel):
    affordable: bool
    paid: bool


class ReceiptModel(ReplyModel):
    number: int
    digest: str
    when: str


class ReleaseModel(ReplyModel):
    answer: Record
    table: TableModel
    cost: GuaranteeModel
    left: GuaranteeModel | None
    rules: list[str]
    receipt: ReceiptModel | None
    recalled: str


class EntryModel(ReplyModel):
    number: int
    when: str
    who: str
    kind: str
    memo: str
    sql: str
    cost: GuaranteeModel | None
    receipt: str


class HistoryModel(ReplyModel):
    entries: list[EntryModel]
    next: int | None


class BalanceModel(ReplyModel):
    budget: GuaranteeModel
    spent: GuaranteeModel
    remaining: GuaranteeModel


class ShareModel(BalanceModel):
    name: str


class BudgetModel(BalanceModel):
    share: BalanceModel | None
    shares: list[ShareModel] | None
    course: list[Annotated[list[str | float], Field(min_length=3, max_length=3)]] | None


class CardModel(ReplyModel):
    """A release card; the library has its full schema."""

    model_config = ConfigDict(extra="allow")
    sfumato: Literal["card"]
    version: int


class VerifiedModel(ReplyModel):
    holds: bool
    head: str
    says: list[str]


class OverrunsModel(ReplyModel):
    count: Annotated[int, Field(ge=0)]
    by: dict[str, int]

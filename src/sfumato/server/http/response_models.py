"""The shapes of replies, for whoever reads the OpenAPI document. What is sent is put together
elsewhere; tests hold it against these.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Record = dict[str, Any]
Scalar = str | int | float | bool | None
Column = dict[str, Scalar]


class Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Problem(Form):
    """Why there is no answer (RFC 9457), with the code of the refusal."""

    type: str
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    code: str
    place: str
    reason: str
    rewrite: str


class Guarantee(BaseModel):
    """A guarantee as the library stores it: exact numbers are text."""

    model_config = ConfigDict(extra="allow")
    sfumato: Literal["guarantee"]
    version: int
    notion: str


class Health(Form):
    status: Literal["ok"]
    version: str


class Me(Form):
    name: str
    role: Literal["owner", "analyst", "auditor"]
    expires: str
    datasets: list[str]


class Short(Form):
    name: str
    unit: str
    relation: Literal["add-remove", "replace"]
    about: str


class ColumnSchema(Form):
    name: str
    type: str
    bounds: Annotated[list[int | str], Field(min_length=2, max_length=2)] | None
    keys: list[Scalar] | None


class TableSchema(Form):
    name: str
    columns: list[ColumnSchema]
    declaration: str


class Schema(Short):
    max_rows: int | None
    max_groups: int | None
    table_rows: int
    version: str
    tables: list[TableSchema]
    database: str | None
    example: str
    deadlines: list[float]


class PlannedColumn(Form):
    name: str
    kind: str


class Sample(Form):
    """An invented answer: nothing was read."""

    columns: list[str]
    keys: list[str]
    rows: list[Column]
    invented: Literal[True]


class Plan(Form):
    cost: Guarantee
    promise: Guarantee
    error: dict[str, float | str | None]
    explained: list[str]
    columns: list[PlannedColumn]
    keys: list[str]
    deadline: float
    affordable: bool
    rows: int | None
    sample: Sample


class Table(Form):
    columns: list[str]
    keys: list[str]
    rows: list[Column]


class Receipt(Form):
    number: int
    digest: str
    when: str


class Release(Form):
    answer: Record
    table: Table
    cost: Guarantee
    left: Guarantee | None
    rules: list[str]
    receipt: Receipt | None
    recalled: str


class Entry(Form):
    number: int
    when: str
    who: str
    kind: str
    memo: str
    cost: Guarantee | None
    receipt: str


class History(Form):
    entries: list[Entry]
    next: int | None


class Balance(Form):
    budget: Guarantee
    spent: Guarantee
    remaining: Guarantee


class Share(Balance):
    name: str


class Budget(Balance):
    share: Balance | None
    shares: list[Share] | None
    course: list[Annotated[list[str | float], Field(min_length=3, max_length=3)]] | None


class Card(BaseModel):
    """A release card; the library has its full schema."""

    model_config = ConfigDict(extra="allow")
    sfumato: Literal["card"]
    version: int


class Verified(Form):
    holds: bool
    head: str
    says: list[str]


class Overruns(Form):
    count: Annotated[int, Field(ge=0)]
    by: dict[str, int]

"""Encode an answer as JSON, CSV or Arrow bytes. This post-processes the release; the same answer
always gives the same bytes.

Numbers that JSON cannot represent become null. Keys without a JSON type become text.
"""

from __future__ import annotations

import datetime
import io
import json
import math
from typing import Any

from ...answers.answer import Answer
from ...answers.render.export_frames import value_columns
from ...answers.render.tabulate import key_text
from ...errors import Refused
from ...tables.declare.public_keys import Key
from .response_models import (
    GuaranteeModel,
    ReceiptModel,
    ReleaseModel,
    ReplyModel,
    TableModel,
    TableRow,
)

JSON, CSV, ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.stream"
FORMS = (JSON, CSV, ARROW)


def dumped(content: object) -> bytes:
    """Encode plain values and models as JSON."""
    return json.dumps(
        content, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_fields
    ).encode("utf-8", "replace")


def _fields(model: ReplyModel) -> dict[str, object]:
    """Return the fields of a model as they are. `model_dump` would copy all rows of an answer."""
    return dict(iter(model))


def number(value: Any) -> float | str | None:
    """Return a number of an answer for JSON; a date is text."""
    if isinstance(value, datetime.date):
        return value.isoformat()
    plain: float | str | None = value.item() if hasattr(value, "item") else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def key(value: Key) -> str | int | None:
    """Return a key of an answer for JSON."""
    return value if value is None or isinstance(value, bool | int | str) else key_text(value)


def table_of(answer: Answer) -> TableModel:
    """Return keys, values and interval ends, as one dictionary per group."""
    try:
        numbers = value_columns(answer, intervals=True)
    except Refused:  # two columns would have one name: public, but it is too late to refuse
        numbers = value_columns(answer, intervals=False)
    lists = {name: values.tolist() for name, values in numbers.items()}
    rows: list[TableRow] = [
        {
            **{name: key(value) for name, value in zip(answer.keys, row, strict=True)},
            **{name: number(values[i]) for name, values in lists.items()},
        }
        for i, row in enumerate(answer.rows)
    ]
    columns = [*answer.keys, *answer.names]
    return TableModel(columns=columns, keys=list(answer.keys), rows=rows)


def reply(answer: Answer) -> bytes:
    """Encode the JSON reply to a release."""
    paid = answer.receipt
    return dumped(
        ReleaseModel(
            answer=json.loads(answer.to_json()),
            table=table_of(answer),
            cost=GuaranteeModel.of(answer.cost),
            left=None if answer.left is None else GuaranteeModel.of(answer.left),
            rules=list(answer.rules),
            receipt=None
            if paid is None
            else ReceiptModel(number=paid.number, digest=paid.digest, when=paid.when),
            recalled=answer.recalled,
        )
    )


def rendered(answer: Answer, media: str) -> bytes:
    """Encode an answer in a media type."""
    return _FORMS[media](answer)


def from_reply(stored: bytes, media: str) -> bytes:
    """Encode a stored JSON reply in another media type."""
    return (
        stored
        if media == JSON
        else rendered(Answer.from_json(json.dumps(json.loads(stored)["answer"])), media)
    )


def _csv(answer: Answer) -> bytes:
    try:
        return answer.to_csv(intervals=True).encode()
    except Refused:
        return answer.to_csv().encode()


def _arrow(answer: Answer) -> bytes:
    import pyarrow as pa

    try:
        table = answer.to_arrow(intervals=True)
    except Refused:
        table = answer.to_arrow()
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)
    return out.getvalue()


_FORMS = {JSON: reply, CSV: _csv, ARROW: _arrow}

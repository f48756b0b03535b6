"""Encode an answer as JSON, CSV or Arrow bytes. This post-processes the release; the same answer
always gives the same bytes.

Numbers that JSON cannot represent become null. Keys without a JSON type become text.
"""

from __future__ import annotations

import io
import json
import math

from ...answers.answer import Answer
from ...answers.render.export_frames import value_columns
from ...answers.render.tabulate import key_text
from ...errors import Refused
from ...guarantees import Guarantee
from ...guarantees.stored_guarantee import record
from ...tables.declare.public_keys import Key

JSON, CSV, ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.stream"
FORMS = (JSON, CSV, ARROW)


def dumped(content: object) -> bytes:
    """Encode plain values as JSON."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        "utf-8", "replace"
    )


def written(guarantee: Guarantee | None) -> dict[str, object] | None:
    return None if guarantee is None else record(guarantee)


def number(value: object) -> object:
    """Return a number of an answer for JSON."""
    plain = value.item() if hasattr(value, "item") else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def key(value: Key) -> str | int | None:
    """Return a key of an answer for JSON."""
    return value if value is None or isinstance(value, bool | int | str) else key_text(value)


def rows_of(answer: Answer) -> dict[str, object]:
    """Return keys, values and interval ends, as one dictionary per group."""
    try:
        numbers = value_columns(answer, intervals=True)
    except Refused:  # two columns would have one name: public, but it is too late to refuse
        numbers = value_columns(answer, intervals=False)
    lists = {name: values.tolist() for name, values in numbers.items()}
    rows = [
        {
            **{name: key(value) for name, value in zip(answer.keys, row, strict=True)},
            **{name: number(values[i]) for name, values in lists.items()},
        }
        for i, row in enumerate(answer.rows)
    ]
    return {"columns": [*answer.keys, *answer.names], "keys": list(answer.keys), "rows": rows}


def reply(answer: Answer) -> bytes:
    """Encode the JSON reply to a release."""
    paid = answer.receipt
    receipt = (
        None if paid is None else {"number": paid.number, "digest": paid.digest, "when": paid.when}
    )
    about = {
        "cost": written(answer.cost),
        "left": written(answer.left),
        "rules": list(answer.rules),
        "receipt": receipt,
        "recalled": answer.recalled,
    }
    return dumped({"answer": json.loads(answer.to_json()), "table": rows_of(answer), **about})


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

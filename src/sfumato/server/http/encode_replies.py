"""An answer as bytes: JSON, CSV, Arrow. Post-processing of what was released; the same answer is
always the same bytes.

Numbers that JSON has no word for are null. Keys that it has no type for are text.
"""

from __future__ import annotations

import io
import json
import math
from typing import Any

from ...answers.answer import Answer
from ...answers.render.export_frames import columns
from ...answers.render.tabulate import key_text
from ...errors import Refused
from ...guarantees import Guarantee
from ...guarantees.stored_guarantee import record

JSON, CSV, ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.stream"
FORMS = (JSON, CSV, ARROW)


def dumped(content: Any) -> bytes:
    """Plain values as JSON."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        "utf-8", "replace"
    )


def written(guarantee: Guarantee | None) -> dict[str, Any] | None:
    return None if guarantee is None else record(guarantee)


def number(value: Any) -> Any:
    """A number of an answer as JSON has it."""
    found = value.item() if hasattr(value, "item") else value
    return None if isinstance(found, float) and not math.isfinite(found) else found


def key(value: Any) -> Any:
    """A key of an answer as JSON has it."""
    return value if value is None or isinstance(value, bool | int | str) else key_text(value)


def rows_of(answer: Answer) -> dict[str, Any]:
    """Keys, values and the ends of their intervals, a dictionary for each group."""
    try:
        numbers = columns(answer, intervals=True)
    except Refused:  # two columns would have one name: public, but it is too late to refuse
        numbers = columns(answer, intervals=False)
    lists = {name: values.tolist() for name, values in numbers.items()}
    rows = [
        {
            **{name: key(one) for name, one in zip(answer.keys, row, strict=True)},
            **{name: number(values[i]) for name, values in lists.items()},
        }
        for i, row in enumerate(answer.rows)
    ]
    return {"columns": [*answer.keys, *answer.names], "keys": list(answer.keys), "rows": rows}


def reply(answer: Answer) -> bytes:
    """The whole reply to a release."""
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
    """The answer in a form."""
    return _FORMS[media](answer)


def from_reply(stored: bytes, media: str) -> bytes:
    """Another form of an answer that was replied as JSON."""
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

"""Answers as stored bytes: JSON with a version, integers and ratios as text, read back as equal
answers.

Keys keep their types: what JSON has no type for is written as a dictionary of one name, the type's.
"""

from __future__ import annotations

import datetime
import json
import math
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

import numpy as np

from ..errors import Refused
from ..guarantees import Guarantee, Relation
from ..guarantees.stored_guarantee import ratio
from ..guarantees.stored_guarantee import record as guarantee_record
from ..guarantees.stored_guarantee import restore as restore_guarantee
from ..mechanisms.shared.mechanism import Mechanism
from ..mechanisms.shared.stored_mechanism import promises as stored_promises
from ..mechanisms.shared.stored_mechanism import record as mechanism_record
from ..mechanisms.shared.stored_mechanism import restore as restore_mechanism
from .answer import Answer
from .answer_records import RULES, Column, Key, Noisy, Paid, Processed, Weighing
from .formula import OPERATIONS, Formula
from .merge import LEFT_OUT, Merged

VERSION, FIRST = 2, 1
"""What is written. The first version recorded neither how units were bounded nor which values chose
the groups.
"""

_Written = dict[str, Any]


@dataclass(frozen=True, slots=True, repr=False)
class Recorded(Mechanism):
    """A mechanism that cannot be made again here: what its record says of it. Values are read,
    intervals are not.
    """

    text: str

    @property
    def record(self) -> _Written:
        found: _Written = json.loads(self.text)
        return found

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return stored_promises(self.record)

    @property
    def relation(self) -> Relation | None:  # type: ignore[override]
        return self.promise.relation

    @property
    def unit(self) -> str | None:  # type: ignore[override]
        return self.promise.unit


def dump(answer: Answer) -> bytes:
    """The bytes of an answer; equal answers have equal bytes."""
    written = {
        "sfumato": "answer",
        "version": VERSION,
        "keys": list(answer.keys),
        "columns": [_write_column(column) for column in answer.columns],
        "receipts": [[paid.number, paid.digest, paid.when] for paid in answer.receipts],
        "rules": list(answer.rules),
        "processing": list(answer.processing),
        "facts": answer.facts,
        "complete": answer.complete,
        **({} if answer.weighing is None else {"weighing": asdict(answer.weighing)}),
        **{
            name: guarantee_record(g)
            for name in ("cost", "promise", "budget", "left")
            if (g := getattr(answer, name)) is not None
        },
    }
    # the long lists are written column by column, as there may be a million groups
    texts = {name: _json(value) for name, value in written.items()}
    texts["rows"] = _rows_text(
        [_column_text([row[i] for row in answer.rows]) for i in range(len(answer.keys))],
        len(answer.rows),
    )
    texts["pieces"] = f"[{','.join(map(_piece_text, answer.pieces))}]"
    return _object(texts).encode()


def load(stored: bytes | str) -> Answer:
    """The answer of these bytes, or a refusal."""
    try:
        found = json.loads(stored)
        if not isinstance(found, dict) or found.get("sfumato") != "answer":
            raise Refused(
                "answer.stored",
                f"{stored!r:.60}",
                "this is not a stored answer",
                "the bytes of answer.to_json()",
            )
        if type(found.get("version")) is not int or found["version"] not in (FIRST, VERSION):
            raise Refused(
                "answer.stored",
                f"version {found.get('version')!r:.20}",
                "written by another version",
                f"version {VERSION}, or a newer sfumato",
            )
        return (
            _read(found)
            if found["version"] == VERSION
            else _unmarked(_read({**found, "complete": False}))
        )
    except Refused:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError):
        raise Refused(
            "answer.stored",
            f"{stored!r:.60}",
            "the record is damaged or incomplete",
            "the bytes of answer.to_json()",
        ) from None


def canonical(written: Any) -> bytes:
    """One text for equal values."""
    return _json(written).encode()


def _json(written: Any) -> str:
    return json.dumps(written, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _object(texts: dict[str, str]) -> str:
    """An object of JSON, of texts that are JSON already."""
    return f"{{{','.join(f'{_json(name)}:{texts[name]}' for name in sorted(texts))}}}"


def _rows_text(columns: list[list[str]], count: int) -> str:
    """Rows of JSON, of columns of it."""
    if not columns:
        return f"[{','.join(['[]'] * count)}]"
    return (
        f"[[{'],['.join(columns[0] if len(columns) == 1 else map(','.join, zip(*columns, strict=True)))}]]"
        if count
        else "[]"
    )


def _column_text(keys: list[Key]) -> list[str]:
    """Each key as JSON; where all are integers, or all texts, without asking one by one."""
    kinds = set(map(type, keys))
    if kinds == {int}:
        return [f'{{"integer":"{key}"}}' for key in keys]
    return (
        list(map(encode_basestring, keys))  # type: ignore[arg-type]
        if kinds == {str}
        else [_json(write_key(key)) for key in keys]
    )


def _piece_text(piece: Noisy) -> str:
    written = {
        "name": piece.name,
        "step": str(piece.step),
        "mechanism": write_mechanism(piece.mechanism),
    }
    marks = {
        **({} if piece.among == 0 else {"among": piece.among}),
        **({"sorts": True} if piece.sorts else {}),
    }
    texts = {name: _json(value) for name, value in {**written, **marks}.items()}
    columns = [
        [f'"{value}"' for value in piece.values[:, i].tolist()]
        for i in range(piece.values.shape[1])
    ]
    return _object(
        texts
        | {"cells": str(piece.values.shape[1]), "values": _rows_text(columns, len(piece.values))}
    )


def _read(found: _Written) -> Answer:
    return Answer(
        keys=tuple(found["keys"]),
        rows=tuple(tuple(read_key(key) for key in row) for row in found["rows"]),
        pieces=tuple(_read_piece(piece) for piece in found["pieces"]),
        columns=tuple(_read_column(column) for column in found["columns"]),
        receipts=tuple(
            Paid(int(number), str(digest), str(when)) for number, digest, when in found["receipts"]
        ),
        rules=tuple(map(str, found["rules"])),
        processing=tuple(map(str, found["processing"])),
        facts=found["facts"],
        cost=restore_guarantee(found["cost"]),
        promise=_guarantee(found, "promise"),
        budget=_guarantee(found, "budget"),
        left=_guarantee(found, "left"),
        weighing=_weighing(found["weighing"]) if "weighing" in found else None,
        complete=bool(found["complete"]),
    )


def _unmarked(answer: Answer) -> Answer:
    """An answer of the first version. If groups were left out of it, the number that they were
    chosen from is not known, and no interval follows.
    """
    if not any(said.startswith(LEFT_OUT) for said in answer.processing):
        return answer
    grouped = {i for column in answer.columns for i in column.pieces}
    return replace(
        answer,
        pieces=tuple(
            replace(piece, among=None) if i in grouped else piece
            for i, piece in enumerate(answer.pieces)
        ),
    )


def _weighing(found: _Written) -> Weighing:
    rule, rows, groups, bits = (found[name] for name in ("rule", "rows", "groups", "bits"))
    if rule not in RULES or not all(
        type(number) is int and number >= 0 for number in (rows, groups, bits)
    ):
        raise ValueError(rule)
    return Weighing(rule, rows, groups, bits)


def _guarantee(found: _Written, name: str) -> Guarantee | None:
    return restore_guarantee(found[name]) if name in found else None


def _read_piece(found: _Written) -> Noisy:
    cells, rows = int(found["cells"]), found["values"]
    if any(len(row) != cells for row in rows):
        raise ValueError(cells)
    values = np.array([int(value) for row in rows for value in row], dtype=object).reshape(
        len(rows), cells
    )
    among = found.get("among", 0)
    if among is not None and (type(among) is not int or among < 0):
        raise ValueError(among)
    return Noisy(
        str(found["name"]),
        values,
        ratio(found["step"]),
        _read_mechanism(found["mechanism"]),
        among,
        sorts=bool(found.get("sorts", False)),
    )


def write_mechanism(mechanism: Mechanism) -> _Written:
    """The record of a mechanism, of a merged one those of its parts."""
    if isinstance(mechanism, Recorded):
        return mechanism.record
    if isinstance(mechanism, Merged):
        return {
            "merged": [[write_mechanism(part), str(weight)] for part, weight in mechanism.parts]
        }
    return mechanism_record(mechanism)


def _read_mechanism(found: _Written) -> Mechanism:
    if "merged" in found:
        return Merged(
            tuple((_read_mechanism(part), ratio(weight)) for part, weight in found["merged"])
        )
    return restore_mechanism(found) or Recorded(canonical(found).decode())


def _write_column(column: Column) -> _Written:
    written: _Written = {
        "name": column.name,
        "kind": column.kind,
        "pieces": list(column.pieces),
        "text": column.text,
    }
    written["numbers"] = {name: str(number) for name, number in column.numbers.items()}
    written["edges"] = [str(edge) for edge in column.edges]
    if (p := column.processed) is not None:
        floor = None if p.at_least is None else str(p.at_least)
        written["processed"] = {
            "values": [str(v) for v in p.values],
            "at_least": floor,
            "whole": p.whole,
        }
    if column.formula is not None:
        written["formula"] = _write_formula(column.formula)
    return written


def _write_formula(formula: Formula) -> Any:
    """A number as text, a column as a record, an operation as a list that begins with its name."""
    if formula.number is not None:
        return str(formula.number)
    return (
        _write_column(formula.column)
        if formula.column is not None
        else [formula.op, *map(_write_formula, formula.args)]
    )


def _read_formula(found: Any) -> Formula:
    if isinstance(found, str):
        return Formula("number", number=ratio(found))
    if isinstance(found, dict):
        return Formula("column", column=_read_column(found))
    op, *args = found
    if op not in OPERATIONS:
        raise ValueError(op)
    return Formula(op, tuple(map(_read_formula, args)))


def _read_column(found: _Written) -> Column:
    p = found.get("processed")
    floor = None if p is None or p["at_least"] is None else ratio(p["at_least"])
    processed = (
        None if p is None else Processed(tuple(map(ratio, p["values"])), floor, bool(p["whole"]))
    )
    numbers = {str(name): ratio(number) for name, number in found["numbers"].items()}
    formula = _read_formula(found["formula"]) if "formula" in found else None
    pieces, edges = tuple(map(int, found["pieces"])), tuple(map(ratio, found["edges"]))
    return Column(
        str(found["name"]),
        str(found["kind"]),
        pieces,
        str(found["text"]),
        numbers,
        edges,
        processed,
        formula,
    )


def write_key(key: Key) -> Any:
    """A key as JSON: a text, a truth value or null as it is, anything else with its type."""
    if key is None or isinstance(key, bool | str):
        return key
    for name, (kind, write, _) in KEYS.items():
        if type(key) is kind:
            return {name: write(key)}
    raise Refused(
        "answer.key",
        type(key).__name__,
        "a key is a text, a number, a truth value, a date, a time or a UUID",
        "group_by a column of such a type",
    )


def read_key(written: Any) -> Key:
    """The key again."""
    if written is None or isinstance(written, bool | str):
        return written
    ((name, text),) = written.items()
    read = KEYS[name][2]
    found: Key = read(text)
    return found


KEYS: dict[str, tuple[type, Callable[[Any], str], Callable[[str], Any]]] = {
    "integer": (int, str, int),
    "float": (
        float,
        lambda x: "nan" if math.isnan(x) else x.hex(),
        lambda text: math.nan if text == "nan" else float.fromhex(text),
    ),
    "decimal": (Decimal, str, Decimal),
    "timestamp": (datetime.datetime, datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    "date": (datetime.date, datetime.date.isoformat, datetime.date.fromisoformat),
    "uuid": (uuid.UUID, str, uuid.UUID),
}
"""Types that JSON does not have: how each is written, and read."""

"""Store answers as bytes and read them back: versioned JSON, with integers and ratios as text.

Keys keep their types. A key without a JSON type is written as a dictionary {type: text}.
"""

from __future__ import annotations

import datetime
import json
import math
import uuid
from collections.abc import Callable
from dataclasses import asdict, replace
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

import numpy as np

from ..errors import Refused
from ..guarantees import Guarantee, Relation
from ..guarantees.stored_guarantee import ratio
from ..guarantees.stored_guarantee import record as guarantee_record
from ..guarantees.stored_guarantee import restore as restore_guarantee
from ..mechanisms.shared.additive import Additive
from ..mechanisms.shared.mechanism import Mechanism
from ..mechanisms.shared.stored_mechanism import promises as stored_promises
from ..mechanisms.shared.stored_mechanism import record as mechanism_record
from ..mechanisms.shared.stored_mechanism import restore as restore_mechanism
from ..records import record
from ..tables.marginals.reconciled_noise import MeasuredDraws, ReconciledNoise
from . import answer_refusals as refusals
from .answer import Answer
from .answer_records import (
    RULES,
    Column,
    Draw,
    Key,
    LinearNoise,
    Noisy,
    Paid,
    Processed,
    Weighing,
)
from .formula import OPERATIONS, Formula
from .group_frames import FRAME_OPERATIONS, Frames
from .plain_json import Plain, Record
from .render.footnote_texts import LEFT_OUT

VERSION, FIRST = 2, 1
"""The version that is written, and the oldest that is read. The first version recorded neither how
units were bounded nor which values chose the groups.
"""


@record
class Recorded(Mechanism):
    """A stored mechanism that this version cannot restore, represented by its record. Its values
    can be read; its intervals cannot.
    """

    text: str

    @property
    def record(self) -> Record:
        stored: Record = json.loads(self.text)
        return stored

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return stored_promises(self.record)

    @property
    def relation(self) -> Relation | None:  # type: ignore[override]  # derived, not a field
        return self.promise.relation

    @property
    def unit(self) -> str | None:  # type: ignore[override]  # derived, not a field
        return self.promise.unit


def dump(answer: Answer) -> bytes:
    """Write an answer as bytes; equal answers have equal bytes."""
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
    if answer.tables:
        tables = (
            dump(replace(table, facts=_other_facts(table, answer))).decode()
            for table in answer.tables
        )
        texts["tables"] = f"[{','.join(tables)}]"
    if answer.places is not None:
        texts["places"] = _json(list(answer.places))
    return _object(texts).encode()


def _other_facts(table: Answer, answer: Answer) -> Record:
    """Return the facts of a table that are not those of the answer that stacks it."""
    return {name: fact for name, fact in table.facts.items() if answer.facts.get(name) != fact}


def load(stored: bytes | str) -> Answer:
    """Read an answer from its bytes, or refuse them."""
    try:
        content = json.loads(stored)
        if not isinstance(content, dict) or content.get("sfumato") != "answer":
            raise refusals.NOT_A_STORED_ANSWER(stored=stored)
        if type(content.get("version")) is not int or content["version"] not in (FIRST, VERSION):
            raise refusals.UNKNOWN_VERSION(
                version=content.get("version"), oldest=FIRST, newest=VERSION
            )
        return (
            _read_answer(content)
            if content["version"] == VERSION
            else _forget_choice(_read_answer({**content, "complete": False}))
        )
    except Refused:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError):
        raise refusals.DAMAGED_ANSWER(stored=stored) from None


def canonical(written: object) -> bytes:
    """Write plain values as JSON bytes; equal values have equal bytes."""
    return _json(written).encode()


def _json(written: object) -> str:
    return json.dumps(written, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _object(texts: dict[str, str]) -> str:
    """Join texts that are JSON already into a JSON object."""
    return f"{{{','.join(f'{_json(name)}:{texts[name]}' for name in sorted(texts))}}}"


def _rows_text(columns: list[list[str]], count: int) -> str:
    """Join columns of JSON texts into a JSON list of rows."""
    if not columns:
        return f"[{','.join(['[]'] * count)}]"
    if not count:
        return "[]"
    rows = columns[0] if len(columns) == 1 else map(",".join, zip(*columns, strict=True))
    return f"[[{'],['.join(rows)}]]"


def _column_text(keys: list[Key]) -> list[str]:
    """Write each key as JSON; columns of integers or of texts take a fast path."""
    kinds = set(map(type, keys))
    if kinds == {int}:
        return [f'{{"integer":"{key}"}}' for key in keys]
    return (
        list(map(encode_basestring, keys))  # type: ignore[arg-type]  # all keys are str
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


def _read_answer(stored: Record) -> Answer:
    tables = tuple(
        _read_answer({**table, "facts": {**stored["facts"], **table["facts"]}})
        for table in stored.get("tables", ())
    )
    return Answer(
        keys=tuple(stored["keys"]),
        rows=tuple(tuple(read_key(key) for key in row) for row in stored["rows"]),
        pieces=tuple(_read_piece(piece) for piece in stored["pieces"]),
        columns=tuple(_read_column(column) for column in stored["columns"]),
        receipts=tuple(
            Paid(int(number), str(digest), str(when)) for number, digest, when in stored["receipts"]
        ),
        rules=tuple(map(str, stored["rules"])),
        processing=tuple(map(str, stored["processing"])),
        facts=stored["facts"],
        cost=restore_guarantee(stored["cost"]),
        promise=_read_guarantee(stored, "promise"),
        budget=_read_guarantee(stored, "budget"),
        left=_read_guarantee(stored, "left"),
        weighing=_read_weighing(stored["weighing"]) if "weighing" in stored else None,
        complete=bool(stored["complete"]),
        tables=tables,
        places=tuple(map(int, stored["places"])) if "places" in stored else None,
    )


def _forget_choice(answer: Answer) -> Answer:
    """Mark an answer of the first version. If groups were left out of it, nobody recorded from how
    many groups they were chosen, so no interval follows.
    """
    if not any(label.startswith(LEFT_OUT) for label in answer.processing):
        return answer
    grouped = {i for column in answer.columns for i in column.pieces}
    return replace(
        answer,
        pieces=tuple(
            replace(piece, among=None) if i in grouped else piece
            for i, piece in enumerate(answer.pieces)
        ),
    )


def _read_weighing(stored: Record) -> Weighing:
    rule, rows, groups, bits = (stored[name] for name in ("rule", "rows", "groups", "bits"))
    if rule not in RULES or not all(
        type(number) is int and number >= 0 for number in (rows, groups, bits)
    ):
        raise ValueError(rule)
    return Weighing(rule, rows, groups, bits)


def _read_guarantee(stored: Record, name: str) -> Guarantee | None:
    return restore_guarantee(stored[name]) if name in stored else None


def _read_piece(stored: Record) -> Noisy:
    cells, rows = int(stored["cells"]), stored["values"]
    if any(len(row) != cells for row in rows):
        raise ValueError(cells)
    values = np.array([int(value) for row in rows for value in row], dtype=object).reshape(
        len(rows), cells
    )
    among = stored.get("among", 0)
    if among is not None and (type(among) is not int or among < 0):
        raise ValueError(among)
    return Noisy(
        str(stored["name"]),
        values,
        ratio(stored["step"]),
        _read_mechanism(stored["mechanism"]),
        among,
        sorts=bool(stored.get("sorts", False)),
    )


def write_mechanism(mechanism: Mechanism) -> Record:
    """Write the record of a mechanism; for a sum of draws, the records of their mechanisms."""
    if isinstance(mechanism, Recorded):
        return mechanism.record
    if isinstance(mechanism, LinearNoise):
        return {
            "merged": [
                [write_mechanism(part), str(weight), *([name] if name else [])]
                for part, weight, name in mechanism.draws
            ]
        }
    if isinstance(mechanism, ReconciledNoise):
        return {
            "reconciled": [
                [
                    write_mechanism(each.mechanism),
                    [[str(w), count] for w, count in each.weights],
                    *([] if each.keys is None else [list(each.keys), str(each.precision)]),
                ]
                for each in mechanism.draws
            ],
            "rounding": str(mechanism.rounding),
        }
    return mechanism_record(mechanism)


def _read_mechanism(stored: Record) -> Mechanism:
    if "merged" in stored:
        return LinearNoise(
            tuple(
                Draw(_read_mechanism(part), ratio(weight), *map(str, name))
                for part, weight, *name in stored["merged"]
            )
        )
    if "reconciled" in stored:
        return ReconciledNoise(
            tuple(
                MeasuredDraws(
                    _read_additive(part),
                    tuple((ratio(w), int(count)) for w, count in weights),
                    *((tuple(map(int, source[0])), ratio(source[1])) if source else ()),
                )
                for part, weights, *source in stored["reconciled"]
            ),
            ratio(stored["rounding"]),
        )
    return restore_mechanism(stored) or Recorded(canonical(stored).decode())


def _read_additive(stored: Record) -> Additive:
    mechanism = _read_mechanism(stored)
    if not isinstance(mechanism, Additive):
        raise TypeError(type(mechanism))
    return mechanism


def _write_column(column: Column) -> Record:
    written: Record = {
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
            "whole": p.is_whole,
        }
    if column.formula is not None:
        written["formula"] = _write_formula(column.formula)
    if column.sources:
        written["sources"] = list(column.sources)
    return written


def _write_formula(formula: Formula) -> Plain:
    """Write a number as text, a column or frames as a record, an operation as a list [name,
    arguments].
    """
    if formula.frames is not None:
        return {
            "across": formula.op,
            "args": list(map(_write_formula, formula.args)),
            "empty": None if formula.number is None else str(formula.number),
            **_write_frames(formula.frames),
        }
    if formula.number is not None:
        return str(formula.number)
    return (
        _write_column(formula.column)
        if formula.column is not None
        else [formula.op, *map(_write_formula, formula.args)]
    )


def _write_frames(frames: Frames) -> Record:
    lists = {"order": frames.order, "start": frames.start, "end": frames.end}
    more = {"ranks": frames.ranks, "at": frames.at}
    return {
        **{name: places.tolist() for name, places in lists.items()},
        **{name: places.tolist() for name, places in more.items() if places is not None},
        "chosen": frames.is_chosen,
    }


def _read_across(stored: Record) -> Formula:
    order, start, end = (np.array(stored[name], np.int64) for name in ("order", "start", "end"))
    ranks, at = (
        np.array(stored[name], np.int64) if name in stored else None for name in ("ranks", "at")
    )
    if stored["across"] not in FRAME_OPERATIONS:
        raise ValueError(stored["across"])
    return Formula(
        stored["across"],
        tuple(map(_read_formula, stored["args"])),
        None if stored["empty"] is None else ratio(stored["empty"]),
        frames=Frames(order, start, end, bool(stored["chosen"]), ranks, at),
    )


def _read_formula(stored: Plain) -> Formula:
    if isinstance(stored, str):
        return Formula("number", number=ratio(stored))
    if isinstance(stored, dict) and "across" in stored:
        return _read_across(stored)
    if isinstance(stored, dict):
        return Formula("column", column=_read_column(stored))
    if not isinstance(stored, list) or not stored:
        raise ValueError(stored)
    op, *args = stored
    if not isinstance(op, str) or op not in OPERATIONS:
        raise ValueError(op)
    return Formula(op, tuple(map(_read_formula, args)))


def _read_column(stored: Record) -> Column:
    p = stored.get("processed")
    floor = None if p is None or p["at_least"] is None else ratio(p["at_least"])
    processed = (
        None if p is None else Processed(tuple(map(ratio, p["values"])), floor, bool(p["whole"]))
    )
    numbers = {str(name): ratio(number) for name, number in stored["numbers"].items()}
    formula = _read_formula(stored["formula"]) if "formula" in stored else None
    pieces, edges = tuple(map(int, stored["pieces"])), tuple(map(ratio, stored["edges"]))
    return Column(
        str(stored["name"]),
        str(stored["kind"]),
        pieces,
        str(stored["text"]),
        numbers,
        edges,
        processed,
        formula,
        tuple(map(int, stored.get("sources", ()))),
    )


def write_key(key: Key) -> Plain:
    """Write a key as JSON: texts, booleans and null unchanged, everything else with its type."""
    if key is None or isinstance(key, bool | str):
        return key
    for name, (kind, write, _) in KEYS.items():
        if type(key) is kind:
            return {name: write(key)}
    raise refusals.KEY_TYPE(type=type(key).__name__)


def read_key(written: Plain) -> Key:
    """Read a key that `write_key` wrote."""
    if written is None or isinstance(written, bool | str):
        return written
    if not isinstance(written, dict):
        raise ValueError(written)
    ((name, text),) = written.items()
    if not isinstance(text, str):
        raise ValueError(text)
    return KEYS[name][2](text)


KEYS: dict[str, tuple[type, Callable[[Any], str], Callable[[str], Key]]] = {
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
"""The key types that JSON lacks: how each is written and read."""

"""Outputs of any kind as columns that events can be built on: whole outputs as symbols, their
structure, and every number in them.

*Symbol*     The output itself, written so that equal outputs are equal texts: numbers by all of
             their bits, structures by their parts and order.
*Structure*  The same without the values: types, lengths, names and their order, NaN and infinity,
             and which error was raised. An error is an output: its type counts, its message does
             not (it would be read as data by nobody's leave).
*Both*       Outputs of two inputs are written in one way: as arrays only where both are arrays of
             one form, else all of them part by part. The type of the numbers in an array is one for
             all draws, so it is no output: one double among a thousand whole numbers makes doubles
             of all. Numbers count.
*Numbers*    Each number under its place in the structure; truth values, lengths of texts and bytes
             count as numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_NUMBERS = 128
"""Places of a structure that are looked at one by one; what lies beyond still counts in the
symbol.
"""
MOST_TEXTS = 1000


@dataclass(frozen=True, slots=True)
class Error:
    """What was raised in an output's place: the name of its type."""

    name: str


@dataclass(frozen=True, slots=True)
class Outputs:
    """Outputs of one input, as columns of one length."""

    symbols: NDArray[Any]
    structure: NDArray[Any]
    numbers: dict[str, NDArray[np.float64]]
    floats: bool = False  # symbols are the bits of doubles
    texts: Mapping[str, str] = field(
        default_factory=dict
    )  # some symbols as a reader would write the output

    def __len__(self) -> int:
        return len(self.symbols)

    def part(self, start: int, stop: int) -> Outputs:
        """Those drawn from `start` on, before `stop`: which are taken depends on nothing that was
        drawn. Places of numbers that these have not are not known to them, so that what is chosen
        by them knows nothing of the others.
        """
        numbers = {
            place: part
            for place, values in self.numbers.items()
            if not np.isnan(part := values[start:stop]).all()
        }
        return Outputs(
            self.symbols[start:stop], self.structure[start:stop], numbers, self.floats, self.texts
        )


def outputs(drawn: Any) -> Outputs:
    """Columns of what was drawn: an array whose first axis counts the draws, or a sequence of
    outputs.
    """
    return _flattened(_listed(drawn)) if _form(drawn) is None else _plain(drawn)


def of_both(one: Any, other: Any) -> tuple[Outputs, Outputs]:
    """Columns of what was drawn at two inputs, which can be compared whatever was drawn at each:
    numbers here, errors there.
    """
    forms = _form(one), _form(other)
    if forms[0] is not None and forms[0] == forms[1]:
        common = np.result_type(one, other)
        return _plain(one.astype(common, copy=False)), _plain(other.astype(common, copy=False))
    return _flattened(_listed(one)), _flattened(_listed(other))


def _form(drawn: Any) -> tuple[Any, ...] | None:
    """Of an array of numbers what another must share to be compared with it number by number; None
    for all else.
    """
    plain = (
        isinstance(drawn, np.ndarray)
        and drawn.dtype.kind in "biuf"
        and drawn.dtype.itemsize <= 8
        and drawn.ndim in (1, 2)
    )
    return drawn.shape[1:] if plain else None


def _listed(drawn: Any) -> list[Any]:
    """Outputs one by one; those of an array as plain numbers and lists, as they would be without
    it.
    """
    plain = isinstance(drawn, np.ndarray) and (
        drawn.dtype.kind not in "biuf" or drawn.dtype.itemsize <= 8
    )
    return list(drawn.tolist()) if plain else list(drawn)


def _plain(drawn: NDArray[Any]) -> Outputs:
    """An array of numbers: nothing has to be written out."""
    rows = np.ascontiguousarray(drawn)
    columns = (
        {"": rows}
        if rows.ndim == 1
        else {f"[{i}]": rows[:, i] for i in range(min(rows.shape[1], MOST_NUMBERS))}
    )
    odd = np.zeros(len(rows), dtype=np.int64)
    if rows.dtype.kind == "f":
        classes = np.isnan(rows) + 2 * np.isposinf(rows) + 3 * np.isneginf(rows)
        odd = (
            classes.astype(np.int64)
            if rows.ndim == 1
            else classes @ (5 ** np.arange(rows.shape[1]) % (1 << 40))
        )
    symbols = (
        _bits(rows)
        if rows.ndim == 1
        else rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
        if rows.shape[1]
        else odd
    )
    numbers = {place: column.astype(np.float64) for place, column in columns.items()}
    return Outputs(symbols, odd, numbers, rows.dtype.kind == "f" and rows.ndim == 1)


def _bits(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers as integers that are equal if and only if all bits are: NaN too, and 0.0 is not
    −0.0.
    """
    return (
        values.astype(np.float64).view(np.int64)
        if values.dtype.kind == "f"
        else values.astype(np.int64)
        if values.dtype != np.uint64
        else values
    )


def _flattened(drawn: list[Any]) -> Outputs:
    symbols, structures = np.empty(len(drawn), dtype=object), np.empty(len(drawn), dtype=object)
    numbers: dict[str, NDArray[np.float64]] = {}
    texts: dict[str, str] = {}
    for i, output in enumerate(drawn):
        found: list[tuple[str, str, str, float | None]] = []
        _leaves(output, "", found, 0)
        symbols[i] = "".join([place + kind + said + ";" for place, kind, said, _ in found])
        structures[i] = "".join([place + kind + ";" for place, kind, _, _ in found])
        if len(texts) < MOST_TEXTS and symbols[i] not in texts:
            texts[symbols[i]] = (
                f"error {output.name}" if isinstance(output, Error) else _written(output)
            )
        for place, _, _, number in found:
            if number is not None:
                if place not in numbers:
                    if len(numbers) >= MOST_NUMBERS:
                        continue
                    numbers[place] = np.full(len(drawn), np.nan)
                numbers[place][i] = number
    return Outputs(symbols, structures, numbers, texts=texts)


def _leaves(
    output: Any, place: str, found: list[tuple[str, str, str, float | None]], depth: int
) -> None:
    """Every part of an output: its place, what it is, what it says, and its number if it has
    one.
    """
    match output:
        case Error():
            found.append((place, f"!{output.name}", "", None))
        case bool() | np.bool_():
            found.append((place, "?", str(bool(output)), float(output)))
        case int() | np.integer():
            found.append((place, "i", _digits(int(output)), _number(int(output))))
        case float() | np.floating():
            value = float(output)
            special = (
                "nan"
                if math.isnan(value)
                else "inf"
                if value == math.inf
                else "-inf"
                if value == -math.inf
                else ""
            )
            found.append((place, f"f{special}", value.hex(), None if special else value))
        case Fraction() | Decimal():
            found.append((place, "q", _exactly(output), _number(output)))
        case None:
            found.append((place, "none", "", None))
        case str() | bytes() | bytearray():
            found.append((place, type(output).__name__, repr(output), float(len(output))))
            if isinstance(output, bytes | bytearray) and len(output) <= MOST_NUMBERS:
                found.extend(
                    (f"{place}[{i}]", "b", "", float(byte)) for i, byte in enumerate(output)
                )
        case np.ndarray() if output.dtype != object or output.ndim:
            found.append((place, f"array{output.shape}{output.dtype.kind}", "", None))
            for i, item in enumerate(output.ravel().tolist()):
                _leaves(item, f"{place}[{i}]", found, depth + 1)
        case Mapping():
            found.append((place, f"map{list(map(str, output))}", "", float(len(output))))
            for key, item in output.items():
                _leaves(item, f"{place}.{key}", found, depth + 1)
        case set() | frozenset():
            said = sorted(map(repr, output))
            found.append((place, "set", repr(said), float(len(said))))
        case _ if isinstance(output, Sequence) and depth < 32:
            kind = next(
                (known.__name__ for known in (list, tuple) if isinstance(output, known)),
                type(output).__name__,
            )
            found.append((place, f"{kind}{len(output)}", "", float(len(output))))
            for i, item in enumerate(output):
                _leaves(item, f"{place}[{i}]", found, depth + 1)
        case _ if hasattr(output, "to_pydict") or hasattr(
            output, "to_arrow"
        ):  # tables, and answers
            frame = output if hasattr(output, "to_pydict") else output.to_arrow()
            _leaves(frame.to_pydict(), place, found, depth + 1)
        case _ if hasattr(output, "to_dict") and hasattr(output, "columns"):  # pandas
            _leaves(output.to_dict("list"), place, found, depth + 1)
        case _ if is_dataclass(output) and not isinstance(output, type) and depth < 32:
            found.append((place, type(output).__name__, "", None))
            for f in fields(output):
                _leaves(getattr(output, f.name), f"{place}.{f.name}", found, depth + 1)
        case _:  # an address in memory says nothing: only a text that the type writes itself
            own = "__repr__" in {name for kind in type(output).__mro__[:-1] for name in vars(kind)}
            found.append((place, type(output).__name__, _written(output) if own else "", None))


def _number(value: int | Fraction | Decimal) -> float | None:
    try:
        return float(value)
    except (OverflowError, ValueError):
        if isinstance(value, Decimal) and value.is_nan():
            return None
        return math.inf if value > 0 else -math.inf


def _digits(value: int) -> str:
    """All of a whole number. Python writes out no decimals of a very long one."""
    return str(value) if value.bit_length() < 8192 else hex(value)


def _exactly(value: Fraction | Decimal) -> str:
    return (
        str(value)
        if isinstance(value, Decimal)
        else f"{_digits(value.numerator)}/{_digits(value.denominator)}"
    )


def _written(output: Any) -> str:
    try:
        return repr(output)
    except Exception:  # a type whose text cannot be made is known by its name
        return type(output).__name__

"""Turn outputs of any type into columns for events: complete outputs as symbols, their structure,
and every number in them.

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

import attrs
import numpy as np
from numpy.typing import NDArray

Input = object
"""What an audit hands to its subject: anything. The subject alone knows what it takes."""
Pair = tuple[Input, Input]
"""Two inputs that are compared."""
Output = object
"""What a subject gives: anything, an error too."""
Draws = NDArray[np.generic] | Sequence[Output]
"""Independent outputs: a list, or an array whose first axis counts them."""
MOST_NUMBERS = 128
"""Most places of a structure with a column of numbers; further numbers count in the symbol only."""
MOST_TEXTS = 1000


@dataclass(frozen=True, slots=True)
class Error:
    """An exception raised in place of an output: the name of its type."""

    name: str


@dataclass(frozen=True, slots=True)
class Outputs:
    """Outputs of one input, as columns of one length."""

    symbols: NDArray[np.generic]
    structure: NDArray[np.generic]
    numbers: dict[str, NDArray[np.float64]]
    floats: bool = False  # symbols are the bits of doubles
    # some symbols, as a reader would write the output
    texts: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.symbols)

    def part(self, start: int, stop: int) -> Outputs:
        """Return the draws from `start` up to `stop`, independently of their values. Number columns
        that are empty in this part are dropped, so that a choice made on it uses no other draw.
        """
        numbers = {
            place: part
            for place, values in self.numbers.items()
            if not np.isnan(part := values[start:stop]).all()
        }
        return Outputs(
            self.symbols[start:stop], self.structure[start:stop], numbers, self.floats, self.texts
        )


def read_outputs(drawn: Draws) -> Outputs:
    """Convert draws to columns."""
    array = _number_array(drawn)
    return _from_list(_as_list(drawn)) if array is None else _from_array(array)


def read_both_outputs(drawn_x: Draws, drawn_y: Draws) -> tuple[Outputs, Outputs]:
    """Convert the draws at two inputs to comparable columns, even if one gave numbers and the other
    errors.
    """
    x, y = _number_array(drawn_x), _number_array(drawn_y)
    if x is not None and y is not None and x.shape[1:] == y.shape[1:]:
        common = np.result_type(x, y)
        return (
            _from_array(x.astype(common, copy=False)),
            _from_array(y.astype(common, copy=False)),
        )
    return _from_list(_as_list(drawn_x)), _from_list(_as_list(drawn_y))


def _number_array(drawn: Draws) -> NDArray[np.generic] | None:
    """Return draws that are an array of numbers or of rows of numbers; None for all others."""
    if (
        isinstance(drawn, np.ndarray)
        and drawn.dtype.kind in "biuf"
        and drawn.dtype.itemsize <= 8
        and drawn.ndim in (1, 2)
    ):
        return drawn
    return None


def _as_list(drawn: Draws) -> list[Output]:
    """List the outputs one by one; those of an array as plain numbers and lists."""
    if isinstance(drawn, np.ndarray) and (
        drawn.dtype.kind not in "biuf" or drawn.dtype.itemsize <= 8
    ):
        return list(drawn.tolist())
    return list(drawn)


def _from_array(drawn: NDArray[np.generic]) -> Outputs:
    """Convert an array of numbers without writing symbols out."""
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


def _bits(values: NDArray[np.generic]) -> NDArray[np.generic]:
    """View numbers as integers that are equal if and only if all bits are: NaN too, and 0.0 is not
    −0.0.
    """
    return (
        values.astype(np.float64).view(np.int64)
        if values.dtype.kind == "f"
        else values.astype(np.int64)
        if values.dtype != np.uint64
        else values
    )


def _from_list(drawn: list[Output]) -> Outputs:
    symbols, structures = np.empty(len(drawn), dtype=object), np.empty(len(drawn), dtype=object)
    numbers: dict[str, NDArray[np.float64]] = {}
    texts: dict[str, str] = {}
    for i, output in enumerate(drawn):
        leaves: list[tuple[str, str, str, float | None]] = []
        _collect_leaves(output, "", leaves, 0)
        symbols[i] = "".join([place + kind + text + ";" for place, kind, text, _ in leaves])
        structures[i] = "".join([place + kind + ";" for place, kind, _, _ in leaves])
        if len(texts) < MOST_TEXTS and symbols[i] not in texts:
            texts[symbols[i]] = (
                f"error {output.name}" if isinstance(output, Error) else _repr_or_type(output)
            )
        for place, _, _, number in leaves:
            if number is not None:
                if place not in numbers:
                    if len(numbers) >= MOST_NUMBERS:
                        continue
                    numbers[place] = np.full(len(drawn), np.nan)
                numbers[place][i] = number
    return Outputs(symbols, structures, numbers, texts=texts)


def _collect_leaves(
    output: Output, place: str, leaves: list[tuple[str, str, str, float | None]], depth: int
) -> None:
    """Collect every part of an output: its place, type, text, and its number if it has one."""
    match output:
        case Error():
            leaves.append((place, f"!{output.name}", "", None))
        case bool() | np.bool_():
            leaves.append((place, "?", str(bool(output)), float(output)))
        case int() | np.integer():
            leaves.append((place, "i", _digits(int(output)), _number(int(output))))
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
            leaves.append((place, f"f{special}", value.hex(), None if special else value))
        case Fraction() | Decimal():
            leaves.append((place, "q", _exact_text(output), _number(output)))
        case None:
            leaves.append((place, "none", "", None))
        case str() | bytes() | bytearray():
            leaves.append((place, type(output).__name__, repr(output), float(len(output))))
            if isinstance(output, bytes | bytearray) and len(output) <= MOST_NUMBERS:
                leaves.extend(
                    (f"{place}[{i}]", "b", "", float(byte)) for i, byte in enumerate(output)
                )
        case np.ndarray() if output.dtype != object or output.ndim:
            leaves.append((place, f"array{output.shape}{output.dtype.kind}", "", None))
            for i, item in enumerate(output.ravel().tolist()):
                _collect_leaves(item, f"{place}[{i}]", leaves, depth + 1)
        case Mapping():
            leaves.append((place, f"map{list(map(str, output))}", "", float(len(output))))
            for key, item in output.items():
                _collect_leaves(item, f"{place}.{key}", leaves, depth + 1)
        case set() | frozenset():
            items = sorted(map(repr, output))
            leaves.append((place, "set", repr(items), float(len(items))))
        case _ if isinstance(output, Sequence) and depth < 32:
            kind = next(
                (base.__name__ for base in (list, tuple) if isinstance(output, base)),
                type(output).__name__,
            )
            leaves.append((place, f"{kind}{len(output)}", "", float(len(output))))
            for i, item in enumerate(output):
                _collect_leaves(item, f"{place}[{i}]", leaves, depth + 1)
        case _ if hasattr(output, "to_pydict"):  # tables
            _collect_leaves(output.to_pydict(), place, leaves, depth + 1)
        case _ if hasattr(output, "to_arrow"):  # answers
            _collect_leaves(output.to_arrow().to_pydict(), place, leaves, depth + 1)
        case _ if hasattr(output, "to_dict") and hasattr(output, "columns"):  # pandas
            _collect_leaves(output.to_dict("list"), place, leaves, depth + 1)
        case _ if (names := _field_names(output)) is not None and depth < 32:
            leaves.append((place, type(output).__name__, "", None))
            for name in names:
                _collect_leaves(getattr(output, name), f"{place}.{name}", leaves, depth + 1)
        case _:  # an address in memory says nothing: only a text that the type writes itself
            has_repr = "__repr__" in {
                name for kind in type(output).__mro__[:-1] for name in vars(kind)
            }
            leaves.append(
                (place, type(output).__name__, _repr_or_type(output) if has_repr else "", None)
            )


def _field_names(output: object) -> list[str] | None:
    """Return the names of the fields of a dataclass or an attrs record; None for other outputs."""
    kind = type(output)
    if attrs.has(kind):
        return [field.name for field in attrs.fields(kind)]
    if is_dataclass(output) and not isinstance(output, type):
        return [field.name for field in fields(output)]
    return None


def _number(value: int | Fraction | Decimal) -> float | None:
    try:
        return float(value)
    except (OverflowError, ValueError):
        if isinstance(value, Decimal) and value.is_nan():
            return None
        return math.inf if value > 0 else -math.inf


def _digits(value: int) -> str:
    """Write all digits of an integer, in hexadecimal where Python refuses decimals for length."""
    return str(value) if value.bit_length() < 8192 else hex(value)


def _exact_text(value: Fraction | Decimal) -> str:
    return (
        str(value)
        if isinstance(value, Decimal)
        else f"{_digits(value.numerator)}/{_digits(value.denominator)}"
    )


def _repr_or_type(output: Output) -> str:
    try:
        return repr(output)
    except Exception:  # a type whose text cannot be made is known by its name
        return type(output).__name__
